"""Text that is safe on a terminal."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    r"""Text with "?" for characters that move the cursor or change the writing direction.

    Examples
    --------
    >>> printable("a\x1b[2Jb\nc")
    'a?[2Jb?c'
    """
    return "".join(letter if _is_harmless(letter) else "?" for letter in text)


def _is_harmless(letter: str) -> bool:
    # Python counts only the ASCII space as printable.
    return letter.isprintable() or unicodedata.category(letter) == "Zs"
