"""A question goes in, a partition and its trace come out."""

from coterie.search._best import best
from coterie.search._in_order import forward, restart
from coterie.search._question import NO_LIMITS, Limits, Question

__all__ = ["NO_LIMITS", "Limits", "Question", "best", "forward", "restart"]
