"""What the rules assume, and what happens where that does not hold: small simulations.

    python -m experiments.assumptions

writes results/assumptions.json, from which the pages assumptions.md and tolerance.md of
docs/how-it-works take their figures. It takes a few minutes on one core.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from coterie import Coterie, GenLinCFA, NonLinCFA, theory
from coterie._core.evidence._effective import effective_number
from experiments.methods import FloatArray
from experiments.results import versions

RESULTS = Path(__file__).parent / "results" / "assumptions.json"
N_TESTS, N_FITS = 20_000, 200
MEAN = np.array([0.5, 0.5])
Rng = np.random.Generator


def share(values: Any) -> float:
    """Share of what is true, to four digits."""
    return round(float(np.mean(values)), 4)


# ---- One test: two inputs, one harmless merge ---------------------------------------------------


def rejected(u: FloatArray, v: FloatArray, w: FloatArray, y: FloatArray, k: float) -> bool:
    """Whether the merge is refused: the price exceeds k times the average fall by noise."""
    both = _explained(np.column_stack([u, v]), y)
    return bool(both - _explained(w[:, None], y) > k * (1 - both) / (len(y) - 3))


def _explained(X: FloatArray, y: FloatArray) -> float:
    X, y = X - X.mean(axis=0), y - y.mean()
    coefficients = np.linalg.lstsq(X, y, rcond=None)[0]
    return float((X @ coefficients) @ y / (y @ y))


def inputs(rng: Rng, n: int) -> tuple[FloatArray, FloatArray]:
    """Two measures of one thing, with a correlation of 1/2."""
    shared = rng.normal(size=n)
    return shared + rng.normal(size=n), shared + rng.normal(size=n)


def noise(rng: Rng, u: FloatArray) -> FloatArray:
    """Standard normal noise, one for each row."""
    return rng.normal(size=len(u))


TARGETS: dict[str, Callable[[Rng, FloatArray, FloatArray], FloatArray]] = {
    "as_assumed": lambda rng, u, v: u + v + noise(rng, u),
    "unequal_variances_mild": lambda rng, u, v: u + v + np.hypot(1, u - v) * noise(rng, u),
    "unequal_variances": lambda rng, u, v: u + v + (u - v) * noise(rng, u),
    "squared_difference_mild": lambda rng, u, v: u + v + (u - v) ** 2 / 2 + noise(rng, u),
    "squared_difference": lambda rng, u, v: u + v + (u - v) ** 2 + 0.1 * noise(rng, u),
    "heavy_tails": lambda rng, u, v: u + v + rng.standard_t(2, size=len(u)),
}


def one_test(n: int = 150) -> dict[str, Any]:
    """How often a harmless merge is refused, with k = log n."""
    k, found = math.log(n), {}
    for name, target in TARGETS.items():
        rng = np.random.default_rng(0)
        refusals = []
        for _ in range(N_TESTS // 4):
            u, v = inputs(rng, n)
            refusals.append(rejected(u, v, (u + v) / 2, target(rng, u, v), k))
        found[name] = share(refusals)
    return {"n": n, "k": k, "nominal": round(float(stats.f.sf(k, 1, n - 3)), 4), **found}


def not_nested(n: int = 150) -> dict[str, Any]:
    """Where w is no linear function of u and v, the price may be negative."""
    rng = np.random.default_rng(0)
    aggregates = {
        "max": np.maximum,
        "sum_of_squares": lambda u, v: u**2 + v**2,
    }
    found: dict[str, Any] = {}
    for name, h in aggregates.items():
        negative, refused = [], []
        for _ in range(2000):
            u, v = inputs(rng, n)
            w = h(u, v)
            y = w + np.std(w) * rng.normal(size=n)
            both = _explained(np.column_stack([u, v]), y)
            negative.append(both < _explained(w[:, None], y))
            refused.append(rejected(u, v, w, u + v + rng.normal(size=n), math.log(n)))
        found[name] = {
            "negative_where_true": share(negative),
            "refused_where_mean_is_true": share(refused),
        }
    return found


def dispersion(n: int = 400) -> dict[str, Any]:
    """The level for classes and counts, whose dispersion is 1 and here is estimated."""
    found = {}
    for name, level in (("bernoulli", 0.0), ("rare_bernoulli", -3.5), ("poisson", 0.0)):
        rng = np.random.default_rng(0)
        refusals = []
        for _ in range(N_TESTS // 4):
            u, v = inputs(rng, n)
            linear = level + 0.4 * (u + v)
            if name == "poisson":
                y = rng.poisson(np.exp(linear)).astype(float)
            else:
                y = (rng.random(n) < 1 / (1 + np.exp(-linear))).astype(float)
            refusals.append(np.ptp(y) > 0 and rejected(u, v, (u + v) / 2, y, math.log(n)))
        found[name] = share(refusals)
    return {"n": n, "nominal": round(float(stats.f.sf(math.log(n), 1, n - 3)), 4), **found}


def family_has_no_effect(n_problems: int = 50) -> dict[str, int]:
    """With a word as tolerance, families give the same groups as NonLinCFA."""
    rng = np.random.default_rng(0)
    same = {"bernoulli": 0, "poisson": 0}
    for _ in range(n_problems):
        factors = rng.normal(size=(200, 3))
        X = np.repeat(factors, 5, axis=1) + rng.normal(size=(200, 15))
        linear = 0.5 * factors.sum(axis=1)
        targets = {
            "bernoulli": (rng.random(200) < 1 / (1 + np.exp(-linear))).astype(float),
            "poisson": rng.poisson(np.exp(linear)).astype(float),
        }
        for family, y in targets.items():
            ours = GenLinCFA("auto", family=family).fit(X, y).labels_
            same[family] += bool(np.array_equal(ours, NonLinCFA().fit(X, y).labels_))
    return {"problems": n_problems, **same}


# ---- Many tests: a target that no column has to do with -----------------------------------------


def of_noise(rng: Rng, n: int, D: int, *, common: float = 0.0) -> FloatArray:
    """Columns that share one factor; common is their correlation with each other."""
    own = math.sqrt(1 - common) * rng.normal(size=(n, D))
    return own + math.sqrt(common) * rng.normal(size=(n, 1))


def autocorrelated(rng: Rng, n: int, D: int, r: float) -> FloatArray:
    """Columns whose rows follow one another."""
    values = rng.normal(size=(n, D))
    for i in range(1, n):
        values[i] = r * values[i - 1] + math.sqrt(1 - r * r) * values[i]
    return values


NOISE: dict[str, Callable[[Rng], tuple[FloatArray, FloatArray]]] = {
    "independent": lambda rng: (of_noise(rng, 300, 40), rng.normal(size=300)),
    "common_factor": lambda rng: (of_noise(rng, 300, 40, common=0.83), rng.normal(size=300)),
    "common_factor_200_columns": lambda rng: (
        of_noise(rng, 300, 200, common=0.83),
        rng.normal(size=300),
    ),
    "heavy_target": lambda rng: (of_noise(rng, 300, 40), rng.standard_t(2, size=300)),
    "heavy_columns_and_target": lambda rng: (
        rng.standard_t(2, size=(300, 40)),
        rng.standard_t(2, size=300),
    ),
    "autocorrelation_0.5": lambda rng: (
        autocorrelated(rng, 300, 40, 0.5),
        autocorrelated(rng, 300, 1, 0.5)[:, 0],
    ),
    "autocorrelation_0.9": lambda rng: (
        autocorrelated(rng, 300, 40, 0.9),
        autocorrelated(rng, 300, 1, 0.9)[:, 0],
    ),
}


def noise_alone() -> dict[str, Any]:
    """How many groups "auto" leaves where all features may be one, and how many of Coterie's."""
    found: dict[str, Any] = {}
    for name, draw in NOISE.items():
        rng = np.random.default_rng(0)
        auto, ours, candidates = [], [], []
        for _ in range(N_FITS):
            X, y = draw(rng)
            auto.append(NonLinCFA().fit(X, y).n_groups_)
            ours.append(Coterie().fit(X, y).n_groups_)
            candidates.append(effective_number(X))
        auto_, ours_ = np.array(auto), np.array(ours)
        found[name] = {
            "auto_one_group": share(auto_ == 1),
            "auto_mean_groups": round(float(auto_.mean()), 2),
            "auto_lowest_tenth": int(np.quantile(auto_, 0.1, method="lower")),
            "auto_highest_tenth": int(np.quantile(auto_, 0.9, method="higher")),
            "coterie_one_group": share(ours_ == 1),
            "coterie_mean_groups": round(float(ours_.mean()), 2),
            "effective_candidates": round(float(np.mean(candidates)), 1),
        }
    return {"fits": N_FITS, **found}


