"""Random problems: columns and targets of many kinds, and a reducer with its parameters.

A seed gives one problem, always the same. ``drawn(seed, search=["best"], missing=["error"])`` draws
until the parameters named have one of the values given.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    TimeSeriesSplit,
)

import coterie
from coterie.families import negative_binomial

ADDITIVE = ("mean", "sum")
# What a reducer may say about a random problem, and be right.
KNOWN_WARNINGS = (
    ".*constant.*",
    ".*do not vary.*",
    ".*does not vary.*",
    ".*share a group, and their spreads, .*",
)


def geometric(Z):
    """A user's own aggregation."""
    return np.cbrt(np.prod(Z, axis=1))


def with_squares(X):
    """A user's own inputs: more columns than there are features."""
    return np.hstack([X, X[:, :2] ** 2])


OTHERS = ("sum_of_squares", "norm", "max", "min", "median", "principal", geometric)


class NoSuchProblemError(Exception):
    """The values that were asked for do not go together with those drawn."""


@dataclass(frozen=True)
class Problem:
    """Data, a reducer that is not fitted, and in words what was drawn."""

    X: Any
    y: Any
    reducer: Any
    given: dict[str, Any] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)

    def but(self, **changes: Any) -> Problem:
        """The same problem with other data, or another reducer."""
        return replace(self, **changes)

    def with_params(self, **params: Any) -> Problem:
        """The same problem for a reducer with some other parameters."""
        return self.but(reducer=clone(self.reducer).set_params(**params))

    def fitted(self) -> Any:
        """The reducer, fitted; a warning that nobody expects is an error."""
        with only_known_warnings():
            return clone(self.reducer).fit(self.X, self.y, **self.given)

    def told(self) -> dict[str, str]:
        """Each parameter that was drawn, and its value in a word."""
        return {name: in_a_word(value) for name, value in self.drawn.items()}

    def __str__(self) -> str:
        rows, columns = self.X.shape
        values = ", ".join(f"{name}={value}" for name, value in self.told().items())
        return f"{self.reducer!r}\n{rows} rows, {columns} columns; {values}"


