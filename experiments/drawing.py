"""Pictures of results on one pair of axes: each takes an optional ``ax`` and returns it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from experiments.comparison import interval, means, published, tidy
from experiments.data import descriptions
from experiments.ranking import is_ours, measures, ranks
from experiments.trials import SELECTION, stored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The page turns this colour into that of its text, so that figures suit dark pages too.
INK = "#1b1c1d"
# Okabe and Ito's colours, which colour-blind readers can tell apart; yellow darker, to be seen.
BLUE, VERMILION, GREEN = "#0072b2", "#d55e00", "#009e73"
OTHERS = ("#e69f00", "#56b4e9", "#cc79a7", "#8a8a8a", "#b3a125")
MARKERS = ("D", "v", "P", "X", "<", ">", "d", "p", "h", "*", "8")
OUR_MARKERS = ("o", "s", "^", "D", "P", "X", "v", "*")
RULES = {"NonLinCFA": BLUE, "GenLinCFA": VERMILION, "LinCFA": GREEN}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "coterie",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.3,
    "lines.markersize": 5,
}
CHOSEN = "NonLinCFA auto"


def place(method: str) -> tuple[int, str]:
    """Where a method stands in legends and tables: rules of this library first."""
    rule = method.split()[0] if method else ""
    return (list(RULES).index(rule) if rule in RULES else 9 - is_ours(method), method.lower())


def named(method: str) -> str:
    """A name as a label: not too long, and no formula."""
    return method[:32].replace("$", r"\$")


def styles(methods: Iterable[str]) -> dict[str, dict[str, str]]:
    """A colour and a marker for each method; no two have both in common."""
    methods = sorted(set(methods), key=place)
    peers = [method for method in methods if not is_ours(method)]
    given = {
        method: {"color": OTHERS[i % len(OTHERS)], "marker": MARKERS[i % len(MARKERS)]}
        for i, method in enumerate(peers)
    }
    for i, method in enumerate(method for method in methods if is_ours(method)):
        color = RULES.get(method.split()[0], INK)
        given[method] = {"color": color, "marker": OUR_MARKERS[i % len(OUR_MARKERS)]}
    return given


def score_by_size(
    results: pd.DataFrame, dataset: str, inputs: str, aggregation: str, ax: Axes | None = None
) -> Axes:
    """Score against number of features with 95 % bands; the paper's numbers as hollow marks."""
    ax = ax or _one_axes()
    results = tidy(results)
    ours = means(results[results["dataset"] == dataset])
    printed = published()
    printed = printed[printed["dataset"] == dataset]
    look = styles([*RULES, SELECTION])
    for rule in RULES:
        # LinCFA averages its inputs in every panel, as in the paper.
        asked = inputs, "mean" if rule == "LinCFA" else aggregation
        paper = _of(printed, rule, *asked)
        ax.plot(
            pd.to_numeric(paper["n_groups"]),
            pd.to_numeric(paper["score"]),
            linestyle="none",
            marker=look[rule]["marker"],
            markersize=9,
            markerfacecolor="none",
            markeredgecolor=look[rule]["color"],
            markeredgewidth=0.7,
        )
        _band(ax, _of(ours, rule, *asked).sort_values("n_groups"), look[rule], rule)
    _selection(ax, results, dataset, look[SELECTION])
    _sizes_axis(ax)
    ax.set_ylabel("accuracy" if dataset.endswith("cls") else "R²")
    return ax


def scored_runs(results: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """What came out on a real data set in the paper's own tables."""
    runs = tidy(results)
    # Baselines on resampled rows are for the tables: what is drawn has all training rows.
    others = runs["plan"].isin(["beyond", "table-baselines"])
    return runs[(runs["dataset"] == dataset) & runs["score"].notna() & ~others]


def real_methods(results: pd.DataFrame, dataset: str, ax: Axes | None = None) -> Axes:
    """Test score at each number of columns; rules as points with bars; honest picks filled."""
    ax = ax or _one_axes()
    runs = scored_runs(results, dataset)
    look = styles(runs["method"])
    peers = [method for method in look if not is_ours(method)]
    for method, curve in runs[runs["protocol"] == "sizes"].groupby("method"):
        by_size = curve.groupby("n_groups")["score"].mean()
        # Colours come again after five methods: the next five are dashed.
        dashes = ("-", "--", ":")[peers.index(method) // len(OTHERS) % 3 if method in peers else 0]
        seldom = {"markevery": 0.07, "markersize": 3.5, "linewidth": 1, "linestyle": dashes}
        ax.plot(by_size.index, by_size, **seldom, **look[method])
    for method, settings in means(runs).groupby("method"):
        if is_ours(method):
            _points_with_bars(ax, settings, look[method])
    honest = runs[runs["protocol"] == "honest"].groupby("method")[["n_groups", "score"]].mean()
    for method, pick in honest.iterrows():
        ax.plot(*pick, linestyle="none", markersize=7, markeredgecolor=INK, **look[method])
    _clip_to_the_useful(ax, runs["score"])
    _sizes_axis(ax)
    ax.set_ylabel("R²" if dataset.startswith("finance") else "accuracy")
    return ax


def methods_on(results: pd.DataFrame, dataset: str, ax: Axes | None = None) -> Axes:
    """One mark per method: number of columns and honest score."""
    ax = ax or _one_axes()
    table = measures(results)
    look = styles(table["method"])
    table = table[table["dataset"] == dataset]
    for row in sorted(table.to_dict("records"), key=lambda row: is_ours(row["method"])):
        ours = is_ours(row["method"])
        ax.plot(
            max(row["n_groups"], 1),
            row["score"],
            linestyle="none",
            markersize=8 if ours else 6,
            markeredgecolor=INK if ours else "none",
            markeredgewidth=0.8,
            alpha=1 if ours else 0.85,
            **look[row["method"]],
        )
    lower = int((table["score"] < _clip_to_the_useful(ax, table["score"])).sum())
    if lower:
        ax.text(0.99, 0.01, f"{lower} lower", transform=ax.transAxes, ha="right", fontsize=7)
    _sizes_axis(ax, label=False)
    known = descriptions().get(dataset)
    ax.set_title(named(dataset) if known is None else known.title)
    return ax


def probability_bars(compared: pd.DataFrame, chosen: str, ax: Axes | None = None) -> Axes:
    """Stacked bars: probability that the chosen method is better, alike or worse."""
    ax = ax or _one_axes()
    places = np.arange(len(compared))[::-1]
    start = np.zeros(len(compared))
    for part, color in (("better", BLUE), ("alike", "#c8c8c8"), ("worse", VERMILION)):
        ax.barh(places, compared[part], left=start, color=color, height=0.75, label=part)
        start = start + compared[part].to_numpy()
    ax.set_yticks(
        places, [f"{named(row.method)} ({row.datasets})" for row in compared.itertuples()]
    )
    ax.set_xlim(0, 1)
    ax.set_xlabel("probability")
    ax.set_title(f"{named(chosen)} against each (on so many data sets)")
    ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1.06), borderaxespad=0)
    ax.tick_params(axis="y", length=0)
    return ax


