"""Text that is safe on a terminal."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    r"""Text without what would move the cursor or turn the line round.

    Examples
    --------
    >>> printable("a\x1b[2Jb\nc")
    'a?[2Jb?c'
    """
    return "".join(letter if _is_harmless(letter) else "?" for letter in text)


def _is_harmless(letter: str) -> bool:
    # Python calls no space but the common one printable.
    return letter.isprintable() or unicodedata.category(letter) == "Zs"