@contextmanager
def only_known_warnings():
    """Warnings are errors, but for those that random problems deserve."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in KNOWN_WARNINGS:
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


def in_a_word(value: Any) -> str:
    """A value as it is counted: what kind it is, where there are endlessly many."""
    if callable(value):
        return value.__name__
    if isinstance(value, bool | str | None | int):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    if sparse.issparse(value):
        return "a graph"
    if isinstance(value, list | tuple | np.ndarray):
        return "a list"
    return type(value).__name__ if "(" in repr(value) else repr(value)


class Draw:
    """Values, each at random among some, or among those of them that were asked for."""

    def __init__(self, rng: np.random.Generator, only: dict[str, Any]) -> None:
        self.rng, self.only = rng, only
        self.values: dict[str, Any] = {}

    def __call__(self, name: str, options: Any, often: Any = ()) -> Any:
        """One of the options; those in ``often`` come up as often as all others together."""
        options = list(options)
        if name in self.only:
            options = [one for one in options if _is_among(one, self.only[name])]
            if not options:
                raise NoSuchProblemError(name)
        usual = [one for one in options if _is_among(one, often)]
        if usual and self.rng.random() < 0.5:
            options = usual
        value = options[int(self.rng.integers(len(options)))]
        self.values[name] = value
        return value


def _is_among(value: Any, values: Any) -> bool:
    return any(value is one or (type(value) is type(one) and value == one) for one in values)


def drawn(seed: int, **only: Any) -> Problem:
    """The problem of a seed, with values only from those given by name."""
    rng = np.random.default_rng(seed)
    for _ in range(2000):
        try:
            return _drawn(Draw(rng, only))
        except NoSuchProblemError:
            continue
    raise ValueError(f"No problem has {only}.")


def _drawn(draw: Draw) -> Problem:
    names = ["NonLinCFA"] * 4 + ["GenLinCFA"] * 3 + ["LinCFA"] * 2
    # It sorts all rows for each question, so that only who asks for it has it.
    names += ["MutualCFA"] if "MutualCFA" in draw.only.get("reducer", ()) else []
    name = draw("reducer", names)
    params = _rule(draw, name)
    target = draw("target", _targets(name, params))
    is_sized = params.get("n_groups") is not None
    params["aggregation"] = draw(
        "aggregation", ADDITIVE if is_sized else [*ADDITIVE, *OTHERS], often=["mean"]
    )
    params["search"] = draw("search", ["forward", "restart", "best"])
    params["trace"] = "all"
    params["missing"] = draw("missing", _missing(params), often=["error"])
    params["scale"] = draw("scale", [False, True], often=[False])
    params["inputs"] = draw("inputs", [None, np.square, np.abs, with_squares], often=[None])
    if name != "MutualCFA":
        has_covariances = params["aggregation"] in (*ADDITIVE, "sum_of_squares")
        has_covariances &= params.get("bound") != "fitted"
        ways = ["auto", "gram", "columns"] if has_covariances else ["auto"]
        params["covariance"] = draw("covariance", ways, often=["auto"])
    X, y = _data(draw, target, params)
    n_inputs = X.shape[1] + (2 if params["inputs"] is with_squares else 0)
    params |= _knowledge(draw, params, n_inputs, may_sign=_may_sign(name, params))
    given = _given(draw, len(X), params)
    if name != "LinCFA":
        params["target_weights"] = _target_weights(draw, y, by_class=name != "MutualCFA")
    reducer = getattr(coterie, name)(**params)
    return Problem(X, y, reducer, given, draw.values)


def _rule(draw: Draw, name: str) -> dict[str, Any]:
    """What decides on a merge: the parameters that are this reducer's own."""
    if name == "LinCFA":
        return {}
    kind = draw("tolerance is", ["a number", "a word", "found"], often=["a number"])
    rule: dict[str, Any] = {"tolerance": "auto"}
    if kind == "found":
        rule["n_groups"] = draw("n_groups", [1, 2, 3, 4])
    elif kind == "a word":
        rule["tolerance"] = draw("tolerance", ["auto", "aic", "bic", "ric"])
    if name == "MutualCFA":
        rule["n_levels"] = draw("n_levels", [None, 4])
        if kind == "a number":
            rule["tolerance"] = draw("tolerance", [0.01, 0.05])
        return rule
    if name == "NonLinCFA":
        rule["cv"] = draw("cv", [*_CV], often=[None, "auto"])
        if kind == "a number":
            rule["tolerance"] = draw("tolerance", [0.0, 0.003, 0.01, 0.03, 0.1, 0.3, np.inf])
        return rule
    rule["family"] = family = draw("family", [*_FAMILIES])
    rule["bound"] = draw("bound", ["general", "bivariate", "fitted"], often=["general"])
    if kind == "a number":
        scale = {
            "general": [0.55, 0.65, 0.75, 0.85, 0.95, 1.2],
            "bivariate": [0.1, 0.2, 0.3, 0.5, 0.8],
            "fitted": [0.003, 0.01, 0.03, 0.1],
        }[rule["bound"]]
        rule["tolerance"] = draw("tolerance", scale)
        if rule["bound"] != "fitted":
            at_zero = ["zero"] if family in ("gaussian", "bernoulli", "poisson") else []
            rule["curvature"] = draw("curvature", [*at_zero, "null", 0.6])
    elif rule["bound"] == "bivariate":
        raise NoSuchProblemError("a word knows no bound of the paper")
    rule["family"] = _FAMILIES[family]
    return rule


_FAMILIES = {
    "gaussian": "gaussian",
    "bernoulli": "bernoulli",
    "poisson": "poisson",
    "gamma": "gamma",
    "negative_binomial": negative_binomial(0.5),
}
# By a word, so that they can be asked for; splitters are made once the rows are known.
_CV = {None: None, "auto": "auto", 2: 2, 3: 3, 5: 5} | {
    word: word for word in ("shuffled", "in time", "overlapping", "grouped", "predefined", "listed")
}


def _targets(name: str, params: dict[str, Any]) -> list[str]:
    if name == "LinCFA":
        return ["numbers"]
    if name == "MutualCFA":
        return ["numbers", "three labels", "several"]
    if name == "NonLinCFA":
        return ["numbers", "two labels", "three labels", "several", "numbers and labels"]
    family = params["family"]
    if family == "gaussian":
        return ["numbers", "several"]
    if family == "bernoulli":
        return ["two labels", "three labels", "truth", "classes", "several labels"]
    return ["amounts"] if family == "gamma" else ["counts"]


