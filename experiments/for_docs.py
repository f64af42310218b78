"""What the pages of docs say of the larger files of results, computed from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments import results
from experiments.comparison import compare
from experiments.data import descriptions
from experiments.paper_sections import EXPLAINED
from experiments.ranking import against_each, by_data_set, is_ours, losses, measures, ranks, scores
from experiments.trials import compare_curves, compare_trials, curve_verdicts

HERE = Path(__file__).parent / "results"
PEERS = ("PCA", "FeatureAgglomeration", "PLS", "kernel PCA", "SelectKBest")
MEDIANS = ("n_groups", "n_measured", "seconds")
NAMES = {"NonLinCFA auto": "`NonLinCFA()`", "NonLinCFA best": '`search="best"`',
         "NonLinCFA signs": "with signs", "NonLinCFA tuned": "tuned"}  # fmt: skip
COLUMNS_OF_BEYOND = ("NonLinCFA auto", "NonLinCFA best", "ridge on all columns", "PCA",
                     "FeatureAgglomeration", "PLS", "lasso", "random forest")  # fmt: skip


@cache
def all_results() -> pd.DataFrame:
    """The committed results of all plans."""
    return results.as_frame(results.read(HERE / "results.csv"))


def paper() -> dict[str, Any]:
    """How many of the paper's numbers, trials and curves were met."""
    compared = compare(all_results())
    rows, counts = [], {}
    for what, column in (("numbers", "verdict"), ("their intervals", "interval_verdict")):
        found = compared.loc[compared[column] != "", column].value_counts()
        rows.append([what, found.sum(), *(found.get(verdict, 0) for verdict in EXPLAINED)])
        counts[column] = {
            verdict.replace(" ", "_"): int(found.get(verdict, 0)) for verdict in EXPLAINED
        }
    trials, curves = compare_trials(all_results()), curve_verdicts(all_results())
    parted = curves[curves["verdict"] == "parts"]
    off = compare_curves(all_results())
    is_class = curves["dataset"].str.endswith("-cls")
    return {
        "summary": {"columns": ["", "in the paper", *EXPLAINED], "rows": rows},
        **counts,
        "printed": len(compared),
        "finance": _one_table(compared, "finance_fundamentals"),
        "bankruptcy": _one_table(compared, "bankruptcy_polish_1year"),
        "parkinson": _one_table(compared, "parkinson_speech_subjects"),
        "trials": len(trials),
        "same_groups": int((trials["n_groups"] == trials["n_groups_stored"]).sum()),
        "same_score": int((trials["verdict"] == "equal").sum()),
        "curves": {
            "regression": int((~is_class).sum()),
            "regression_equal": int((curves.loc[~is_class, "verdict"] == "equal").sum()),
            "classes": int(is_class.sum()),
            **{
                verdict.replace(" ", "_"): int((curves.loc[is_class, "verdict"] == verdict).sum())
                for verdict in ("equal", "within two rows", "parts")
            },
            "part_first": int(parted["parts_at"].min()),
            "part_last": int(parted["parts_at"].max()),
            "part_mean": float(parted["mean"].max()),
            "sizes": len(off),
        },
    }


def _one_table(compared: pd.DataFrame, dataset: str) -> dict[str, Any]:
    """The printed numbers of the baselines and rules of one data set beside ours."""
    part = compared[(compared["dataset"] == dataset) & (compared["table"] == "tab:realRes2")]
    rows = []
    for row in part.to_dict("records"):
        digits = 4 if row["quantity"] == "score" else 1
        ours = f"{row['ours']:.{digits}f} ± {row['ours_interval']:.{digits}f}"
        method = f"{row['method']} {row['tolerance']}".strip()
        what = "columns" if row["quantity"] == "n_groups" else "score"
        printed = row["printed"] + (f" ± {row['printed_interval']}" * bool(row["printed_interval"]))
        draws = row["reason"].rpartition(" draws: ")[2] if " draws: " in row["reason"] else ""
        rows.append(
            [
                method,
                what,
                printed,
                ours,
                *([draws] if " draws" in part["reason"].str.cat() else []),
                row["verdict"],
            ]
        )
    five = ["five draws"] if len(rows[0]) == 6 else []
    return {"columns": ["method", "", "in the paper", "here", *five, "verdict"], "rows": rows}