# ---- Theorems -----------------------------------------------------------------------------------


def theorem_3(n: int = 30, repeats: int = 20_000) -> dict[str, Any]:
    """A merge that does not pay by the noise alone, but lowers the error of new rows."""
    rng = np.random.default_rng(0)
    covariance, w = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([0.65, 0.35])
    noise, bend = 0.01, 3.0
    # The variance of a squared standard normal is 2, and it has no covariance with x1 and x2.
    signal = w @ covariance @ w + 2 * bend**2
    balance = theory.mse_balance(
        noise, n, signal, covariance, covariance @ w, 0.95, MEAN @ covariance @ w
    )
    root = np.linalg.cholesky(covariance)
    excess = np.empty((repeats, 2))
    for r in range(repeats):
        X = rng.normal(size=(n, 2)) @ root.T
        y = X @ w + bend * (X[:, 0] ** 2 - 1) + math.sqrt(noise) * rng.normal(size=n)
        two = np.linalg.lstsq(X, y, rcond=None)[0] - w
        one = MEAN * np.linalg.lstsq(X @ MEAN[:, None], y, rcond=None)[0] - w
        excess[r] = two @ covariance @ two, one @ covariance @ one
    apart, merged = excess.mean(axis=0)
    return {
        "n": n,
        "pays": bool(balance.pays),
        "price_over_allowance": round(balance.price / balance.allowance, 1),
        "error_apart": round(float(apart), 3),
        "error_merged": round(float(merged), 3),
    }


