"""Does this merge pay? Price and allowance for many candidates at once."""

from typing import Any, Protocol

from coterie.criteria._fitted import Fitted, FittedParsimony
from coterie.criteria._genlin import GenLin
from coterie.criteria._lin import Lin
from coterie.criteria._mutual import CLASSES, Mutual, MutualParsimony, levels_for
from coterie.criteria._nonlin import NonLin, Parsimony
from coterie.criteria._penalties import PENALTIES
from coterie.criteria._several import ForAll, OnEnoughRows
from coterie.criteria._working import working_target
from coterie.values import Verdict

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
    """Anything that turns what is known of a group and its candidates into a verdict."""

    def verdict(self, pairs: Any) -> Verdict:
        """Price and allowance of each candidate."""