def beyond() -> dict[str, Any]:
    """The comparison of methods on twelve real data sets."""
    table, measured = scores(all_results()), measures(all_results())
    means = by_data_set(table)
    raw = table.groupby(level="dataset").mean()
    columns = measured.pivot_table(index="dataset", columns="method", values="n_groups")
    peers = [method for method in means if not is_ours(method)]
    titles = {name: descriptions()[name] for name in means.index}
    rows = []
    for name in sorted(means.index, key=lambda name: titles[name].title):

        def cell(method: str, name: str = name) -> str:
            if np.isnan(raw.loc[name, method]):
                return ""
            score = raw.loc[name, method]
            size = f"({columns.loc[name, method]:.0f})"
            return f"{score:.3f} {size}" if score >= 0 else f"below 0 {size}"

        best = raw.loc[name, peers].idxmax()
        known = titles[name]
        n_rows = 1084 if known.title == "Bankruptcy" else known.rows
        rows.append(
            [known.title, f"{n_rows} x {known.features}", *map(cell, COLUMNS_OF_BEYOND),
             f"{best} {cell(best)}"]
        )  # fmt: skip
    ranked = ranks(table, "NonLinCFA auto")
    ranked = ranked[ranked["datasets"] == len(means)]
    named = [f"{NAMES.get(method, method)} {rank:.1f}" for method, rank in ranked["rank"].items()]
    against = {
        ours: against_each(table, ours).set_index("method") for ours in COLUMNS_OF_BEYOND[:2]
    }
    tested = ["FeatureAgglomeration", "PCA", "PLS", "ridge on all columns", "lasso", "SelectKBest",
              "random forest"]  # fmt: skip
    by_method = measured.groupby("method").median(numeric_only=True)
    average = measured.groupby("method").mean(numeric_only=True)
    lost = losses(table, [method for method in table if is_ours(method)])
    return {
        "table": {
            "columns": ["data", "rows x columns", *(NAMES.get(m, m) for m in COLUMNS_OF_BEYOND),
                        "best peer"],
            "rows": rows,
        },
        "ranks": ", ".join(named),
        "n_ranked": 1 + sum(not is_ours(method) for method in ranked.index),
        "against": {
            "columns": ["compared with", "`NonLinCFA()` better", "worse", '`search="best"` better',
                        "worse"],
            "rows": [
                [other, *(f"{against[ours].loc[other, side]:.2f}"
                          for ours in COLUMNS_OF_BEYOND[:2] for side in ("better", "worse"))]
                for other in tested
            ],
        },
        "median": {
            method: {key: float(by_method.loc[method, key]) for key in MEDIANS}
            for method in by_method.index
        },
        "mean": {
            method: {key: float(average.loc[method, key]) for key in ("stability", "agreement")}
            for method in average.index
        },
        "lost": len(lost),
        "score": raw.T.to_dict(),
    }  # fmt: skip


def known() -> dict[str, Any]:
    """Fixed tolerances beside the automatic ones where the right groups are known."""
    table = pd.read_csv(HERE / "known.csv")
    means = table.groupby(["problem", "rule"], sort=False)[["score", "columns"]].mean()
    rules = list(dict.fromkeys(table["rule"]))
    rows, gaps = [], {}
    for problem in dict.fromkeys(table["problem"]):
        part = means.loc[problem]
        name = problem.replace("turned round", "flipped")
        rows.append(
            [name, *(f"{-part.loc[r, 'score']:.2f} ({part.loc[r, 'columns']:.1f})" for r in rules)]
        )
        fixed = [rule for rule in rules if results.is_number(rule)]
        best = -part.loc[fixed, "score"].max()
        gaps[name] = 100 * (1 - best / -part.loc["auto", "score"])
    return {
        "table": {"columns": ["problem", *rules], "rows": rows},
        "problems": len(gaps),
        "within_one_per_cent": sum(gap <= 1 for gap in gaps.values()),
        "worse_by": {name: gap for name, gap in gaps.items() if gap > 1},
        "flipped_auto": float(-means.loc[("half of them turned round", "auto"), "score"]),
        "flipped_signs": float(-means.loc[("half of them turned round", "auto, signs"), "score"]),
    }


