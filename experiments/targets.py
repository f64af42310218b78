"""Which question for classes, counts and several targets? Trials on real and known problems.

    python -m experiments.targets fitted [--data FOLDER]
    python -m experiments.targets agree [--data FOLDER]
    python -m experiments.targets several [--data FOLDER]
    python -m experiments.targets information

FOLDER holds the real data, see data.toml. Each writes a table, results/targets_NAME.csv, one row
per fit.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import spearmanr
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_log_loss_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie import GenLinCFA, MutualCFA, NonLinCFA, ToleranceCV
from coterie._core.aggregations import AGGREGATIONS
from coterie._core.criteria import FittedParsimony, GenLin, Parsimony
from coterie._core.evidence import ComputeOptions, EvidenceSpec, RowSets, build_evidence
from coterie._core.fit import MergeQuestion
from coterie._core.values import Verdict
from coterie.datasets import make_paper_data, paper_trial
from coterie.estimators import _base
from coterie.families import FAMILIES
from experiments.data import data_folder, fair_problem

HERE = Path(__file__).parent
DATA = {
    "bankruptcy_polish_1year": "bernoulli",
    "parkinson_speech_subjects": "bernoulli",
    "gene_golub38": "bernoulli",
    "paper's classes": "bernoulli",
    "count_crime_murders": "poisson",
    "count_flu_bybw": "poisson",
}
RULES = {
    "auto": {},
    "auto, fitted": {"bound": "fitted"},
    "bic": {"tolerance": "bic"},
    "bic, fitted": {"tolerance": "bic", "bound": "fitted"},
}
SHARES = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1]
RATIOS = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2]


def problem(folder: Path, name: str, number: int):
    """Training and test rows of a split, standardised."""
    if name == "paper's classes":
        X, y = make_paper_data(100, noise=10)
        return paper_trial(X, (y >= 0).astype(float), number)
    X, X_test, *targets, _, _ = fair_problem(name, number, folder)
    if name.startswith("count_"):
        targets = [np.round(np.expm1(y)) for y in targets]
    return X, X_test, *targets


def scored(Z_train, Z_test, y_train, y_test, family: str) -> dict[str, float]:
    """Share of deviance explained on test rows, and of rows that are classed right."""
    if family == "poisson":
        model = make_pipeline(
            StandardScaler(), PoissonRegressor(alpha=1e-3, solver="newton-cholesky")
        )
        return {"deviance": model.fit(Z_train, y_train).score(Z_test, y_test), "accuracy": np.nan}
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit(Z_train, y_train)
    explained = d2_log_loss_score(y_test, model.predict_proba(Z_test), labels=model.classes_)
    return {"deviance": explained, "accuracy": model.score(Z_test, y_test)}


def fitted_split(folder: Path, name: str, number: int) -> list[dict[str, object]]:
    warnings.simplefilter("ignore")
    family, rows = DATA[name], problem(folder, name, number)
    reducers = {rule: GenLinCFA(family=family, **given) for rule, given in RULES.items()}
    reducers["bound, tuned"] = ToleranceCV(
        GenLinCFA(family=family, curvature="null"), tolerances=RATIOS
    )
    if rows[0].shape[1] < 150:  # or it takes minutes
        reducers["fitted, tuned"] = ToleranceCV(
            GenLinCFA(family=family, bound="fitted"), tolerances=SHARES
        )
    results = []
    for rule, reducer in reducers.items():
        if rule != "auto, fitted" and rule.endswith("fitted") and rows[0].shape[1] > 2000:
            continue  # takes minutes
        start = time.perf_counter()
        Z = reducer.fit(rows[0], rows[2]).transform(rows[0])
        seconds = time.perf_counter() - start
        scores = scored(Z, reducer.transform(rows[1]), *rows[2:], family)
        results.append({"rule": rule, "columns": Z.shape[1], "seconds": seconds, **scores})
    return [{"problem": name, "split": number, **result} for result in results]


def fitted(folder: Path) -> Iterator[dict[str, object]]:
    """Score approximation, paper's bound and the deviance itself, by what a model makes of them."""
    jobs = [delayed(fitted_split)(folder, name, number) for name in DATA for number in range(3)]
    for rows in Parallel(n_jobs=2, return_as="generator")(jobs):
        print(rows[0]["problem"], rows[0]["split"], flush=True)
        yield from rows


def agree(folder: Path) -> Iterator[dict[str, object]]:
    """The same questions, put to each: pairs of up to sixty features of a training set."""
    for name, family in DATA.items():
        X, _, y, _ = problem(folder, name, 0)
        chosen = np.random.default_rng(0).permutation(X.shape[1])[:60]
        X, everyone = X[:, chosen], np.arange(len(chosen))
        penalty = np.log(len(y))
        verdicts, seconds = {}, {}
        curvature = FAMILIES[family].curvature(y.mean(), y.std(), "null")
        for rule, criterion, asked in [
            ("score", Parsimony(penalty), EvidenceSpec()),
            ("bound", GenLin(1.0, curvature), EvidenceSpec()),
            ("fitted", FittedParsimony(FAMILIES[family], penalty), EvidenceSpec(by_row=True)),
        ]:
            evidence = build_evidence(
                X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions(), asked
            )
            start = time.perf_counter()
            verdict = MergeQuestion(evidence, criterion).judge_singles(everyone, everyone)
            seconds[rule] = time.perf_counter() - start
            apart = ~np.eye(len(chosen), dtype=bool)
            verdicts[rule] = Verdict(verdict.price[apart], verdict.allowance[apart])
        score, bound, exact = (verdicts[rule] for rule in ("score", "bound", "fitted"))
        # At the tolerance at which the bound accepts as many.
        as_many = np.quantile(bound.price, exact.accepts.mean())
        yield {
            "problem": name,
            "questions": len(exact.price),
            "accepted": exact.accepts.mean(),
            "score_disagrees": np.mean(score.accepts != exact.accepts),
            "bound_disagrees": np.mean((bound.price <= as_many) != exact.accepts),
            "score_rank": spearmanr(score.price, exact.price).statistic,
            "bound_rank": spearmanr(bound.price, exact.price).statistic,
            "times_slower": seconds["fitted"] / seconds["score"],
        }


