"""Criteria for several targets, and for a minimum number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._core.evidence import PairColumns
from coterie._core.values import FloatArray, Verdict, excess


@dataclass(frozen=True)
class ForAll:
    """A criterion for several targets: every target must accept a merge.

    The verdict is that of the target with the highest price minus allowance, with prices
    multiplied by ``importance``. If some targets refuse, only these are compared.

    Parameters
    ----------
    criteria : sequence of Criterion
        One for each target.
    importance : ndarray of shape (n_targets,)
    """

    criteria: Sequence[Any]
    importance: FloatArray

    def verdict(self, pairs: Sequence[Any]) -> Verdict:
        """Price and allowance of each candidate, from the evidence of each target."""
        verdicts = [c.verdict(p) for c, p in zip(self.criteria, pairs, strict=True)]
        scale = self.importance.reshape(-1, *[1] * verdicts[0].price.ndim)
        price = scale * np.stack([verdict.price for verdict in verdicts])
        allowance = np.stack([verdict.allowance for verdict in verdicts])
        refuses = price > allowance
        asked = refuses | ~refuses.any(axis=0)
        hardest = np.argmax(np.where(asked, excess(price, allowance), -np.inf), axis=0)[None]
        return Verdict(
            np.take_along_axis(price, hardest, axis=0)[0],
            np.take_along_axis(allowance, hardest, axis=0)[0],
        )


@dataclass(frozen=True)
class OnEnoughRows:
    """A criterion that refuses a merge if there are too few rows.

    With very few rows nothing is significant, and everything would be merged.

    Parameters
    ----------
    criterion : Criterion
    least : ndarray of shape (sets..., 1, 1), or float
        The smallest number of rows in each set.
    """

    criterion: Any
    least: FloatArray | float

    def verdict(self, pairs: Any) -> Verdict:
        """Price and allowance of each candidate; the price is infinite with too few rows."""
        n = pairs.weights.sum(axis=0)[None] if isinstance(pairs, PairColumns) else pairs.n
        few = n < self.least
        few = few.any(axis=tuple(range(few.ndim - 2)))
        with np.errstate(divide="ignore", invalid="ignore"):
            price, allowance = self.criterion.verdict(pairs)
        return Verdict(np.where(few, np.inf, price), np.where(few, 0.0, allowance))
