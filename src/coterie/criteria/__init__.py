"""Does this merge pay? Price and allowance for many candidates at once."""

from typing import Protocol

from coterie.criteria._families import FAMILIES, Family
from coterie.criteria._genlin import GenLin
from coterie.criteria._lin import Lin
from coterie.criteria._nonlin import NonLin
from coterie.statistics import PairMoments
from coterie.values import Verdict

__all__ = ["FAMILIES", "Criterion", "Family", "GenLin", "Lin", "NonLin"]


class Criterion(Protocol):
    """Anything that turns pair moments into a verdict."""

    def verdict(self, pairs: PairMoments) -> Verdict:
        """Price and allowance of each candidate."""
