"""Scatters computed from the columns when they are asked for: width is no wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from coterie.statistics._columns import Standardised, standardised
from coterie.statistics._rows import RowSets
from coterie.values import FloatArray, IntArray

# Numbers in the largest temporary block of columns.
BLOCK = 2**19


class ColumnSource:
    """Scatters from the columns themselves; a sum is a column.

    Columns are read in blocks and standardised there in float64, whatever they are stored in, so
    memory stays near that of the columns.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_features)
    contribution : callable or None
        What a block of columns contributes to a sum, where that is not the columns themselves.
    target : Standardised of shape (n_samples, 1)
    rows : RowSets
    """

    def __init__(
        self,
        columns: FloatArray,
        contribution: Callable[[FloatArray], FloatArray] | None,
        target: Standardised,
        rows: RowSets,
    ) -> None:
        self.rows = rows
        self.max_columns = max(1, BLOCK // len(columns))
        self._columns = columns
        self._target = target.values[:, 0]
        self._layers = [contribution, None] if contribution else [None]
        self._n_features = columns.shape[1]
        n_columns = len(self._layers) * self._n_features + 1
        self._centre, self.spread = np.zeros(n_columns), np.ones(n_columns)
        lengths = [len(self._target[batch]) for batch in rows.batches]
        self.count: FloatArray = np.array(lengths, dtype=np.float64)[:, None]
        self.mean, self.own, self.with_target = np.zeros((3, len(lengths), n_columns))
        self._read_once()

    def _read_once(self) -> None:
        """Learn centre and spread of all columns, and their moments within each batch."""
        for place in self._blocks():
            values, self._centre[place], self.spread[place] = standardised(self._raw(place))
            self._learn(place, values)
        self._learn(slice(-1, None), self._target[:, None])

    def _blocks(self) -> Iterator[slice]:
        for layer in range(len(self._layers)):
            end = (layer + 1) * self._n_features
            for start in range(layer * self._n_features, end, self.max_columns):
                yield slice(start, min(start + self.max_columns, end))

    def _learn(self, place: slice, values: FloatArray) -> None:
        for number, batch in enumerate(self.rows.batches):
            part, target = values[batch], self._target[batch]
            mean = part.mean(axis=0)
            self.mean[number, place] = mean
            self.own[number, place] = np.square(part - mean).sum(axis=0)
            self.with_target[number, place] = (target - target.mean()) @ part

    def _raw(self, place: slice | IntArray) -> FloatArray:
        """Columns of the table as they are, in float64; all of one layer."""
        first = place.start if isinstance(place, slice) else int(place[0])
        layer, _ = divmod(first, self._n_features)
        offset = layer * self._n_features
        if isinstance(place, slice):
            block = self._columns[:, place.start - offset : place.stop - offset]
        else:
            block = self._gathered(place - offset)
        transform = self._layers[layer]
        block = block.astype(np.float64, copy=False)
        return transform(block) if transform else block

    def _gathered(self, features: IntArray) -> FloatArray:
        """Some columns: a view where they are consecutive, since gathering costs."""
        first, last = int(features[0]), int(features[-1])
        if last - first + 1 == len(features) and (np.diff(features) == 1).all():
            return self._columns[:, first : last + 1]
        return self._columns[:, features]

    def _standard(self, columns: IntArray) -> FloatArray:
        """Standardised columns of the table, (n_samples, len(columns)), the target among them."""
        if len(columns) == 0:
            return np.empty((len(self._target), 0))
        layer = np.minimum(columns // self._n_features, len(self._layers))
        parts = []
        for run in np.split(columns, np.flatnonzero(np.diff(layer)) + 1):
            if run[0] == len(self._centre) - 1:
                parts.append(self._target[:, None])
                continue
            spread = self.spread[run]
            scale = np.divide(1.0, spread, out=np.zeros(len(run)), where=spread > 0)
            parts.append((self._raw(run) - self._centre[run]) * scale)
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _scatter(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Scatter of each left column with each right one, within each batch."""
        scatter = []
        for batch in self.rows.batches:
            part = left[batch]
            # Centring one side is enough: its deviations sum to zero.
            scatter.append((part - part.mean(axis=0)).T @ right[batch])
        return np.stack(scatter)

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Scatter of each left column with each right one."""
        return self._scatter(self._standard(left), self._standard(right))

    def nothing(self) -> FloatArray:
        """The empty sum, of shape (n_samples,)."""
        return np.zeros(len(self._target))

    def added(self, total: FloatArray, columns: IntArray, weights: FloatArray) -> FloatArray:
        """The sum with weighted columns added."""
        return total + self._standard(columns) @ weights

    def against(self, total: FloatArray, columns: IntArray) -> FloatArray:
        """Scatter of the sum with each column."""
        return self._scatter(total[:, None], self._standard(columns))[:, 0]
