"""Evidence about several targets at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray


class ManyTargets:
    """Evidence about the same groups for each of several targets.

    Parameters
    ----------
    views : sequence of evidence
        One per target; the state of a group is the same for all.
    """

    def __init__(self, views: Sequence[Any]) -> None:
        first = views[0]
        self.views = views
        self.n_features, self.max_candidates = first.n_features, first.max_candidates
        self.foresight, self.is_light = first.foresight, first.is_light
        self.restarts, self.breadth = first.restarts, first.breadth
        self.foresees = first.foresees
        self.alone, self.joined = first.alone, first.joined

    @property
    def relevance(self) -> FloatArray:
        """Sum of the squared correlations of each feature with all targets; NaN for constants."""
        return np.sum([view.relevance for view in self.views], axis=0)

    @property
    def spread(self) -> FloatArray:
        """Spread of each feature."""
        return self.views[0].spread

    def pairs(self, group: Any, candidates: IntArray) -> list[Any]:
        """Evidence on the group with each candidate, one item per target."""
        return [view.pairs(group, candidates) for view in self.views]

    def pairs_along(self, group: Any, links: IntArray, candidates: IntArray) -> list[Any]:
        """Evidence with each candidate after each link has joined, one item per target."""
        return [view.pairs_along(group, links, candidates) for view in self.views]

    def pairs_in_turn(self, group: Any, links: IntArray, candidates: IntArray) -> list[Any]:
        """Evidence with each candidate after the links before it, one item per target."""
        return [view.pairs_in_turn(group, links, candidates) for view in self.views]

    def pairs_of_singles(self, features: IntArray, candidates: IntArray) -> list[Any]:
        """Evidence on groups of one feature with each candidate, one item per target."""
        return [view.pairs_of_singles(features, candidates) for view in self.views]
