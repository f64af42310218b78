"""Inputs for heavy tails: columns clipped or as percentiles, where held-out rows say it pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._core.joint._penalty import cautious_penalty
from coterie._core.values import FloatArray, IntArray

# Values further from the mean are clipped, in standard deviations.
CLIP_AT = 3.0
# Other inputs are judged on at most so many rows, columns and numbers in all: whether tails are
# heavy shows on a sample.
MAX_JUDGED_ROWS, MAX_JUDGED_COLUMNS, MAX_JUDGED = 4_000, 2_000, 400_000
# How many standard errors better the prediction must be for other inputs to be taken.
SURE = 2.0


@dataclass(frozen=True, eq=False)
class Clipped:
    """Columns with values beyond some bounds moved to the bounds.

    Parameters
    ----------
    low, high : ndarray of shape (n_features,)
    """

    low: FloatArray
    high: FloatArray
    __name__ = "clip"

    @classmethod
    def of(cls, columns: FloatArray, weights: FloatArray | None = None) -> Clipped:
        """Bounds at three standard deviations from the mean, of the values that are there."""
        has = ~np.isnan(columns)
        counts = has if weights is None else has * weights[:, None]
        total = np.maximum(counts.sum(axis=0), np.finfo(float).tiny)
        known = np.where(has, columns, 0.0)
        centre = (counts * (known / total)).sum(axis=0)
        apart = np.where(has, columns - centre, 0.0)
        unit = np.maximum(np.abs(apart).max(axis=0), np.finfo(float).tiny)
        share = np.sqrt((counts * np.square(apart / unit)).sum(axis=0) / total)
        reach = CLIP_AT * (unit * share)
        return cls(centre - reach, centre + reach)

    @classmethod
    def among(cls, columns: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """The columns clipped by their own bounds."""
        return cls.of(columns, weights)(columns)

    def __call__(self, columns: Any) -> FloatArray:
        """The clipped columns."""
        columns = np.asarray(columns)
        return np.clip(columns, self.low, self.high).astype(columns.dtype, copy=False)

    def inverse_transform(self, columns: FloatArray) -> FloatArray:
        """The columns as they are: what was beyond the bounds is lost."""
        return columns


@dataclass(frozen=True, eq=False)
class Percentiles:
    """Columns as the share of training values that are smaller, ties counted half.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        The sorted training values; missing ones last.
    shares : ndarray of shape (n_samples + 1, n_features)
        The share of the training rows before each value, by weight; 1 from the last value on.
    """

    values: FloatArray
    shares: FloatArray
    __name__ = "rank"

    @classmethod
    def of(cls, columns: FloatArray, weights: FloatArray | None = None) -> Percentiles:
        """Percentiles among these columns."""
        return cls._sorted(columns, weights)[0]

    @classmethod
    def _sorted(
        cls, columns: FloatArray, weights: FloatArray | None
    ) -> tuple[Percentiles, IntArray]:
        """The percentiles, and the rows of each column in order of its values."""
        order = np.argsort(columns, axis=0)
        values = np.take_along_axis(columns, order, axis=0)
        counts = np.ones(columns.shape) if weights is None else weights[order]
        counts = np.where(np.isnan(values), 0.0, counts)
        below = np.vstack([np.zeros(columns.shape[1]), counts.cumsum(axis=0)])
        return cls(values, below / np.maximum(below[-1], np.finfo(float).tiny)), order

    @classmethod
    def among(cls, columns: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """The percentiles of the columns among themselves, all columns at once."""
        own, order = cls._sorted(columns, weights)
        n, place = len(columns), np.arange(len(columns))[:, None]
        differs = own.values[1:] != own.values[:-1]
        edge = np.ones((1, columns.shape[1]), dtype=bool)
        # Ties are a stretch from `low` up to, not including, `high`.
        low = np.where(np.vstack([edge, differs]), place, 0)
        low = np.maximum.accumulate(low, axis=0)
        high = np.where(np.vstack([differs, edge]), place + 1, n)
        high = np.minimum.accumulate(high[::-1], axis=0)[::-1]
        share = np.take_along_axis(own.shares, low, 0) + np.take_along_axis(own.shares, high, 0)
        made = np.empty(columns.shape)
        share = np.where(np.isnan(own.values), np.nan, share / 2)
        np.put_along_axis(made, order, share, axis=0)
        return made

    def __call__(self, columns: Any) -> FloatArray:
        """The percentiles, from 0 to 1; missing values stay missing."""
        columns = np.asarray(columns)
        made = np.empty(columns.shape, dtype=columns.dtype)
        for place, value in enumerate(columns.T.astype(np.float64)):
            known, share = self.values[:, place], self.shares[:, place]
            low, high = (np.searchsorted(known, value, side) for side in ("left", "right"))
            made[:, place] = np.where(np.isnan(value), np.nan, (share[low] + share[high]) / 2)
        return made

    def inverse_transform(self, columns: FloatArray) -> FloatArray:
        """The training value at each percentile."""
        middle = (self.shares[1:] + self.shares[:-1]) / 2
        made = np.empty(columns.shape)
        for place, share in enumerate(np.asarray(columns).T):
            known = ~np.isnan(self.values[:, place])
            made[:, place] = np.interp(share, middle[known, place], self.values[known, place])
        return made


INPUTS: dict[str, type[Clipped] | type[Percentiles]] = {"clip": Clipped, "rank": Percentiles}


def max_judged_columns(n_rows: int) -> int:
    """How many columns of so many rows are enough to judge other inputs."""
    return min(MAX_JUDGED_COLUMNS, max(1, MAX_JUDGED // n_rows))


def inputs_that_pay(
    columns: FloatArray, targets: FloatArray, weights: FloatArray | None = None
) -> type[Clipped] | type[Percentiles] | None:
    """Clipped columns or percentiles, if a ridge regression predicts better by a standard error.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
    targets : ndarray of shape (n_samples, n_targets)
        Standardised.
    weights : ndarray of shape (n_samples,) or None

    Returns
    -------
    Clipped or Percentiles; None to take the columns as they are.
    """
    counts = np.ones(len(columns)) if weights is None else weights
    error = leave_one_out(columns, targets, counts)
    chosen: type[Clipped] | type[Percentiles] | None = None
    for kind in INPUTS.values():
        other = leave_one_out(kind.among(columns, weights), targets, counts)
        gain, n = error - other, counts.sum()
        mean = counts @ gain / n
        if mean > SURE * np.sqrt(counts @ np.square(gain - mean) / n / max(n - 1, 1)):
            error, chosen = other, kind
    return chosen


def leave_one_out(columns: FloatArray, targets: FloatArray, counts: FloatArray) -> FloatArray:
    """Squared error of each row, predicted by a ridge regression on all other rows.

    The error of a row left out is its residual divided by 1
    minus its leverage. Of a row that counts several times, one is left out.
    """
    n, roots = float(counts.sum()), np.sqrt(counts)[:, None]
    centred = standard(columns, counts) * roots
    wanted = (targets - counts @ targets / n) * roots
    values, vectors = _directions(centred)
    along = vectors.T @ wanted
    penalty = n * cautious_penalty(
        values,
        np.sqrt(values)[:, None] * along,
        np.square(wanted).sum(axis=0),
        n,
        columns.shape[1],
    )
    kept = values / (values + penalty)
    left = np.maximum(1 - np.square(vectors) @ kept / counts - 1 / n, 1e-12)[:, None]
    residual = (wanted - vectors @ (kept[:, None] * along)) / roots / left
    return np.asarray(np.square(residual).mean(axis=1))


def _directions(centred: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Squared singular values, and the left singular vectors, of shape (n_samples, n)."""
    n, d = centred.shape
    if n <= d:
        values, vectors = np.linalg.eigh(centred @ centred.T)
        return np.maximum(values, 0.0), vectors
    values, right = np.linalg.eigh(centred.T @ centred)
    varies = values > 1e-12 * max(float(values.max()), 1e-300)
    values, right = values[varies], right[:, varies]
    return values, (centred @ right) / np.sqrt(values)


def standard(columns: FloatArray, counts: FloatArray) -> FloatArray:
    """Standardised columns; constant ones become 0, and so do missing values (the mean)."""
    has = ~np.isnan(columns)
    # In units of the largest value, so that squares of huge or tiny numbers are numbers.
    unit = np.abs(np.where(has, columns, 0.0)).max(axis=0)
    columns = columns / np.where(unit > 0, unit, 1.0)
    if has.all():
        centre = counts @ columns / counts.sum()
        centred = columns - centre
        spread = np.sqrt(counts @ np.square(centred) / counts.sum())
    else:
        seen = counts @ has
        centre = counts @ np.where(has, columns, 0.0) / np.maximum(seen, 1e-300)
        centred = np.where(has, columns - centre, 0.0)
        spread = np.sqrt(counts @ np.square(centred) / np.maximum(seen, 1e-300))
    return centred / np.where(spread > 0, spread, np.inf)
