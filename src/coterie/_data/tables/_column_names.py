"""Column names: names of a header, duplicates, and the closest match of a wrong name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from coterie._data.tables._errors import TableError, quote

# Number of names that are compared, so that the search stays fast.
MAX_COMPARED_NAMES = 20_000


def closest_name(name: str, names: Collection[str]) -> str | None:
    """The name that was probably meant, or None.

    Examples
    --------
    >>> closest_name("temperture", ["temperature", "pressure"])
    'temperature'
    >>> closest_name("PRESSURE", ["temperature", "pressure"])
    'pressure'
    >>> closest_name("wind", ["temperature", "pressure"]) is None
    True
    """
    plain = {one.casefold().strip(): one for one in reversed([*names])}
    if (same := plain.get(name.casefold().strip())) is not None:
        return same
    alike = [one for one in plain if abs(len(one) - len(name)) <= 3][:MAX_COMPARED_NAMES]
    found = get_close_matches(name.casefold().strip(), alike, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


def did_you_mean(name: str, names: Collection[str]) -> str:
    """The question "Did you mean ...?", or "" if no name is close."""
    found = closest_name(name, names)
    return "" if found is None else f" Did you mean {quote(found)}?"


def header_names(cells: Sequence[str | None]) -> list[str]:
    """Names of a header, stripped of spaces; a blank third name becomes `unnamed_3`.

    Examples
    --------
    >>> header_names(["", " price", "size "])
    ['unnamed_1', 'price', 'size']
    """
    names = [(cell or "").strip() for cell in cells]
    return [name or f"unnamed_{number}" for number, name in enumerate(names, 1)]


def check_names(names: Sequence[str], where: str) -> None:
    """Raise if a name is not unique, with the numbers of its columns."""
    places: dict[str, list[int]] = {}
    for number, name in enumerate(names, 1):
        places.setdefault(name, []).append(number)
    twice = {name: numbers for name, numbers in places.items() if len(numbers) > 1}
    if not twice:
        return
    some = ", ".join(
        f"{quote(name)} ({_column_numbers_text(twice[name])})" for name in [*twice][:3]
    )
    more = f" and {len(twice) - 3} more" if len(twice) > 3 else ""
    advice = "is its first line a header?" if _are_all_numbers(names) else "rename all but one."
    raise TableError(f"{where} has columns of the same name, {some}{more}: {advice}")


def _column_numbers_text(numbers: list[int]) -> str:
    first = ", ".join(map(str, numbers[:4]))
    return f"columns {first}{', ...' if len(numbers) > 4 else ''}"


def _are_all_numbers(names: Sequence[str]) -> bool:
    return all(name.replace(".", "").lstrip("+-").isdigit() for name in names)