def theorem_8(n_cases: int = 20_000) -> dict[str, Any]:
    """How often the bivariate bound is below the increase, for random Gaussian cases."""
    found: dict[str, Any] = {"cases": n_cases}
    for name, low in (("unit_variances", 1.0), ("standard_deviations_below_1", 0.0)):
        rng = np.random.default_rng(0)
        violated, proved = [], []
        for _ in range(n_cases):
            spread, r = rng.uniform(low, 1, size=2), rng.uniform(-1, 1)
            C, w = np.array([[1, r], [r, 1]]) * np.outer(spread, spread), rng.normal(size=2)
            increase, bound, is_proved = increase_and_bound(C, w)
            violated.append(increase > bound + 1e-9)
            proved.append(is_proved)
        found[name] = {
            "violated": share(violated),
            "proved": share(proved),
            "violated_though_proved": int(np.sum(np.logical_and(violated, proved))),
        }
    C, w = np.array([[1.0, -0.84], [-0.84, 0.71]]), np.array([1.4, -2.2])
    increase, bound, _ = increase_and_bound(C, w)
    found["example"] = {"increase": round(increase, 2), "bound": round(bound, 2)}
    return found


def increase_and_bound(C: FloatArray, w: FloatArray) -> tuple[float, float, bool]:
    """Deviance that a mean adds, its bound, and whether the proof of the bound holds."""
    c = C @ w
    one = (MEAN @ c) / (MEAN @ C @ MEAN)
    linear = w - one / 2
    squares, product = w**2 - one**2 / 4, w[0] * w[1] - one**2 / 4
    quadratic = np.diagonal(C) @ squares + 2 * C[0, 1] * product
    terms = [*linear, *squares, product]
    ends = {"smallest": min(terms), "largest": max(terms)}
    bound = theory.bivariate_deviance_bound(C, c, curvature=1.0, **ends)
    increase = 2 * (float(c @ linear) - float(quadratic) / 2)
    return increase, bound, theory.bivariate_bound_is_proved(C, c, **ends)


# ---- The joint price ----------------------------------------------------------------------------


