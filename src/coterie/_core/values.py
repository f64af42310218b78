"""The small frozen things that travel between rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


# Whether columns are kept without their zeros.
is_sparse: Callable[[Any], bool] = sparse.issparse


class FitWarning(UserWarning):
    """What a fit found that its user may not expect, and what to do about it.

    Constants that stay apart, more groups than a model can use, columns of different units in one
    mean, whole numbers that look like classes. It is a category of its own, to be silenced or
    turned into an error by those who know.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from coterie import FitWarning, NonLinCFA
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=(50, 2)), np.ones(50)])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FitWarning)
    ...     NonLinCFA(0.5).fit(X, X[:, 0] + rng.normal(size=50)).labels_
    array([0, 0, 1])
    """


def where(condition: BoolArray, yes: FloatArray | float, no: FloatArray | float) -> FloatArray:
    """As np.where, with a name of our own: compiled, the formulas take single numbers."""
    return np.where(condition, yes, no)


def excess(price: Any, allowance: Any) -> Any:
    """Price less allowance; where the allowance is infinite, the price alone."""
    return price - where(np.equal(allowance, np.inf), 0.0, allowance)


class Verdict(NamedTuple):
    """Price and allowance of each of m candidates for joining one group.

    A merge is accepted when its price does not exceed its allowance.
    """

    price: FloatArray
    allowance: FloatArray

    @property
    def accepts(self) -> BoolArray:
        """Which candidates may join."""
        return np.less_equal(self.price, self.allowance)


TRACE_DTYPE = np.dtype(
    [
        ("group", np.int32),
        ("candidate", np.int32),
        ("price", np.float64),
        ("allowance", np.float64),
        ("accepted", np.bool_),
    ]
)


@dataclass(frozen=True)
class Partition:
    """Features split into groups, numbered in the order of their first member.

    Parameters
    ----------
    groups : tuple of ndarray
        The members of each, sorted.
    signs : ndarray of shape (n_features,) or None
        -1 for a feature that joined with a minus, seen from the first member; None if none may.
    """

    groups: tuple[IntArray, ...]
    signs: FloatArray | None = None

    @classmethod
    def of(cls, groups: Iterable[ArrayLike]) -> Partition:
        """Partition of these groups, their members sorted."""
        sorted_groups = (np.sort(np.asarray(group, dtype=np.intp)) for group in groups)
        return cls(tuple(sorted(sorted_groups, key=lambda group: int(group[0]))))

    def oriented(self) -> Partition:
        """The same with signs that are seen from the first member of each group."""
        if self.signs is None:
            return self
        signs = self.signs.copy()
        for members in self.groups:
            signs[members] *= signs[members[0]]
        return Partition(self.groups, signs)

    @property
    def sign_of_each(self) -> FloatArray:
        """1 or -1 for each feature; 1 for all where none may join with a minus."""
        return np.ones(sum(map(len, self.groups))) if self.signs is None else self.signs

    @property
    def labels(self) -> IntArray:
        """Number of the group of each feature."""
        labels = np.empty(sum(map(len, self.groups)), dtype=np.intp)
        for label, members in enumerate(self.groups):
            labels[members] = label
        return labels


class Decision(NamedTuple):
    """What some candidates were told, in this order, when they asked to join a group."""

    seed: int  # the feature that opened the group
    candidates: IntArray
    verdict: Verdict
    accepted: BoolArray


Trace = np.recarray[Any, Any]


def in_order_of_joining(partition: Partition, trace: Trace) -> Iterable[IntArray]:
    """The members of each group, the one that opened it first, then as they were accepted."""
    accepted = trace[trace.accepted]
    accepted = accepted[np.argsort(accepted.group, kind="stable")]
    edges = np.searchsorted(accepted.group, np.arange(1, len(partition.groups)))
    candidates = np.split(accepted.candidate.astype(np.intp), edges)
    for members, joined in zip(partition.groups, candidates, strict=True):
        yield np.concatenate([np.setdiff1d(members, joined), joined])


def trace_of(decisions: Sequence[Decision], partition: Partition) -> Trace:
    """One record per question, in the order in which they were asked."""
    sizes = [len(decision.candidates) for decision in decisions]
    trace = np.empty(sum(sizes), dtype=TRACE_DTYPE)
    if decisions:
        seeds, candidates, verdicts, accepted = zip(*decisions, strict=True)
        trace["group"] = np.repeat(partition.labels[list(seeds)], sizes)
        trace["candidate"] = np.concatenate(candidates)
        trace["price"] = np.concatenate([verdict.price for verdict in verdicts])
        trace["allowance"] = np.concatenate([verdict.allowance for verdict in verdicts])
        trace["accepted"] = np.concatenate(accepted)
    return trace.view(np.recarray)


def reordered(partition: Partition, trace: Trace, order: IntArray) -> tuple[Partition, Trace]:
    """Partition and trace of features that were searched in another order.

    Parameters
    ----------
    order : ndarray of shape (n_features,)
        ``order[i]`` is the feature that was searched as number i.
    """
    renamed = Partition.of(order[members] for members in partition.groups)
    if partition.signs is not None:
        signs = np.empty(len(order))
        signs[order] = partition.signs
        renamed = Partition(renamed.groups, signs)
    seeds = np.array([order[members[0]] for members in partition.groups], dtype=np.intp)
    trace = trace.copy()
    trace.candidate = order[trace.candidate]
    trace.group = renamed.labels[seeds[trace.group]]
    return renamed, trace
