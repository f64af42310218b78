"""What an aggregation can promise beyond its values."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from coterie._core.values import FloatArray, IntArray


@runtime_checkable
class Additive(Protocol):
    """Proportional to the sum of one contribution per column."""

    def contribution(self, columns: FloatArray) -> FloatArray:
        """What each column adds to the sum."""


class Weights(NamedTuple):
    """An aggregate that is ``(columns - centre) @ weights``; both have shape (m,)."""

    centre: FloatArray
    weights: FloatArray


@runtime_checkable
class Linear(Protocol):
    """A weighted sum of the columns."""

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        """The weights of some columns, learned where need be from training rows."""