def paper_problems() -> dict[str, Any]:
    """The paper's settings: the best of its tolerances on the test rows, and words."""
    table = pd.read_csv(HERE / "paper.csv")
    means = table.groupby(["problem", "rule"], sort=False)[["score", "columns"]].mean()
    words = ["auto restart", "bic restart", "ric restart", "auto best"]
    rows, loss, most = [], [], []
    for problem in dict.fromkeys(table["problem"]):
        part = means.loc[problem]
        fixed = part[part.index.map(results.is_number)]
        best = fixed.sort_values("score").iloc[-1]
        cells = [
            f"{row['score']:.4f} ({row['columns']:.1f})"
            for row in [best, *(part.loc[w] for w in words)]
        ]
        rows.append([problem, *cells])
        loss.append(best["score"] - part.loc["auto restart", "score"])
        most.append(part.loc["auto restart", "columns"] <= 2 * best["columns"])
    return {
        "table": {
            "columns": ["setting", "best of the paper's", '`"auto"`', '`"bic"`', '`"ric"`',
                        '`"auto"`, `search="best"`'],
            "rows": rows,
        },
        "settings": len(rows),
        "largest_loss": float(max(loss)),
        "within_0.005": int(sum(np.array(loss) <= 0.005)),
        "at_most_twice_the_columns": int(sum(most)),
    }  # fmt: skip


def real() -> dict[str, Any]:
    """Real data: words and five tuned reducers."""
    table = pd.read_csv(HERE / "real.csv")
    means = table.groupby(["problem", "rule"], sort=False)[["score", "columns", "seconds"]].mean()
    score = means["score"].unstack()
    shown = {'`"auto"`': "auto restart", "with signs": "auto restart signs",
             '`search="best"`': "auto best", '`"aic"`': "aic restart", '`"bic"`': "bic restart",
             '`"ric"`': "ric restart", **{peer: peer for peer in PEERS}}  # fmt: skip
    fought = ["auto restart", *PEERS]
    rows = []
    for problem in sorted(score.index):
        best = score.loc[problem, fought].round(3).max()
        row = []
        for rule in shown.values():
            text = f"{score.loc[problem, rule]:.3f} ({means.loc[(problem, rule), 'columns']:.0f})"
            is_best = rule in fought and round(score.loc[problem, rule], 3) == best
            row.append(f"**{text}**" if is_best else text)
        rows.append([problem.replace("_", " "), *row])
    seconds = means["seconds"].unstack().mean()
    rows.append(["seconds, mean", *(f"{seconds[rule]:.2f}" for rule in shown.values())])
    auto, peers = score["auto restart"], score[list(PEERS)]
    signs = score["auto restart signs"]
    return {
        "table": {"columns": ["data", *shown], "rows": rows},
        "at_or_above_all": int((auto >= peers.max(axis=1) - 1e-9).sum()),
        "within_0.03": int((auto >= peers.max(axis=1) - 0.03).sum()),
        "at_or_above": {peer: int((auto >= score[peer] - 1e-9).sum()) for peer in PEERS},
        "signs_better": int((signs > auto + 5e-4).sum()),
        "signs_worse": int((signs < auto - 5e-4).sum()),
        "score": {
            name: {rule: float(score.loc[name, rule]) for rule in score} for name in score.index
        },
        "mean": {rule: float(score[rule].mean()) for rule in score},
        "columns": means["columns"].unstack().to_dict("index"),
        "coffee_groups_per_class": float(
            means.loc[("ir_coffee_origin", "auto restart"), "columns"] / 3
        ),
    }