@dataclass(frozen=True)
class OnAverage:
    """The rival of ForAll: prices and allowances averaged over the targets."""

    criteria: list
    importance: np.ndarray

    def verdict(self, pairs) -> Verdict:
        verdicts = [c.verdict(p) for c, p in zip(self.criteria, pairs, strict=True)]
        return Verdict(*(np.mean(parts, axis=0) for parts in zip(*verdicts, strict=True)))


def several_problem(folder: Path, name: str, number: int):
    """Three classes of real spectra, or many numbers, of which each feature serves one."""
    if name.startswith("known"):
        n_targets = int(name.split()[1])
        rng = np.random.default_rng(number)
        factors = rng.normal(size=(1200, 6))
        X = np.repeat(factors, 5, axis=1) + 0.5 * rng.normal(size=(1200, 30))
        effects = rng.normal(size=(6, n_targets)) * (rng.random((6, n_targets)) < 0.4)
        Y = factors @ effects + rng.normal(size=(1200, n_targets))
        return X[:200], X[200:], Y[:200], Y[200:]
    X, X_test, *targets, _, _ = fair_problem(name, number, folder)
    return X, X_test, *(np.array(["a", "b", "c"])[y.astype(int)] for y in targets)


def several(folder: Path) -> Iterator[dict[str, object]]:
    """All targets must agree, or their average decides."""
    worst = _base.ForAll
    names = ["nir_fruit", "ir_coffee_origin", "known 3 targets", "known 20 targets"]
    for name in names:
        for number in range(5):
            X, X_test, y, y_test = several_problem(folder, name, number)
            numbers = y.dtype.kind == "f"
            plain = LinearRegression() if numbers else LogisticRegression(max_iter=5000)
            for rule, combined in [("all agree", worst), ("on average", OnAverage)]:
                _base.ForAll = combined
                start = time.perf_counter()
                reducer = NonLinCFA().fit(X, y)
                seconds = time.perf_counter() - start
                model = make_pipeline(StandardScaler(), plain).fit(reducer.transform(X), y)
                yield {
                    "problem": name,
                    "split": number,
                    "rule": rule,
                    "columns": reducer.n_groups_,
                    "seconds": seconds,
                    "score": model.score(reducer.transform(X_test), y_test),
                }
    _base.ForAll = worst


def two_features(name: str, n: int, rng: np.random.Generator):
    """Two features and a target, by what the target depends on."""
    u, v, e = rng.normal(size=(3, n))
    a, b = u + 0.3 * rng.normal(size=(2, n))  # noisy copies
    counts = rng.poisson(1.0, size=(2, n))
    return {
        "noise": (u, v, e),
        "copies: z + e": (a, b, u + e),
        "copies: (a + b)^2 + e": (a, b, (a + b) ** 2 + e),
        "copies: two classes": (a, b, (u + 0.5 * e > 0).astype(float)),
        "counts: u + v + e": (*counts, counts.sum(axis=0) + e),
        "u + 0.3 v + e": (u, v, u + 0.3 * v + e),
        "copies: a + e": (a, b, a + e),
        "u^2 + v^2 + e": (u, v, u**2 + v**2 + e),
        "u v + e / 2": (u, v, u * v + e / 2),
        "classes: sign of u v": (u, v, (u * v > 0) ^ (rng.random(n) < 0.1)),
        "spread depends on u - v": (u, v, (1 + 0.8 * np.tanh(u - v)) * e),
    }[name]


HARMLESS = (
    "noise",
    "copies: z + e",
    "copies: (a + b)^2 + e",
    "copies: two classes",
    "counts: u + v + e",
)
HARMFUL = (
    "u + 0.3 v + e",
    "copies: a + e",
    "u^2 + v^2 + e",
    "u v + e / 2",
    "classes: sign of u v",
    "spread depends on u - v",
)


def information(_: Path | None) -> Iterator[dict[str, object]]:
    """How often two features stay apart, where that is wrong and where it is right."""
    for name in HARMLESS + HARMFUL:
        for n, trials in ((200, 200), (1000, 100), (5000, 40)):
            reducers = {"line": NonLinCFA("bic"), "information": MutualCFA("bic")}
            for rule, reducer in reducers.items():
                apart, start = [], time.perf_counter()
                for trial in range(trials):
                    u, v, y = two_features(name, n, np.random.default_rng(trial))
                    X = np.column_stack([u, v])
                    apart.append(reducer.fit(X, np.asarray(y, dtype=float)).n_groups_ == 2)
                seconds = (time.perf_counter() - start) / trials
                yield {
                    "problem": name,
                    "rule": f"{rule}, {n}",
                    "apart": np.mean(apart),
                    "milliseconds": 1e3 * seconds,
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    trials = {"fitted": fitted, "agree": agree, "several": several, "information": information}
    parser.add_argument("trial", choices=trials)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    table = pd.DataFrame(trials[given.trial](data_folder(given.data)))
    table.to_csv(HERE / "results" / f"targets_{given.trial}.csv", index=False, float_format="%.5g")
    numbers = table.drop(columns="split", errors="ignore")
    by = [key for key in ("problem", "rule") if key in table]
    print(numbers.groupby(by, sort=False).mean(numeric_only=True).round(3).to_string())


if __name__ == "__main__":
    main()
