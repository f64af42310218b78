"""Samples with targets and weights, and their splits into training and test rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length

from coterie._core.values import FloatArray, IntArray, is_sparse
from coterie._data.fields import Layout, is_field, rows_first
from coterie._data.preparation import TablePreparer, prepared_if_odd
from coterie._data.training import (
    checked_offset,
    checked_weights,
    is_transformer,
    rows_at_hand,
)
from coterie.report.studies._dates import order_in_time

Rows = tuple[IntArray, IntArray]
# With fewer rows per fold, R2 or the noise cannot be estimated.
MIN_FOLD_ROWS = 4
# Sums of squares of larger numbers may overflow.
LARGEST = 1e140


@dataclass(frozen=True, eq=False)
class Samples:
    """Features, targets and what else is known about the same rows.

    Parameters
    ----------
    X : table or xarray field
        As the reducer takes it.
    table : array-like or data frame of shape (n_samples, n_features)
        The columns, as other methods take them: X itself, or the cells of a field.
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
    weights, groups, offset : ndarray of shape (n_samples,) or None
    times : ndarray of shape (n_samples,) or None
        When each row is, if rows are sorted by that.
    """

    X: Any
    table: Any
    y: Any
    weights: Any = None
    groups: Any = None
    offset: Any = None
    times: Any = None

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any,
        weights: Any = None,
        groups: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Samples:
        """Validate what a user passed."""
        X = rows_at_hand(X, "Some rows are held out")
        X, y = rows_first(X if hasattr(X, "shape") or is_field(X) else np.asarray(X), y)
        table = np.asarray(Layout.of(X, X.dims[0]).table(X)) if is_field(X) else X
        if is_sparse(table) or len(table.shape) != 2:
            kind = "a sparse array" if is_sparse(table) else f"shape {table.shape}"
            raise ValueError(f"X must be a dense table of rows and columns, got {kind}.")
        check_consistent_length(table, y, groups)
        _check_size(table)
        n_rows = table.shape[0]
        return cls(
            X,
            table,
            np.asarray(y),
            checked_weights(weights, n_rows),
            None if groups is None else np.asarray(groups),
            checked_offset(n_rows, offset=offset, exposure=exposure),
        )

    @classmethod
    def from_any_table(
        cls, X: Any, y: Any, estimator: Any, *about_rows: Any, **offsets: Any
    ) -> tuple[Samples, TablePreparer | None]:
        """As `from_arrays`, with text and dates of a frame as numbers, and what prepared them.

        An estimator whose `inputs` is a transformer gets the columns as they are.
        """
        takes_any = is_transformer(getattr(estimator, "inputs", None))
        X, preparer = (X, None) if takes_any else prepared_if_odd(X, y)
        return cls.from_arrays(X, y, *about_rows, **offsets), preparer

    def with_text_classes(self) -> Samples:
        """The same samples with the target as text, which models treat as classes."""
        return replace(self, y=self.y.astype(str))

    def with_float_target(self) -> Samples:
        """The same samples with an integer target as floats, which are not treated as classes."""
        return replace(self, y=self.y.astype(np.float64)) if self.y.dtype.kind in "biu" else self

    def take(self, rows: IntArray) -> Samples:
        """The samples at these indices."""
        X = _safe_indexing(self.X, rows)
        return replace(
            self,
            X=X,
            table=X if self.table is self.X else self.table[rows],
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            groups=None if self.groups is None else self.groups[rows],
            offset=None if self.offset is None else self.offset[rows],
            times=None if self.times is None else self.times[rows],
        )

    def in_time(self, times: Any) -> Samples:
        """The samples, sorted by the time of each row."""
        times = np.asarray(times)
        if times.shape != (len(self),):
            raise ValueError(
                f"by_time must be a time for each of {len(self)} rows, got shape {times.shape}."
            )
        timed = replace(self, times=times)
        in_order = bool((times[1:] >= times[:-1]).all())
        return timed if in_order else timed.take(order_in_time(times))

    def fit_arguments(self, reducer: Any) -> dict[str, Any]:
        """What `fit` of this reducer takes besides X and y."""
        known = signature(type(reducer).fit).parameters
        given: dict[str, Any] = {}
        if self.weights is not None:
            given["sample_weight"] = self.weights
        # Other folds would ignore groups, with a warning.
        if self.groups is not None and hasattr(getattr(reducer, "cv", None), "get_n_splits"):
            given["groups"] = self.groups
        if self.offset is not None:
            if "offset" in known:
                given["offset"] = self.offset
            elif "exposure" in known:
                given["exposure"] = np.exp(self.offset)
            else:
                raise ValueError(
                    f"{type(reducer).__name__} takes no offset or exposure: use "
                    "GenLinCFA(family='poisson')."
                )
        return given

    def __len__(self) -> int:
        return len(self.y)


class Splits(NamedTuple):
    """Training and test rows of each split, and how they were made.

    Parameters
    ----------
    rows : list of (train, test)
    text : str
        How they were made, such as "5 folds of shuffled rows, 3 times".
    """

    rows: list[Rows]
    text: str

    @property
    def test_ratio(self) -> float:
        """Number of test rows for each training row, on average."""
        return float(np.mean([len(test) / len(train) for train, test in self.rows]))


def last_rows(n_rows: int, share: float) -> Splits:
    """One split: the last rows are held out."""
    first = n_rows - max(1, round(share * n_rows))
    return Splits([(np.arange(first), np.arange(first, n_rows))], "the last rows")


def repeated_folds(
    rows: Samples, n_folds: int, n_repeats: int, *, classes: bool, by_time: bool, seed: int
) -> Splits:
    """Folds of shuffled rows, several times; of groups of rows; or blocks of later rows.

    Rows of one group are never on both sides. With `by_time`, training rows come before test
    rows, and there is one repetition, since the order leaves nothing to shuffle.
    """
    if by_time:
        from sklearn.model_selection import TimeSeriesSplit

        # All of them learn from at least half of the rows.
        size = max(1, len(rows) // (2 * n_folds))
        made = list(TimeSeriesSplit(n_folds, test_size=size).split(np.zeros((len(rows), 1))))
        made = [_without_ties(rows, *each) for each in made]
        return Splits(made, f"{n_folds} blocks of rows, each predicted from the rows before it")
    repeats = [
        make_folds(rows, n_folds, classes=classes, by_time=False, seed=seed + number)
        for number in range(n_repeats)
    ]
    what = "shuffled rows" if rows.groups is None else "groups of rows"
    times = "" if n_repeats == 1 else f", {n_repeats} times"
    folds = [fold for folds in repeats for fold in folds]
    return Splits(folds, f"{n_folds} folds of {what}{times}")


def make_folds(
    rows: Samples, n_folds: int, *, classes: bool, by_time: bool, seed: int
) -> list[Rows]:
    """Indices of training and test rows of each fold; each row is tested once.

    With `by_time`, training rows come before test rows, and the first rows are never tested.
    """
    from sklearn.model_selection import TimeSeriesSplit

    places = np.zeros((len(rows), 1))
    if by_time:
        made = TimeSeriesSplit(n_folds).split(places)
        return [_without_ties(rows, *each) for each in made]
    y = rows.y
    enough = classes and y.ndim == 1 and np.unique(y, return_counts=True)[1].min() >= n_folds
    splitter = _folder(grouped=rows.groups is not None, stratified=enough)
    made = splitter(n_folds, shuffle=True, random_state=seed)
    return list(made.split(places, y if enough else None, rows.groups))


def _without_ties(rows: Samples, train: IntArray, test: IntArray) -> Rows:
    """Training rows that are earlier than all test rows, as rows of several series may not be."""
    if rows.times is None:
        return train, test
    earlier = train[rows.times[train] < rows.times[test[0]]]
    # If most rows are of one time, ties are the lesser evil.
    return (earlier if 2 * len(earlier) >= len(train) else train), test


def _folder(*, grouped: bool, stratified: bool) -> Any:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if grouped:
        return StratifiedGroupKFold if stratified else GroupKFold
    return StratifiedKFold if stratified else KFold


def check_groups(rows: Samples, n_folds: int, by_time: bool) -> None:
    """Raise if the groups of rows cannot be split."""
    if rows.groups is None:
        return
    if by_time:
        raise ValueError("Give groups of rows or by_time, not both.")
    found = len(np.unique(rows.groups))
    if found < n_folds:
        raise ValueError(
            f"groups must have at least as many values as there are folds ({n_folds}), got {found}."
        )


def _check_size(table: Any) -> None:
    """Raise if the squares of a column overflow, which no linear model survives."""
    if getattr(table, "dtype", np.dtype(float)).kind not in "iuf":
        return
    try:
        values = as_floats(table)
    except (TypeError, ValueError):
        return
    with np.errstate(invalid="ignore"):
        largest = np.nanmax(np.abs(values), axis=0, initial=0.0)
    huge = np.flatnonzero((largest > LARGEST) & np.isfinite(largest))
    if len(huge):
        names = getattr(table, "columns", None)
        name = f"Column {huge[0]}" if names is None else f"Column {str(names[huge[0]])!r}"
        raise ValueError(
            f"{name} has values up to {largest[huge[0]]:.3g}, whose squares are too large to "
            "compute with: rescale it, or replace the value."
        )


def as_floats(table: Any) -> FloatArray:
    """The columns of a table as one array of floats."""
    return np.asarray(table, dtype=np.float64)
