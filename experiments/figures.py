"""The paper's figures made again, and those of the comparison: results in, SVG files out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from experiments.drawing import (
    CHOSEN,
    INK,
    RULES,
    STYLE,
    mean_ranks,
    methods_on,
    named,
    place,
    probability_bars,
    real_methods,
    score_by_size,
    scored_runs,
    styles,
)
from experiments.ranking import against_each, is_ours, measures, scores
from experiments.trials import SELECTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYNTHETIC = {
    "linear": [
        ("lin-100-reg", "x", "mean"),
        ("lin-1000-reg", "x", "mean"),
        ("lin-100-cls", "x", "mean"),
        ("lin-1000-cls", "x", "mean"),
    ],
    "quadratic": [
        ("quad-100-reg", "x**2", "mean"),
        ("quad-1000-reg", "x**2", "mean"),
        ("quad-100-reg", "x", "sum_of_squares"),
        ("quad-1000-reg", "x", "sum_of_squares"),
    ],
    "quadratic-classes": [
        ("quad-100-cls", "x**2", "mean"),
        ("quad-1000-cls", "x**2", "mean"),
        ("quad-100-cls", "x", "sum_of_squares"),
        ("quad-1000-cls", "x", "sum_of_squares"),
    ],
}
FOR_THE_README = "linear"
REAL = {
    "finance": "finance_fundamentals",
    "bankruptcy": "bankruptcy_polish_1year",
    "parkinson": "parkinson_speech_subjects",
}


def synthetic_figure(results: pd.DataFrame, name: str) -> Figure | None:
    """Four panels of one figure of the paper."""
    panels = SYNTHETIC[name]
    if not _has(results, {dataset for dataset, *_ in panels}):
        return None
    figure = _figure(9.5, 6.6)
    for ax, panel in zip(figure.subplots(2, 2).flat, panels, strict=True):
        score_by_size(results, *panel, ax=ax)
        ax.set_title(_panel_title(*panel))
    ran = results.loc[results["dataset"].isin([dataset for dataset, *_ in panels]), "method"]
    _shared_legend(figure, [*filter(set(ran).__contains__, RULES), SELECTION], with_paper=True)
    return figure


def real_figure(results: pd.DataFrame, name: str) -> Figure | None:
    """All methods on one real data set of the paper."""
    runs = scored_runs(results, REAL[name])
    if runs.empty:
        return None
    figure = _figure(9.5, 4.8)
    real_methods(results, REAL[name], ax=figure.subplots())
    _shared_legend(figure, runs["method"].unique(), with_paper=False)
    return figure


def beyond_figure(results: pd.DataFrame) -> Figure | None:
    """Small multiples: every method on every data set."""
    table = measures(results)
    if table.empty:
        return None
    datasets = sorted(table["dataset"].unique())
    n_rows = -(-len(datasets) // 3)
    figure = _figure(9.5, 2.3 * n_rows + 1.2)
    axes = np.atleast_1d(figure.subplots(n_rows, min(3, len(datasets)))).ravel()
    for ax, dataset in zip(axes, datasets, strict=False):
        methods_on(results, dataset, ax=ax)
    for ax in axes[len(datasets) :]:
        ax.set_visible(False)
    for ax in axes[max(0, len(datasets) - 3) : len(datasets)]:
        ax.set_xlabel("number of columns")
    figure.supylabel("score on test rows", fontsize=9)
    _shared_legend(figure, table["method"].unique(), with_paper=False)
    return figure


def summary_figure(results: pd.DataFrame, chosen: str = CHOSEN) -> Figure | None:
    """Probabilities and mean ranks side by side."""
    table = scores(results)
    if table.shape[1] < 2:
        return None
    chosen = chosen if chosen in table else next(filter(is_ours, table.columns), table.columns[0])
    figure = _figure(9.5, 0.25 * table.shape[1] + 1.6)
    left, right = figure.subplots(1, 2)
    probability_bars(against_each(table, chosen), chosen, ax=left)
    mean_ranks(table, ax=right)
    return figure


def drawn(results: pd.DataFrame) -> dict[str, Figure]:
    """Every figure for which there are results, by name."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figures = {name: synthetic_figure(results, name) for name in SYNTHETIC}
        figures |= {name: real_figure(results, name) for name in REAL}
        figures |= {"beyond": beyond_figure(results), "summary": summary_figure(results)}
    return {name: figure for name, figure in figures.items() if figure is not None}


def write_figures(results: pd.DataFrame, folder: Path) -> dict[str, Path]:
    """SVG files of all figures, and one as PNG for the README."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    with matplotlib.rc_context(STYLE):
        for name, figure in drawn(results).items():
            paths[name] = folder / f"{name}.svg"
            figure.savefig(paths[name], metadata={"Date": None, "Creator": None})
            if name == FOR_THE_README:
                figure.savefig(
                    paths[name].with_suffix(".png"), dpi=110, metadata={"Software": None}
                )
    return paths


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.06))


def _has(results: pd.DataFrame, datasets: set[str]) -> bool:
    scored = pd.to_numeric(results["score"], errors="coerce").notna()
    return bool((scored & results["dataset"].isin(datasets)).any())


def _panel_title(dataset: str, inputs: str, aggregation: str) -> str:
    _, n_features, task = dataset.split("-")
    kind = "R²" if task == "reg" else "accuracy"
    words = {"x**2": "squared inputs, mean", "x": "sum of squares"}[inputs]
    extra = "" if dataset.startswith("lin") else f", {words}"
    return f"D = {n_features}, {kind}{extra if aggregation else ''}"


def _shared_legend(figure: Figure, methods: Iterable[str], *, with_paper: bool) -> None:
    from matplotlib.lines import Line2D

    look = styles(methods)
    ordered = sorted(look, key=place)
    handles = [Line2D([], [], linestyle="none", label=named(m), **look[m]) for m in ordered]
    if with_paper:
        handles = [Line2D([], [], label=m, **look[m]) for m in ordered if m != SELECTION]
        handles.append(Line2D([], [], label=SELECTION, color=look[SELECTION]["color"]))
        hollow = {"markerfacecolor": "none", "markeredgecolor": INK, "markersize": 9}
        handles.append(
            Line2D([], [], linestyle=":", color=INK, marker="o", label="paper", **hollow)
        )
    figure.legend(handles=handles, loc="outside lower center", ncols=min(5, len(handles)))
