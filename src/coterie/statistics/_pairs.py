"""Second moments of a group, a candidate, their merger and the target."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from coterie.values import FloatArray, IntArray

# What is left of a scatter after subtracting nearly all of it is rounding.
ROUNDING = 1e-13


class PairMoments(NamedTuple):
    """Means and scatters of u (the group), v (a candidate), w (both merged) and y.

    Every field broadcasts to shape (sets..., n_candidates). All columns are on a
    standardised scale of their own, so only ratios of moments mean something.
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

    def alone(self, feature: int) -> State:
        """The group of one feature."""

    def joined(self, group: State, feature: int) -> State:
        """The group with one feature more."""

    def pairs(self, group: State, candidates: IntArray) -> PairMoments:
        """Moments of the group with each candidate, from the rows of each set."""


def without_rounding(scatter: FloatArray, magnitude: FloatArray) -> FloatArray:
    """The scatter, and 0 where it is no more than rounding beside a magnitude."""
    return np.where(scatter > ROUNDING * magnitude, scatter, 0.0)
