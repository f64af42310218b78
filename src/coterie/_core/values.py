"""What all packages share: verdicts, partitions, traces, and results as data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


# Whether columns are a SciPy sparse array.
is_sparse: Callable[[Any], bool] = sparse.issparse

# The page of an estimator, to which its HTML representation links.
PAGE_OF_ESTIMATOR = (
    "https://coterie-dev.github.io/coterie/api/generated/coterie.{estimator_name}.html"
)

# Called with the name of a step, how much of it is done, and how much there is. A step begins with
# 0 and ends when all is done.
TellStep = Callable[[str, int, int], None]


def tell_nobody(step: str, done: int, total: int) -> None:
    """Report no progress."""


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Columns by name as a pandas data frame, which is imported when used."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas.") from error
    return pandas.DataFrame(dict(columns))


class FitWarning(UserWarning):
    """Warning about a result of a fit that the user may not expect, and what to do about it.

    Examples are constant features that stay apart, more groups than a model can use, columns of
    different units in one mean, and integer targets that look like classes. The category is
    separate, so that it can be silenced or turned into an error on its own.

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
    """Values as from np.where; a separate name lets compiled code replace it for scalars."""
    return np.where(condition, yes, no)


def excess(price: Any, allowance: Any) -> Any:
    """Price minus allowance; the price alone where the allowance is infinite."""
    return price - where(np.equal(allowance, np.inf), 0.0, allowance)


class Verdict(NamedTuple):
    """Price and allowance of each of m candidates to join one group.

    A merge is accepted when its price does not exceed its allowance.

    Parameters
    ----------
    price : ndarray of shape (m,)
        What each merge costs.
    allowance : ndarray of shape (m,)
        What it may cost.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.extending import Verdict
    >>> Verdict(np.array([0.01, 0.2]), np.array([0.05, 0.05])).accepts
    array([ True, False])
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
        The members of each group, sorted.
    signs : ndarray of shape (n_features,) or None
        -1 for a feature that is multiplied by -1 in its group, relative to the first member.
        None if signs are not allowed.

    Examples
    --------
    >>> from coterie.extending import Partition
    >>> Partition.of([[3, 1], [0, 2]]).labels
    array([0, 1, 0, 1])
    """

    groups: tuple[IntArray, ...]
    signs: FloatArray | None = None

    @classmethod
    def of(cls, groups: Iterable[ArrayLike]) -> Partition:
        """Partition made of these groups; members and groups are sorted."""
        sorted_groups = (np.sort(np.asarray(group, dtype=np.intp)) for group in groups)
        return cls(tuple(sorted(sorted_groups, key=lambda group: int(group[0]))))

    def oriented(self) -> Partition:
        """The same partition, with signs relative to the first member of each group."""
        if self.signs is None:
            return self
        signs = self.signs.copy()
        for members in self.groups:
            signs[members] *= signs[members[0]]
        return Partition(self.groups, signs)

    @property
    def sign_of_each(self) -> FloatArray:
        """Sign of each feature, 1 or -1; all 1 where signs are not allowed."""
        return np.ones(sum(map(len, self.groups))) if self.signs is None else self.signs

    @property
    def labels(self) -> IntArray:
        """Number of the group of each feature."""
        labels = np.empty(sum(map(len, self.groups)), dtype=np.intp)
        for label, members in enumerate(self.groups):
            labels[members] = label
        return labels


class Decision(NamedTuple):
    """Verdicts on some candidates to join one group, in the order in which they were judged.

    Parameters
    ----------
    seed : int
        The feature that opened the group.
    candidates : ndarray of shape (m,)
        The features that were judged.
    verdict : Verdict
        Their prices and allowances.
    accepted : ndarray of bool, shape (m,)
        Which of them joined. A search may leave out some that could have joined.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.extending import Decision, Verdict
    >>> verdict = Verdict(np.array([0.01, 0.2]), np.array([0.05, 0.05]))
    >>> decision = Decision(0, np.array([1, 2]), verdict, verdict.accepts)
    >>> decision.candidates[decision.accepted]
    array([1])
    """

    seed: int
    candidates: IntArray
    verdict: Verdict
    accepted: BoolArray


Trace = np.recarray[Any, Any]


def in_order_of_joining(partition: Partition, trace: Trace) -> Iterable[IntArray]:
    """Members of each group: first the feature that opened it, then in order of acceptance."""
    accepted = trace[trace.accepted]
    accepted = accepted[np.argsort(accepted.group, kind="stable")]
    edges = np.searchsorted(accepted.group, np.arange(1, len(partition.groups)))
    candidates = np.split(accepted.candidate.astype(np.intp), edges)
    for members, joined in zip(partition.groups, candidates, strict=True):
        yield np.concatenate([np.setdiff1d(members, joined), joined])


def trace_of(decisions: Sequence[Decision], partition: Partition) -> Trace:
    """Trace with one record per judged candidate, in the order of the decisions."""
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


class SearchResult(NamedTuple):
    """What a search returns; :func:`outcome` makes it of groups and decisions.

    Parameters
    ----------
    partition : Partition
        The groups.
    trace : record array
        All merges in order, and those refusals that the limits ask to watch.
    n_refused : ndarray of shape (n_groups,)
        How many candidates each group has refused, whether the trace has them or not.

    Examples
    --------
    >>> from coterie.extending import outcome
    >>> found = outcome([[0, 1], [2]], [])
    >>> found.partition.labels, len(found.trace), found.n_refused
    (array([0, 0, 1]), 0, array([0, 0]))
    """

    partition: Partition
    trace: Trace
    n_refused: IntArray


def reordered(found: SearchResult, order: IntArray) -> SearchResult:
    """The result in the original feature numbers, after a search in another order.

    Parameters
    ----------
    order : ndarray of shape (n_features,)
        ``order[i]`` is the feature that had number i in the search.
    """
    partition, trace, n_refused = found
    renamed = Partition.of(order[members] for members in partition.groups)
    if partition.signs is not None:
        signs = np.empty(len(order))
        signs[order] = partition.signs
        renamed = Partition(renamed.groups, signs)
    seeds = np.array([order[members[0]] for members in partition.groups], dtype=np.intp)
    trace = trace.copy()
    trace.candidate = order[trace.candidate]
    number = renamed.labels[seeds]
    trace.group = number[trace.group]
    return SearchResult(renamed, trace, n_refused[np.argsort(number)])
