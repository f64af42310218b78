"""What stands somewhere in a document, to be asked what kind of thing it is."""

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
# Enough of a text to recognise it by.
MAX_QUOTED_LENGTH = 40


class UnreadableError(ValueError):
    """Why a file cannot be read, to be said together with its name."""


@dataclass(frozen=True)
class Entry:
    """A value in a document, and where it stands.

    Every question gives what it asks for, or raises UnreadableError with the place and the reason.

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
        """The error that says what was expected here, and what came."""
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
        """The place, for a sentence."""
        return f"'{self.place}'" if self.place else "it"

    @property
    def is_null(self) -> bool:
        """Whether there is nothing here."""
        return self.value is None

    @property
    def is_object(self) -> bool:
        """Whether this has keys."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether this has items."""
        return isinstance(self.value, list)

    def __getitem__(self, key: str) -> Entry:
        found = self.get(key)
        if found is None:
            raise UnreadableError(f"{self._below(key)!r} is missing")
        return found

    def get(self, key: str) -> Entry | None:
        """What stands under a key, or None where there is no such key."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return Entry(self.value[key], self._below(key)) if key in self.value else None

    def _below(self, key: str) -> str:
        shown = key if len(key) <= MAX_QUOTED_LENGTH else f"{key[:MAX_QUOTED_LENGTH]}..."
        return f"{self.place}.{shown}" if self.place else shown

    def names(self, known: Iterable[str] | None = None) -> list[str]:
        """The keys, which are all known, where some are."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        unknown = [] if known is None else sorted({*self.value} - {*known})
        if unknown:
            raise UnreadableError(f"{self._below(unknown[0])!r} is no key that is known")
        return list(self.value)

    def items(self, length: int | None = None) -> Iterator[Entry]:
        """What stands in a list of this length, one after the other."""
        values = self.values(length)
        return (Entry(value, f"{self.place}[{place}]") for place, value in enumerate(values))

    def values(self, length: int | None = None) -> list[Any]:
        """A list of this length, as it is."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        if length is not None and len(self.value) != length:
            raise UnreadableError(
                f"{self.spoken_of} must have {length} items, got {len(self.value)}"
            )
        return self.value

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return self.value

    def word(self, words: Sequence[str]) -> str:
        """One of some words."""
        if not isinstance(self.value, str) or self.value not in words:
            raise self.wrong(f"one of {', '.join(map(repr, words))}")
        return self.value

    def truth(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def whole(self, least: int, most: int) -> int:
        """A whole number within bounds, both included."""
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
        """A list of texts."""
        if not {*map(type, self.values(length))} <= {str}:
            raise self.wrong("a list of texts")
        return self.values()

    def truths(self, length: int | None = None) -> list[bool]:
        """A list of true and false."""
        if not {*map(type, self.values(length))} <= {bool}:
            raise self.wrong("a list of true and false")
        return self.values()

    def whole_numbers(
        self, length: int | None = None, *, least: int = 0, most: int = 2**31 - 1
    ) -> list[int]:
        """A list of whole numbers within bounds, both included."""
        values = self.values(length)
        fits = {*map(type, values)} <= {int}
        if not fits or (values and not least <= min(values) <= max(values) <= most):
            raise self.wrong(f"a list of whole numbers from {least} to {most}")
        return values