def _missing(params: dict[str, Any]) -> list[str]:
    has_none = params["aggregation"] == "principal" or callable(params["aggregation"])
    # Groups of a given number are found for complete columns only.
    return ["error"] if has_none or params.get("n_groups") else ["error", "pairwise"]


def _data(draw: Draw, target: str, params: dict[str, Any]) -> tuple[Any, Any]:
    rng = draw.rng
    # Wide ones take long, and those with models fitted to each question too long.
    is_slow = params.get("bound") == "fitted" or "n_levels" in params
    shape = draw("shape", ["small"] if is_slow else ["small"] * 11 + ["wide"])
    n_features = int(rng.integers(34, 44) if shape == "wide" else rng.integers(4, 9))
    n_samples = int(rng.integers(150, 180) if shape == "wide" else rng.integers(40, 90))
    if params["missing"] == "pairwise":
        n_samples += 40
    factors = rng.normal(size=(n_samples, 3))
    X = factors @ rng.normal(size=(3, n_features))
    X += rng.uniform(0.2, 0.8) * rng.normal(size=X.shape)
    signal = X @ rng.normal(size=n_features)
    signal = signal / signal.std() + rng.uniform(0.3, 1.5) * rng.normal(size=n_samples)
    X = X * 10 ** rng.uniform(-0.5, 0.5, n_features)
    if draw("level", ["around 0", "far from 0"]) == "far from 0":
        X += 20 * rng.normal(size=n_features)
    _change(draw, X, params)
    if params["missing"] == "pairwise":
        X[rng.random(X.shape) < rng.uniform(0.03, 0.25)] = np.nan
    return X, _target(rng, target, signal)


def _change(draw: Draw, X: Any, params: dict[str, Any]) -> None:
    """Make some columns special: copies, opposites, constants."""
    rng = draw.rng
    options = ["nothing", "copies", "opposites", "constants"]
    if params.get("n_groups") is not None:
        options.remove("constants")  # these may leave a group more than is asked for
    special = draw("special columns", options, often=["nothing"])
    a, b, c = rng.choice(X.shape[1], 3, replace=False)
    if special == "copies":
        # Once scaled, a copy in other units costs the same as the original but for rounding, and
        # the cheapest is either.
        is_exact = rng.random() < 0.5 or (params["scale"] and params["search"] == "best")
        X[:, b] = X[:, a] if is_exact else 1.8 * X[:, a] + 32
    elif special == "opposites":
        X[:, b] = -X[:, a]
    elif special == "constants":
        X[:, a] = float(rng.choice([0.0, 1.0, 0.1, 273.15, 20230101.0]))
        if rng.random() < 0.5:
            X[:, c] = 5.5


def _target(rng: np.random.Generator, target: str, signal: Any) -> Any:
    third = np.digitize(signal, np.quantile(signal, [0.35, 0.7]))
    other = np.roll(signal, 1) + signal
    if target == "numbers":
        return 10 ** rng.uniform(-2, 2) * signal + rng.normal() * 10
    if target == "several":
        return np.column_stack([signal, 50 * other, signal - 2 * other])[:, : rng.integers(2, 4)]
    return {
        "two labels": np.array(["ebb", "flood"])[(signal > 0.2).astype(int)],
        "three labels": np.array(["low", "some", "much"])[third],
        "numbers and labels": np.column_stack(
            [signal.astype(object), np.array(["low", "some", "much"], dtype=object)[third]]
        ),
        "truth": signal > 0.1,
        "classes": third,
        "several labels": np.column_stack(
            [np.array(["a", "b"])[(signal > 0.2).astype(int)], np.array(["x", "y", "z"])[third]]
        ),
        "counts": rng.poisson(np.exp(1.0 + 0.5 * signal)).astype(float),
        "amounts": np.exp(1.0 + 0.5 * signal) * rng.gamma(2.0, 0.5, len(signal)) + 0.01,
    }[target]


