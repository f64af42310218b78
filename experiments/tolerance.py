"""Which automatic tolerance? Trials on real data, the paper's problems and known groups.

    python -m experiments.tolerance known
    python -m experiments.tolerance paper
    python -m experiments.tolerance real [--data FOLDER]

FOLDER holds the real data, see data.toml. Each writes a table of scores and numbers of columns,
results/NAME.csv, one row per fit.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelBinarizer, StandardScaler

from coterie import GenLinCFA, NonLinCFA
from coterie.datasets import make_paper_data, paper_trial
from experiments.data import Problem, data_folder, descriptions, fair_problem
from experiments.protocols import inner

HERE = Path(__file__).parent
PAPER = HERE.parent / "tests" / "data" / "paper_synthetic.json"
RULES = {
    f"{tolerance} {search}{' signs' * signs}": {
        "tolerance": tolerance,
        "search": search,
        "signs": signs,
    }
    for tolerance in ("auto", "aic", "bic", "ric")
    for search in ("restart", "best")
    for signs in (False, True)
}
DATA = [name for name, known in descriptions().items() if known.sha256]


SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50)
# Three groups of ten features each, unless said otherwise.
KNOWN = {
    "60 samples": {"n_samples": 60},
    "150 samples": {},
    "500 samples": {"n_samples": 500},
    "2,000 samples": {"n_samples": 2000},
    "correlation 0.9 within groups": {"within": 0.9},
    "0.5 within groups": {"within": 0.5},
    "0.5 between groups": {"between": 0.5},
    "300 features": {"sizes": (100, 100, 100)},
    "10 groups": {"sizes": (10,) * 10},
    "groups of 1 to 20": {"sizes": (1, 9, 20)},
    "noise 0.5": {"noise": 0.5},
    "noise 4": {"noise": 4.0},
    "half of them turned round": {"turned": 0.5},
    "noise alone": {"effect": 0.0},
}


def known_problem(
    seed: int,
    *,
    n_samples: int = 150,
    sizes: tuple[int, ...] = (10, 10, 10),
    within: float = 0.7,
    between: float = 0.0,
    noise: float = 1.0,
    turned: float = 0.0,
    effect: float = 1.0,
) -> tuple[np.ndarray, np.ndarray, slice, slice]:
    """Features that measure hidden factors, on which the target depends: 1, -2, 3, -4, ..."""
    rng = np.random.default_rng(seed)
    n = n_samples + 2000
    shared = np.sqrt(between) * rng.normal(size=(n, 1))
    factors = shared + np.sqrt(1 - between) * rng.normal(size=(n, len(sizes)))
    signal = np.sqrt(within) * np.repeat(factors, sizes, axis=1)
    X = signal + np.sqrt(1 - within) * rng.normal(size=signal.shape)
    X[:, rng.random(X.shape[1]) < turned] *= -1
    effects = effect * np.arange(1, len(sizes) + 1) * (-1) ** np.arange(len(sizes))
    y = factors @ effects + noise * rng.normal(size=n)
    return X, y, slice(n_samples), slice(n_samples, None)


def known() -> Iterator[dict[str, object]]:
    """Fixed tolerances beside the automatic ones where the right groups are known."""
    rules = {word: {"tolerance": word} for word in ("auto", "aic", "bic", "ric")}
    rules |= {"auto, best": {"search": "best"}, "auto, signs": {"signs": True}}
    fixed = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 1.0)
    rules |= {f"{t:g}": {"tolerance": t, "cv": None} for t in fixed}
    for problem, options in KNOWN.items():
        for seed in range(20):
            X, y, train, test = known_problem(seed, **options)
            for rule, parameters in rules.items():
                reducer = NonLinCFA(**parameters).fit(X[train], y[train])
                Z = reducer.transform(X)
                predicted = LinearRegression().fit(Z[train], y[train]).predict(Z[test])
                error = np.mean((y[test] - predicted) ** 2)
                yield {
                    "problem": problem,
                    "rule": rule,
                    "score": -error,
                    "columns": reducer.n_groups_,
                }


@lru_cache(maxsize=1)
def paper_data(n_features: int, noise: float, relation: str):
    return make_paper_data(n_features, noise=noise, relation=relation)


def paper() -> Iterator[dict[str, object]]:
    """The paper's synthetic settings: its tolerances, as the authors ran them, beside ours."""
    for name, setting in json.loads(PAPER.read_text(encoding="utf-8")).items():
        if setting["method"] == "LinCFA":
            continue
        X, y = paper_data(setting["D"], setting["noise"], setting["relation"])
        if setting["task"] == "classification":
            y = (y >= (0 if setting["relation"] == "linear" else y.mean())).astype(float)
        for trial in range(5):
            theirs = setting["trials"][str(trial)]
            results = zip(setting["tolerances"], theirs["score"], theirs["d"], strict=True)
            for tolerance, score, d in results:
                yield {"problem": name, "rule": tolerance, "score": score, "columns": d}
            yield from ours_on_paper(name, setting, paper_trial(X, y, trial))


