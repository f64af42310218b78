"""The results of the fight as tables of scores, costs and comparisons; words are for the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from experiments.fight.contest import ALL
from experiments.fight.entrants import OURS, TUNED
from experiments.fight.generated import TRUTH
from experiments.fight.problems import FightSet, development_sets, fight_sets
from experiments.fight.statistics import Estimate, compared, corrected, on_each_set, ranked

CHOSEN = "Coterie"
# These run on classes alone, so they have no rank over all sets.
OF_CLASSES = ("GenLinCFA", "wilma")
REDUCERS = tuple(name for name in (*OURS, *TUNED) if name not in OF_CLASSES)
MODELS = ("plain", "ridge", "boosting")
ROBUST, RAW = "robust", "raw"
RARE_SHARE = 0.15


def of_sets(found: pd.DataFrame, *, development: bool = False) -> pd.DataFrame:
    """Lines of the sets that nobody tuned on, or of the development sets."""
    names = development_sets() if development else fight_sets()
    return found[found["set"].isin(list(names))]


def variant(found: pd.DataFrame, inputs: str) -> pd.DataFrame:
    """Lines for raw inputs, or for robust ones where Coterie chose them and raw ones elsewhere."""
    if inputs == RAW:
        return found[found["inputs"] == RAW]
    keys = ["set", "split", "method", "model"]
    rank = (found["inputs"] != RAW).astype(int)
    ordered = found.assign(rank=rank).sort_values("rank", kind="stable")
    return ordered.drop_duplicates(keys, keep="last").drop(columns="rank").sort_index()


def score_table(
    found: pd.DataFrame, model: str, inputs: str = ROBUST, value: str = "score"
) -> pd.DataFrame:
    """Sets and splits by methods, all columns included, with one model behind."""
    lines = variant(found, inputs)
    lines = lines[lines["model"] == model]
    table = lines.pivot(index=["set", "split"], columns="method", values=value)
    names = [name for name in (ALL, *OURS, *TUNED) if name in table]
    return table[names]


def league(found: pd.DataFrame) -> pd.DataFrame:
    """Sets and splits by pairs of columns and model: all on all columns, and some reducers."""
    lines = variant(found, ROBUST)
    wanted = {ALL: None, CHOSEN: MODELS, "NonLinCFA": MODELS, "FeatureAgglomeration": ("ridge",),
              "PCA": ("ridge",), "PLS": ("plain",)}  # fmt: skip
    lines = lines[
        [
            m in wanted and model != "" and (wanted[m] is None or model in wanted[m])
            for m, model in zip(lines["method"], lines["model"], strict=True)
        ]
    ]
    pairs = lines["method"] + ", " + lines["model"]
    return lines.assign(pair=pairs).pivot(index=["set", "split"], columns="pair", values="score")


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """Without the methods that some set lacks."""
    there = table.notna().groupby(level="set").any().all()
    return table[table.columns[there]].dropna()


def rank_table(found: pd.DataFrame, inputs: str = ROBUST) -> dict[str, dict[str, Estimate]]:
    """Mean ranks of the reducers and of all columns, by model."""
    return {model: ranked(complete(score_table(found, model, inputs))) for model in MODELS}


def costs(found: pd.DataFrame, inputs: str = ROBUST) -> pd.DataFrame:
    """Medians over sets of what a reducer needs, and means of what its groups are like."""
    lines = variant(found, inputs)
    # What columns cost stands beside the first model that they get.
    first = lines[lines["columns"].notna()]
    by_set = first.groupby(["method", "set"])[
        ["columns", "measured", "seconds", "coherence", "same"]
    ].mean()
    middle = by_set[["columns", "measured", "seconds"]].groupby("method").median()
    return middle.join(by_set[["coherence", "same"]].groupby("method").mean())


def test_per_train(name: str) -> float:
    """Test rows per training row, by which intervals are corrected; 0 where all rows are new."""
    entry: FightSet = (fight_sets() | development_sets())[name]
    if entry.split == "fresh":
        return 0.0
    return entry.test / entry.window if entry.window else 1 / 3


class Against(NamedTuple):
    """One method against another: over sets, and on how many sets it is clearly better or worse."""

    n_sets: int
    difference: Estimate
    better: Estimate
    worse: Estimate
    sets_better: int
    sets_worse: int


def against(table: pd.DataFrame, one: str, other: str) -> Against:
    """Differences of scores (better and worse by more than a hundredth)."""
    over_sets = compared(table, one, other)
    each = on_each_set(table, one, other, test_per_train).values()
    return Against(
        over_sets.n_sets, over_sets.difference, over_sets.better, over_sets.worse,
        sum(e.low > 0 for e in each), sum(e.high < 0 for e in each),
    )  # fmt: skip


def per_set(found: pd.DataFrame, model: str, inputs: str = ROBUST) -> pd.DataFrame:
    """Mean scores, sets by methods."""
    return score_table(found, model, inputs).groupby(level="set", sort=False).mean()


def best_rival(means: pd.Series, rivals: Sequence[str] = tuple(TUNED)) -> str:
    """The tuned reducer with the best mean score, known only afterwards."""
    return str(means[[name for name in rivals if name in means]].idxmax())


def scores_with_errors(found: pd.DataFrame, model: str = "plain") -> pd.DataFrame:
    """Mean columns, mean score and half its corrected interval, by set and method."""
    lines = variant(found, ROBUST)
    columns = lines.groupby(["set", "method"])["columns"].mean()
    lines = lines[(lines["model"] == model) & lines["score"].notna()]
    rows = []
    for (name, method), part in lines.groupby(["set", "method"], sort=False):
        estimate = corrected(part["score"].to_numpy(), test_per_train(name))
        rows.append({
            "set": name, "method": method, "columns": columns[name, method],
            "score": estimate.value, "half": estimate.high - estimate.value,
        })  # fmt: skip
    return pd.DataFrame(rows)


def rare_sets(found: pd.DataFrame) -> list[str]:
    """Sets of two classes of which one is rare, as the log-loss of the shares alone says."""
    base = found[(found["method"] == ALL) & (found["model"] == "constant")]
    losses = base.groupby("set", sort=False)["loss"].mean().dropna()
    limit = -(RARE_SHARE * np.log(RARE_SHARE) + (1 - RARE_SHARE) * np.log(1 - RARE_SHARE))
    return [str(name) for name in losses.index[losses < limit]]


def truth(labels: Path) -> pd.DataFrame:
    """How well groups of generated problems are the blocks they were made of, raw inputs.

    Two numbers: the adjusted Rand index with the blocks, over features in a group; and how many of
    all features those are.
    """
    import pickle

    rows = []
    for name, entry in fight_sets().items():
        if entry.split != "fresh" or entry.object not in TRUTH:
            continue
        blocks = TRUTH[entry.object]
        for path in sorted(labels.glob(f"{name}-*.pickle")):
            split = int(path.stem.rpartition("-")[2])
            for (method, inputs), found in pickle.loads(path.read_bytes()).items():
                used = found >= 0
                if inputs == RAW and used.any():
                    index = adjusted_rand_score(blocks[used], found[used])
                    line = {"set": name, "split": split, "method": method}
                    rows.append(line | {"index": round(index, 4), "used": round(used.mean(), 4)})
    return pd.DataFrame(rows, columns=["set", "split", "method", "index", "used"])
