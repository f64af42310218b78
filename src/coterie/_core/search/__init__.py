"""Searches: from a question and limits to a partition and its trace."""

from coterie._core.search._best import SAME_PRICE, best
from coterie._core.search._in_order import forward, outcome, restart
from coterie._core.search._question import (
    ALONE,
    NO_LIMITS,
    Limits,
    Question,
    Reach,
    Search,
)

__all__ = [
    "ALONE",
    "NO_LIMITS",
    "SAME_PRICE",
    "SEARCHES",
    "Limits",
    "Question",
    "Reach",
    "Search",
    "best",
    "forward",
    "outcome",
    "restart",
]

# By the names that users give.
SEARCHES = {
    "forward": Search("forward", forward),
    "restart": Search("restart", restart),
    "best": Search("best", best, ignores_order=True),
}