PROBLEMS = {"paper's classes": "the paper's classes",
            "bankruptcy_polish_1year": "bankruptcies", "parkinson_speech_subjects": "Parkinson",
            "gene_golub38": "Golub genes", "count_crime_murders": "murders (counts)",
            "count_flu_bybw": "influenza (counts)", "nir_fruit": "melons, three cultivars",
            "ir_coffee_origin": "coffees, three countries", "known 3 targets": "known, 3 targets",
            "known 20 targets": "known, 20 targets"}  # fmt: skip
DEPENDENCE = {
    "noise": ("noise", "together"),
    "copies: z + e": ("z + e", "together"),
    "copies: (a + b)^2 + e": ("(a + b)^2 + e", "together"),
    "copies: two classes": ("two classes by z", "together"),
    "counts: u + v + e": ("u + v + e, counts", "together"),
    "u + 0.3 v + e": ("u + 0.3 v + e", "apart"),
    "copies: a + e": ("a + e", "apart"),
    "u^2 + v^2 + e": ("u^2 + v^2 + e", "apart"),
    "u v + e / 2": ("u v + e / 2", "apart"),
    "classes: sign of u v": ("sign of u v, one in ten wrong", "apart"),
    "spread depends on u - v": ("noise whose spread depends on u - v", "apart"),
}


def targets() -> dict[str, Any]:
    """The trials of other targets, of experiments/targets.py."""
    agree = pd.read_csv(HERE / "targets_agree.csv")
    fitted = pd.read_csv(HERE / "targets_fitted.csv").groupby(["problem", "rule"], sort=False)
    several = pd.read_csv(HERE / "targets_several.csv").groupby(["problem", "rule"], sort=False)
    apart = pd.read_csv(HERE / "targets_information.csv").set_index(["problem", "rule"])["apart"]
    fits, both = fitted.mean(), several.mean()

    def explained(problem: str, rule: str) -> str:
        if (problem, rule) not in fits.index:
            return "-"
        row = fits.loc[(problem, rule)]
        return f"{row['deviance']:.2f} ({row['columns']:.0f})"

    def shares(problem: str, rule: str) -> str:
        found = [apart[(problem, f"{rule}, {n}")] for n in (200, 1000, 5000)]
        return ", ".join(f"{100 * share:.0f}" for share in found) + " %"

    rules = ("auto", "auto, fitted", "bic, fitted", "bound, tuned", "fitted, tuned")
    named = {name: PROBLEMS.get(name, name) for name in agree["problem"]}
    return {
        "agree": {
            "columns": ["data", "accepted", "score disagrees", "bound disagrees",
                        "score, rank correlation", "bound, rank correlation"],
            "rows": [
                [named[row["problem"]],
                 *(f"{100 * row[key]:.0f} %"
                   for key in ("accepted", "score_disagrees", "bound_disagrees")),
                 f"{row['score_rank']:.2f}", f"{row['bound_rank']:.2f}"]
                for row in agree.to_dict("records")
            ],
        },
        "fitted": {
            "columns": ["data", 'score, `"auto"`', 'fitted, `"auto"`', 'fitted, `"bic"`',
                        "bound, tuned", "fitted, tuned"],
            "rows": [
                [words, *(explained(name, rule) for rule in rules)]
                for name, words in named.items()
            ],
        },
        "several": {
            "columns": ["problem", "all agree: columns", "score", "on average: columns", "score"],
            "rows": [
                [PROBLEMS[name],
                 *(f"{both.loc[(name, rule), key]:{form}}" for rule in ("all agree", "on average")
                   for key, form in (("columns", ".1f"), ("score", ".3f")))]
                for name in dict.fromkeys(both.index.get_level_values(0))
            ],
        },
        "information": {
            "columns": ["y", "should be", "linear: 200, 1,000, 5,000",
                        "information: 200, 1,000, 5,000"],
            "rows": [
                [*words, shares(name, "line"), shares(name, "information")]
                for name, words in DEPENDENCE.items()
            ],
        },
    }  # fmt: skip


COMPUTED: dict[str, Callable[[], dict[str, Any]]] = {
    "paper": paper,
    "beyond": beyond,
    "known": known,
    "paper_problems": paper_problems,
    "real": real,
    "targets": targets,
}
