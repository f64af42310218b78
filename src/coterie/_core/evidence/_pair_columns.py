"""A group, its candidates, their mergers and the target, row by row."""

from __future__ import annotations

from typing import NamedTuple

from coterie._core.values import FloatArray


class PairColumns(NamedTuple):
    """Values of u (the group), v (m candidates), w (the group merged with each) and y.

    For questions that moments cannot answer. The columns of u, v and w have mean 0 and spread
    1 over the rows that have them, and are 0 where they have none; a constant is 0 throughout.
    """

    u: FloatArray  # (n_samples, 1)
    v: FloatArray  # (n_samples, m)
    w: FloatArray  # (n_samples, m)
    y: FloatArray  # (n_samples, 1), in its own units
    weights: FloatArray  # (n_samples, 1) or (n_samples, m): how many times each row counts
    offset: FloatArray  # (n_samples, 1), a part of the linear predictor that is known
