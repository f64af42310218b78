"""A group of columns becomes one column.

Two kinds, and the type says which. An :class:`Additive` aggregation adds up what each
column contributes, so covariances are all that a search needs. The others keep a running
state (see :class:`coterie.statistics.RunningAggregate`) and must see the columns. Apart
from that, one that is :class:`Linear` offers its weights.

All have a ``name``, the word for them in the names of output columns; ``keeps_single``,
whether the aggregate of one column is that column; and ``values(columns)``, one value per
row of columns of shape (n_samples, m).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from coterie.values import FloatArray, IntArray


@runtime_checkable
class Additive(Protocol):
    """Proportional to the sum of one contribution per column."""

    def contribution(self, columns: FloatArray) -> FloatArray:
        """What each column adds to the sum."""


class Weights(NamedTuple):
    """An aggregate that is ``(columns - centre) @ weights``; both have shape (m,)."""

    centre: FloatArray
    weights: FloatArray


@runtime_checkable
class Linear(Protocol):
    """A weighted sum of the columns."""

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        """The weights of some columns, learned where need be from training rows."""


@dataclass(frozen=True)
class LinearSum:
    """The sum of the columns, or their mean."""

    name: str
    average: bool
    keeps_single: bool = True

    def contribution(self, columns: FloatArray) -> FloatArray:
        return columns

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        size = len(members)
        return Weights(np.zeros(size), np.full(size, 1 / size if self.average else 1.0))

    def values(self, columns: FloatArray) -> FloatArray:
        return columns.mean(axis=1) if self.average else columns.sum(axis=1)


@dataclass(frozen=True)
class SumOfSquares:
    """The sum of the squared columns; a group of one is already a square."""

    name: str = "sum_of_squares"
    keeps_single: bool = False

    def contribution(self, columns: FloatArray) -> FloatArray:
        return np.square(columns)

    def values(self, columns: FloatArray) -> FloatArray:
        return np.square(columns).sum(axis=1)


@dataclass(frozen=True)
class Norm:
    """The Euclidean length of the rows; its state is the sum of squares."""

    name: str = "norm"
    keeps_single: bool = False

    def first(self, column: FloatArray) -> FloatArray:
        return np.square(column)

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return state + np.square(column)

    def value(self, state: FloatArray) -> FloatArray:
        return np.sqrt(state)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        return np.sqrt(state[:, None] + np.square(columns))

    def values(self, columns: FloatArray) -> FloatArray:
        return np.sqrt(np.square(columns).sum(axis=1))


@dataclass(frozen=True)
class Extreme:
    """The largest or the smallest value of each row; its state is itself."""

    name: str
    of: np.ufunc
    keeps_single: bool = True

    def first(self, column: FloatArray) -> FloatArray:
        return column

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return self.of(state, column)

    def value(self, state: FloatArray) -> FloatArray:
        return state

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        return self.of(state[:, None], columns)

    def values(self, columns: FloatArray) -> FloatArray:
        return self.of.reduce(columns, axis=1)


@dataclass(frozen=True)
class Median:
    """The median of each row; its state is the columns, sorted within each row."""

    name: str = "median"
    keeps_single: bool = True

    def first(self, column: FloatArray) -> FloatArray:
        return column[:, None]

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return np.sort(np.column_stack([state, column]), axis=1)

    def value(self, state: FloatArray) -> FloatArray:
        return np.median(state, axis=1)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        # A newcomer can move the median no further than to the next sorted value.
        middle, is_odd = divmod(state.shape[1], 2)
        below = state[:, [middle - 1]] if middle > 0 else -np.inf
        if not is_odd:
            return np.clip(columns, below, state[:, [middle]])
        above = state[:, [middle + 1]] if middle > 0 else np.inf
        return (state[:, [middle]] + np.clip(columns, below, above)) / 2

    def values(self, columns: FloatArray) -> FloatArray:
        return np.median(columns, axis=1)


class AvailableState(NamedTuple):
    """What the members that have a value add up to, how many have one, and how many there are."""

    total: FloatArray
    there: FloatArray
    size: int


@dataclass(frozen=True)
class AvailableSum:
    """A sum, a mean or a length over the members that have a value.

    A sum over some members is scaled up to all of them, so that rows can be compared.
    """

    name: str
    of: Additive
    average: bool = False
    root: bool = False
    keeps_single: bool = True

    def first(self, column: FloatArray) -> AvailableState:
        nothing = np.zeros(len(column))
        return self.joined(AvailableState(nothing, nothing, 0), column)

    def joined(self, state: AvailableState, column: FloatArray) -> AvailableState:
        added, has = self._added(column)
        return AvailableState(state.total + added, state.there + has, state.size + 1)

    def _added(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        missing = np.isnan(columns)
        return np.where(missing, 0.0, self.of.contribution(columns)), np.where(missing, 0.0, 1.0)

    def value(self, state: AvailableState) -> FloatArray:
        return self._scaled(*state)

    def with_each(self, state: AvailableState, columns: FloatArray) -> FloatArray:
        added, has = self._added(columns)
        return self._scaled(
            state.total[:, None] + added, state.there[:, None] + has, state.size + 1
        )

    def _scaled(self, total: FloatArray, count: FloatArray, size: int) -> FloatArray:
        share = np.where(count > 0, count if self.average else count / size, np.nan)
        return np.sqrt(total / share) if self.root else total / share

    def values(self, columns: FloatArray) -> FloatArray:
        added, has = self._added(columns)
        return self._scaled(added.sum(axis=1), has.sum(axis=1), columns.shape[1])


@dataclass(frozen=True)
class AvailableMedian:
    """The median of the members that have a value; its state is the columns."""

    name: str = "median"
    keeps_single: bool = True

    def first(self, column: FloatArray) -> FloatArray:
        return column[:, None]

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return np.column_stack([state, column])

    def value(self, state: FloatArray) -> FloatArray:
        return self.values(state)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        merged = [self.values(np.column_stack([state, column])) for column in columns.T]
        return np.column_stack(merged)

    def values(self, columns: FloatArray) -> FloatArray:
        # Sorting puts NaN last.
        values = np.sort(columns, axis=1)
        count = (~np.isnan(values)).sum(axis=1)
        rows = np.arange(len(values))
        below, above = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1)
        return (values[rows, below] + values[rows, above]) / 2


class PrincipalState(NamedTuple):
    """Centred columns and the eigenvectors of their scatter, the largest last."""

    columns: FloatArray
    eigenvalues: FloatArray
    eigenvectors: FloatArray


@dataclass(frozen=True)
class Principal:
    """The first principal component, its sign such that the weights sum to 0 or more.

    Rows count as often as ``row_weights`` say; once if None.
    """

    name: str = "principal"
    keeps_single: bool = False
    row_weights: FloatArray | None = field(default=None, compare=False)

    def first(self, column: FloatArray) -> PrincipalState:
        return self._state(self._centred(column[:, None]))

    def joined(self, state: PrincipalState, column: FloatArray) -> PrincipalState:
        return self._state(np.column_stack([state.columns, self._centred(column[:, None])]))

    def _centred(self, columns: FloatArray) -> FloatArray:
        return columns - np.average(columns, axis=0, weights=self.row_weights)

    def _weighed(self, centred: FloatArray) -> FloatArray:
        return centred if self.row_weights is None else self.row_weights[:, None] * centred

    def _state(self, centred: FloatArray) -> PrincipalState:
        return PrincipalState(centred, *np.linalg.eigh(centred.T @ self._weighed(centred)))

    def value(self, state: PrincipalState) -> FloatArray:
        return state.columns @ self._top(state)

    def _top(self, state: PrincipalState) -> FloatArray:
        top = state.eigenvectors[:, -1]
        return top if top.sum() >= 0 else -top

    def with_each(self, state: PrincipalState, columns: FloatArray) -> FloatArray:
        # One column more borders the scatter matrix by one row, and the top eigenvector
        # of a bordered diagonal matrix is a root of one equation per candidate. Its sign
        # is left open: no price depends on the direction of a merged column.
        centred = self._centred(columns)
        weighed = self._weighed(centred)
        border = state.eigenvectors.T @ (state.columns.T @ weighed)
        corner = np.einsum("ij,ij->j", centred, weighed)
        old, new = _top_of_bordered(state.eigenvalues, border, corner)
        return state.columns @ (state.eigenvectors @ old) + centred * new

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        chosen = columns[:, members]
        centre = np.average(chosen, axis=0, weights=self.row_weights)
        centred = chosen - centre
        # Weights have no unit; in this one, squares stay within the floats.
        return Weights(centre, self._top(self._state(centred / (np.abs(centred).max() or 1.0))))

    def values(self, columns: FloatArray) -> FloatArray:
        centre, weights = self.weights(columns, np.arange(columns.shape[1]))
        return (columns - centre) @ weights


def _top_of_bordered(
    diagonal: FloatArray, border: FloatArray, corner: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors of the largest eigenvalue of k bordered diagonal matrices.

    Parameters
    ----------
    diagonal : ndarray of shape (m,)
        In ascending order.
    border : ndarray of shape (m, k)
    corner : ndarray of shape (k,)

    Returns
    -------
    old, new : ndarray of shape (m, k) and (k,)
        The components along the diagonal and along the corner.
    """
    gaps = (diagonal[-1] - diagonal[:-1])[:, None]
    excess = corner - diagonal[-1]
    # A candidate at right angles to the top eigenvector is one that is nearly so; then
    # whichever of the two varies more is the answer, with no case of its own.
    size = corner + diagonal[-1]
    nearly = np.finfo(np.float64).eps * np.where(size > 0, size, 1.0)
    last = np.where(np.abs(border[-1]) > nearly, border[-1], nearly)
    border = np.vstack([border[:-1], last])
    squares = np.square(border)
    # The largest eigenvalue exceeds that of the old matrix by x > 0, the root of the convex
    # and decreasing f(x) = excess - x + sum of squares / (gaps + x). Starting below the
    # root, where the top eigenvector alone would put it, Newton's steps only go up.
    larger = np.hypot(excess / 2, last) + np.abs(excess) / 2
    x = np.where(excess > 0, larger, squares[-1] / larger)
    for _ in range(100):
        inverse = 1 / np.vstack([gaps + x, x])
        f = excess - x + np.sum(squares * inverse, axis=0)
        step = f / (1 + np.sum(squares * inverse**2, axis=0))
        x = np.maximum(x, x + step)
        if np.all(step <= 1e-15 * x):
            break
    # The eigenvector is border / (gaps + x) and 1, here multiplied by x.
    old = np.vstack([x * border[:-1] / (gaps + x), last])
    length = np.sqrt(np.sum(old**2, axis=0) + x**2)
    return old / length, x / length


