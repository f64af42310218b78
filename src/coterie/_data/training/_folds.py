"""Cross-validation of prices: training and held-out rows, from a scikit-learn `cv`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.moments import Moments
from coterie._data.training._rows import Rows
from coterie._data.training._targets import Targets, numbered

Splits = list[tuple[IntArray, IntArray]]


# Advice for reducers that can do without folds.
IN_SAMPLE = ", or cv=None to score in-sample"


def splits_of_rows(
    cv: Any, X: Any, y: Any, targets: Targets, rows: Rows, *, needs_folds: bool = True
) -> Splits:
    """The splits on which prices are scored; `needs_folds` says that cv=None is no way out."""
    has_labels = targets.classes is not None and np.ndim(y) == 1
    splitter = checked_cv(cv, numbered(np.asarray(y))[0] if has_labels else None)
    if rows.kept is not None and refers_to_rows(cv):
        splits = renumbered(splitter.split(np.empty(rows.n_given)), rows.kept, rows.n_given)
    else:
        splits = splitter.split(X, y, rows.groups)
    return checked_splits(splits, targets.values, needs_folds=needs_folds)


def _is_count(cv: Any) -> bool:
    return isinstance(cv, Integral) and not isinstance(cv, bool)


def folds_in_moments(
    cv: Any, moments: Moments, *, is_default: bool, needs_folds: bool
) -> int | None:
    """Number of folds of the moments to score prices on; None: score on all rows.

    If `cv` was left at its default (`is_default`), any number of folds is accepted. `needs_folds`
    says that cv=None is no way out.
    """
    n_folds = moments.n_folds
    if needs_folds and n_folds < 2:
        raise ValueError(
            f"Groups are scored on held-out rows, of 2 folds or more, and the moments have "
            f"{n_folds}: compute them by moments_from(X, y, cv=5), or give update the fold of each "
            "row."
        )
    if cv is None:
        return None
    if is_default:
        cv = n_folds
    if not _is_count(cv):
        raise ValueError(
            f"cv must be None, 'auto' or the number of folds of the moments, {n_folds}, got "
            f"{cv!r}: rows cannot be split once they are counted."
        )
    if n_folds < 2 or cv != n_folds:
        wanted = "2 folds or more" if is_default else f"{cv} folds"
        raise ValueError(
            f"Prices are scored on {wanted}, and the moments have {n_folds}: give update the "
            "fold of each row, or set cv=None to score in-sample."
        )
    return n_folds


def check_scorable(parts: Sequence[Any], *, needs_folds: bool) -> None:
    """Raise if a target is constant within each fold of the moments."""
    d = parts[0].n_features
    if not np.any([part.own[d:] > 0 for part in parts], axis=0).all():
        raise ValueError(
            f"R2 cannot be scored: y is constant within each of the {len(parts)} folds of the "
            f"moments. Use fewer or shuffled folds{'' if needs_folds else IN_SAMPLE}."
        )


def n_contiguous_folds(cv: Any) -> int | None:
    """Number of contiguous folds to score prices on, if rows are not in memory."""
    if cv is None:
        return None
    if not _is_count(cv) or int(cv) < 2:
        raise ValueError(
            f"Rows that are not in memory are cut into contiguous folds: cv must be None or a "
            f"number of 2 or more, got {cv!r}. Other folds can be given to moments_from."
        )
    return int(cv)


def fold_of_each(cv: Any, n_rows: int) -> IntArray | None:
    """The fold of each row of a batch in partial_fit; None without folds."""
    if cv is None:
        return None
    if _is_count(cv) and int(cv) > max(n_rows, 1):
        raise ValueError(
            f"partial_fit cuts each batch into folds, cv={cv}, and this batch has n_samples = "
            f"{n_rows}: give batches of more rows, or a smaller cv."
        )
    if not _is_count(cv) or int(cv) < 2:
        raise ValueError(
            f"partial_fit cuts each batch into folds: cv must be None or a number of 2 or more, "
            f"got {cv!r}."
        )
    # Contiguous folds; the first ones may have one more row, as in KFold.
    cut = np.array_split(np.arange(n_rows), int(cv))
    return np.repeat(np.arange(int(cv)), [len(fold) for fold in cut])


def checked_cv(cv: Any, labels: Any = None) -> Any:
    """A splitter, from any `cv` that scikit-learn accepts; stratified for an int with labels."""
    if isinstance(cv, type):
        raise TypeError(f"cv must be an instance, got a class: write {cv.__name__}().")
    if isinstance(cv, list | tuple):
        for split in cv:
            if not isinstance(split, tuple | list) or len(split) != 2:
                raise ValueError(f"cv must give pairs of (train, test) rows, got {split!r}.")
    # Imported late: this imports much of scikit-learn.
    from sklearn.model_selection import check_cv

    return check_cv(cv, labels, classifier=labels is not None)


def refers_to_rows(cv: Any) -> bool:
    """Whether a cv consists of fixed row numbers, and not of a rule."""
    if isinstance(cv, Integral):
        return False
    holds_rows = hasattr(cv, "test_fold") or isinstance(getattr(cv, "cv", None), list)
    return holds_rows or not hasattr(cv, "split")


def renumbered(
    splits: Iterable[tuple[Any, Any]], kept: IntArray, n_given: int
) -> Iterable[tuple[IntArray, IntArray]]:
    """Splits of all rows, renumbered as splits of the rows that are kept."""
    number = np.full(n_given, -1)
    number[kept] = np.arange(len(kept))
    for split in splits:
        train, test = (number[_checked_rows(side, n_given)] for side in split)
        yield train[train >= 0], test[test >= 0]


def checked_splits(
    splits: Iterable[tuple[Any, Any]], targets: FloatArray, *, needs_folds: bool
) -> list[tuple[IntArray, IntArray]]:
    """The splits as (train, test) row numbers, checked so that R2 can be scored."""
    n = len(targets)
    checked = [(_checked_rows(train, n), _checked_rows(test, n)) for train, test in splits]
    if not checked:
        raise ValueError("cv must give at least one pair of (train, test) rows, got none.")
    if not np.any([np.ptp(targets[test], axis=0) > 0 for _, test in checked], axis=0).all():
        raise ValueError(
            f"R2 cannot be scored: y is constant within each of the {len(checked)} test folds of "
            f"cv. Use fewer or shuffled folds{'' if needs_folds else IN_SAMPLE}."
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
