"""A value in a JSON document, with checks of its type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}
# Longer texts are cut in messages.
MAX_QUOTED_LENGTH = 40


class UnreadableError(ValueError):
    """A file cannot be read; the caller adds its name to the reason."""


@dataclass(frozen=True)
class Entry:
    """A value in a JSON document, and its path there.

    Every method returns a value of its type, or raises UnreadableError with the path.

    Examples
    --------
    >>> fitted = Entry({"labels": [0, 0, 1], "penalty": "much"}, "fitted")
    >>> fitted["labels"].whole_numbers()
    [0, 0, 1]
    >>> fitted["penalty"].number()
    Traceback (most recent call last):
    coterie._persist.files._entry.UnreadableError: 'fitted.penalty' must be a number, got 'much'
    """

    value: Any
    place: str = ""

    def wrong(self, expected: str) -> UnreadableError:
        """The error for a value of the wrong type: what was expected, and what came."""
        came = TYPE_NAMES[type(self.value)]
        if isinstance(self.value, str):
            came = repr(self.value[:MAX_QUOTED_LENGTH]) + "..." * (
                len(self.value) > MAX_QUOTED_LENGTH
            )
        elif isinstance(self.value, int | float) and abs(self.value) < 1e15:
            came = repr(self.value)
        return UnreadableError(f"{self.spoken_of} must be {expected}, got {came}")

    @property
    def spoken_of(self) -> str:
        """The path of the value, for messages."""
        return f"'{self.place}'" if self.place else "it"

    @property
    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    @property
    def is_object(self) -> bool:
        """Whether the value is an object."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.value, list)

    def __getitem__(self, key: str) -> Entry:
        found = self.get(key)
        if found is None:
            raise UnreadableError(f"{self._below(key)!r} is missing")
        return found

    def get(self, key: str) -> Entry | None:
        """The value of a key, or None if there is no such key."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return Entry(self.value[key], self._below(key)) if key in self.value else None

    def _below(self, key: str) -> str:
        shown = key if len(key) <= MAX_QUOTED_LENGTH else f"{key[:MAX_QUOTED_LENGTH]}..."
        return f"{self.place}.{shown}" if self.place else shown

    def names(self, known: Iterable[str] | None = None) -> list[str]:
        """The keys of the object; raise if one is not among `known`."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        unknown = [] if known is None else sorted({*self.value} - {*known})
        if unknown:
            raise UnreadableError(f"{self._below(unknown[0])!r} is not a known key")
        return list(self.value)

    def items(self, length: int | None = None) -> Iterator[Entry]:
        """The items of a list of this length."""
        values = self.values(length)
        return (Entry(value, f"{self.place}[{place}]") for place, value in enumerate(values))

    def values(self, length: int | None = None) -> list[Any]:
        """The values of a list of this length."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        if length is not None and len(self.value) != length:
            raise UnreadableError(
                f"{self.spoken_of} must have {length} items, got {len(self.value)}"
            )
        return self.value

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return self.value

    def word(self, words: Sequence[str]) -> str:
        """One of these strings."""
        if not isinstance(self.value, str) or self.value not in words:
            raise self.wrong(f"one of {', '.join(map(repr, words))}")
        return self.value

    def truth(self) -> bool:
        """A boolean."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def whole(self, least: int, most: int) -> int:
        """An integer within bounds, both included."""
        if type(self.value) is not int or not least <= self.value <= most:
            raise self.wrong(f"a whole number from {least} to {most}")
        return self.value

    def number(self) -> float:
        """A finite number."""
        if type(self.value) is int and abs(self.value) < 2**1023:
            return float(self.value)
        if type(self.value) is not float or not abs(self.value) < float("inf"):
            raise self.wrong("a number")
        return self.value

    def texts(self, length: int | None = None) -> list[str]:
        """A list of strings."""
        if not {*map(type, self.values(length))} <= {str}:
            raise self.wrong("a list of texts")
        return self.values()

    def truths(self, length: int | None = None) -> list[bool]:
        """A list of booleans."""
        if not {*map(type, self.values(length))} <= {bool}:
            raise self.wrong("a list of true and false")
        return self.values()

    def whole_numbers(
        self, length: int | None = None, *, least: int = 0, most: int = 2**31 - 1
    ) -> list[int]:
        """A list of integers within bounds, both included."""
        values = self.values(length)
        fits = {*map(type, values)} <= {int}
        if not fits or (values and not least <= min(values) <= max(values) <= most):
            raise self.wrong(f"a list of whole numbers from {least} to {most}")
        return values
