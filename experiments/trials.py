"""Single trials and selection curves beside those the authors stored."""

from __future__ import annotations

import pandas as pd

from experiments.comparison import HERE, KEYS, ROW, is_accuracy, published, tidy, tolerance_text

# The authors' results, see PROVENANCE.md; released archives go without them.
STORED = HERE / "published_curves.csv"
SELECTION = "forward selection"
SAME = 1e-9


def stored() -> pd.DataFrame:
    """The authors' results of trials 0 to 4 and, with no trial, the means of all ten."""
    table = pd.read_csv(STORED, keep_default_na=False, dtype=str)
    for column in ("trial", "n_groups", "score"):
        table[column] = pd.to_numeric(table[column])
    return table.assign(tolerance=table["tolerance"].map(tolerance_text))


def compare_trials(results: pd.DataFrame) -> pd.DataFrame:
    """Every stored trial of the three rules that was run: groups and score, theirs and ours."""
    theirs = _single_trials()
    runs = tidy(results)
    runs = runs[(runs["protocol"] == "paper") & runs["score"].notna()]
    runs = runs.drop_duplicates([*KEYS, "trial"])
    both = theirs[theirs["method"] != SELECTION].merge(
        runs, on=[*KEYS, "trial"], suffixes=("_stored", "")
    )
    both["difference"] = both["score"] - both["score_stored"]
    unstable = {tuple(row) for row in _unstable()}
    both["verdict"] = [
        _verdict(row, tuple(row[key] for key in KEYS) in unstable)
        for row in both.to_dict("records")
    ]
    columns = [*KEYS, "trial", "n_groups_stored", "n_groups", "score_stored", "score"]
    return both[[*columns, "difference", "verdict"]]


def compare_curves(results: pd.DataFrame) -> pd.DataFrame:
    """Forward selection, size by size, on the trials that the authors stored."""
    keys = ["dataset", "trial", "n_groups"]
    theirs, runs = _single_trials(), tidy(results)
    runs = runs[(runs["protocol"] == "sizes") & runs["score"].notna()]
    theirs, runs = (
        table.loc[table["method"] == SELECTION, [*keys, "score"]] for table in (theirs, runs)
    )
    both = theirs.merge(runs.drop_duplicates(keys), on=keys, suffixes=("_stored", ""))
    both["difference"] = both["score"] - both["score_stored"]
    return both


def curve_verdicts(results: pd.DataFrame) -> pd.DataFrame:
    """One row per curve: how far it agrees with the stored one.

    Two paths of selected classes part for good once a single held-out row, on which logistic
    solvers disagree, makes another feature the best; they must still reach much the same.
    """
    rows = []
    curves = compare_curves(results).groupby(["dataset", "trial"], sort=False)
    for (dataset, trial), curve in curves:
        off = curve["difference"].abs()
        row = {"dataset": dataset, "trial": trial, "mean": off.mean(), "largest": off.max()}
        row["parts_at"] = curve.loc[off > _within(dataset), "n_groups"].min()
        rows.append(row | {"verdict": _curve_verdict(row)})
    columns = ["dataset", "trial", "mean", "largest", "parts_at", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def _single_trials() -> pd.DataFrame:
    table = stored()
    return table[table["trial"].notna()]


def _within(dataset: str) -> float:
    return 2 * ROW + SAME if is_accuracy(dataset) else SAME


def _curve_verdict(row: dict) -> str:
    if row["largest"] <= SAME:
        return "equal"
    if row["largest"] <= _within(row["dataset"]):
        return "within two rows"
    goes_on_alike = row["parts_at"] > 1 and row["mean"] <= 0.01
    return "parts" if is_accuracy(row["dataset"]) and goes_on_alike else "different"


def _unstable() -> list[list[str]]:
    """Settings whose printed score cannot be had again."""
    table = published()
    return table.loc[table["score_not_comparable"] != "", KEYS].to_numpy().tolist()


def _verdict(row: dict, unstable: bool) -> str:
    if row["n_groups"] != row["n_groups_stored"]:
        return "different"
    if abs(row["difference"]) <= SAME:
        return "equal"
    if unstable:
        return "not comparable"
    within = is_accuracy(row["dataset"]) and abs(row["difference"]) <= ROW + SAME
    return "within a row" if within else "different"