@dataclass(frozen=True)
class Custom:
    """A user's function from an (n, m) array to n values; its state is the columns.

    It is called with the columns in the order in which they joined, so its values should not
    depend on their order.
    """

    function: Callable[[FloatArray], FloatArray]
    keeps_single: bool = False

    @property
    def name(self) -> str:
        name = getattr(self.function, "__name__", "")
        return name if name.isidentifier() else "aggregate"

    def first(self, column: FloatArray) -> FloatArray:
        return column[:, None]

    def joined(self, state: FloatArray, column: FloatArray) -> FloatArray:
        return np.column_stack([state, column])

    def value(self, state: FloatArray) -> FloatArray:
        return self.values(state)

    def with_each(self, state: FloatArray, columns: FloatArray) -> FloatArray:
        merged = [self.values(np.column_stack([state, column])) for column in columns.T]
        return np.column_stack(merged)

    def values(self, columns: FloatArray) -> FloatArray:
        # A copy, since the function may work in place.
        values = np.asarray(self.function(columns.copy()))
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"aggregation '{self.name}' must return real numbers, got an array of "
                f"{values.dtype}."
            )
        if values.shape not in {(len(columns),), (len(columns), 1)}:
            raise ValueError(
                f"aggregation '{self.name}' must return one value per row: expected "
                f"{len(columns)} values, got an array of shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(
                f"aggregation '{self.name}' returned NaN or infinity for a group of "
                f"{columns.shape[1]}; it must return a finite number for every row."
            )
        return values.reshape(-1).astype(np.float64, copy=False)


