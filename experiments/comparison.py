"""The paper's numbers beside ours, and what the difference means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.data import DRAWN, DRAWS, REPETITIONS

HERE = Path(__file__).parent
KEYS = ["dataset", "method", "inputs", "aggregation", "tolerance"]
QUANTITIES = ("n_groups", "score")
MEASURED = ("n_groups", "n_groups_ci", "score", "score_ci")
# Accuracies are shares of 1000 test rows, and logistic solvers disagree on single rows.
ROW = 0.001
UNAVAILABLE = "the climate data are public, but were not to be had where this was run"
ABSENT = "not in this result file"
_CARRIED = ("table", *KEYS, "corrected_tolerance", "note")


def published() -> pd.DataFrame:
    """Every number of the paper's tables, as text: its digits say how far it can be compared."""
    return pd.read_csv(HERE / "published.csv", dtype=str, keep_default_na=False)


def interval(values: pd.Series) -> float:
    """Half a 95 % interval of the mean as the paper prints it: 1.96 times s / sqrt(n).

    s is the population's standard deviation (divided by n, not n - 1).
    """
    return float(1.96 * np.std(values, ddof=0) / np.sqrt(len(values)))


def same_in_print(ours: float, printed: str) -> bool:
    """Whether ours, rounded or cut to the printed digits, gives what is printed.

    The tables round in some rows and cut in others. Whole numbers stand for means with one digit.
    """
    last_digit = 10.0 ** -max(1, len(printed.partition(".")[2]))
    further_from_zero = (ours - float(printed)) * (-1 if printed.startswith("-") else 1)
    return -last_digit / 2 - 1e-9 <= further_from_zero <= last_digit + 1e-9


def verdict(printed: str, ours: float, *, corrected: str = "", accuracy: bool = False) -> str:
    """Equal, within a row, erratum (not as printed but as corrected) or different."""
    if same_in_print(ours, printed):
        return "equal"
    if corrected and same_in_print(ours, corrected):
        return "erratum"
    if accuracy and abs(ours - float(printed)) <= ROW + 1e-9:
        return "within a row"
    return "different"


def is_accuracy(dataset: str) -> bool:
    """Whether the paper scores this data set by the share of rows classed right."""
    return dataset.endswith(("-cls", "_class")) or dataset.startswith(("bankruptcy", "parkinson"))


def expected_trials(dataset: str) -> int:
    """Repetitions behind a printed mean; where rows were drawn, of five draws."""
    if dataset in DRAWN:
        return DRAWS * REPETITIONS
    return 10 if dataset.startswith(("lin-", "quad-")) else 5


def tolerance_text(tolerance: object) -> str:
    """One spelling for each tolerance: 0.10 and 1e-1 are 0.1, words stay."""
    try:
        number = float(str(tolerance))
    except ValueError:
        return str(tolerance)
    return "" if np.isnan(number) else f"{number:g}"


def tidy(results: pd.DataFrame) -> pd.DataFrame:
    """Results with numbers as numbers and keys as comparable text.

    Inputs and aggregation are of no account where a method does not aggregate.
    """
    tidied = results.copy()
    numbers = ["n_groups", "score", "seconds", "n_measured", "stability", "agreement", "trial"]
    for column in numbers:
        tidied[column] = pd.to_numeric(tidied[column], errors="coerce")
    for column in results.columns.difference(numbers):
        tidied[column] = tidied[column].astype(object).fillna("").astype(str)
    tidied["tolerance"] = tidied["tolerance"].map(tolerance_text)
    aggregates = tidied["method"].str.contains("CFA")
    tidied.loc[~aggregates, "aggregation"] = ""
    tidied.loc[~aggregates & (tidied["inputs"] == ""), "inputs"] = "x"
    return tidied