def ours_on_paper(name, setting, trial) -> Iterator[dict[str, object]]:
    X_train, X_test, y_train, y_test = trial
    is_regression = setting["task"] == "regression"
    model = LinearRegression() if is_regression else LogisticRegression(C=np.inf, max_iter=1000)
    kind = NonLinCFA if setting["method"] == "NonLinCFA" else GenLinCFA
    for rule, parameters in RULES.items():
        if parameters["signs"]:
            continue
        reducer = kind(
            parameters["tolerance"],
            search=parameters["search"],
            inputs=np.square if setting["inputs"] == "x**2" else None,
            aggregation=setting["aggregation"].replace(" ", "_"),
        )
        Z = reducer.fit(X_train, y_train).transform(X_train)
        score = model.fit(Z, y_train).score(reducer.transform(X_test), y_test)
        yield {"problem": name, "rule": rule, "score": score, "columns": reducer.n_groups_}


class Partial(PLSRegression):
    """PLS as a transformer of X alone, for classes too."""

    def fit(self, X, y):
        target = LabelBinarizer().fit_transform(y) if self.is_for_classes else y
        return super().fit(X, target)

    is_for_classes = False

    def fit_transform(self, X, y):
        return self.fit(X, y).transform(X)


class PartialForClasses(Partial):
    """The same for labels."""

    is_for_classes = True


def peers(task: str) -> dict[str, object]:
    for_classes = task == "classification"
    return {
        "PCA": PCA(random_state=0),
        "FeatureAgglomeration": FeatureAgglomeration(),
        "PLS": PartialForClasses() if for_classes else Partial(),
        "kernel PCA": KernelPCA(kernel="rbf", random_state=0),
        "SelectKBest": SelectKBest(f_classif if for_classes else f_regression),
    }


def of_size(reducer, size: int):
    for name in ("n_components", "n_clusters", "k"):
        if name in reducer.get_params():
            return clone(reducer).set_params(**{name: size})
    raise TypeError(f"{reducer} has no size.")


def model_behind(reducer, task: str):
    """The same plain model behind every reducer."""
    model = LogisticRegression(max_iter=2000) if task == "classification" else LinearRegression()
    return make_pipeline(reducer, StandardScaler(), model)


def tuned(reducer, problem: Problem) -> int:
    """The size with the best score in five inner folds."""
    n_samples, n_features = problem.X_train.shape
    sizes = [size for size in SIZES if size <= min(n_features, n_samples * 4 // 5 - 2)]
    scores = [
        np.mean(
            [
                model_behind(of_size(reducer, size), part.task)
                .fit(part.X_train, part.y_train)
                .score(part.X_test, part.y_test)
                for part in inner(problem)
            ]
        )
        for size in sizes
    ]
    return sizes[int(np.argmax(scores))]


def per_class(parameters: dict[str, object], y: np.ndarray) -> list[tuple[object, np.ndarray]]:
    """One reducer for numbers or two classes; for more, one for each class."""
    values = np.unique(y)
    targets = [y] if len(values) == 2 or len(values) > 10 else [y == value for value in values]
    return [(NonLinCFA(**parameters), np.asarray(t, dtype=float)) for t in targets]


def real_split(folder: Path, name: str, number: int) -> list[dict[str, object]]:
    warnings.simplefilter("ignore")
    problem, results = fair_problem(name, number, folder), []
    X, X_test, y, y_test, task, _ = problem
    for rule, parameters in RULES.items():
        start = time.perf_counter()
        reducers = [reducer.fit(X, t) for reducer, t in per_class(parameters, y)]
        Z, Z_test = (np.hstack([r.transform(rows) for r in reducers]) for rows in (X, X_test))
        seconds = time.perf_counter() - start
        score = model_behind(None, task).fit(Z, y).score(Z_test, y_test)
        results.append({"rule": rule, "score": score, "columns": Z.shape[1], "seconds": seconds})
    for rule, peer in peers(task).items():
        start = time.perf_counter()
        size = tuned(peer, problem)
        model = model_behind(of_size(peer, size), task).fit(X, y)
        seconds = time.perf_counter() - start
        score = model.score(X_test, y_test)
        results.append({"rule": rule, "score": score, "columns": size, "seconds": seconds})
    return [{"problem": name} | result for result in results]


def real(folder: Path) -> Iterator[dict[str, object]]:
    """Real data: R2 or accuracy on five splits; peers tuned by inner cross-validation."""
    jobs = [(name, number) for name in DATA for number in range(5)]
    parallel = Parallel(n_jobs=2, return_as="generator")
    for results in parallel(delayed(real_split)(folder, *job) for job in jobs):
        yield from results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trial", choices=["known", "paper", "real"])
    parser.add_argument("--data", type=Path, help="folder of the real data")
    options = parser.parse_args()
    folder = data_folder(options.data)
    if options.trial == "real" and folder is None:
        parser.error("real needs --data FOLDER")
    runs = {"known": known, "paper": paper, "real": lambda: real(folder)}
    results = pd.DataFrame(runs[options.trial]())
    results.to_csv(HERE / "results" / f"{options.trial}.csv", index=False, float_format="%.6g")
    means = results.groupby(["problem", "rule"], sort=False).mean(numeric_only=True).reset_index()
    if options.trial == "paper":
        # Of the paper's tolerances, the one that was best on the test rows.
        fixed = means["rule"].map(lambda rule: not isinstance(rule, str))
        best = means[fixed].sort_values("score").groupby("problem").tail(1)
        means = pd.concat([best.assign(rule="best of the paper's"), means[~fixed]])
    for value in ("score", "columns"):
        table = means.pivot_table(value, "problem", "rule", sort=False)
        print(f"\n{value}\n{table.round(4).to_string()}")


if __name__ == "__main__":
    main()