def mean_ranks(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Mean rank of each method over data sets, the best on top."""
    ax = ax or _one_axes()
    ranked = ranks(table, CHOSEN).dropna()
    look = styles(table.columns)
    places = np.arange(len(ranked))[::-1]
    ax.hlines(places, 1, ranked["rank"], color="#c8c8c8", linewidth=1)
    for height, (method, rank) in zip(places, ranked["rank"].items(), strict=True):
        ax.plot(rank, height, linestyle="none", markersize=7, **look[method])
    ax.set_yticks(places, list(map(named, ranked.index)))
    ax.set_xlim(1, None)
    ax.set_xlabel("mean rank (1 is best)")
    ax.set_title("Mean rank of those that ran on all data sets")
    ax.tick_params(axis="y", length=0)
    return ax


def _one_axes() -> Axes:
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()


def _of(table: pd.DataFrame, method: str, inputs: str, aggregation: str) -> pd.DataFrame:
    wanted = [method, inputs, aggregation]
    return table[(table[["method", "inputs", "aggregation"]] == wanted).all(axis=1)]


def _band(ax: Axes, settings: pd.DataFrame, look: dict[str, str], label: str) -> None:
    if settings.empty:
        return
    size, score, half = (settings[c].to_numpy() for c in ("n_groups", "score", "score_ci"))
    if len(size) == 1:
        ax.errorbar(size, score, half, linestyle="none", label=label, **look)
        return
    ax.fill_between(size, score - half, score + half, color=look["color"], alpha=0.15, linewidth=0)
    ax.plot(size, score, label=label, **look)


def _selection(ax: Axes, results: pd.DataFrame, dataset: str, look: dict[str, str]) -> None:
    theirs = stored()
    theirs = theirs[(theirs["method"] == SELECTION) & (theirs["dataset"] == dataset)]
    theirs = theirs[theirs["trial"].isna()]
    ax.plot(theirs["n_groups"], theirs["score"], color=look["color"], linewidth=0.8, linestyle=":")
    runs = results[(results["dataset"] == dataset) & (results["method"] == SELECTION)]
    runs = runs[runs["protocol"] == "sizes"]
    curve = runs.groupby("n_groups")["score"].agg(["mean", interval])
    if len(curve):
        low, high = curve["mean"] - curve["interval"], curve["mean"] + curve["interval"]
        ax.fill_between(curve.index, low, high, color=look["color"], alpha=0.15, linewidth=0)
        ax.plot(curve.index, curve["mean"], color=look["color"], label=SELECTION)


def _points_with_bars(ax: Axes, settings: pd.DataFrame, look: dict[str, str]) -> None:
    ax.errorbar(
        settings["n_groups"],
        settings["score"],
        xerr=settings["n_groups_ci"],
        yerr=settings["score_ci"],
        linestyle="none",
        markerfacecolor="none",
        elinewidth=0.8,
        **look,
    )


def _sizes_axis(ax: Axes, *, label: bool = True) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    steps = (1, 2, 5) if high < 300 * low else (1,)
    ax.xaxis.set_major_locator(FixedLocator([step * 10**k for k in range(5) for step in steps]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    if label:
        ax.set_xlabel("number of features")


def _clip_to_the_useful(ax: Axes, all_scores: pd.Series) -> float:
    """Set the lower end, and give it: what fails badly must not flatten the picture of others."""
    best, middle = all_scores.max(), all_scores.median()
    lowest = max(all_scores.min(), middle - 2.5 * max(best - middle, 0.02))
    if np.isfinite([best, lowest]).all() and best > lowest:
        room = 0.06 * (best - lowest)
        ax.set_ylim(lowest - room, best + room)
    return lowest
