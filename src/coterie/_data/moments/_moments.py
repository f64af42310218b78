"""Moments of rows that come in batches."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coterie._core.evidence import Accumulated, location_of, scatter_within, some_rows, together
from coterie._core.values import FloatArray, IntArray
from coterie._data.moments._batch import Batch, normalise_target, read_batch
from coterie._data.moments._defer_sigint import defer_sigint
from coterie._data.moments._file import (
    attributes_from_bytes,
    load_attributes,
    moments_to_bytes,
    write_moments,
)
from coterie._data.moments._location import RowLocation
from coterie._data.moments._sampled_rows import SampledRows
from coterie._data.moments._serialise import attributes_from_json, header_to_json, moment_arrays
from coterie._data.moments._targets import TargetColumn, check_same_targets, recoding_weights

FoldSums = dict[int | None, Accumulated]


class Moments:
    """Count, means and scatter of features and targets, from rows that come in batches.

    Moments are all that :class:`NonLinCFA`, :class:`GenLinCFA` and :class:`LinCFA` need to group
    features by means or sums. Use them for data that do not fit in memory, or that are spread over
    several machines. Moments of ``a`` + moments of ``b`` equal the moments of ``a`` and ``b``
    together. They take one matrix of all pairs of features for each fold, and a small sample of
    rows.

    Parameters
    ----------
    n_expected : int or None, default=None
        Total number of rows, if known; with weights, their sum. Then about a thousand evenly
        spaced rows are kept, and ``tolerance="auto"`` uses the same rows as ``fit`` does.
    n_before : int, default=0
        Number of rows before the first of these, if several machines count parts of the data.

    Attributes
    ----------
    n_samples_ : int
        Number of rows, without those of weight 0.
    count : float
        Sum of the weights of the rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if batches had column names.
    targets : list of str
        Names of the targets.
    n_folds : int
        Number of folds, 0 if none were given.
    mean : ndarray of shape (`n_features_in_`,)
        Mean of each feature.
    nbytes : int
        Memory that the moments take.

    See Also
    --------
    moments_from : Moments of a file, an Arrow table, or an iterable of batches.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Moments, NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> X, y, _ = make_groups(3000, 12, 3, noise=3.0, random_state=0)
    >>> moments = Moments()
    >>> for fold, rows in enumerate(np.split(np.arange(3000), 5)):
    ...     moments = moments.update(X[rows], y[rows], fold=fold)
    >>> moments
    Moments of 3,000 rows: 12 features, 1 target, 5 folds, 7 kB
    >>> NonLinCFA(0.01).fit_moments(moments).labels_
    array([0, 1, 2, 0, 0, 0, 0, 0, 2, 0, 2, 2])
    >>> NonLinCFA(0.01).fit(X, y).labels_
    array([0, 1, 2, 0, 0, 0, 0, 0, 2, 0, 2, 2])
    """

    def __init__(self, n_expected: float | None = None, *, n_before: float = 0) -> None:
        self.kept = SampledRows(_positive_number("n_expected", n_expected), float(n_before))
        self.target_columns: tuple[TargetColumn, ...] = ()
        self.is_weighted = False
        self.n_samples_ = 0
        self.n_read = 0
        self.n_batches = 0
        self._names: list[str] | None = None
        self._folds: FoldSums = {}

    def update(self, X: Any, y: Any, sample_weight: Any = None, fold: Any = None) -> Self:
        """Add a batch of rows. If the batch is invalid, the moments do not change.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_rows, n_features)
            Columns of a data frame are matched by name, in any order; none may be missing.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
            Numbers, or text labels. Integers with up to 100 different values may be numbers or
            labels; the reducer decides. New classes may appear in any batch.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        fold : int or array-like of shape (n_rows,), optional
            The fold number of all rows, or of each row. Give it for every batch, or for none.

        Returns
        -------
        Moments
            Itself.
        """
        return self.take(X, y, sample_weight, fold, RowLocation(f"batch {self.n_batches}"))

    def take(self, X: Any, y: Any, sample_weight: Any, fold: Any, location: RowLocation) -> Self:
        """Add rows as :meth:`update` does; error messages name their location."""
        return self.count_batch(
            read_batch(X, y, sample_weight, fold, self.names, location), location
        )

    def count_batch(self, batch: Batch, location: RowLocation) -> Self:
        """Add a validated batch; error messages name its location."""
        if len(batch.features) == 0:
            with defer_sigint():
                self.n_read, self.n_batches = self.n_read + batch.n_read, self.n_batches + 1
            return self
        self._check_features(batch, location)
        targets = {
            name: normalise_target(name, target, location) for name, target in batch.targets.items()
        }
        seen = tuple(TargetColumn.of(name, target) for name, target in targets.items())
        if self.target_columns:
            check_same_targets(self.target_columns, seen, location)
            both = zip(self.target_columns, seen, strict=True)
            seen = tuple(before.combine(now) for before, now in both)
        pairs = zip(seen, targets.values(), strict=True)
        columns = np.hstack([one.columns(target) for one, target in pairs])
        folds = self._with_folds(seen, _rows_by_fold(batch), batch.features.shape[1])
        with defer_sigint():
            self._count(batch, seen, columns, folds)
        return self

    def _count(
        self, batch: Batch, seen: tuple[TargetColumn, ...], columns: FloatArray, folds: FoldSums
    ) -> None:
        self.kept.add(batch.features, batch.weights, self.count)
        self._folds, self.target_columns = folds, seen
        self._names = batch.names
        self.is_weighted = self.is_weighted or batch.weights is not None
        self.n_samples_ += len(batch.features)
        self.n_read += batch.n_read
        self.n_batches += 1
        for number, rows in _rows_by_fold(batch).items():
            weights = None if batch.weights is None else batch.weights[rows]
            folds[number].add(some_rows(batch.features, rows), columns[rows], weights)

    def _with_folds(
        self, seen: tuple[TargetColumn, ...], numbers: Mapping[int | None, Any], n_features: int
    ) -> FoldSums:
        """The sums of each fold, for the current encoding of targets, with new folds added."""
        weights = recoding_weights(seen, self.target_columns) if self.target_columns else None
        folds = {
            number: fold if weights is None else fold.with_targets(weights)
            for number, fold in self._folds.items()
        }
        n_targets = sum(one.n_columns for one in seen)
        for number in numbers:
            if number not in folds:
                folds[number] = Accumulated.nothing(n_features, n_targets)
        return folds

    def _check_features(self, batch: Batch, location: RowLocation) -> None:
        n_features = batch.features.shape[1]
        if not self._folds:
            return
        if n_features != self.n_features_in_:
            raise ValueError(
                f"X has {n_features} columns in {location}, and {self.n_features_in_} before."
            )
        if (batch.names is None) != (self._names is None):
            has = "no column names" if batch.names is None else "column names"
            raise ValueError(
                f"X has {has} in {location}, unlike earlier batches: pass data frames in every "
                "batch, or arrays in every batch."
            )
        if (batch.folds is None) != (None in self._folds):
            has = "No fold" if batch.folds is None else "A fold"
            raise ValueError(
                f"{has} is given for {location}, unlike earlier batches: give a fold for every "
                "batch, or for none."
            )

    def merge(self, other: Moments) -> Moments:
        """The moments of the rows of both; neither of the two changes."""
        merged = copy.deepcopy(self)
        merged += other
        return merged

    def __add__(self, other: object) -> Moments:
        return self.merge(other) if isinstance(other, Moments) else NotImplemented

    def __iadd__(self, other: object) -> Self:
        if not isinstance(other, Moments):
            return NotImplemented
        if not other.n_samples_:
            return self
        self._check_mergeable(other)
        theirs, seen = other._folds, other.target_columns
        if self.n_samples_:
            check_same_targets(self.target_columns, seen, "those to add")
            both = zip(self.target_columns, seen, strict=True)
            seen = tuple(one.combine(two) for one, two in both)
        weights = recoding_weights(seen, other.target_columns)
        if weights is not None:
            theirs = {number: fold.with_targets(weights) for number, fold in theirs.items()}
        folds = self._with_folds(seen, theirs, other.n_features_in_)
        kept = self.kept.combine(other.kept) if self.n_samples_ else copy.deepcopy(other.kept)
        with defer_sigint():
            self._names = other._names
            self._folds, self.target_columns, self.kept = folds, seen, kept
            self.is_weighted = self.is_weighted or other.is_weighted
            self.n_samples_ += other.n_samples_
            self.n_read += other.n_read
            self.n_batches += other.n_batches
            for number, fold in theirs.items():
                folds[number].join(fold)
        return self

    def _check_mergeable(self, other: Moments) -> None:
        if not self._folds:
            return
        if self._names != other._names or self.n_features_in_ != other.n_features_in_:
            raise ValueError(
                "Moments can be added if they have the same features in the same order: these have "
                f"{self._features_text()}, and the others have {other._features_text()}."
            )
        if (None in self._folds) != (None in other._folds):
            raise ValueError("Moments can be added if both have folds, or neither has.")

    def _features_text(self) -> str:
        names = [] if self._names is None else [repr(name) for name in self._names[:3]]
        shown = f" ({', '.join(names)}, ...)" if names else ""
        return f"{self.n_features_in_} features{shown}"

    @property
    def accumulated(self) -> tuple[Accumulated, ...]:
        """The sums over the rows of each fold, in the order of fold numbers."""
        numbers = sorted(self._folds, key=lambda number: -1 if number is None else number)
        return tuple(self._folds[number] for number in numbers)

    @property
    def fold_numbers(self) -> list[int]:
        """The numbers of the folds."""
        return sorted(number for number in self._folds if number is not None)

    @property
    def count(self) -> float:
        return sum(fold.count for fold in self._folds.values())

    @property
    def n_folds(self) -> int:
        return len(self.fold_numbers)

    @property
    def n_features_in_(self) -> int:
        folds = self.accumulated
        if not folds:
            raise AttributeError("These moments have seen no rows yet.")
        return folds[0].n_features

    @property
    def names(self) -> list[str] | None:
        """Names of the features, None if batches had no column names."""
        return self._names

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        if self._names is None:
            raise AttributeError("The features of these moments have no names.")
        return np.array(self._names, dtype=object)

    @property
    def targets(self) -> list[str]:
        return [target.name for target in self.target_columns]

    @property
    def mean(self) -> FloatArray:
        return location_of(self.accumulated).centre[: self.n_features_in_]

    def scatter(self) -> FloatArray:
        """Sums over all rows of the products of deviations from the means.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Divided by the count, these are the covariances.
        """
        return scatter_within(together(self.accumulated))

    @property
    def nbytes(self) -> int:
        return self.kept.nbytes + sum(fold.nbytes for fold in self._folds.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the moments to a file for :meth:`load`.

        The file is an uncompressed ``.npz`` with a JSON header; it contains no code. An existing
        file is replaced only after the new one has been written completely.

        Parameters
        ----------
        path : str or path
            Such as ``"moments.npz"``.
        """
        write_moments(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Moments:
        """The moments in a file that :meth:`save` wrote; rows can be added to them.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        ValueError
            If the file contains no moments, is truncated or damaged, or was written by a newer
            version of coterie.
        """
        return load_moments(path)[0]

    def to_bytes(self) -> memoryview:
        """The bytes that :meth:`save` writes, to send to a machine that shares no files.

        Returns
        -------
        memoryview
            The bytes, for :meth:`from_bytes`.
        """
        return moments_to_bytes(self)

    @classmethod
    def from_bytes(cls, content: Any) -> Moments:
        """The moments in bytes that :meth:`to_bytes` made.

        Parameters
        ----------
        content : bytes-like

        Raises
        ------
        ValueError
            If the bytes contain no moments, as in :meth:`load`.
        """
        moments = cls()
        moments.__dict__.update(attributes_from_bytes(content))
        return moments

    def plain(self) -> dict[str, Any]:
        """The moments as a header that JSON can hold, and arrays."""
        return {"header": header_to_json(self), "arrays": dict(moment_arrays(self))}

    @classmethod
    def again(cls, header: dict[str, Any], arrays: dict[str, FloatArray]) -> Moments:
        """The moments from such a header and arrays."""
        moments = cls()
        moments.__dict__.update(attributes_from_json(header, arrays))
        return moments

    def __sizeof__(self) -> int:
        # Libraries that send moments between machines ask for their size.
        return super().__sizeof__() + self.nbytes

    def __repr__(self) -> str:
        if not self._folds:
            return "Moments of no rows"
        sizes = [f"{self.n_features_in_:,} features", _plural("target", len(self.targets))]
        if self.n_folds:
            sizes.append(_plural("fold", self.n_folds))
        return (
            f"Moments of {self.n_samples_:,} rows: {', '.join(sizes)}, {format_bytes(self.nbytes)}"
        )


def load_moments(path: str | os.PathLike[str]) -> tuple[Moments, Any]:
    """The moments in a file, and the description of the source they come from."""
    attributes, source = load_attributes(path)
    moments = Moments()
    moments.__dict__.update(attributes)
    return moments, source


def _rows_by_fold(batch: Batch) -> dict[int | None, IntArray | slice]:
    """The rows of each fold in a batch, as a slice if they are contiguous."""
    if not isinstance(batch.folds, np.ndarray):
        return {batch.folds: slice(None)}
    rows: dict[int | None, IntArray | slice] = {}
    for number in np.unique(batch.folds).tolist():
        at = np.flatnonzero(batch.folds == number)
        is_run = at[-1] - at[0] + 1 == len(at)
        rows[number] = slice(int(at[0]), int(at[-1]) + 1) if is_run else at
    return rows


def _positive_number(name: str, number: Any) -> float | None:
    if number is None:
        return None
    try:
        count = float(number)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be None or a number, got {number!r}.") from None
    if not 0 < count < np.inf:
        raise ValueError(f"{name} must be more than 0, got {number!r}.")
    return count


def _plural(noun: str, number: int) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def format_bytes(number: float) -> str:
    """A number of bytes in readable units.

    Examples
    --------
    >>> format_bytes(2_600_000_000)
    '2.6 GB'
    """
    size = float(number)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
