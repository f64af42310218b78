"""Forward selection as a method among the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.methods._forward import forward_selection
from experiments.methods._ours import INPUTS
from experiments.methods._reduction import FloatArray, IntArray, Reduction, Setting, Task

MOST = 50


@dataclass(frozen=True)
class ForwardSelection:
    """The features that help most in cross-validation, one after the other."""

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        """A number of features each."""
        return [{"size": size} for size in range(1, min(MOST, n_features) + 1)]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        """The first so many features of one order."""
        function = INPUTS[settings[0].get("inputs", "x")] or np.asarray
        most = max(setting["size"] for setting in settings)
        order = forward_selection(function(X), y, task, n_selected=most)
        sizes = (setting["size"] for setting in settings)
        return [chosen(np.sort(order[:size]), X.shape[1], function) for size in sizes]


def chosen(features: IntArray, n_features: int, function: Any) -> Reduction:
    """Some features, or a function of them, and nothing of the others."""
    labels = np.full(n_features, -1, dtype=np.intp)
    labels[features] = np.arange(len(features))
    columns = lambda rows: function(rows[:, features])  # noqa: E731
    return Reduction(columns, len(features), len(features), labels)
