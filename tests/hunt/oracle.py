"""What a fit must give for any parameters, slow and obvious.

It shares no code with the package: regressions are run, one candidate at a time, for columns that
are always built. What it takes from a fit is the penalty that "auto" found, and the tolerance that
gave a number of groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold

# Prices nearer to their allowance than this, or to each other where the cheapest is taken, may go
# either way.
CLOSE = 1e-7
# Prices below this are those of twins, up to rounding.
NOTHING = 1e-11
# A spread that is this small beside the column itself is rounding.
ROUNDING = 1e-13


class Asked(NamedTuple):
    """One question: who asked to join whom, and the answer."""

    members: tuple[int, ...]  # the columns in the group
    candidate: int  # the first column of the candidate
    price: float
    allowance: float
    accepted: bool
    opens: bool = False  # whether the cheapest pair opens a group, where either may ask the other


@dataclass
class Answer:
    """Groups, signs and questions; or that a decision was too close to tell."""

    groups: list[list[int]]
    signs: list[int]
    asked: list[Asked]
    is_close: bool
    aggregates: Any  # a function from rows of X to aggregates
    refusal: Any  # a function from the first column of a group and a candidate to their verdict
    constant: list[bool]  # of each column


def answer(problem: Any, fitted: Any) -> Answer:
    """What the fit of a problem must have given."""
    return _Fit(problem, fitted).run()


# -- the table ------------------------------------------------------------------------------------


@dataclass
class _Table:
    """Columns to be grouped, targets and weights of the rows that count."""

    columns: Any
    targets: list[Any]
    weights: Any
    splits: Any  # pairs of row numbers, or None
    gaps: bool
    means: Any = None
    constant: list[bool] = field(default_factory=list)


def table_of(problem: Any) -> tuple[_Table, Any]:
    """The table, and a function that makes its columns of any rows of X."""
    params = problem.reducer.get_params()
    X, y = np.asarray(problem.X, dtype=float), np.asarray(problem.y)
    given = problem.given.get("sample_weight")
    weights = np.ones(len(X)) if given is None else np.asarray(given, dtype=float)
    counts = np.flatnonzero(weights > 0)
    row_groups = problem.given.get("groups")
    splits = _splits(params, X, y, counts, row_groups)
    X, y, weights = X[counts], y[counts], weights[counts]
    inputs = params["inputs"] or (lambda X: X)
    columns = inputs(X)
    centre, spread = np.zeros(columns.shape[1]), np.ones(columns.shape[1])
    if params["scale"]:
        stats = [_mean_and_spread(column, weights) for column in columns.T]
        centre, spread = np.array(stats).T
        spread = np.where(spread > 0, spread, 1.0)

    def columns_of(X):
        return (inputs(X) - centre) / spread

    columns = columns_of(X)
    table = _Table(columns, _targets(problem, y), weights, splits, bool(np.isnan(columns).any()))
    table.means = np.array([_mean_and_spread(column, weights)[0] for column in columns.T])
    table.constant = [_mean_and_spread(column, weights)[1] == 0 for column in columns.T]
    return table, columns_of


def _mean_and_spread(column: Any, weights: Any) -> tuple[float, float]:
    """Of the rows that have a value; the spread is 0 where it is only rounding."""
    has = ~np.isnan(column)
    if not weights[has].sum() > 0:
        return 0.0, 0.0
    mean = np.average(column[has], weights=weights[has])
    spread = np.sqrt(np.average((column[has] - mean) ** 2, weights=weights[has]))
    if spread <= ROUNDING * np.abs(column[has]).max():
        return float(column[has][0]), 0.0
    return mean, spread


def _splits(params: Any, X: Any, y: Any, counts: Any, row_groups: Any) -> Any:
    cv = params.get("cv")
    if isinstance(cv, str):  # "auto"
        cv = None if isinstance(params["tolerance"], str) else 5
    if cv is None:
        return None
    if isinstance(cv, list | PredefinedSplit):
        # By numbers of all rows, those that do not count left out.
        number = {row: place for place, row in enumerate(counts.tolist())}
        pairs = cv if isinstance(cv, list) else cv.split()
        return [
            tuple(
                np.array([number[row] for row in side.tolist() if row in number]) for side in pair
            )
            for pair in pairs
        ]
    X, y = X[counts], y[counts]
    if isinstance(cv, int):
        is_text = y.ndim == 1 and y.dtype.kind == "U"
        cv = StratifiedKFold(cv) if is_text else KFold(cv)
    return list(cv.split(X, y, None if row_groups is None else np.asarray(row_groups)[counts]))


def _targets(problem: Any, y: Any) -> list[Any]:
    """One column of numbers for each target; of labels, for each class but the first of two."""
    by_class = problem.reducer.get_params().get("family") == "bernoulli"
    targets = []
    for column in y.reshape(len(y), -1).T:
        if by_class or isinstance(column[0], str):
            classes = sorted({*column.tolist()})
            kept = classes[1:] if len(classes) == 2 else classes
            targets += [np.array([float(value == one) for value in column]) for one in kept]
        else:
            targets.append(column.astype(float))
    return targets


# -- aggregates -----------------------------------------------------------------------------------


def aggregate(Z: Any, aggregation: Any, means: Any, weights: Any = None) -> Any:
    """Of each row; a member without a value stands as far from its mean as the others do."""
    if np.isnan(Z).any():
        off = Z - means
        has = ~np.isnan(Z)
        counted = has.sum(axis=1)
        shift = np.where(has, off, 0.0).sum(axis=1) / np.where(counted > 0, counted, np.nan)
        Z = np.where(has, Z, means + shift[:, None])
    if callable(aggregation):
        return aggregation(Z)
    if aggregation == "principal":
        centre, direction = _principal(Z, weights)
        return (Z - centre) @ direction
    return {
        "mean": lambda: Z.mean(axis=1),
        "sum": lambda: Z.sum(axis=1),
        "sum_of_squares": lambda: (Z**2).sum(axis=1),
        "norm": lambda: np.linalg.norm(Z, axis=1),
        "max": lambda: Z.max(axis=1),
        "min": lambda: Z.min(axis=1),
        "median": lambda: np.median(Z, axis=1),
    }[aggregation]()


def _principal(Z: Any, weights: Any) -> tuple[Any, Any]:
    """Where the first component is centred, and its direction: weights that sum to 0 or more."""
    centre = np.average(Z, axis=0, weights=weights)
    _, _, directions = np.linalg.svd(np.sqrt(weights)[:, None] * (Z - centre), full_matrices=False)
    first = directions[0]
    return centre, first if first.sum() >= 0 else -first


# -- prices ---------------------------------------------------------------------------------------


def r2(inputs: Any, y: Any, weights: Any, train: Any, test: Any) -> float:
    """Of least squares with an intercept, learned on some rows and scored on others."""
    Z = np.column_stack([_standard_by(column, weights, train) for column in inputs])
    w, w_test = weights[train], weights[test]
    level, root = w @ y[train] / w.sum(), np.sqrt(w)
    slopes = np.linalg.lstsq(root[:, None] * Z[train], root * (y[train] - level), rcond=1e-6)[0]
    missed = y[test] - level - Z[test] @ slopes
    total = w_test @ (y[test] - w_test @ y[test] / w_test.sum()) ** 2
    return 1 - w_test @ missed**2 / total if total > 0 else 0.0


def _standard_by(column: Any, weights: Any, rows: Any) -> Any:
    """In units of some rows; 0 where the column does not vary there."""
    some, w = column[rows], weights[rows]
    mean = w @ some / w.sum()
    spread = np.sqrt(w @ (some - mean) ** 2 / w.sum())
    if spread <= ROUNDING * np.abs(some).max():
        return np.zeros(len(column))
    return (column - mean) / spread


def _standard(column: Any, weights: Any) -> Any:
    return _standard_by(column, weights, np.arange(len(column)))


def _cov(a: Any, b: Any, weights: Any) -> float:
    """Divided by n - 1, as the authors do it."""
    off = (a - np.average(a, weights=weights)) * (b - np.average(b, weights=weights))
    return weights @ off / (weights.sum() - 1)


def _r(a: Any, b: Any, weights: Any) -> float:
    return np.average(_standard(a, weights) * _standard(b, weights), weights=weights)


class Question(NamedTuple):
    """Group, candidate and both merged in the rows that have both; one target."""

    u: Any
    v: Any
    w: Any
    y: Any
    weights: Any
    splits: Any


def nonlin(q: Question) -> tuple[list[float], list[float], list[float]]:
    """R2 apart, R2 merged and the number of rows, of each split or of all rows."""
    everyone = np.arange(len(q.y))
    splits = q.splits or [(everyone, everyone)]
    apart = [r2([q.u, q.v], q.y, q.weights, *split) for split in splits]
    merged = [r2([q.w], q.y, q.weights, *split) for split in splits]
    if q.splits is None:
        return apart, merged, [q.weights.sum()]
    return apart, merged, [q.weights[a].sum() + q.weights[b].sum() for a, b in splits]


def by_r2(q: Question, level: float, by_word: bool) -> tuple[float, float]:
    """The share of variance given up, against a number or what noise gives up."""
    apart, merged, n = nonlin(q)
    price = np.mean(apart) - np.mean(merged)
    if not by_word:
        return price, level
    noise = np.mean([max(1 - a, 0.0) / (n - 3) for a, n in zip(apart, n)])
    return price, (level if q.splits is None else level - 2) * noise


def by_bound(
    q: Question, tolerance: float, curvature: float, bound: str, gaussian: bool
) -> tuple[float, float]:
    """What two inputs explain apart, over what their merger explains."""
    u, v, w = (_standard(column, q.weights) for column in (q.u, q.v, q.w))
    y = _standard(q.y, q.weights) if gaussian else q.y
    scale = 1.0 if gaussian else _mean_and_spread(y, q.weights)[1]
    uy, vy, wy = (abs(_cov(column, y, q.weights)) for column in (u, v, w))
    if _r(u, v, q.weights) > 1 - 1e-10 and abs(uy - wy) < 1e-7 * scale:
        return 0.0, tolerance  # a twin that leaves the aggregate as it was
    mean = np.average(u + v, weights=q.weights)
    left, right = uy + vy, curvature / 2 * np.average((u + v - mean) ** 2, weights=q.weights)
    if bound == "general":
        left, right = left + curvature / 2 * np.average(w**2, weights=q.weights), right + wy
    if right < 1e-14:
        return (np.inf if left > 1e-14 else 0.0), tolerance
    return left / right, tolerance


def by_bias(q: Question) -> tuple[float, float]:
    """LinCFA: ``corr(u, v) >= 1 - 2 s2 / ((n - 1) (w1 - w2)^2)``, multiplied out."""
    n = q.weights.sum()
    u, v, y = (_standard(column, q.weights) for column in (q.u, q.v, q.y))
    two, root = np.column_stack([u, v]), np.sqrt(q.weights)
    slopes = np.linalg.lstsq(root[:, None] * two, root * y, rcond=1e-6)[0]
    noise = q.weights @ (y - two @ slopes) ** 2 / (n - 3)
    return (1 - _r(u, v, q.weights)) * (slopes[0] - slopes[1]) ** 2, 2 * noise / (n - 1)


# Variance, inverse of the link and its slope, and unit deviance of each family.
_FAMILIES = {
    "bernoulli": (
        lambda m: m * (1 - m),
        lambda p: 1 / (1 + np.exp(-p)),
        lambda m: m * (1 - m),
        lambda y, m: -2 * np.log(np.where(y > 0, m, 1 - m)),
    ),
    "poisson": (
        lambda m: m,
        np.exp,
        lambda m: m,
        lambda y, m: 2 * (np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / m), 0.0) - (y - m)),
    ),
    "gamma": (
        lambda m: m**2,
        np.exp,
        lambda m: m,
        lambda y, m: 2 * ((y - m) / m - np.log(y / m)),
    ),
    "negative_binomial(0.5)": (
        lambda m: m * (1 + m / 2),
        np.exp,
        lambda m: m,
        lambda y, m: (
            2 * np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / m), 0.0)
            - 2 * (y + 2) * np.log((y + 2) / (m + 2))
        ),
    ),
}


def glm(inputs: list[Any], q: Question, family: str) -> tuple[float, Any]:
    """Deviance of a generalised linear model, and its means, by scoring with shorter steps."""
    variance, mean_of, slope_of, unit = _FAMILIES[family]
    Z = np.column_stack([np.ones(len(q.y)), *(_standard(one, q.weights) for one in inputs)])
    level = np.average(q.y, weights=q.weights)
    beta = np.zeros(Z.shape[1])
    beta[0] = np.log(level / (1 - level)) if family == "bernoulli" else np.log(level)
    mean = mean_of(Z @ beta)
    deviance = q.weights @ unit(q.y, mean)
    for _ in range(200):
        slope = slope_of(mean)
        root = np.sqrt(q.weights * slope**2 / variance(mean))
        step = np.linalg.lstsq(root[:, None] * Z, root * (q.y - mean) / slope, rcond=1e-6)[0]
        for _ in range(30):
            trial = mean_of(Z @ (beta + step))
            found = q.weights @ unit(q.y, trial)
            if found <= deviance or np.abs(step).max() < 1e-12:
                break
            step = step / 2
        gained, beta, mean, deviance = deviance - found, beta + step, trial, found
        if gained <= 1e-14 * max(deviance, 1e-3):
            break
    return deviance, mean


def by_deviance(q: Question, level: float, by_word: bool, family: str) -> tuple[float, float]:
    """The share of the null deviance given up, against a number or the dispersion."""
    if family == "gaussian":
        return by_r2(q, level, by_word)
    (null, _), (merged, _), (apart, mean) = (
        glm(inputs, q, family) for inputs in ([], [q.w], [q.u, q.v])
    )
    price = (merged - apart) / null
    if not by_word:
        return price, level
    dispersion = 1.0
    if family != "bernoulli":
        pearson = q.weights @ ((q.y - mean) ** 2 / _FAMILIES[family][0](mean))
        dispersion = pearson / (q.weights.sum() - 3)
    return price, level * dispersion / null


# -- the fit --------------------------------------------------------------------------------------


class _Fit:
    """One problem, asked question by question."""

    def __init__(self, problem: Any, fitted: Any) -> None:
        self.problem, self.params = problem, problem.reducer.get_params()
        self.name = type(problem.reducer).__name__
        self.table, self.columns_of = table_of(problem)
        self.is_close = False
        self.known: dict[Any, Any] = {}
        self.forced: list[Asked] = []
        self._weigh_targets()
        self._take_units()
        self.by_word = isinstance(self.params.get("tolerance"), str)
        if self.params.get("n_groups") is not None:
            # The tolerance was brought near a price that is too high for it, from below.
            self.by_word = False
            self.level = fitted.tolerance_ * (1 - 10 * CLOSE)
        elif self.by_word:
            self.level = self._penalty(fitted)
        else:
            self.level = self.params.get("tolerance")

    def _weigh_targets(self) -> None:
        importance = np.asarray(
            self.params.get("target_weights") or [1.0] * len(self.table.targets)
        )
        importance = importance / importance.max()
        say = [t for t, one in enumerate(importance) if one > 0]
        self.targets = [self.table.targets[t] for t in say]
        self.importance = [importance[t] for t in say]

    def _penalty(self, fitted: Any) -> float:
        n = self.table.weights.sum()
        # Constants do not count, unless they must be with others that vary.
        varying = sum(len(unit) for unit in self.units if not self._is_constant(unit))
        penalty = {
            "aic": 2.0,
            "bic": np.log(n),
            "ric": 2 * np.log(len(self.targets) * varying),
            "auto": fitted.penalty_,
        }[self.params["tolerance"]]
        assert np.isclose(penalty, fitted.penalty_, rtol=1e-9), ("penalty", penalty)
        return penalty

    def _take_units(self) -> None:
        """What the search takes for one column: groups to begin with, and every other column."""
        D = self.table.columns.shape[1]
        units = [sorted(group) for group in self.params["initial_groups"] or [] if group]
        taken = {column for unit in units for column in unit}
        units += [[column] for column in range(D) if column not in taken]
        self.units = sorted(units)
        self.unit_signs = [self._signs_within(unit) for unit in self.units]
        graph = self.params["connectivity"]
        self.touches = None if graph is None else (graph.toarray() != 0) | (graph.toarray().T != 0)

    def _signs_within(self, unit: list[int]) -> list[int]:
        """Each against the sum of those before it."""
        signs = [1]
        for column in unit[1:]:
            before = self.table.columns[:, unit[: len(signs)]] @ signs
            signs.append(self._sign(before, self.table.columns[:, column]))
        return signs

    def _sign(self, u: Any, v: Any) -> int:
        if not self.params["signs"]:
            return 1
        r = _r(u, v, self.table.weights)
        if r != 0 and abs(r) < 1e-9:
            self.is_close = True
        return -1 if r < 0 else 1

    # -- limits

    def may_ask(self, group: list[int], unit: int) -> bool:
        """Whether a unit may be asked to join a group of units at all."""
        members = [column for one in group for column in self.units[one]]
        new, largest = self.units[unit], self.params["max_group_size"]
        if largest is not None and len(members) + len(new) > largest:
            return False
        kept = {*(self.params["keep"] or [])}
        if kept & {*members, *new}:
            return False
        if self.touches is not None and not self.touches[np.ix_(members, new)].any():
            return False
        kinds = [
            number
            for number, columns in enumerate(self.params["separate"] or [])
            if {*columns} & {*members, *new}
        ]
        if len(kinds) > 1:
            return False
        return self._is_constant(new) == self._is_constant(members)

    def _is_constant(self, columns: list[int]) -> bool:
        return all(self.table.constant[column] for column in columns)

    # -- questions

    def signed(self, group: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
        """The columns of units that joined with these signs, and the sign of each."""
        columns = [column for unit, _ in group for column in self.units[unit]]
        signs = [sign * one for unit, sign in group for one in self.unit_signs[unit]]
        return columns, signs

    def aggregate(self, group: list[tuple[int, int]]) -> Any:
        columns, signs = self.signed(group)
        Z, means = self.table.columns[:, columns] * signs, self.table.means[columns] * signs
        return aggregate(Z, self.params["aggregation"], means, self.table.weights)

    def ask(self, group: list[tuple[int, int]], unit: int) -> tuple[float, float, int]:
        """Price, allowance, and the sign that the unit would join with."""
        key = (*group, unit)
        if key not in self.known:
            self.known[key] = self._ask(group, unit)
        return self.known[key]

    def _ask(self, group: list[tuple[int, int]], unit: int) -> tuple[float, float, int]:
        u = self.aggregate(group)
        v = self.table.columns[:, self.units[unit]] @ self.unit_signs[unit]
        sign = self._sign(u, v)
        w = self.aggregate([*group, (unit, sign)])
        if self.params["aggregation"] == "principal":
            self._watch_direction([*group, (unit, sign)])
        verdicts = [self._verdict(u, sign * v, w, y) for y in self.targets]
        weighed = [(k * price, allowed) for k, (price, allowed) in zip(self.importance, verdicts)]
        excess = [price - (0.0 if allowed == np.inf else allowed) for price, allowed in weighed]
        price, allowance = weighed[int(np.argmax(excess))]
        return (0.0 if abs(price) < NOTHING else price), allowance, sign

    def _watch_direction(self, group: list[tuple[int, int]]) -> None:
        """Whether the component points either way, or is one of two."""
        columns, _ = self.signed(group)
        Z, weights = self.table.columns[:, columns], self.table.weights
        off = np.sqrt(weights)[:, None] * (Z - np.average(Z, axis=0, weights=weights))
        sizes = np.linalg.svd(off, compute_uv=False)
        centre, direction = _principal(Z, weights)
        if abs(direction.sum()) < 1e-6 or sizes[1] > (1 - 1e-6) * sizes[0]:
            self.is_close = True

    def _verdict(self, u: Any, v: Any, w: Any, y: Any) -> tuple[float, float]:
        rows = ~np.isnan(u) & ~np.isnan(v)
        if self.table.gaps and not self._are_enough(rows):
            return np.inf, 0.0
        splits = self.table.splits
        if splits is not None:
            place = np.cumsum(rows) - 1
            splits = [tuple(place[side[rows[side]]] for side in split) for split in splits]
        q = Question(u[rows], v[rows], w[rows], y[rows], self.table.weights[rows], splits)
        if self.name == "LinCFA":
            return by_bias(q)
        if self.name == "GenLinCFA":
            return self._by_family(q, y)
        return by_r2(q, self.level, self.by_word)

    def _by_family(self, q: Question, y: Any) -> tuple[float, float]:
        family = self.params["family"]
        family = family if isinstance(family, str) else family.name
        if self.params["bound"] == "fitted":
            return by_deviance(q, self.level, self.by_word, family)
        if self.by_word or self.params["n_groups"] is not None:
            return by_r2(q, self.level, self.by_word)
        curvature = self.params["curvature"]
        if curvature == "zero":
            curvature = {"gaussian": 1.0, "bernoulli": 0.25, "poisson": 1.0}[family]
        elif curvature == "null":
            mean = np.average(y, weights=self.table.weights)
            curvature = 1.0 if family == "gaussian" else _FAMILIES[family][0](mean)
        return by_bound(q, self.level, curvature, self.params["bound"], family == "gaussian")

    def _are_enough(self, rows: Any) -> bool:
        """30 rows or half of them have both; of each fold as large a part, and 4."""
        weights = self.table.weights
        share = min(30 / weights.sum(), 0.5)
        sides = [np.arange(len(rows))]
        if self.table.splits is not None:
            sides = [side for split in self.table.splits for side in split]
        return all(
            weights[side[rows[side]]].sum() >= max(share * weights[side].sum(), 4) for side in sides
        )

    # -- searches

    def run(self) -> Answer:
        """Groups as the search finds them, merged further if these are too many."""
        search = {"forward": self._in_order, "restart": self._in_order, "best": self._best}
        groups, asked = search[self.params["search"]]()
        if (size := self.params.get("n_groups")) is not None:
            groups = self._merged(groups, size)
        signs = [0] * self.table.columns.shape[1]
        for group in groups:
            columns = sorted(zip(*self.signed(group), strict=True))
            for column, sign in columns:
                signs[column] = sign * columns[0][1]
        found = {min(self.signed(group)[0]): group for group in groups}
        columns = sorted(sorted(self.signed(group)[0]) for group in groups)

        def refusal(first: int, candidate: int) -> tuple[float, float]:
            unit = [number for number, unit in enumerate(self.units) if candidate in unit]
            return self.ask(found[first], unit[0])[:2]

        aggregates = self._aggregates(columns, signs)
        asked = asked + self.forced
        constant = self.table.constant
        return Answer(columns, signs, asked, self.is_close, aggregates, refusal, constant)

    def _aggregates(self, groups: list[list[int]], signs: list[int]) -> Any:
        table, signs, name = self.table, np.array(signs), self.params["aggregation"]

        def of_rows(X: Any) -> Any:
            columns = self.columns_of(np.asarray(X, dtype=float))
            made = []
            for group in groups:
                Z, s = columns[:, group] * signs[group], signs[group]
                if name == "principal":
                    centre, direction = _principal(table.columns[:, group], table.weights)
                    made.append((Z - centre) @ direction)
                else:
                    made.append(aggregate(Z, name, table.means[group] * s))
            return np.column_stack(made)

        return of_rows

    def _decide(
        self, group: list[tuple[int, int]], unit: int, asked: list[Asked], opens: bool = False
    ) -> int:
        """The sign that a unit joins with, or 0."""
        price, allowance, sign = self.ask(group, unit)
        accepted = price <= allowance
        if not (price == allowance == 0) and _are_close(price, allowance):
            self.is_close = True
        columns, _ = self.signed(group)
        asked.append(Asked(tuple(columns), self.units[unit][0], price, allowance, accepted, opens))
        return sign if accepted else 0

    def _in_order(self) -> tuple[list[Any], list[Asked]]:
        restart = self.params["search"] == "restart"
        asked: list[Asked] = []
        groups, free = [], list(range(len(self.units)))
        while free:
            group, place = [(free.pop(0), 1)], 0
            while place < len(free):
                unit = free[place]
                members = [member for member, _ in group]
                if self.may_ask(members, unit) and (sign := self._decide(group, unit, asked)):
                    group.append((unit, sign))
                    free.pop(place)
                    place = 0 if restart else place
                else:
                    place += 1
            groups.append(group)
        return groups, asked

    def _best(self) -> tuple[list[Any], list[Asked]]:
        asked: list[Asked] = []
        groups, free = [], list(range(len(self.units)))
        while (pair := self._cheapest([[(i, 1)] for i in free], free)) is not None:
            group, unit = pair
            while unit is not None:
                sign = self._decide(group, unit, asked, opens=len(group) == 1)
                group = [*group, (unit, sign)]
                free = [one for one in free if one not in [member for member, _ in group]]
                found = self._cheapest([group], free)
                unit = None if found is None else found[1]
            groups.append(group)
        return groups + [[(unit, 1)] for unit in free], asked

    def _cheapest(self, groups: list[Any], free: list[int]) -> Any:
        """The group and the unit of the lowest price less allowance, where that is 0 or less."""
        found = []
        for group in groups:
            members = [member for member, _ in group]
            for unit in free:
                if unit not in members and self.may_ask(members, unit):
                    price, allowance, _ = self.ask(group, unit)
                    net = price - (0.0 if allowance == np.inf else allowance)
                    found.append((net, {*members, unit}, group, unit, price <= allowance))
        if not found:
            return None
        net, together, group, unit, accepted = min(found, key=lambda one: one[0])
        if not (net == 0 and accepted) and _are_close(net, 0.0):
            self.is_close = True
        # The two of a pair may ask each other at the same price; others may not tie.
        if any(_are_close(one[0], net) and one[1] != together for one in found):
            self.is_close = True
        return (group, unit) if accepted else None

    def _merged(self, groups: list[Any], size: int) -> list[Any]:
        """Merge whole groups, the cheapest pair first, until so many are left."""
        groups = [list(group) for group in groups]
        while len(groups) > size:
            found = []
            for i, one in enumerate(groups):
                for j, other in enumerate(groups):
                    if i != j:
                        found.append((*self._price_of_groups(one, other), i, j))
            price, sign, i, j = min(found)
            if any(_are_close(price, one[0]) and {one[2], one[3]} != {i, j} for one in found):
                self.is_close = True
            merged = groups[i] + [(unit, sign * s) for unit, s in groups[j]]
            first = min(self.signed(groups[j])[0])
            self.forced.append(
                Asked(tuple(self.signed(groups[i])[0]), first, price, np.inf, True, True)
            )
            groups = [group for k, group in enumerate(groups) if k not in (i, j)] + [merged]
        return groups

    def _price_of_groups(self, one: Any, other: Any) -> tuple[float, int]:
        u, v = (
            self.table.columns[:, columns] @ signs
            for columns, signs in (self.signed(one), self.signed(other))
        )
        sign = self._sign(u, v)
        verdicts = [self._verdict(u, sign * v, u + sign * v, y) for y in self.targets]
        price = max(k * price for k, (price, _) in zip(self.importance, verdicts))
        return (0.0 if abs(price) < NOTHING else price), sign


def _are_close(a: float, b: float) -> bool:
    if np.isinf(a) or np.isinf(b):
        return False
    return abs(a - b) <= CLOSE * max(1.0, abs(a), abs(b))
