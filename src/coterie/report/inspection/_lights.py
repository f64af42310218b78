"""Stability as a traffic light: a word and its colour."""

from __future__ import annotations

import math

# The words, and the least stability of each; below the last, a group is loose.
FIRM, FAIR, LOOSE = "firm", "fair", "loose"
LEAST = {FIRM: 0.75, FAIR: 0.5}


def light_word(stability: float | None) -> str:
    """The word for a stability of 0 to 1: firm, fair or loose; empty if unknown.

    Examples
    --------
    >>> [light_word(share) for share in (0.75, 0.74, 0.5, 0.49)]
    ['firm', 'fair', 'fair', 'loose']
    >>> light_word(None)
    ''
    """
    if stability is None or math.isnan(stability):
        return ""
    # As it is shown, with two digits.
    shown = round(float(stability), 2)
    return next((word for word, least in LEAST.items() if shown >= least), LOOSE)


def lights_sentence() -> str:
    """What the words mean."""
    return (
        f"A group is {FIRM} from a stability of {LEAST[FIRM]:g} on, {FAIR} from {LEAST[FAIR]:g} "
        f"on, and {LOOSE} below."
    )
