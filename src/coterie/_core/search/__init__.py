"""A question goes in, a partition and its trace come out."""

from coterie._core.search._best import SAME, best
from coterie._core.search._in_order import forward, restart
from coterie._core.search._question import ALONE, NO_LIMITS, Limits, Question, Reach, outcome

__all__ = [
    "ALONE",
    "NO_LIMITS",
    "SAME",
    "Limits",
    "Question",
    "Reach",
    "best",
    "forward",
    "outcome",
    "restart",
]