def _may_sign(name: str, params: dict[str, Any]) -> bool:
    is_sum, gaps = params["aggregation"] in ADDITIVE, params["missing"] == "pairwise"
    return is_sum and not gaps and params.get("bound") != "fitted" and name != "MutualCFA"


def _knowledge(
    draw: Draw, params: dict[str, Any], n_inputs: int, *, may_sign: bool
) -> dict[str, Any]:
    """What the user knows beforehand: signs, groups, who goes with whom."""
    rng, known = draw.rng, {}
    is_sum, gaps = params["aggregation"] in ADDITIVE, params["missing"] == "pairwise"
    if draw("signs", [False, True] if may_sign else [False]):
        known["signs"] = True
    places = rng.permutation(n_inputs).tolist()
    # Groups to begin with may leave fewer than are asked for.
    may_group = is_sum and not gaps and params.get("n_groups", 0) < 3
    if draw("groups", ["none", "some"] if may_group else ["none"], often=["none"]) == "some":
        cuts = (2, 3) if n_inputs < 7 else (3, 5)
        known["initial_groups"] = [places[: cuts[0]], places[cuts[0] : cuts[1]]]
    is_sized = params.get("n_groups") is not None
    limit = ["no"] if is_sized else ["no", "yes"]
    if draw("keep", limit, often=["no"]) == "yes":
        known["keep"] = places[-1:]
    if draw("separate", limit, often=["no"]) == "yes":
        known["separate"] = _apart(known.get("initial_groups", []), places)
    if draw("connectivity", limit, often=["no"]) == "yes":
        known["connectivity"] = _graph(rng, n_inputs)
    if draw("max_group_size", limit, often=["no"]) == "yes":
        # No group to begin with may be larger.
        longest = max(map(len, known.get("initial_groups", [])), default=1)
        known["max_group_size"] = max(int(rng.integers(1, 5)), longest)
    return known


def _apart(groups: list[list[int]], places: list[int]) -> list[list[int]]:
    """Two lists of columns that stay apart; of a group, one member speaks for all."""
    free = [place for place in places[:-1] if all(place not in group for group in groups)]
    first = groups[0][-1:] if groups else free[:1]
    others = [place for place in free if place not in first]
    return [[*first, *others[:1]], others[1:3]]


def _graph(rng: np.random.Generator, n: int) -> Any:
    touches = np.triu(rng.random((n, n)) < 0.5, 1)
    return sparse.csr_array(touches.astype(float))


def _given(draw: Draw, n_samples: int, params: dict[str, Any]) -> dict[str, Any]:
    """How often rows count; and the splitter that the rows are split by."""
    rng, given = draw.rng, {}
    kind = draw("weights", ["none", "counts", "counts and zeros", "fractions"])
    if kind == "fractions":
        given["sample_weight"] = rng.uniform(0.3, 2.0, n_samples)
    elif kind != "none":
        least = 0 if kind == "counts and zeros" else 1
        given["sample_weight"] = rng.integers(least, 4, n_samples).astype(float)
    if isinstance(params.get("cv"), str) and params["cv"] != "auto":
        word = params["cv"]
        fold = rng.permutation(np.arange(n_samples) % 4)
        if word == "grouped":
            given["groups"] = rng.permutation(np.arange(n_samples) % 7)
        params["cv"] = {
            "shuffled": KFold(4, shuffle=True, random_state=int(rng.integers(100))),
            "in time": TimeSeriesSplit(3, gap=1),
            "overlapping": ShuffleSplit(3, random_state=int(rng.integers(100))),
            "grouped": GroupKFold(3),
            "predefined": PredefinedSplit(fold),
            "listed": [
                (np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out))
                for held_out in (0, 2)
            ],
        }[word]
    return given


def _target_weights(draw: Draw, y: Any, *, by_class: bool) -> Any:
    """How much targets count; of labels, each but the first of two may be one."""
    columns = np.asarray(y).reshape(len(y), -1).T
    n_classes = [len({*column.tolist()}) for column in columns]
    n_targets = sum(k if by_class and k == 3 else 1 for k in n_classes)
    if n_targets == 1 or draw("target_weights", ["none", "some"]) == "none":
        return None
    return [1.0, 0.3, 2.0, 0.0][:n_targets]
