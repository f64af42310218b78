"""What is wrong with some results: one line for each number that should be the paper's."""

from __future__ import annotations

import pandas as pd

from experiments.comparison import compare
from experiments.ranking import by_data_set, scores
from experiments.trials import compare_trials, curve_verdicts


def problems(results: pd.DataFrame) -> list[str]:
    """Every unexplained difference from the paper in words; none means that all is well.

    Means are compared where all trials were run, single trials wherever the authors stored them.
    """
    compared, trials, curves = compare(results), compare_trials(results), curve_verdicts(results)
    if n_compared(results) == 0:
        return ["Nothing was compared: no result has its number in the paper."]
    return [
        *_too_low(results),
        *map(_number, _different(compared, "verdict")),
        *map(_interval, _different(compared, "interval_verdict")),
        *map(_trial, _different(trials, "verdict")),
        *map(_curve, _different(curves, "verdict")),
    ]


def n_compared(results: pd.DataFrame) -> int:
    """How many printed numbers, stored trials and stored curves were compared."""
    judged = compare(results)["verdict"].isin(["equal", "within a row", "erratum", "different"])
    return int(judged.sum()) + len(compare_trials(results)) + len(curve_verdicts(results))


# Of the plan beyond there is nothing to compare with: what the README promises must hold.
AT_LEAST = {
    ("nir_tecator_fat", "NonLinCFA auto"): 0.93,
    ("nir_tecator_fat", "NonLinCFA best"): 0.93,
    ("nir_tecator_fat", "PCA"): 0.93,
    ("nir_tecator_fat", "ridge on all columns"): 0.9,
}


def _too_low(results: pd.DataFrame) -> list[str]:
    means = by_data_set(scores(results))
    return [
        f"{dataset}, {method}: mean score {means.loc[dataset, method]:.3f}, should be {least}."
        for (dataset, method), least in AT_LEAST.items()
        if dataset in means.index and method in means and means.loc[dataset, method] < least
    ]


def _different(table: pd.DataFrame, column: str) -> list[dict]:
    return table[table[column] == "different"].to_dict("records")


def _where(row: dict) -> str:
    words = [row["dataset"], row["method"], row["inputs"], row["aggregation"], row["tolerance"]]
    return ", ".join(word for word in words if word)


def _number(row: dict) -> str:
    return f"{_where(row)}: {row['quantity']} is {row['ours']:.6g}, the paper has {row['printed']}."


def _interval(row: dict) -> str:
    ours, printed = row["ours_interval"], row["printed_interval"]
    return f"{_where(row)}: interval of {row['quantity']} is {ours:.4g}, the paper has {printed}."


def _trial(row: dict) -> str:
    ours = f"{row['n_groups']:.0f} groups, score {row['score']:.7f}"
    theirs = f"{row['n_groups_stored']:.0f} and {row['score_stored']:.7f}"
    return f"{_where(row)}, trial {row['trial']:.0f}: {ours}; the authors stored {theirs}."


def _curve(row: dict) -> str:
    where = f"{row['dataset']}, forward selection, trial {row['trial']:.0f}"
    largest = f"largest difference {row['largest']:.2g}"
    return f"{where}: leaves the stored curve at {row['parts_at']:.0f} features, {largest}."
