"""Columns of a group, its candidates, their merged aggregates and the target, row by row."""

from __future__ import annotations

from typing import NamedTuple

from coterie._core.values import FloatArray


class PairColumns(NamedTuple):
    """Values of u (the group), v (m candidates), w (the group merged with each) and y.

    For criteria that need more than moments. The columns of u, v and w have mean 0 and spread 1
    over the rows that have a value. Missing values are 0, and a constant column is 0 everywhere.
    """

    u: FloatArray  # (n_samples, 1)
    v: FloatArray  # (n_samples, m)
    w: FloatArray  # (n_samples, m)
    y: FloatArray  # (n_samples, 1), in its own units
    weights: FloatArray  # (n_samples, 1) or (n_samples, m): weight of each row
    offset: FloatArray  # (n_samples, 1), known part of the linear predictor
