"""What is known about the rows: how often each counts, which belong together, what is given."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from coterie._core.devices import OnDevice
from coterie._core.evidence import RowSets
from coterie._core.values import FloatArray, IntArray
from coterie._data.validation import counted


class Given(NamedTuple):
    """What fit may be told beside X and y: each None or of shape (n_samples,)."""

    sample_weight: Any = None
    groups: Any = None
    offset: Any = None
    exposure: Any = None


class Rows(NamedTuple):
    """The rows that count: which of those given, how often, in which groups, from what offset."""

    n_given: int = 0
    kept: IntArray | None = None  # None for all of them
    weights: FloatArray | None = None
    groups: Any = None
    offset: FloatArray | None = None

    def of(self, table: Any) -> Any:
        """The rows of a table that count."""
        if self.kept is None or table is None:
            return table
        if isinstance(table, OnDevice):
            return table[self.kept]
        return _safe_indexing(table if hasattr(table, "shape") else np.asarray(table), self.kept)


# Rows that a question must be asked of at least, or half of them where there are fewer than twice
# as many.
MIN_ROWS = 30
# Degrees of freedom that two inputs and an intercept take, and one more.
MIN_ROWS_PER_SET = 4


def enough_rows(rows: RowSets, n_samples: int) -> FloatArray:
    """How many rows of each set must have both the group and the candidate, (sets..., 1, 1).

    A set of some of the rows needs as large a part of them, and more than noise is estimated with.
    """
    counts = rows.counts(n_samples)
    share = min(MIN_ROWS / counts.sum(), 0.5)
    return np.maximum(share * rows.total(counts), MIN_ROWS_PER_SET)[..., None]


def checked_rows(given: Given, X: Any, y: Any) -> Rows:
    """The rows that count, those of weight 0 left out."""
    if all(one is None for one in given):
        return Rows()
    if y is not None:
        check_consistent_length(X, y, given.groups)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))
    weights = checked_weights(given.sample_weight, n_samples)
    rows = Rows(n_samples, groups=given.groups)
    if weights is not None and (weights == 0).any():
        rows = Rows(n_samples, np.flatnonzero(weights))
        groups = given.groups if given.groups is None else np.asarray(given.groups)
        weights, rows = rows.of(weights), rows._replace(groups=rows.of(groups))
    # Rows that count once each need no weights.
    if weights is not None and (weights == 1).all():
        weights = None
    return rows._replace(weights=weights, offset=_checked_offset(given, rows))


def _checked_numbers(
    name: str, values: Any, n_samples: int, rows: Rows | None = None
) -> FloatArray:
    """One number per row, none of them missing; of some rows, if these are given."""
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "biufO":
        raise ValueError(f"{name} must hold numbers, got an array of {numbers.dtype}.")
    numbers = numbers.astype(np.float64)
    if numbers.shape != (n_samples,):
        raise ValueError(f"{name} must have shape ({n_samples},), got {numbers.shape}.")
    numbers = numbers if rows is None else rows.of(numbers)
    if not np.isfinite(numbers).all():
        bad = np.flatnonzero(~np.isfinite(numbers)).tolist()
        raise ValueError(f"{name} has NaN or infinity in {counted('row', bad)}.")
    return numbers


def normalised_weights(
    sample_weight: Any, total: Literal["rows", "effective"] = "rows"
) -> FloatArray:
    """Weights that only compare rows, as weights that count rows.

    Reducers take ``sample_weight`` as counts: 1,000 times the weights are 1,000 times the rows,
    with that much more evidence against each merge. Weights that say only how rows compare (shares
    of a population, precisions) have no such scale; this gives them one.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
        0 or more.
    total : {"rows", "effective"}, default="rows"
        What they shall sum to: the number of rows whose weight is not 0; or the number of rows of
        equal weights that tell as much, ``(sum of w)^2 / sum of w^2``, which is less where weights
        are unequal.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from coterie import normalised_weights
    >>> normalised_weights([1000, 2000, 0, 3000]).tolist()
    [0.5, 1.0, 0.0, 1.5]
    >>> normalised_weights([1, 1, 1, 5], total="effective").sum().round(2)
    np.float64(2.29)
    """
    if total not in ("rows", "effective"):
        raise ValueError(f"total must be one of 'rows', 'effective', got {total!r}.")
    if sample_weight is None:
        raise TypeError("sample_weight must list numbers, got None.")
    weights = checked_weights(sample_weight, len(np.asarray(sample_weight)))
    assert weights is not None
    # Divided first, so that squares stay within the floats.
    shares = weights / weights.sum()
    wanted = np.count_nonzero(shares) if total == "rows" else 1 / np.square(shares).sum()
    return shares * wanted


def checked_weights(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """How often each row counts; None for once."""
    if sample_weight is None:
        return None
    weights = _checked_numbers("sample_weight", sample_weight, n_samples)
    if weights.min() < 0:
        bad = np.flatnonzero(weights < 0).tolist()
        raise ValueError(
            f"sample_weight must be 0 or more, got {weights.min():g} in {counted('row', bad)}."
        )
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            "sample_weight is zero in all rows but "
            f"{np.count_nonzero(weights)}; there must be 2 or more that count."
        )
    return weights


def _checked_offset(given: Given, rows: Rows) -> FloatArray | None:
    """The known part of the linear predictor, or the log of an exposure, of rows that count."""
    if given.exposure is None:
        if given.offset is None:
            return None
        return _checked_numbers("offset", given.offset, rows.n_given, rows)
    if given.offset is not None:
        raise ValueError("Give offset or exposure, not both: an exposure is an offset of its log.")
    exposure = _checked_numbers("exposure", given.exposure, rows.n_given, rows)
    if exposure.min() <= 0:
        raise ValueError(f"exposure must be more than 0, got {exposure.min():g}.")
    return np.log(exposure)
