"""Wrapper of arrays on a device, such as a GPU, that supports NumPy functions.

Formulas are written once, for NumPy. NumPy dispatches its functions to arrays that implement
``__array_ufunc__`` and ``__array_function__``. So the same formulas run on a GPU: each function is
looked up in the library of the array, by its name in the array API standard.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

# Ufuncs that are operators. All libraries support them, also with Python scalars.
OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.absolute: operator.abs,
    np.matmul: operator.matmul,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.logical_and: operator.and_,
    np.bitwise_and: operator.and_,
    np.logical_or: operator.or_,
    np.bitwise_or: operator.or_,
    np.logical_not: operator.invert,
    np.invert: operator.invert,
}
# Operators for which booleans are converted to double precision first.
ARITHMETIC = {np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.matmul}
NAMES = {
    np.sqrt: "sqrt",
    np.square: "square",
    np.log: "log",
    np.isnan: "isnan",
    np.isinf: "isinf",
    np.isfinite: "isfinite",
}
FUNCTIONS: dict[Any, Callable[..., OnDevice]] = {}


class OnDevice(NDArrayOperatorsMixin):
    """An array of another library, wrapped for NumPy functions.

    Parameters
    ----------
    array : array of a library that follows the array API standard
    xp : module
        The array API namespace of the array.
    """

    __slots__ = ("array", "xp")

    def __init__(self, array: Any, xp: Any) -> None:
        self.array, self.xp = array, xp

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of entries along each axis."""
        return tuple(self.array.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.array.shape)

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the entries."""
        return np.dtype(str(self.array.dtype).rpartition(".")[-1])

    @property
    def device(self) -> Any:
        """Device of the array."""
        return getattr(self.array, "device", None)

    @property
    def T(self) -> OnDevice:  # noqa: N802
        """Transpose."""
        return self.like(self.xp.matrix_transpose(self.array))

    def like(self, array: Any) -> OnDevice:
        """Wrapper of another array of the same library."""
        return OnDevice(array, self.xp)

    def moved(self, values: Any) -> OnDevice:
        """Values copied from the host to the device of this array."""
        if isinstance(values, OnDevice):
            return values
        values = np.ascontiguousarray(values)
        return self.like(self.xp.asarray(values, device=self.device))

    def empty(self, shape: tuple[int, ...]) -> OnDevice:
        """Uninitialised array in double precision, on the same device."""
        return self.like(self.xp.empty(shape, dtype=self.xp.float64, device=self.device))

    @property
    def is_compiled(self) -> bool:
        """Whether the library is JAX: it compiles for each shape, and arrays are immutable."""
        return "jax" in self.xp.__name__

    def native(self, value: Any) -> Any:
        """An operand in the form that the library accepts: a native array or a scalar."""
        if isinstance(value, OnDevice):
            return value.array
        if np.ndim(value) == 0:
            return value.item() if isinstance(value, np.generic | np.ndarray) else value
        return self.moved(value).array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        values = [self.native(value) for value in inputs]
        if ufunc in ARITHMETIC:
            values = [self._numbers(value) for value in values]
        if ufunc in OPERATORS:
            return self.like(OPERATORS[ufunc](*values))
        if ufunc in NAMES:
            return self.like(getattr(self.xp, NAMES[ufunc])(*values))
        if ufunc in (np.maximum, np.minimum):
            return self.like(self._bounded(ufunc is np.maximum, *values))
        return NotImplemented

    def _numbers(self, value: Any) -> Any:
        """Booleans converted to double precision; other values unchanged."""
        is_truth = not isinstance(value, float | int) and value.dtype == self.xp.bool
        return self.xp.astype(value, self.xp.float64) if is_truth else value

    def _bounded(self, below: bool, one: Any, other: Any) -> Any:
        """Elementwise maximum (``below``) or minimum of two values, one of which may be scalar."""
        if isinstance(one, float | int):
            one, other = other, one
        if isinstance(other, float | int):
            return self.xp.clip(one, min=other) if below else self.xp.clip(one, max=other)
        return (self.xp.maximum if below else self.xp.minimum)(one, other)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in FUNCTIONS:
            return NotImplemented
        return FUNCTIONS[function](*args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.asarray(to_host(self.array), dtype=dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[OnDevice]:
        return (self[place] for place in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __getitem__(self, key: Any) -> OnDevice:
        keys = list(key) if isinstance(key, tuple) else [key]
        if not any(one is Ellipsis for one in keys):
            keys.append(Ellipsis)
        array = self.array
        listed = [place for place, one in enumerate(keys) if _lists_places(one)]
        if listed:
            # The standard supports index arrays along one axis only, by ``take``.
            (place,) = listed
            is_after_dots = any(one is Ellipsis for one in keys[:place])
            axis = place - len(keys) if is_after_dots else place
            array = self.xp.take(array, self.moved(keys[place]).array, axis=axis)
            keys[place] = slice(None)
        return self.like(array[tuple(keys)])

    def __setitem__(self, key: Any, values: Any) -> None:
        self.array[key] = self.native(values)

    def take(self, places: Any, axis: int) -> OnDevice:
        """The entries at some places along an axis."""
        return self.like(self.xp.take(self.array, self.native(places), axis=axis))

    def astype(self, dtype: Any, copy: bool = True) -> OnDevice:
        """The array converted to another dtype."""
        kind = getattr(self.xp, np.dtype(dtype).name)
        return self.like(self.xp.astype(self.array, kind, copy=copy))

    def reshape(self, *shape: int) -> OnDevice:
        """The same entries in another shape."""
        return self.like(self.xp.reshape(self.array, shape))

    def sum(self, axis: Any = None) -> OnDevice:
        """Sum along some axes."""
        return self.like(self.xp.sum(self.array, axis=axis))

    def mean(self, axis: Any = None) -> OnDevice:
        """Mean along some axes."""
        return self.like(self.xp.mean(self.array, axis=axis))

    def max(self, axis: Any = None) -> OnDevice:
        """Maximum along some axes."""
        return self.like(self.xp.max(self.array, axis=axis))

    def any(self, axis: Any = None) -> OnDevice:
        """Whether any entry is true, along some axes."""
        return self.like(self.xp.any(self.array, axis=axis))

    def all(self, axis: Any = None) -> OnDevice:
        """Whether all entries are true, along some axes."""
        return self.like(self.xp.all(self.array, axis=axis))


def to_host(array: Any) -> NDArray[Any]:
    """An array of any library as a NumPy array."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
    elif hasattr(array, "get"):
        array = array.get()
    return np.asarray(array)


