"""Protocols of additive and of linear aggregations."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from coterie._core.values import FloatArray, IntArray


@runtime_checkable
class Additive(Protocol):
    """Aggregation that is proportional to the sum of one contribution per column.

    An aggregation also has a ``name``, ``values(columns)`` and ``keeps_single``. With this method,
    covariances are all that a search needs, which is much faster.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.extending import Additive
    >>> class Energy:
    ...     name, keeps_single = "energy", False
    ...
    ...     def contribution(self, columns):
    ...         return columns**2
    ...
    ...     def values(self, columns):
    ...         return (columns**2).sum(axis=1)
    >>> isinstance(Energy(), Additive)
    True
    >>> Energy().values(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    """

    def contribution(self, columns: FloatArray) -> FloatArray:
        """Contribution of each column to the sum."""


class Weights(NamedTuple):
    """Weights of the aggregate ``(columns - centre) @ weights``.

    Parameters
    ----------
    centre : ndarray of shape (m,)
        What is subtracted from each column.
    weights : ndarray of shape (m,)
        The weight of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.extending import Weights
    >>> centre, weights = Weights(centre=np.zeros(2), weights=np.array([0.5, 0.5]))
    >>> (np.array([[1.0, 3.0]]) - centre) @ weights
    array([2.])
    """

    centre: FloatArray
    weights: FloatArray


@runtime_checkable
class Linear(Protocol):
    """Aggregation that is a weighted sum of the columns.

    Beside the method of :class:`Additive`; ``inverse_transform`` then exists.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.extending import Linear, Weights
    >>> class First:
    ...     def weights(self, columns, members):
    ...         return Weights(np.zeros(len(members)), np.eye(len(members))[0])
    >>> isinstance(First(), Linear)
    True
    """

    def weights(self, columns: FloatArray, members: IntArray) -> Weights:
        """Weights of some columns, learned from training rows where necessary."""
