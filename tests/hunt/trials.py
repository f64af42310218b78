"""One try of one law: a problem by its seed, and how two fits are compared."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from coterie._core import compiled
from coterie._core.compiled import _worth
from hunt.problems import Problem, drawn

# A price nearer to its allowance than this may come to lie on the other side by rounding.
CLOSE = 1e-7


class SkippedError(Exception):
    """The law says nothing about this problem: a decision hung on rounding, say."""


class Trial:
    """A seed, what was drawn from it, and more random numbers."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng([seed, 1])
        self.problem: Problem | None = None
        self.more: dict[str, Any] = {}

    def drawn(self, **only: Any) -> Problem:
        """The problem of the seed, with values only from those given by name."""
        self.problem = drawn(self.seed, **only)
        return self.problem

    def note(self, name: str, value: Any) -> Any:
        """Count a value that is no parameter of the problem."""
        self.more[name] = value
        return value

    def told(self) -> dict[str, str]:
        """What was drawn, in words."""
        return {**(self.problem.told() if self.problem else {}), **self.more}


Law = Callable[[Trial], None]


@contextmanager
def searches(code: str):
    """Searches by "compiled" code even among few features, or by "numpy" alone."""
    is_compiled = code == "compiled"
    with (
        patch.object(compiled, "FEWEST_FEATURES", 0 if is_compiled else 10**9),
        patch.object(_worth, "LOADING_SECONDS", 0.0),
        patch.object(_worth, "COMPILING_SECONDS", 0.0),
    ):
        yield


def clear(fitted: Any) -> Any:
    """A fit none of whose decisions hung on rounding."""
    trace = fitted.trace_
    finite = np.isfinite(trace.price) & np.isfinite(trace.allowance)
    price, allowance = trace.price[finite], trace.allowance[finite]
    margin = np.abs(price - allowance)
    # Twins cost nothing at all, and may where nothing is allowed.
    is_free = (price == 0) & (allowance >= 0)
    if ((margin <= CLOSE * np.maximum(1.0, np.abs(price))) & ~is_free).any():
        raise SkippedError("a price near its allowance")
    return fitted


def assert_same(one: Any, other: Any, *, exact: bool = False, signs: bool = True) -> None:
    """Two fits with the same groups, signs, questions, answers and numbers."""
    np.testing.assert_array_equal(other.labels_, one.labels_, "labels_")
    if signs:
        np.testing.assert_array_equal(other.signs_, one.signs_, "signs_")
    is_sized = one.get_params().get("n_groups") is not None
    if (one.search == "best" or is_sized) and not exact:
        assert_same_merges(one, other)
    else:
        assert_same_trace(one.trace_, other.trace_, exact=exact)
    for name in ("penalty_", "tolerance_"):
        assert hasattr(one, name) == hasattr(other, name), name
        if hasattr(one, name):
            assert_near(getattr(other, name), getattr(one, name), name, exact=exact)


def assert_same_merges(one: Any, other: Any, *, exact: bool = False) -> None:
    """Two fits that merged at the same prices; of a pair, either may have joined the other."""
    merges = [fitted.trace_[fitted.trace_.accepted] for fitted in (one, other)]
    for name in ("price", "allowance"):
        assert_near(merges[1][name], merges[0][name], f"trace_.{name}", exact=exact)


def assert_same_trace(one: Any, other: Any, *, exact: bool = False) -> None:
    for name in ("group", "candidate", "accepted"):
        np.testing.assert_array_equal(other[name], one[name], f"trace_.{name}")
    for name in ("price", "allowance"):
        assert_near(other[name], one[name], f"trace_.{name}", exact=exact)


def assert_near(value: Any, expected: Any, name: str, *, exact: bool = False) -> None:
    """Equal, or as near as another order of the same sums leaves them."""
    if exact:
        np.testing.assert_array_equal(value, expected, name)
    else:
        value, expected = np.minimum(value, 1e9), np.minimum(expected, 1e9)
        np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-8, err_msg=name)


def assert_same_aggregates(one: Any, other: Any, X: Any) -> None:
    """Two fits that make the same columns of these rows, from wherever they learned it."""
    made, expected = other.transform(_named(X, other)), one.transform(X)
    size = np.nanmax(np.abs(expected), initial=0.0)
    np.testing.assert_allclose(made, expected, rtol=1e-7, atol=1e-9 * size, err_msg="transform")


def _named(X: Any, fitted: Any) -> Any:
    """Rows with the names of columns that a fit has seen, if any."""
    names = getattr(fitted, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


def groups_as_sets(fitted: Any, names: Any = None) -> set[frozenset[int]]:
    """The groups, with columns renamed if they have other names elsewhere."""
    names = np.arange(len(fitted.labels_)) if names is None else np.asarray(names)
    return {frozenset(names[group].tolist()) for group in fitted.groups_}