def joint_price(n: int = 150, D: int = 10) -> dict[str, Any]:
    """How often the price of a harmless merge exceeds 4 and 8 times the noise."""
    found: dict[str, Any] = {"n": n, "columns": D}
    for name in ("as_assumed", "penalised", "unequal_variances", "heavy_tails"):
        rng = np.random.default_rng(0)
        prices = []
        for _ in range(N_TESTS // 4):
            X = rng.normal(size=(n, 1)) + rng.normal(size=(n, D))
            X = (X - X.mean(axis=0)) / X.std(axis=0)
            error = rng.standard_t(2, size=n) if name == "heavy_tails" else rng.normal(size=n)
            if name == "unequal_variances":
                error = error * (X[:, 0] - X[:, 1])
            y = X.sum(axis=1) + error
            penalty = 0.3 * n if name == "penalised" else 0.0
            K = np.linalg.inv(X.T @ X + penalty * np.eye(D))
            theta = K @ X.T @ (y - y.mean())
            variance = np.sum((y - y.mean() - X @ theta) ** 2) / (n - D - 1)
            price = (theta[0] - theta[1]) ** 2 / (K[0, 0] + K[1, 1] - 2 * K[0, 1])
            prices.append(price / variance)
        found[name] = {
            "above_4": share(np.array(prices) > 4),
            "above_8": share(np.array(prices) > 8),
        }
    found["nominal"] = {
        "above_4": round(float(stats.chi2.sf(4, 1)), 4),
        "above_8": round(float(stats.chi2.sf(8, 1)), 4),
    }
    return found


SIMULATIONS = {
    "one_test": one_test,
    "not_nested": not_nested,
    "dispersion": dispersion,
    "family": family_has_no_effect,
    "noise_alone": noise_alone,
    "theorem_3": theorem_3,
    "theorem_8": theorem_8,
    "joint_price": joint_price,
}


ON_NOISE = {
    "independent": "40 columns",
    "common_factor": "40 columns, correlation 0.83 by a common factor",
    "common_factor_200_columns": "200 columns, the same",
    "heavy_target": "40 columns, heavy tails (t with 2 degrees of freedom) in the target",
    "heavy_columns_and_target": "heavy tails in columns and target",
    "autocorrelation_0.5": "40 columns, autocorrelation 0.5 of all",
    "autocorrelation_0.9": "40 columns, autocorrelation 0.9 of all",
}
ON_TESTS = {
    "as_assumed": "as assumed",
    "heavy_tails": "heavy tails (t with 2 degrees of freedom) of the noise",
    "unequal_variances_mild": "variance of the noise 1 plus the squared difference of the columns",
    "unequal_variances": "noise in proportion to the difference of the two columns",
    "squared_difference_mild": "half the squared difference in the target, beside noise",
    "squared_difference": "the square of the difference of the two columns in the target",
    "penalised": "as assumed, with a ridge penalty of 0.3 per row",
}


def percent(number: float) -> str:
    """A share in words."""
    return f"{100 * number:.1f} %"


def tables(found: dict[str, Any]) -> dict[str, Any]:
    """The tables of docs/how-it-works/assumptions.md."""
    one, noise, joint = found["one_test"], found["noise_alone"], found["joint_price"]
    return {
        "one_test_table": {
            "columns": ["target", "harmless merge refused"],
            "rows": [
                [words, percent(one[name])] for name, words in ON_TESTS.items() if name in one
            ],
        },
        "noise_table": {
            "columns": ["noise", "`NonLinCFA()`: one group", "mean", "`Coterie()`: one group",
                        "mean", "M"],
            "rows": [
                [words, percent(row["auto_one_group"]), row["auto_mean_groups"],
                 percent(row["coterie_one_group"]), row["coterie_mean_groups"],
                 f"{row['effective_candidates']:.0f}"]
                for name, words in ON_NOISE.items() for row in [noise[name]]
            ],
        },
        "joint_table": {
            "columns": ["target", "price above 4 times the noise", "above 8 times"],
            "rows": [
                [words, percent(joint[name]["above_4"]), percent(joint[name]["above_8"])]
                for name, words in {**ON_TESTS, "nominal": "nominal"}.items() if name in joint
            ],
        },
    }  # fmt: skip


def main() -> None:
    """Run all simulations and write the file."""
    found = {name: simulation() for name, simulation in SIMULATIONS.items()}
    found |= tables(found)
    text = json.dumps(versions() | found, indent=1) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
