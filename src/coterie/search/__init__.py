"""A question goes in, a partition and its trace come out."""

from coterie.search._best import SAME, best
from coterie.search._in_order import forward, restart
from coterie.search._question import NO_LIMITS, Limits, Question, outcome

__all__ = ["NO_LIMITS", "SAME", "Limits", "Question", "best", "forward", "outcome", "restart"]
