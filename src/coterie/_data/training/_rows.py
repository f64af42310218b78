"""Arguments of fit about the rows: weights, groups, offset and exposure."""

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
    """The arguments of fit besides X and y; each is None or of shape (n_samples,)."""

    sample_weight: Any = None
    groups: Any = None
    offset: Any = None
    exposure: Any = None


class Rows(NamedTuple):
    """The rows of nonzero weight: their numbers, weights, groups and offset."""

    n_given: int = 0
    kept: IntArray | None = None  # None: all rows
    weights: FloatArray | None = None
    groups: Any = None
    offset: FloatArray | None = None

    def of(self, table: Any) -> Any:
        """The rows of a table that have nonzero weight."""
        if self.kept is None or table is None:
            return table
        if isinstance(table, OnDevice):
            return table[self.kept]
        return _safe_indexing(table if hasattr(table, "shape") else np.asarray(table), self.kept)


# The smallest number of rows to test a merge on with missing values. With fewer than twice as many
# rows in all, half of the rows.
MIN_ROWS = 30
# One more than the degrees of freedom of two inputs and an intercept.
MIN_ROWS_PER_SET = 4


def enough_rows(rows: RowSets, n_samples: int) -> FloatArray:
    """The smallest number of complete rows in each set to test a merge on, (sets..., 1, 1).

    A set of rows needs the same share as all rows, and enough rows to estimate noise.
    """
    counts = rows.counts(n_samples)
    share = min(MIN_ROWS / counts.sum(), 0.5)
    return np.maximum(share * rows.total(counts), MIN_ROWS_PER_SET)[..., None]


def checked_rows(given: Given, X: Any, y: Any) -> Rows:
    """The rows without those of weight 0, with checked weights, groups and offset."""
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
    # Weights that are all 1 are dropped.
    if weights is not None and (weights == 1).all():
        weights = None
    return rows._replace(weights=weights, offset=_checked_offset(given, rows))


def _checked_numbers(
    name: str, values: Any, n_samples: int, rows: Rows | None = None
) -> FloatArray:
    """One finite number per row; only for the kept rows, if `rows` is given."""
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
    """Relative weights, rescaled so that they sum to the number of rows.

    Reducers treat ``sample_weight`` as counts: multiplying all weights by 1,000 means 1,000 times
    as many rows, and more evidence against each merge. Relative weights, such as shares of a
    population or precisions, have no such scale. This function gives them one.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
        Weights of 0 or more.
    total : {"rows", "effective"}, default="rows"
        The sum of the result. "rows": the number of rows of nonzero weight. "effective": the
        effective sample size, ``(sum of w)^2 / sum of w^2``, which is smaller for unequal weights.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from coterie import normalised_weights
    >>> normalised_weights([1000, 2000, 0, 3000]).tolist()
    [0.5, 1.0, 0.0, 1.5]
    >>> float(normalised_weights([1, 1, 1, 5], total="effective").sum().round(2))
    2.29
    """
    if total not in ("rows", "effective"):
        raise ValueError(f"total must be one of 'rows', 'effective', got {total!r}.")
    if sample_weight is None:
        raise TypeError("sample_weight must list numbers, got None.")
    weights = checked_weights(sample_weight, len(np.asarray(sample_weight)))
    assert weights is not None
    # Divide first, so that the squares do not overflow.
    shares = weights / weights.sum()
    wanted = np.count_nonzero(shares) if total == "rows" else 1 / np.square(shares).sum()
    return shares * wanted


def checked_weights(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """Checked weights of the rows; None if all rows count once."""
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


def checked_offset(n_samples: int, *, offset: Any = None, exposure: Any = None) -> Any:
    """The checked offset, or the log of the exposure; None without either."""
    return _checked_offset(Given(offset=offset, exposure=exposure), Rows(n_samples))


def _checked_offset(given: Given, rows: Rows) -> FloatArray | None:
    """The offset, or the log of the exposure, of the rows of nonzero weight."""
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
