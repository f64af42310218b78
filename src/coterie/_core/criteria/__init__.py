"""Criteria: the price and the allowance of merges, for many candidates at once."""

from typing import Any, Protocol

from coterie._core.criteria._fitted import Fitted, FittedParsimony
from coterie._core.criteria._genlin import GenLin
from coterie._core.criteria._lin import Lin
from coterie._core.criteria._mutual import CLASSES, Mutual, MutualParsimony, levels_for
from coterie._core.criteria._nonlin import NonLin, Parsimony
from coterie._core.criteria._penalties import PENALTIES
from coterie._core.criteria._several import ForAll, OnEnoughRows
from coterie._core.criteria._working import working_target
from coterie._core.values import Verdict

__all__ = [
    "CLASSES",
    "PENALTIES",
    "Criterion",
    "Fitted",
    "FittedParsimony",
    "ForAll",
    "GenLin",
    "Lin",
    "Mutual",
    "MutualParsimony",
    "NonLin",
    "OnEnoughRows",
    "Parsimony",
    "levels_for",
    "working_target",
]


class Criterion(Protocol):
    """The protocol of a criterion: evidence about a group and its candidates in, a verdict out."""

    def verdict(self, pairs: Any) -> Verdict:
        """Price and allowance of each candidate."""
