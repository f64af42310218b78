"""Rows of the fit and held-out rows, from whatever scikit-learn takes for a cv."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray


def checked_cv(cv: Any, labels: Any = None) -> Any:
    """A splitter, from whatever scikit-learn takes for one; for labels, a number means strata."""
    if isinstance(cv, type):
        raise TypeError(f"cv must be an instance, got a class: write {cv.__name__}().")
    if isinstance(cv, list | tuple):
        for split in cv:
            if not isinstance(split, tuple | list) or len(split) != 2:
                raise ValueError(f"cv must give pairs of (train, test) rows, got {split!r}.")
    # Imported late: it brings in a good part of scikit-learn.
    from sklearn.model_selection import check_cv

    return check_cv(cv, labels, classifier=labels is not None)


def refers_to_rows(cv: Any) -> bool:
    """Whether a cv names rows by their numbers, and not by a rule."""
    if isinstance(cv, Integral):
        return False
    holds_rows = hasattr(cv, "test_fold") or isinstance(getattr(cv, "cv", None), list)
    return holds_rows or not hasattr(cv, "split")


def renumbered(
    splits: Iterable[tuple[Any, Any]], kept: IntArray, n_given: int
) -> Iterable[tuple[IntArray, IntArray]]:
    """Splits of all rows given as splits of those that are kept."""
    number = np.full(n_given, -1)
    number[kept] = np.arange(len(kept))
    for split in splits:
        train, test = (number[_checked_rows(side, n_given)] for side in split)
        yield train[train >= 0], test[test >= 0]


def checked_splits(
    splits: Iterable[tuple[Any, Any]], targets: FloatArray
) -> list[tuple[IntArray, IntArray]]:
    """Pairs of training and held-out rows on which R2 can be scored."""
    n = len(targets)
    checked = [(_checked_rows(train, n), _checked_rows(test, n)) for train, test in splits]
    if not checked:
        raise ValueError("cv must give at least one pair of (train, test) rows, got none.")
    if not np.any([np.ptp(targets[test], axis=0) > 0 for _, test in checked], axis=0).all():
        raise ValueError(
            f"R2 cannot be scored: y is constant within each of the {len(checked)} test folds of "
            "cv. Use fewer or shuffled folds, or cv=None to score in-sample."
        )
    return checked


def _checked_rows(rows: Any, n_samples: int) -> IntArray:
    rows = np.asarray(rows)
    if rows.ndim != 1 or len(rows) == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(
            f"cv must give non-empty lists of row numbers, got {rows.dtype} of shape {rows.shape}."
        )
    if rows.min() < 0 or rows.max() >= n_samples:
        raise ValueError(
            f"cv gives row {rows.max() if rows.min() >= 0 else rows.min()}, but X has rows 0 to "
            f"{n_samples - 1}."
        )
    return rows.astype(np.intp)
