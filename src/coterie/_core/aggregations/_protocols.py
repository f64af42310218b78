"""Protocols of additive and of linear aggregations."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from coterie._core.values import FloatArray, IntArray


@runtime_checkable
class Additive(Protocol):
    """Aggregation that is proportional to the sum of one contribution per column."""

    def contribution(self, columns: FloatArray) -> FloatArray:
        """Contribution of each column to the sum."""


class Weights(NamedTuple):
    """Weights of the aggregate ``(columns - centre) @ weights``; both have shape (m,)."""

    centre: FloatArray
    weights: FloatArray


@runtime_checkable
class Linear(Protocol):
    """Aggregation that is a weighted sum of the columns."""

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        """Weights of some columns, learned from training rows where necessary."""
