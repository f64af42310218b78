"""Second moments of a group, a candidate, their merger and the target."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from coterie._core.evidence._columns import CONSTANT
from coterie._core.values import FloatArray, IntArray, where

# What is left of a scatter after subtracting nearly all of it is rounding.
ROUNDING = 1e-13
# What a constant leaves of its square, as a part of which ROUNDING would be rounding.
FROM_CONSTANTS = CONSTANT**2 / ROUNDING
# Where 1 - r^2 is no more than this, so much of what two columns do not share is rounding that
# it is no evidence: they are collinear.
COLLINEAR = 1e-11


class PairMoments(NamedTuple):
    """Means and scatters of u (the group), v (a candidate), w (both merged) and y.

    Every field broadcasts to shape (sets..., k, m), for k groups and m candidates. Columns
    are on a scale of their own, so only ratios of moments mean something.
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
# Rows of answers that are worth foreseeing, and the fewest candidates worth asking at once.
RESTARTS, BREADTH = 32, 32


class Evidence(Protocol[State]):
    """Whatever can tell of a growing group beside its candidates what a criterion must know."""

    n_features: int
    max_candidates: int  # that one answer should cover, so that memory stays bounded
    foresight: int  # how many groups one answer had better cover
    restarts: int  # the same where each group costs a row of answers
    breadth: int  # how many candidates are not worth asking about in parts
    foresees: bool  # whether one answer can cover several groups, as SumEvidence has it
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
        """The group with some features more."""

    def pairs(self, group: State, candidates: IntArray) -> Any:
        """The group with each candidate: moments, k = 1, or the columns themselves."""


def without_rounding(scatter: FloatArray, magnitude: FloatArray) -> FloatArray:
    """The scatter of a sum, and 0 where it is only rounding beside that of its parts."""
    return where(scatter > ROUNDING * magnitude, scatter, 0.0)
