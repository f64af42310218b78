"""What the names of the members of a group have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

# A name with one number, such as "850 nm" or "x12": what stands before and after it.
ONE_NUMBER = re.compile(r"(\D*)(\d+(?:\.\d+)?)(\D*)")
# Shorter beginnings say nothing.
MIN_PREFIX = 3


class SharedNames:
    """Finds what some names share that not all names of a table share.

    Parameters
    ----------
    names : list of str
        All features of a table.

    Examples
    --------
    >>> names = ["mean radius", "worst radius", "mean area", "worst area"]
    >>> SharedNames(names).of([0, 1])
    'radius'
    >>> SharedNames([f"{nm} nm" for nm in range(850, 870, 2)]).of([1, 2, 3])
    '852 nm to 856 nm'
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._words = [_words(name) for name in names]
        self._common = set.intersection(*map(set, self._words)) if names else set()
        self._prefix = _common_prefix(names)
        self._place = _places(names)

    def of(self, members: Sequence[int]) -> str:
        """A range, words or a beginning that the members share; empty if nothing."""
        if len(members) < 2:
            return ""
        return self._range(members) or self._shared_words(members) or self._beginning(members)

    def _range(self, members: Sequence[int]) -> str:
        """The first and the last name, if names are numbered and none between is missing."""
        found = sorted((self._place[one], one) for one in members if one in self._place)
        if len(found) < max(3, len(members)):
            return ""
        (first_stem, first), (last_stem, last) = found[0][0], found[-1][0]
        if first_stem != last_stem or last - first != len(found) - 1:
            return ""
        return f"{self._names[found[0][1]]} to {self._names[found[-1][1]]}"

    def _shared_words(self, members: Sequence[int]) -> str:
        shared = set.intersection(*(set(self._words[one]) for one in members)) - self._common
        return ", ".join(word for word in self._words[members[0]] if word in shared)

    def _beginning(self, members: Sequence[int]) -> str:
        prefix = _common_prefix([self._names[one] for one in members]).rstrip()
        is_long = len(prefix) >= max(MIN_PREFIX, len(self._prefix) + 1)
        return f"{prefix}..." if is_long else ""


def _common_prefix(names: Sequence[str]) -> str:
    """The beginning of all names, which is that of the first and the last of them."""
    first, last = min(names, default=""), max(names, default="")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(letter for letter, _ in same)


def _words(name: str) -> list[str]:
    """The words of a name in small letters, each once: "meanRadius_2" has mean, radius."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    found = [word.lower() for word in re.findall(r"[^\W_]+", apart)]
    return list(dict.fromkeys(word for word in found if not word.isdigit()))


def _places(names: Sequence[str]) -> dict[int, tuple[tuple[str, str], int]]:
    """What surrounds the number of a name, and its rank among names with the same surroundings."""
    numbered: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for one, name in enumerate(names):
        if (match := ONE_NUMBER.fullmatch(name)) is not None:
            numbered.setdefault((match[1], match[3]), []).append((float(match[2]), one))
    return {
        one: (stem, rank)
        for stem, all_of_stem in numbered.items()
        for rank, (_, one) in enumerate(sorted(all_of_stem))
    }
