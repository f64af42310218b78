"""Where Coterie stands on the twelve data sets with which it was designed.

    python -m experiments.joint [--data FOLDER]

writes results/joint.json, from which docs/contributing/joint-experiments.md takes its figures.
Splits and the model behind are those of ``python -m experiments.tolerance real``,
whose tuned reducers stand beside.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from coterie import Coterie
from experiments.data import N_SPLITS, data_folder, descriptions, fair_problem
from experiments.methods import FloatArray, IntArray
from experiments.results import versions
from experiments.tolerance import DATA, model_behind

RESULTS = Path(__file__).parent / "results"
PEERS = ("PCA", "FeatureAgglomeration", "PLS", "kernel PCA", "SelectKBest")
# A score that is lower by less than this is level.
LEVEL = 0.005


def alike(X: FloatArray, labels: IntArray) -> float:
    """Mean correlation, signs apart, of two features of one group, over all such pairs."""
    total, pairs = 0.0, 0
    for group in np.unique(labels[labels >= 0]):
        members = X[:, labels == group]
        members = members[:, members.std(axis=0) > 0]
        m = members.shape[1]
        if m > 1:
            total += np.abs(np.corrcoef(members, rowvar=False)).sum() - m
            pairs += m * (m - 1)
    return total / pairs if pairs else 1.0


def one_split(folder: Path | None, name: str, number: int) -> tuple[dict[str, float], IntArray]:
    """Score, columns, likeness within groups and seconds of one split, and its groups."""
    X, X_test, y, y_test, task, _ = fair_problem(name, number, folder)
    start = time.perf_counter()
    reducer = Coterie().fit(X, y if task == "regression" else y.astype(int).astype(str))
    seconds = time.perf_counter() - start
    Z, Z_test = reducer.transform(X), reducer.transform(X_test)
    score = model_behind(None, task).fit(Z, y).score(Z_test, y_test)
    labels = reducer.labels_
    found = {"score": score, "columns": Z.shape[1], "alike": alike(X, labels), "seconds": seconds}
    return found, labels


def one_set(folder: Path | None, name: str) -> dict[str, float]:
    """Means over the splits, and how far the groups of two splits agree."""
    splits = [one_split(folder, name, number) for number in range(N_SPLITS)]
    means = pd.DataFrame([found for found, _ in splits]).mean().to_dict()
    same = [adjusted_rand_score(a, b) for (_, a), (_, b) in combinations(splits, 2)]
    return means | {"same": float(np.mean(same))}


def beside(found: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The table: beside each data set the best of the tuned reducers, known only afterwards."""
    tuned = pd.read_csv(RESULTS / "real.csv")
    tuned = tuned[tuned["rule"].isin(PEERS)].pivot_table("score", "problem", "rule")
    rows, gaps = [], {}
    for name, ours in sorted(found.items(), key=lambda item: descriptions()[item[0]].title):
        best = tuned.loc[name].idxmax()
        gaps[name] = ours["score"] - tuned.loc[name, best]
        rows.append(
            [
                descriptions()[name].title,
                f"{ours['score']:.3f}",
                f"{best} {tuned.loc[name, best]:.3f}",
                f"{gaps[name]:+.3f}",
                f"{ours['columns']:.1f}",
                f"{ours['alike']:.2f}",
                f"{ours['same']:.2f}",
            ]
        )
    columns = ["data", "`Coterie()`", "best tuned reducer", "gap", "columns", "alike", "same"]
    table = pd.DataFrame(found).T
    return {
        "table": {"columns": columns, "rows": rows},
        "level": int(sum(gap >= -LEVEL for gap in gaps.values())),
        "worst_gap": min(gaps.values()),
        "median_columns": float(table["columns"].median()),
        "most_columns": float(table["columns"].max()),
        "alike": float(table["alike"].mean()),
        "same": float(table["same"].mean()),
    }


def main() -> None:
    """Run all data sets and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, help="folder of the real data (or COTERIE_DATA)")
    folder = data_folder(parser.parse_args().data)
    warnings.simplefilter("ignore")
    found = {name: one_set(folder, name) for name in DATA}
    text = json.dumps(versions() | {"sets": found} | beside(found), indent=1)
    (RESULTS / "joint.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
