"""Second moments of a group, a candidate, their merged aggregate and the target."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from coterie._core.evidence._columns import CONSTANT
from coterie._core.values import FloatArray, IntArray, where

# A scatter is rounding error if it is at most this share of the terms that it is a difference of.
ROUNDING = 1e-13
# Share of n * mean^2 of a column that is added to a magnitude, so that ROUNDING of it equals the
# rounding error that a constant column leaves.
FROM_CONSTANTS = CONSTANT**2 / ROUNDING
# Two columns are collinear if 1 - r^2 is at most this: the rest is mostly rounding error.
COLLINEAR = 1e-11


class PairMoments(NamedTuple):
    """Means and scatters of u (the group), v (a candidate), w (both merged) and y.

    Every field broadcasts to shape (sets..., k, m), for k groups and m candidates. Each column has
    a scale of its own, so only ratios of moments are meaningful.

    Parameters
    ----------
    n : ndarray
        The number of rows, or the sum of their weights.
    u, v, w, y : ndarray
        Means.
    uu, vv, ww, yy : ndarray
        Sums of squared deviations from the mean.
    uv, uy, vy, wy : ndarray
        Sums of products of deviations from the means.

    Examples
    --------
    The squared correlation of the group with the target, and with a candidate:

    >>> from coterie.extending import PairMoments
    >>> moments = dict.fromkeys(PairMoments._fields, 0.0)
    >>> pairs = PairMoments(**moments | {"uu": 4.0, "vv": 1.0, "yy": 9.0, "uy": 3.0, "uv": 1.0})
    >>> pairs.uy**2 / (pairs.uu * pairs.yy), pairs.uv**2 / (pairs.uu * pairs.vv)
    (0.25, 0.25)
    """

    n: FloatArray
    u: FloatArray
    v: FloatArray
    w: FloatArray
    y: FloatArray
    uu: FloatArray
    vv: FloatArray
    ww: FloatArray
    yy: FloatArray
    uv: FloatArray
    uy: FloatArray
    vy: FloatArray
    wy: FloatArray

    def split(self) -> tuple[PairMoments, PairMoments]:
        """Moments of the training rows and of the held-out rows."""
        return PairMoments(*(field[0] for field in self)), PairMoments(
            *(field[1] for field in self)
        )


State = TypeVar("State")
# Number of groups for which results are worth computing ahead, and the smallest number of
# candidates worth one call.
RESTARTS, BREADTH = 32, 32


class Evidence(Protocol[State]):
    """Interface of the evidence: it gives a criterion the moments of a group and its candidates."""

    n_features: int
    max_candidates: int  # per call, so that memory stays bounded
    foresight: int  # number of groups that one call should cover
    restarts: int  # the same, where each group costs a row of results
    breadth: int  # number of candidates not worth splitting over several calls
    foresees: bool  # whether one call can cover several groups, as in SumEvidence
    is_light: bool  # whether its products are too small to be worth several threads

    @property
    def relevance(self) -> FloatArray:
        """Squared correlation of each feature with the target; NaN for constants."""

    @property
    def spread(self) -> FloatArray:
        """Spread of each feature, of shape (n_features,)."""

    def alone(self, feature: int) -> State:
        """The group of one feature."""

    def joined(self, group: State, features: IntArray) -> State:
        """The group after some features have joined."""

    def pairs(self, group: State, candidates: IntArray) -> Any:
        """Moments of the group with each candidate (k = 1), or their columns."""


def without_rounding(scatter: FloatArray, magnitude: FloatArray) -> FloatArray:
    """Scatter of a sum; 0 where it is rounding error relative to the scatter of its parts."""
    return where(scatter > ROUNDING * magnitude, scatter, 0.0)
