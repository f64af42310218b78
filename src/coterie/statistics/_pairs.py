"""Second moments of a group, a candidate, their merger and the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from coterie.statistics._columns import CONSTANT
from coterie.values import BoolArray, FloatArray, IntArray

# What is left of a scatter after subtracting nearly all of it is rounding.
ROUNDING = 1e-13
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


class Evidence(Protocol[State]):
    """Whatever can tell the moments of a growing group beside those of its candidates."""

    n_features: int
    max_candidates: int  # that one answer should cover, so that memory stays bounded
    foresight: int  # how many groups one answer had better cover
    is_light: bool  # whether its products are too small to be worth several threads

    def alone(self, feature: int) -> State:
        """The group of one feature."""

    def joined(self, group: State, features: IntArray) -> State:
        """The group with some features more."""

    def pairs(self, group: State, candidates: IntArray) -> PairMoments:
        """Moments of the group with each candidate, k = 1."""

    def pairs_along(self, group: State, links: IntArray, candidates: IntArray) -> PairMoments:
        """Moments with each candidate, after each of k links has joined in turn."""

    def pairs_in_turn(self, group: State, links: IntArray, candidates: IntArray) -> PairMoments:
        """Moments with each candidate once the links before it have joined, k = 1."""

    def pairs_of_singles(self, features: IntArray, candidates: IntArray) -> PairMoments:
        """Moments of each of k features, alone, with each candidate."""


def where(condition: BoolArray, yes: FloatArray | float, no: FloatArray | float) -> FloatArray:
    """As np.where, with a name of our own: compiled, the formulas take single numbers."""
    return np.where(condition, yes, no)


def without_rounding(scatter: FloatArray, magnitude: FloatArray) -> FloatArray:
    """The scatter of a sum, and 0 where it is only rounding beside that of its parts."""
    return where(scatter > ROUNDING * magnitude, scatter, 0.0)


def unless_constant(scatter: FloatArray, n: FloatArray, mean: FloatArray) -> FloatArray:
    """The scatter of n values about their mean, and 0 where it is only their rounding."""
    return np.where(scatter > n * np.square(CONSTANT * mean), scatter, 0.0)


def stacked(answers: Sequence[PairMoments]) -> PairMoments:
    """Answers about one group each as one answer about all of them."""
    shape = answers[0].uv.shape
    return PairMoments(
        *(
            np.concatenate([np.broadcast_to(field, shape) for field in fields], axis=-2)
            for fields in zip(*answers, strict=True)
        )
    )