def _lists_places(key: Any) -> bool:
    return isinstance(key, list | np.ndarray | OnDevice) and np.ndim(key) > 0


def _answers(function: Any) -> Callable[[Any], Any]:
    """Decorator that registers the implementation of a NumPy function for OnDevice arrays."""

    def registered(answer: Callable[..., OnDevice]) -> Callable[..., OnDevice]:
        FUNCTIONS[function] = answer
        return answer

    return registered


def _first(values: Sequence[Any]) -> OnDevice:
    """The first OnDevice array, to whose device the other values are moved."""
    return next(value for value in values if isinstance(value, OnDevice))


@_answers(np.ndim)
def _ndim(values: OnDevice) -> Any:
    return values.ndim


@_answers(np.shape)
def _shape(values: OnDevice) -> Any:
    return values.shape


@_answers(np.where)
def _where(condition: Any, yes: Any, no: Any) -> OnDevice:
    here = _first([condition, yes, no])
    one, other = here.native(yes), here.native(no)
    if isinstance(one, float | int) and isinstance(other, float | int):
        one = here.xp.asarray(one, dtype=here.xp.float64, device=here.device)
    return here.like(here.xp.where(here.native(condition), one, other))


@_answers(np.take)
def _take(values: OnDevice, places: Any, axis: int) -> OnDevice:
    here = _first([values, places])
    return here.like(here.xp.take(here.native(values), here.native(places), axis=axis))


@_answers(np.cumsum)
def _cumsum(values: OnDevice, axis: int) -> OnDevice:
    return values.like(values.xp.cumulative_sum(values.array, axis=axis))


@_answers(np.stack)
def _stack(values: Sequence[Any], axis: int = 0) -> OnDevice:
    here = _first(values)
    return here.like(here.xp.stack([here.native(value) for value in values], axis=axis))


@_answers(np.concatenate)
def _concatenate(values: Sequence[Any], axis: int = 0) -> OnDevice:
    here = _first(values)
    return here.like(here.xp.concat([here.native(value) for value in values], axis=axis))


@_answers(np.append)
def _append(values: OnDevice, more: Any) -> OnDevice:
    return _concatenate([values, np.atleast_1d(more)])


@_answers(np.column_stack)
def _column_stack(values: Sequence[Any]) -> OnDevice:
    return _stack(values, axis=1)


@_answers(np.swapaxes)
def _swapaxes(values: OnDevice, one: int, other: int) -> OnDevice:
    order = list(range(values.ndim))
    order[one], order[other] = order[other], order[one]
    return values.like(values.xp.permute_dims(values.array, tuple(order)))


@_answers(np.tile)
def _tile(values: OnDevice, times: int) -> OnDevice:
    return values if times == 1 else _concatenate([values] * times, axis=-1)


@_answers(np.triu)
def _triu(values: OnDevice, k: int = 0) -> OnDevice:
    return values.like(values.xp.triu(values.array, k=k))


@_answers(np.searchsorted)
def _searchsorted(values: Any, wanted: Any) -> OnDevice:
    here = _first([values, wanted])
    return here.like(here.xp.searchsorted(here.native(values), here.native(wanted)))


@_answers(np.clip)
def _clip(values: OnDevice, low: float, high: float) -> OnDevice:
    return values.like(values.xp.clip(values.array, low, high))


@_answers(np.isposinf)
def _isposinf(values: OnDevice) -> OnDevice:
    return values == np.inf


@_answers(np.argmax)
def _argmax(values: OnDevice, axis: int) -> OnDevice:
    return values.like(values.xp.argmax(values.array, axis=axis))


@_answers(np.take_along_axis)
def _take_along_axis(values: Any, places: Any, axis: int) -> OnDevice:
    here = _first([values, places])
    taken = here.xp.take_along_axis(here.native(values), here.native(places), axis=axis)
    return here.like(taken)
