"""Does this merge pay? Price and allowance for many candidates at once."""

from typing import Protocol

from coterie.criteria._families import FAMILIES, Family
from coterie.criteria._genlin import GenLin
from coterie.criteria._lin import Lin
from coterie.criteria._nonlin import NonLin, Parsimony
from coterie.criteria._penalties import PENALTIES
from coterie.statistics import PairMoments
from coterie.values import Verdict

__all__ = ["FAMILIES", "PENALTIES", "Criterion", "Family", "GenLin", "Lin", "NonLin", "Parsimony"]


class Criterion(Protocol):
    """Anything that turns pair moments into a verdict."""

    def verdict(self, pairs: PairMoments) -> Verdict:
        """Price and allowance of each candidate."""
