"""Pictures of the fight: score against columns on each set, and ranks with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.fight.contest import ALL
from experiments.fight.problems import development_sets, fight_sets
from experiments.fight.statistics import Estimate
from experiments.fight.tables import CHOSEN, MODELS

STYLE = {
    CHOSEN: ("#c1272d", "o"),
    "NonLinCFA": ("#e08214", "o"),
    "FeatureAgglomeration": ("#1f78b4", "s"),
    "CLV": ("#6baed6", "s"),
    "PCA": ("#33a02c", "^"),
    "PLS": ("#006d2c", "^"),
    "SelectKBest": ("#6a3d9a", "v"),
    ALL: ("#000000", "D"),
}
GREY = ("#b0b0b0", ".")
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def shown(method: str) -> str:
    """A method as it is called on the page."""
    return f"{method}()" if method in ("Coterie", "NonLinCFA", "GenLinCFA") else method


def draw_frontier(points: pd.DataFrame, path: Path) -> None:
    """One panel per set: mean score against mean number of columns, with corrected intervals."""
    entries = fight_sets() | development_sets()
    names = list(dict.fromkeys(points["set"]))
    n_rows = -(-len(names) // 5)
    figure = Figure(figsize=(15, 2.6 * n_rows + 0.6), layout="constrained")
    axes = np.ravel(figure.subplots(n_rows, 5, squeeze=False))
    for axis in axes[len(names) :]:
        axis.set_axis_off()
    for name, axis in zip(names, axes, strict=False):
        part = points[points["set"] == name]
        for row in part.itertuples():
            draw_point(axis, row)
        top = part["score"].max()
        worst = 0.45 if entries[name].task == "classes" else -0.05
        least = max(worst, min(part["score"].quantile(0.15), top - 0.1))
        axis.set_ylim(least - 0.03, min(1.02, top + 0.08))
        axis.set_xscale("log")
        low, high = part["columns"].clip(lower=1).min() / 1.3, part["columns"].max() * 1.3
        axis.set_xlim(low, high)
        axis.set_xticks([tick for tick in TICKS if low <= tick <= high], minor=False)
        axis.xaxis.set_major_formatter("{x:.0f}")
        axis.set_xticks([], minor=True)
        axis.set_title(name, fontsize=9)
        axis.set_ylabel("R2" if entries[name].task == "regression" else "AUC", fontsize=8)
        axis.tick_params(labelsize=7)
    handles = [
        axes[0].plot([], [], color=color, marker=marker, linestyle="", label=shown(method))[0]
        for method, (color, marker) in STYLE.items()
    ]
    handles += axes[0].plot([], [], color=GREY[0], marker="o", linestyle="", label="other reducers")
    figure.legend(handles=handles, loc="outside lower center", ncols=9, fontsize=9)
    figure.savefig(path, dpi=80)


def draw_point(axis: Any, row: Any) -> None:
    """A mean with the interval of its score."""
    color, marker = STYLE.get(row.method, GREY)
    known = row.method in STYLE
    axis.errorbar(
        max(row.columns, 1), row.score, yerr=None if np.isnan(row.half) else row.half,
        color=color, marker=marker, markersize=6 if known else 5, elinewidth=0.8 if known else 0.4,
        alpha=1 if known else 0.8, zorder=3 if row.method == CHOSEN else 2 if known else 1,
    )  # fmt: skip


def draw_ranks(ranks: Mapping[str, Mapping[str, Estimate]], path: Path) -> None:
    """Mean ranks behind each model, with bootstrap intervals; the best on top."""
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    for model, axis in zip(MODELS, figure.subplots(1, 3), strict=True):
        found = ranks[model]
        for place, (method, estimate) in enumerate(reversed(found.items())):
            color, marker = STYLE.get(method, ("#777777", "o"))
            axis.plot([estimate.low, estimate.high], [place, place], color=color, linewidth=1.5)
            axis.plot(estimate.value, place, color=color, marker=marker)
        axis.set_yticks(range(len(found)), [shown(name) for name in reversed(found)], fontsize=8)
        axis.set_title(f"{model} model behind", fontsize=10)
        axis.set_xlabel("mean rank, 1 is best", fontsize=9)
    figure.savefig(path, dpi=80)
