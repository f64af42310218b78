"""What the page says about the comparison with other methods, and where ours loses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from experiments.comparison import HERE
from experiments.drawing import CHOSEN, place
from experiments.ranking import (
    ALIKE,
    against_each,
    by_data_set,
    is_ours,
    losses,
    measures,
    ranks,
    scores,
)
from experiments.sections import Cell, Section, Table, cells, short, shown, two_digits

ON_THE_FIGHT = f"""
Same splits and same model behind each method (ridge has its own); settings picked by
cross-validation inside the training rows, in the same folds, which the seconds include. Features
are the original columns that must still be measured; stability says how alike the outputs of two
resamples are (1: the same, 0: chance), agreement the same of groups or selections.

Probabilities are those of the Bayesian signed-rank test (Benavoli et al. 2017); scores that differ
by less than {ALIKE} count as alike, and scores below 0 as 0: nobody uses a model that is worse than
the mean of y.
"""


def fight_sections(results: pd.DataFrame, drawn: Iterable[str] = ()) -> list[Section]:
    """The fair fight and its losses."""
    return [fair_fight(results, drawn), where_it_loses(results)]


def fair_fight(results: pd.DataFrame, drawn: Iterable[str]) -> Section:
    """All methods with settings picked inside the training rows."""
    table, measured = scores(results), measures(results)
    if table.empty:
        return Section("A fair fight")
    tables = [_overview(table, measured)]
    tables += [
        _probabilities(table, method, folded=method != CHOSEN)
        for method in sorted(filter(is_ours, table.columns), key=place)
    ]
    tables += [_one_dataset(name, part) for name, part in measured.groupby("dataset")]
    return Section("A fair fight", ON_THE_FIGHT, tuple(tables), shown(drawn, "summary", "beyond"))


def where_it_loses(results: pd.DataFrame, explanations: Path = HERE / "losses.toml") -> Section:
    """Data sets on which another method is better by more than a hundredth, and why."""
    table = scores(results)
    ours = [method for method in table.columns if is_ours(method)]
    if table.empty or len(ours) == len(table.columns):
        return Section("Where the method loses")
    lost = losses(table, ours)
    known = tomllib.loads(explanations.read_text("utf-8")) if explanations.exists() else {}
    rows = [
        cells(row.dataset, row.method, f"{row.score:.4f}", row.peer, f"{row.peer_score:.4f}",
               f"{row.lost:.4f}", known.get(row.dataset, ""))
        for row in lost.itertuples()
    ]  # fmt: skip
    n_data_sets = len(by_data_set(table))
    text = f"On {len(lost)} of {n_data_sets} data sets the best other method beats the best rule of"
    text += f" this library by more than {ALIKE}; both bests are known only afterwards."
    if CHOSEN in table:
        others = table.drop(columns=set(ours) - {CHOSEN})
        text += f" {CHOSEN} alone is beaten on {len(losses(others, [CHOSEN]))}."
    columns = ("data set", "best of ours", "score", "best other", "score", "lost", "why")
    return Section("Where the method loses", text, (Table("", columns, tuple(rows)),) * bool(rows))


def _named(method: str) -> Cell:
    return Cell(method, ours=is_ours(method))


def _overview(table: pd.DataFrame, measured: pd.DataFrame) -> Table:
    ranked = ranks(table, CHOSEN)
    middle = measured.groupby("method")[["n_groups", "n_measured", "seconds"]].median()
    mean = measured.groupby("method")[["stability", "agreement"]].mean()
    rows = [
        cells(
            _named(method), row["datasets"].astype(int), f"{row['rank']:.1f}".replace("nan", ""),
            short(middle.loc[method, "n_groups"]),
            short(middle.loc[method, "n_measured"]), short(middle.loc[method, "seconds"]),
            two_digits(mean.loc[method, "stability"]), two_digits(mean.loc[method, "agreement"]),
        )
        for method, row in ranked.iterrows()
    ]  # fmt: skip
    columns = ("method", "data sets", "mean rank", "columns", "features", "seconds",
               "stability", "agreement")  # fmt: skip
    note = "columns, features and seconds: medians over data sets; the rest are means. Only "
    note += "methods that ran on all data sets have a rank; of ours, one takes part at a time."
    return Table("All methods", columns, tuple(rows), (note,))


def _probabilities(table: pd.DataFrame, chosen: str, *, folded: bool) -> Table:
    rows = [
        cells(_named(row.method), row.datasets, f"{row.difference:+.4f}", f"{row.better:.3f}",
               f"{row.alike:.3f}", f"{row.worse:.3f}")
        for row in against_each(table, chosen).itertuples()
    ]  # fmt: skip
    columns = ("against", "data sets", "mean difference", "better", "alike", "worse")
    return Table(f"{chosen} against each", columns, tuple(rows), folded=folded)


def _one_dataset(name: str, part: pd.DataFrame) -> Table:
    rows = [
        cells(_named(row.method), f"{row.score:.4f}", short(row.n_groups), short(row.n_measured),
               short(row.seconds), two_digits(row.stability), two_digits(row.agreement))
        for row in part.sort_values("score", ascending=False).itertuples()
    ]  # fmt: skip
    columns = ("method", "score", "columns", "features", "seconds", "stability", "agreement")
    return Table(str(name), columns, tuple(rows), folded=True)