Aggregation = (
    LinearSum
    | SumOfSquares
    | Norm
    | Extreme
    | Median
    | Principal
    | Custom
    | AvailableSum
    | AvailableMedian
)


def over_available(aggregation: Aggregation) -> Aggregation | None:
    """The aggregation over the members that have a value, or None where there is none."""
    match aggregation:
        case LinearSum(name, average):
            return AvailableSum(name, aggregation, average)
        case SumOfSquares(name):
            return AvailableSum(name, aggregation, keeps_single=False)
        case Norm(name):
            return AvailableSum(name, SumOfSquares(), root=True, keeps_single=False)
        case Extreme(name, of):
            return Extreme(name, np.fmax if of is np.maximum else np.fmin)
        case Median():
            return AvailableMedian()
    return None


def running_form(aggregation: Aggregation, *, gaps: bool) -> Any:
    """The aggregation with a running state, over the members that have a value if some have none.

    A sum has one too, for those who must see it row by row.
    """
    if gaps or isinstance(aggregation, Additive):
        return over_available(aggregation)
    return aggregation


def weighed(aggregation: Aggregation, row_weights: FloatArray | None) -> Aggregation:
    """The aggregation as learned from rows that count so many times."""
    if isinstance(aggregation, Principal):
        return replace(aggregation, row_weights=row_weights)
    return aggregation


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": LinearSum("mean", average=True),
    "sum": LinearSum("sum", average=False),
    "sum_of_squares": SumOfSquares(),
    "norm": Norm(),
    "max": Extreme("max", np.maximum),
    "min": Extreme("min", np.minimum),
    "median": Median(),
    "principal": Principal(),
}
