"""Searches: from a question and limits to a partition and its trace."""

from coterie._core.search._best import SAME_PRICE, best
from coterie._core.search._in_order import forward, restart
from coterie._core.search._question import (
    ALONE,
    NO_LIMITS,
    Limits,
    Question,
    Reach,
    Search,
)
from coterie._core.search._record import Record, merges_and_watched, outcome

__all__ = [
    "ALONE",
    "NO_LIMITS",
    "SAME_PRICE",
    "SEARCHES",
    "Limits",
    "Question",
    "Reach",
    "Record",
    "Search",
    "best",
    "forward",
    "merges_and_watched",
    "outcome",
    "restart",
]

# By the names that users give.
SEARCHES = {
    "forward": Search("forward", forward),
    "restart": Search("restart", restart),
    "best": Search("best", best, ignores_order=True),
}
