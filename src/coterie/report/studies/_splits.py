"""Samples with targets and weights, and their split into training and test rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length

from coterie._core.values import IntArray, is_sparse
from coterie._data.preparation import TablePreparer, prepared_if_odd
from coterie._data.training import checked_weights, is_transformer, rows_at_hand


@dataclass(frozen=True, eq=False)
class Samples:
    """Features, targets and weights of the same rows."""

    X: Any
    y: Any
    weights: Any = None

    @classmethod
    def from_arrays(cls, X: Any, y: Any, weights: Any) -> Samples:
        """Validate what a user passed."""
        X = rows_at_hand(X, "Some rows are held out")
        X = X if hasattr(X, "shape") else np.asarray(X)
        if is_sparse(X) or len(X.shape) != 2:
            kind = "a sparse array" if is_sparse(X) else f"shape {X.shape}"
            raise ValueError(f"X must be a dense table of rows and columns, got {kind}.")
        check_consistent_length(X, y)
        return cls(X, np.asarray(y), checked_weights(weights, X.shape[0]))

    @classmethod
    def from_any_table(
        cls, X: Any, y: Any, weights: Any, estimator: Any
    ) -> tuple[Samples, TablePreparer | None]:
        """As `from_arrays`, with text and dates of a frame as numbers, and what prepared them.

        An estimator whose `inputs` is a transformer gets the columns as they are.
        """
        takes_any = is_transformer(getattr(estimator, "inputs", None))
        X, preparer = (X, None) if takes_any else prepared_if_odd(X, y)
        return cls.from_arrays(X, y, weights), preparer

    def with_text_classes(self) -> Samples:
        """The same samples with the target as text, which models treat as classes."""
        return replace(self, y=self.y.astype(str))

    def with_float_target(self) -> Samples:
        """The same samples with an integer target as floats, which are not treated as classes."""
        return replace(self, y=self.y.astype(np.float64)) if self.y.dtype.kind in "biu" else self

    def take(self, rows: IntArray) -> Samples:
        """The samples at these indices."""
        weights = None if self.weights is None else self.weights[rows]
        return Samples(_safe_indexing(self.X, rows), self.y[rows], weights)

    def __len__(self) -> int:
        return len(self.y)


def train_test_rows(
    y: Any, share: float, *, classes: bool, last: bool, seed: int
) -> tuple[IntArray, IntArray]:
    """Indices of training rows and test rows.

    Parameters
    ----------
    share : float
        Share of the test rows.
    classes : bool
        Whether to stratify by class, if possible.
    last : bool
        Whether the test rows are the last ones instead of a random choice.
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    if last:
        first = len(y) - max(1, round(share * len(y)))
        return rows[:first], rows[first:]
    labels = y if classes and _can_stratify(y, share) else None
    train, test = train_test_split(rows, test_size=share, random_state=seed, stratify=labels)
    return np.sort(train), np.sort(test)


def _can_stratify(y: Any, share: float) -> bool:
    """Whether the split can be stratified: enough rows of each class and in each part."""
    if np.ndim(y) > 1:
        return False
    counts = np.unique(y, return_counts=True)[1]
    smaller = min(share, 1 - share) * len(y)
    return bool(counts.min() >= 2 and smaller >= len(counts))


def make_folds(
    y: Any, n_folds: int, *, classes: bool, by_time: bool, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Indices of training and test rows of each fold; each row is tested once.

    With `by_time`, training rows come before test rows, and the first rows are never tested.
    """
    from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit

    rows = np.zeros((len(y), 1))
    if by_time:
        return list(TimeSeriesSplit(n_folds).split(rows))
    enough = classes and np.ndim(y) == 1 and np.unique(y, return_counts=True)[1].min() >= n_folds
    splitter = StratifiedKFold if enough else KFold
    return list(
        splitter(n_folds, shuffle=True, random_state=seed).split(rows, y if enough else None)
    )