def means(results: pd.DataFrame) -> pd.DataFrame:
    """Mean, interval and number of trials for each setting run as in the paper.

    Where rows were drawn, also the lowest and the highest of these over the draws.
    """
    runs = results[(results["protocol"] == "paper") & results["score"].notna()]
    runs = runs.drop_duplicates([*KEYS, "trial"])
    overall = _aggregated(runs, KEYS)
    repeated = runs[runs["dataset"].isin(DRAWN)]
    draws = _aggregated(repeated.assign(draw=repeated["trial"] // REPETITIONS), [*KEYS, "draw"])
    # One repetition has no interval, and is no draw of the paper's protocol.
    draws = draws[draws["trials"] == REPETITIONS]
    ends = draws.groupby(KEYS)[list(MEASURED)].agg(["min", "max"])
    ends.columns = [f"{name}_{end}" for name, end in ends.columns]
    return overall.merge(ends.reset_index(), on=KEYS, how="left")


def _aggregated(runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return (
        runs.groupby(keys, sort=False)
        .agg(
            trials=("trial", "size"),
            n_groups=("n_groups", "mean"),
            n_groups_ci=("n_groups", interval),
            score=("score", "mean"),
            score_ci=("score", interval),
        )
        .reset_index()
    )


def compare(results: pd.DataFrame) -> pd.DataFrame:
    """One row per number of the paper: printed, ours, difference, verdicts and their reasons.

    Each published row gives two, its number of groups and its score; empty cells give none.
    """
    results = tidy(results)
    runs, reasons = means(results).to_dict("records"), _reasons(results)
    rows = []
    for row in published().to_dict("records"):
        run, how = _run_of(row, runs)
        if run is None:
            how = reasons.get((row["dataset"], row["method"])) or _likely_reason(row["dataset"])
        rows += [_judged(row, quantity, run, how) for quantity in QUANTITIES if row[quantity]]
    return pd.DataFrame(rows)


def _run_of(row: dict[str, str], runs: list[dict]) -> tuple[dict | None, str]:
    """Our run of a published row, and a remark on how it was found."""
    shared = ("dataset", "inputs", "aggregation")
    alike = [run for run in runs if all(run[key] == row[key] for key in shared)]
    kinds = [run for run in alike if _is_kind_of(run["method"], row["method"])]
    if kinds:
        best = max(kinds, key=lambda run: run["score"])
        return best, f"ours: {best['method']}" + ", the best kind" * (len(kinds) > 1)
    same = [run for run in alike if run["method"] == row["method"]]
    if row["tolerance"].startswith("e") and row["n_groups"] and same:
        size = float(row["n_groups"])
        nearest = min(same, key=lambda run: abs(run["n_groups"] - size))
        return nearest, f"ours at {nearest['tolerance']}, the nearest in number of groups"
    tolerance = row["corrected_tolerance"] or row["tolerance"]
    return next((run for run in same if run["tolerance"] == tolerance), None), ""


def _is_kind_of(label: str, method: str) -> bool:
    """Whether a run is of this method of the paper, on resampled rows as its baselines were."""
    name, resampled, _ = label.partition(", resampled")
    return bool(resampled) and (name == method or name.startswith(f"{method} ("))


def _reasons(results: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Why a method was not run on a data set, where the results say so."""
    skipped = results[results["score"].isna() & (results["note"] != "")]
    return {(row["dataset"], row["method"]): row["note"] for row in skipped.to_dict("records")}


def _likely_reason(dataset: str) -> str:
    return UNAVAILABLE if dataset.startswith("climate") else ABSENT


def _judged(row: dict[str, str], quantity: str, run: dict | None, how: str) -> dict[str, object]:
    printed, printed_interval = row[quantity], row[f"{quantity}_ci"]
    judged: dict[str, object] = {key: row[key] for key in _CARRIED}
    judged |= {"quantity": quantity, "printed": printed, "printed_interval": printed_interval}
    judged["corrected"] = row[f"corrected_{quantity}"]
    judged |= {"ours": np.nan, "ours_interval": np.nan, "trials": 0, "difference": np.nan}
    if run is None:
        return judged | _both("not run", how, printed_interval)
    judged |= {"ours": run[quantity], "ours_interval": run[f"{quantity}_ci"]}
    judged |= {"trials": run["trials"], "difference": run[quantity] - float(printed)}
    if row[f"{quantity}_not_comparable"]:
        reason = "; ".join(filter(None, [row[f"{quantity}_not_comparable"], how]))
        reason += _range(run, quantity)
        return judged | _both("not comparable", reason, printed_interval)
    if run["trials"] < expected_trials(row["dataset"]):
        reason = f"the mean is over {expected_trials(row['dataset'])} trials, here {run['trials']}"
        return judged | _both("not run", reason, printed_interval)
    if row["dataset"] in DRAWN:
        return judged | _among_draws(row, quantity, run, how)
    return judged | _verdicts(row, quantity, run, how)


def _among_draws(row: dict[str, str], quantity: str, run: dict, how: str) -> dict[str, str]:
    """Whether what is printed lies between the lowest and the highest of five draws of the rows."""

    def place(name: str) -> str:
        if not row[name]:
            return ""
        half_digit = 0.5 * 10.0 ** -max(1, len(row[name].partition(".")[2]))
        within = (
            run[f"{name}_min"] - half_digit <= float(row[name]) <= run[f"{name}_max"] + half_digit
        )
        return "within draws" if within else "outside draws"

    return {
        "verdict": place(quantity),
        "reason": how + _range(run, quantity),
        "interval_verdict": place(f"{quantity}_ci"),
        "interval_reason": "",
    }


def _range(run: dict, quantity: str) -> str:
    """The means of the draws, where rows were drawn."""
    if np.isnan(run.get(f"{quantity}_min", np.nan)):
        return ""
    digits = 4 if quantity == "score" else 1
    low, high = (f"{run[f'{quantity}_{end}']:.{digits}f}" for end in ("min", "max"))
    return f"; {DRAWS} draws: {low} to {high}"


def _verdicts(row: dict[str, str], quantity: str, run: dict, how: str) -> dict[str, str]:
    accuracy = quantity == "score" and is_accuracy(row["dataset"])
    found = verdict(
        row[quantity], run[quantity], corrected=row[f"corrected_{quantity}"], accuracy=accuracy
    )
    if row["corrected_tolerance"] and found != "different":
        found = "erratum"
    of_interval, why = "", ""
    if row[f"{quantity}_ci"]:
        of_interval = verdict(row[f"{quantity}_ci"], run[f"{quantity}_ci"], accuracy=accuracy)
        if of_interval == "different" and row[f"{quantity}_ci_erratum"]:
            of_interval, why = "erratum", row[f"{quantity}_ci_erratum"]
    reason = row["note"] if found in ("erratum", "different") else how
    return {
        "verdict": found,
        "reason": reason,
        "interval_verdict": of_interval,
        "interval_reason": why,
    }


def _both(found: str, reason: str, printed_interval: str) -> dict[str, str]:
    """The same verdict for a number and its interval, if one is printed."""
    of_interval = found if printed_interval else ""
    return {
        "verdict": found,
        "reason": reason,
        "interval_verdict": of_interval,
        "interval_reason": "",
    }
