"""Why two features share a group, or why they do not."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from coterie._core.values import IntArray, Trace, data_frame
from coterie._data.parameters import checked_column
from coterie._data.training import Given
from coterie.estimators import TreeReasons, decisions_about, input_names_of, tree_reasons
from coterie.report.inspection._checks import check_fitted_reducer

# What TreeReasons says about branches that may not share a group.
ALLOWED, UNLIKE, FORBIDDEN = 0, 1, 2


@dataclass(frozen=True)
class Explanation:
    """Why two features share a group, or why they do not.

    Parameters
    ----------
    first, second : str
        Names of the features.
    together : bool
        Whether they share a group.
    price, allowance : float or None
        What their merge costs, and what it may cost; None if no price decided.
    sentence : str
        The same in words.
    """

    first: str
    second: str
    together: bool
    price: float | None
    allowance: float | None
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def to_frame(self) -> Any:
        """A pandas data frame with one row."""
        return data_frame({one.name: [getattr(self, one.name)] for one in fields(self)})


class _Pair(NamedTuple):
    """Two inputs of a reducer."""

    reducer: Any
    numbers: IntArray
    names: list[str]

    @property
    def labels(self) -> list[int]:
        return [int(label) for label in self.reducer.labels_[self.numbers]]

    @property
    def are_together(self) -> bool:
        one, other = self.labels
        return one == other >= 0

    @property
    def where(self) -> str:
        """Which group each is in."""
        (a, b), (one, other) = map(repr, self.names), self.labels
        if self.are_together:
            return f"{a} and {b} are together in group {one}."
        if one == other:
            return f"{a} and {b} are both left out."
        ours, theirs = (f"in group {n}" if n >= 0 else "left out" for n in (one, other))
        return f"{a} is {ours}, {b} is {theirs}."

    def told(
        self, reason: str, price: float | None = None, allowance: float | None = None
    ) -> Explanation:
        """The explanation with this reason."""
        sentence = f"{self.where} {reason}"
        first, second = self.names
        return Explanation(first, second, self.are_together, price, allowance, sentence)


def explain(
    reducer: Any,
    first: str | int,
    second: str | int,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    offset: Any = None,
    exposure: Any = None,
) -> Explanation:
    """Tell why two features share a group, or why they do not.

    Parameters
    ----------
    reducer : reducer
        A fitted reducer. :class:`Coterie` knows all that is needed. The trace of the others has
        merges only, unless ``trace="all"``; for a refusal they need the data once more.
    first, second : str or int
        Two features, by name or number.
    X, y : optional
        What the reducer was fitted to. The fit is repeated, and this time it keeps the decisions
        about the two features.
    sample_weight, groups, offset, exposure : array-like, optional
        As in ``fit``.

    Returns
    -------
    Explanation
        Whether they are together, the price, the allowance, and a sentence.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> reducer = coterie.NonLinCFA().fit(X, y)
    >>> coterie.explain(reducer, "x0", "x8").together
    True
    >>> why = coterie.explain(reducer, "x0", "x1", X, y)
    >>> why.together, why.price > why.allowance
    (False, True)
    """
    check_fitted_reducer(reducer)
    # A reducer that chooses its tolerance holds the one that was chosen.
    reducer = getattr(reducer, "estimator_", reducer)
    names = [str(name) for name in input_names_of(reducer)]
    one, other = checked_column("first", first, names), checked_column("second", second, names)
    if one == other:
        raise ValueError(f"first and second must be two features, got {names[one]!r} twice.")
    pair = _Pair(reducer, np.array([one, other]), [names[one], names[other]])
    if hasattr(reducer, "tree_"):
        return _explained_by_tree(pair, tree_reasons(reducer))
    if X is not None:
        given = Given(sample_weight, groups, offset, exposure)
        return _explained_by_trace(pair, *decisions_about(reducer, pair.numbers, X, y, given))
    is_known = reducer.trace == "all" or pair.are_together
    if not is_known or reducer.initial_groups is not None:
        raise ValueError(
            f"trace_ does not say why {pair.names[0]!r} and {pair.names[1]!r} are "
            f"{'together' if pair.are_together else 'apart'}: give explain X and y, too."
        )
    return _explained_by_trace(pair, reducer.trace_, pair.numbers)


def _explained_by_trace(pair: _Pair, trace: Trace, known_as: IntArray) -> Explanation:
    """The explanation by the last decision about one of them and the group of the other."""
    is_one_unit = known_as[0] == known_as[1]
    asked = _decisions_between(pair, trace, known_as)
    if pair.are_together and len(made := _made_to_reach_a_number(pair, trace)):
        dearest = float(made.price.max())
        reason = f"It was made of smaller ones to reach n_groups, at a price of {_shown(dearest)}."
        return pair.told(reason, dearest)
    if len(asked) and not is_one_unit:
        return _explained_by_decision(pair, asked[-1], known_as)
    if pair.are_together:
        return pair.told("They were together from the beginning, since initial_groups says so.")
    is_constant = pair.reducer.fit_.constant
    if is_constant is not None and is_constant[pair.numbers].any():
        return pair.told("A constant feature shares no group with one that varies.")
    return pair.told("No price was asked: a limit that you set keeps them apart.")


def _decisions_between(pair: _Pair, trace: Trace, known_as: IntArray) -> Trace:
    one, other = pair.labels
    if pair.are_together:
        return trace[(trace.group == one) & np.isin(trace.candidate, known_as) & trace.accepted]
    was_asked = (trace.group == one) & (trace.candidate == known_as[1])
    was_asked |= (trace.group == other) & (trace.candidate == known_as[0])
    return trace[was_asked & ~trace.accepted]


def _made_to_reach_a_number(pair: _Pair, trace: Trace) -> Trace:
    """The merges of whole groups that led to their group, whatever the price."""
    own = trace[(trace.group == pair.labels[0]) & trace.accepted]
    return own[np.isinf(own.allowance)] if pair.reducer.get_params().get("n_groups") else own[:0]


def _explained_by_decision(pair: _Pair, decision: Any, known_as: IntArray) -> Explanation:
    name = repr(pair.names[int(decision.candidate == known_as[1])])
    price, allowance = float(decision.price), float(decision.allowance)
    cost = f"a price of {_shown(price)}"
    if not pair.are_together:
        limit = f"more than the allowance, {_shown(allowance)}"
        return pair.told(f"{name} would have joined at {cost}, {limit}.", price, allowance)
    limit = f"within the allowance, {_shown(allowance)}"
    return pair.told(f"{name} joined last, at {cost}, {limit}.", price, allowance)


def _explained_by_tree(pair: _Pair, reasons: TreeReasons | None) -> Explanation:
    """The explanation by the merge of the tree that joins the two."""
    if reasons is None:
        return pair.told("The prices of this fit are not known.")
    left_out = [k for k, label in enumerate(pair.labels) if label < 0]
    if left_out:
        return pair.told(" ".join(_why_left_out(pair, k, reasons) for k in left_out))
    row = _merge_of(pair.reducer.children_, *pair.numbers.tolist())
    found, paid = float(reasons.prices[row]), float(reasons.allowance)
    if not pair.are_together and np.isnan(found) and reasons.may_join[row] == ALLOWED:
        return _apart_by_groups(pair, reasons)
    price = None if np.isnan(found) else found
    reason = _why_together(reasons, row) if pair.are_together else _why_apart(pair, reasons, row)
    return pair.told(reason, price, None if price is None else paid)


def _apart_by_groups(pair: _Pair, reasons: TreeReasons) -> Explanation:
    """Why two features whose branches the path never merges are apart: by their groups."""
    if not reasons.group_prices.size:
        return pair.told(
            "They are alike enough, but the target needs them apart: with fewer groups, a part of "
            "one of their branches is left out before the two would merge."
        )
    price = float(reasons.group_prices[tuple(pair.labels)])
    cost = f"{_shown(price)} of its variance, given all other columns"
    allowance = reasons.group_allowance
    if price > allowance:
        reason = (
            "They are alike enough, but the target needs them apart: with one coefficient for both "
            f"groups it would lose {cost}, more than a coefficient is allowed, {_shown(allowance)}."
        )
    else:
        reason = (
            f"They are alike enough, and with one coefficient for both groups the target would "
            f"lose only {cost} (the allowance is {_shown(allowance)}), but between them in the "
            "tree are features that the target needs apart."
        )
    return pair.told(reason, price, allowance)


def _merge_of(children: IntArray, one: int, other: int) -> int:
    """The row of a linkage whose merge joins two leaves."""
    n, parent = len(children) + 1, np.full(2 * len(children) + 1, -1, dtype=np.intp)
    parent[children.ravel()] = np.repeat(np.arange(n, n + len(children)), 2)
    above = set()
    while one >= 0:
        above.add(one)
        one = int(parent[one])
    while other not in above:
        other = int(parent[other])
    return other - n


def _why_together(reasons: TreeReasons, row: int) -> str:
    if np.isnan(reasons.prices[row]):
        return (
            "Their branches of the tree are so alike that they were merged before any price was "
            "asked, or you put them together."
        )
    return (
        f"Merging their branches of the tree cost {_shown(reasons.prices[row])} of the "
        "variance of the target, given all other columns. The allowance, the highest price that "
        f"was paid, is {_shown(reasons.allowance)}."
    )


def _why_apart(pair: _Pair, reasons: TreeReasons, row: int) -> str:
    floor, price = pair.reducer.min_correlation, reasons.prices[row]
    if reasons.may_join[row] == UNLIKE:
        return (
            "They are too unlike to share a group, whatever the target: their branches of the tree "
            f"need a mean correlation of {_shown(floor**2)}, the square of min_correlation."
        )
    if reasons.may_join[row] == FORBIDDEN:
        return (
            f"Together, a member would have a correlation below {_shown(floor)} "
            "(min_correlation) with the aggregate, or a limit that you set keeps them apart."
        )
    cost = f"{_shown(price)} of its variance, given all other columns"
    if price > reasons.allowance:
        return (
            "They are alike enough, but the target needs them apart: merging their branches of the "
            f"tree would cost {cost}, more than the allowance, the highest price that was paid, "
            f"{_shown(reasons.allowance)}."
        )
    return (
        "They are alike enough, and with fewer groups they would merge; the number of groups was "
        "reached before that."
    )


def _why_left_out(pair: _Pair, which: int, reasons: TreeReasons) -> str:
    number, name = int(pair.numbers[which]), repr(pair.names[which])
    if reasons.is_constant[number]:
        return f"{name} is left out because it is constant."
    price = reasons.exit_prices[number]
    if np.isnan(price):
        return (
            f"{name} is left out: alone, it and what is like it explain less of the target than "
            "the groups that the path starts from."
        )
    return (
        f"{name} is left out: leaving it out, with what it was grouped with by then, cost "
        f"{_shown(price)} of the variance of the target, given all other columns. The "
        f"highest price that was paid is {_shown(reasons.allowance)}."
    )


def _shown(number: float) -> str:
    return f"{number:.3g}"
