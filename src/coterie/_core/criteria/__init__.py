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
    """The protocol of a criterion: evidence about a group and its candidates in, a verdict out.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import CustomCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.extending import Verdict
    >>> class Correlated:
    ...     def verdict(self, pairs):
    ...         r = pairs.uv / np.sqrt(pairs.uu * pairs.vv)
    ...         return Verdict(price=1 - r, allowance=np.full_like(r, 0.3))
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> CustomCFA(Correlated()).fit(X, y).n_groups_
    3
    """

    def verdict(self, pairs: Any) -> Verdict:
        """Price and allowance of each candidate.

        Parameters
        ----------
        pairs : PairMoments or PairColumns
            Moments of the group, the candidates, both merged, and the target; or their columns, if
            the criterion has a true attribute ``needs_rows``.

        Returns
        -------
        Verdict
            Price and allowance, each in the shape that the moments broadcast to: (k, m) for k
            groups and m candidates; of columns (1, m).
        """
