"""What every method of the comparison gives, and what may stand in its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Task = Literal["regression", "classification"]
Setting = dict[str, Any]
# Numbers of columns to choose among where trying each would take too long.
SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200)


class Unavailable(Exception):  # noqa: N818 - a reason, not a mistake
    """This method cannot run here; the message is the reason that goes into the results."""


@dataclass(frozen=True)
class Reduction:
    """What a method learned from training rows: how any rows get fewer columns.

    Parameters
    ----------
    columns : callable
        From an array of shape (n, n_features) to one of shape (n, n_columns).
    n_columns : int
    n_measured : int
        Original features that must still be measured to have these columns.
    labels : ndarray of shape (n_features,) or None
        The group of each feature, -1 for one that is not used; None where columns mix features.
    """

    columns: Callable[[FloatArray], FloatArray]
    n_columns: int
    n_measured: int
    labels: IntArray | None = None


class Method(Protocol):
    """A way to fewer columns, with settings to choose among."""

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        """What may be tuned, simplest first; one empty setting where nothing is."""

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        """What each setting makes of training rows, in order; y holds numbers or class codes."""
