"""Evidence about several targets at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray


class ManyTargets:
    """The same groups as seen by each of several targets.

    Parameters
    ----------
    views : sequence of evidence
        One for each target; the state of a group is the same for all.
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
        """Squared correlations of each feature with all targets, added up; NaN for constants."""
        return np.sum([view.relevance for view in self.views], axis=0)

    @property
    def spread(self) -> FloatArray:
        """Spread of each feature."""
        return self.views[0].spread

    def pairs(self, group: Any, candidates: IntArray) -> list[Any]:
        """What each target has to do with the group and each candidate."""
        return [view.pairs(group, candidates) for view in self.views]

    def pairs_along(self, group: Any, links: IntArray, candidates: IntArray) -> list[Any]:
        """The same, after each of some links has joined in turn."""
        return [view.pairs_along(group, links, candidates) for view in self.views]

    def pairs_in_turn(self, group: Any, links: IntArray, candidates: IntArray) -> list[Any]:
        """The same for each candidate once the links before it have joined."""
        return [view.pairs_in_turn(group, links, candidates) for view in self.views]

    def pairs_of_singles(self, features: IntArray, candidates: IntArray) -> list[Any]:
        """The same for each of some features, alone."""
        return [view.pairs_of_singles(features, candidates) for view in self.views]
