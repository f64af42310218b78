"""The page of the fight and its pictures, written from the results: words and numbers agree."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.fight import results, tables
from experiments.fight.contest import ALL
from experiments.fight.entrants import TUNED
from experiments.fight.pictures import draw_frontier, draw_ranks, shown
from experiments.fight.problems import FightSet, development_sets, fight_sets
from experiments.fight.statistics import N_BOOT, Estimate, corrected, ranked
from experiments.fight.tables import CHOSEN, MODELS, OF_CLASSES, RAW, ROBUST
from experiments.run import FAILED

DOCS = Path(__file__).parents[2] / "docs" / "results"
TRUTH = results.RESULTS / "fight-truth.csv"
WIDTH = 104
ME = f"`{shown(CHOSEN)}`"


def write_page(found: pd.DataFrame, folder: Path = DOCS, truth: pd.DataFrame | None = None) -> None:
    """The page and its pictures."""
    if truth is None:
        truth = pd.read_csv(TRUTH) if TRUTH.exists() else pd.DataFrame()
    scored = found[found["score"].notna()]
    new = tables.of_sets(scored)
    old = tables.of_sets(scored, development=True)
    ranks = tables.rank_table(new)
    parts = [
        introduction(found),
        in_short(new, ranks),
        reducers(new, ranks),
        against_each(new),
        help_whom(new),
        everything(new),
        each_set(new),
        rare_classes(new),
        known_truth(truth),
        development(old),
        how_it_was_done(found),
        the_list(new),
    ]
    draw_ranks(ranks, folder / "fight_ranks.png")
    draw_frontier(tables.scores_with_errors(new), folder / "fight_frontier.png")
    if len(old):
        draw_frontier(tables.scores_with_errors(old), folder / "fight_development.png")
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    blocks = [wrapped(block) for block in text.split("\n\n")]
    (folder / "fight.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def wrapped(block: str) -> str:
    """A paragraph or a list in lines of equal length; tables, headings and pictures as they are."""
    if block.startswith(("|", "#", "!")):
        return block
    items = re.split(r"\n(?=- )", block)
    return "\n".join(
        textwrap.fill(
            " ".join(item.split()), WIDTH, subsequent_indent="  " if item.startswith("- ") else "",
            break_long_words=False, break_on_hyphens=False,
        )
        for item in items
    )  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def name_of(method: str) -> str:
    """A method on the page; ours in bold."""
    return f"**`{shown(method)}`**" if method == CHOSEN else f"{shown(method)}"


def pair(words: str) -> str:
    """A reducer and a model in a table."""
    method, _, model = words.partition(", ")
    return f"{name_of(method)}, {model}"


def three(value: float) -> str:
    """A score with three digits, empty where there is none."""
    return "" if np.isnan(value) else f"{value:.3f}"


def signed(estimate: Estimate) -> str:
    """A difference and its interval."""
    return f"{estimate.value:+.3f} ({estimate.low:+.3f} to {estimate.high:+.3f})"


def share(estimate: Estimate) -> str:
    """A probability and its interval."""
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def few(values: pd.Series) -> str:
    """The least and the most of a count, once where they agree."""
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def splits_done(found: pd.DataFrame) -> pd.Series:
    """Splits per set."""
    return found.groupby("set", sort=False)["split"].nunique()


def introduction(found: pd.DataFrame) -> str:
    """What is compared, on what."""
    new, old = tables.of_sets(found), tables.of_sets(found, development=True)
    done, wanted = splits_done(new), max(entry.splits for entry in fight_sets().values())
    n_made = sum(fight_sets()[name].split == "fresh" for name in done.index)
    unfinished = ""
    if done.min() < wanted:
        unfinished = (
            f"\n\n**This run was stopped early: {few(done)} of {wanted} splits of each set\n"
            "are done, in turns over all sets. `make fight` does the rest, and writes the page\n"
            "again.**"
        )
    return f"""
# The comparison on data that nobody tuned on

`make fight` runs it, goes on where it stopped, and writes this page from
[experiments/results/fight.csv](../../experiments/results/fight.csv). No number on it is typed.

**The constants of {ME} were designed on twelve data sets and their splits** ([experiments
behind Coterie](../contributing/joint-experiments.md)). Figures on those flatter it. This page
compares on {len(done)} others ({len(done) - n_made} real, {n_made} generated) on which nothing was
tuned: the list, [experiments/fight.toml](../../experiments/fight.toml), was committed before the
first run, and no set was added or left out afterwards. The twelve come
[last](#the-development-sets), for comparison.

Splits of each set: {few(done)} here, {few(splits_done(old)) if len(old) else 0} of the development
sets.{unfinished}
"""


def in_short(new: pd.DataFrame, ranks: dict[str, dict[str, Estimate]]) -> str:
    """The figures that count."""
    lines = []
    for model in MODELS:
        found = ranks[model]
        names = list(found)
        place = names.index(CHOSEN) + 1
        best = names[0] if place > 1 else names[1]
        lines.append(
            f"- Behind a **{model}** model, {ME} has mean rank {found[CHOSEN].text(1)} among "
            f"{len(names)}, place {place}; {'the best' if place > 1 else 'next'} is "
            f"{shown(best)}, {found[best].text(1)}."
        )
    score = tables.score_table(new, "plain")
    for other in ("PLS", "PCA", "FeatureAgglomeration"):
        duel = tables.against(score, CHOSEN, other)
        lines.append(
            f"- Against {other} tuned by folds, plain model behind: {ME} is better by more than "
            f".01 with probability {share(duel.better)}, worse {share(duel.worse)}."
        )
    wide = tables.league(new)
    ridge, mine = f"{ALL}, ridge", f"{CHOSEN}, plain"
    duel = tables.against(wide, mine, ridge)
    lines.append(
        f"- Against **ridge on all columns**, {ME} with a plain model is better with probability "
        f"{share(duel.better)}, worse {share(duel.worse)}; mean difference "
        f"{signed(duel.difference)}."
    )
    duel = tables.against(wide, f"{CHOSEN}, boosting", f"{ALL}, boosting")
    lines.append(
        f"- Boosting on its columns instead of all: better {share(duel.better)}, worse "
        f"{share(duel.worse)}."
    )
    cost = tables.costs(new)
    me, ward = cost.loc[CHOSEN], cost.loc["FeatureAgglomeration"]
    lines.append(
        f"- In the median it gives {me['columns']:.1f} columns and needs {me['measured']:.0f} "
        f"features. Members of its groups have a mean |r| of {me['coherence']:.2f} "
        f"(FeatureAgglomeration {ward['coherence']:.2f}), and groups of one split and the next "
        f"agree to {me['same']:.2f} (adjusted Rand index; FeatureAgglomeration {ward['same']:.2f})."
    )
    return "## In short\n\n" + "\n".join(lines) + "\n\nIntervals are of 95 %, everywhere."


def reducers(new: pd.DataFrame, ranks: dict[str, dict[str, Estimate]]) -> str:
    """Ranks behind each model and what it costs."""
    cost, raw = tables.costs(new), tables.rank_table(new, RAW)
    order = sorted(ranks["plain"], key=lambda name: ranks["plain"][name].value)
    rows = []
    for name in order:
        row = cost.loc[name]
        cells = [name_of(name), *(ranks[model][name].text(1) for model in MODELS)]
        cells += [f"{row['columns']:.1f}", f"{row['measured']:.0f}", f"{row['seconds']:.2f}"]
        cells += [two(row["coherence"]), two(row["same"])]
        rows.append(cells)
    raw_rows = [
        [name_of(name) if name != CHOSEN else "**`Coterie(inputs=None)`**",
         *(raw[model][name].text(1) for model in MODELS)]
        for name in sorted(raw["plain"], key=lambda name: raw["plain"][name].value)
    ]  # fmt: skip
    robust = tables.variant(new, ROBUST)
    counts = robust.groupby("set")["inputs"].agg(lambda kind: (kind != RAW).any())
    return f"""
## Reducers, with three models behind

Mean ranks over sets, robust inputs: every method gets the columns that {
        ME
    } chose inside the training
rows of a split (raw, clipped or ranked; other than raw in some split of {int(counts.sum())} of
{
        len(counts)
    } sets). "All columns" is the same model without a reducer. Columns, features to measure and
seconds are medians over sets. Seconds are processor time of one fit with its tuning, on a machine
that did other work too. Coherence is the mean |r| of two members of a group; the last column is the
adjusted Rand index of the groups (or of what is selected) of one split and the next.

{
        table(
            [
                "method",
                *(f"rank, {m}" for m in MODELS),
                "columns",
                "features",
                "seconds",
                "coherence",
                "same",
            ],
            rows,
        )
    }

![Mean ranks with their intervals](fight_ranks.png)

The same with raw inputs for all:

{table(["method", *(f"rank, {m}" for m in MODELS)], raw_rows)}

Score against number of columns, plain model behind, with corrected intervals of the score (they are
those of single methods; differences between methods on the same splits are smaller, see below):

![Score against columns on each set](fight_frontier.png)
"""


def two(value: float) -> str:
    """Two digits, empty where there is no number."""
    return "" if np.isnan(value) else f"{value:.2f}"


def duels(score: pd.DataFrame, one: str, others: Iterable[str]) -> str:
    """One method against others."""
    rows = []
    for other in others:
        duel = tables.against(score, one, other)
        cells = [name_of(other) if ", " not in other else pair(other), duel.n_sets]
        cells += [signed(duel.difference), share(duel.better), share(duel.worse)]
        rows.append([*cells, duel.sets_better, duel.sets_worse])
    head = ["against", "sets", "mean difference", "better", "worse", "clearly better on",
            "clearly worse on"]  # fmt: skip
    return table(head, rows)


def against_each(new: pd.DataFrame) -> str:
    """Coterie against every other, with the plain and the ridge model."""
    texts = []
    for model in ("plain", "ridge"):
        score = tables.score_table(new, model)
        texts.append(
            f"With a {model} model behind both:\n\n"
            + duels(score, CHOSEN, [name for name in score if name != CHOSEN])
        )
    return f"""
## {ME} against each

Probabilities are those of the Bayesian signed-rank test over sets (Benavoli et al. 2017), better
and worse by more than .01 of R2 or AUC; means below 0 count as 0. "Clearly" counts the sets on
which the corrected interval of the paired difference leaves out 0; at 95 %, one in forty does so on
each side by chance.

{(chr(10) * 2).join(texts)}
"""


def help_whom(new: pd.DataFrame) -> str:
    """Each reducer against all columns with the same model."""
    rows = []
    score = {model: tables.score_table(new, model) for model in MODELS}
    for name in [one for one in score["plain"] if one != ALL]:
        cells = [name_of(name)]
        for model in MODELS:
            duel = tables.against(score[model], name, ALL)
            cells += [f"{duel.better.value:.2f}, {duel.worse.value:.2f}",
                      f"{duel.sets_better}, {duel.sets_worse}"]  # fmt: skip
        rows.append(cells)
    head = ["method"]
    for model in MODELS:
        head += [f"{model}: better, worse", "sets"]
    return f"""
## Whom a reducer helps

Each reducer against all columns *with the same model behind*: the probabilities of being better and
worse by more than .01, and the number of sets on which it is clearly better and clearly worse.
({" and ".join(OF_CLASSES)} ran on classes alone, GenLinCFA on two.)

{table(head, rows)}
"""


def everything(new: pd.DataFrame) -> str:
    """Models on all columns beside some reducers, in one table of ranks."""
    wide = tables.complete(tables.league(new))
    ranks = ranked(wide)
    mine = f"{CHOSEN}, ridge"
    rows = []
    for name, estimate in ranks.items():
        cells = [pair(name), estimate.text(1)]
        if name == mine:
            rows.append([*cells, "", "", ""])
            continue
        duel = tables.against(wide, mine, name)
        rows.append([*cells, share(duel.better), share(duel.worse), signed(duel.difference)])
    return f"""
## Beside models on all columns

Constant is the mean, or the shares of the classes (the majority class has the same AUC, .5). Better
and worse: {ME} with a ridge model against each.

{table(["columns, model", "mean rank", "better", "worse", "mean difference"], rows)}
"""


def each_set(new: pd.DataFrame) -> str:
    """One line for each set."""
    plain = tables.per_set(new, "plain")
    on_all = {m: tables.per_set(new, m)[ALL] for m in ("constant", "ridge", "lasso", "boosting")}
    cost = tables.variant(new, ROBUST).query("model == 'plain'")
    columns = cost.pivot_table(index="set", columns="method", values="columns")
    score = tables.score_table(new, "plain")
    ridge = tables.score_table(new, "ridge")[ALL].rename("ridge")
    both = score.join(ridge)
    rows: list[list[str]] = []
    better: list[str] = []
    worse: list[str] = []
    for name in plain.index:
        best = tables.best_rival(plain.loc[name])
        part = both.loc[name]
        gap = corrected((part[CHOSEN] - part["ridge"]).to_numpy(), tables.test_per_train(name))
        better += [name] * (gap.low > 0)
        worse += [name] * (gap.high < 0)
        rows.append([
            name, f"{three(plain.loc[name, CHOSEN])} ({columns.loc[name, CHOSEN]:.1f})",
            f"{shown(best)} {three(plain.loc[name, best])} ({columns.loc[name, best]:.1f})",
            *(three(on_all[m][name]) for m in ("ridge", "lasso", "boosting", "constant")),
            signed(gap),
        ])  # fmt: skip
    ahead = sum(
        plain.loc[name, CHOSEN] >= plain.loc[name, tables.best_rival(plain.loc[name])] - 0.005
        for name in plain.index
    )
    return f"""
## Each set

R2 for numbers, AUC for classes; in brackets the mean number of columns. The best rival is the tuned
reducer (of {len(TUNED)}) that is best with a plain model behind, known only afterwards. {
        ME
    } is within
.005 of it or above on {ahead} of {len(plain)} sets. By the corrected intervals it is clearly better
than ridge on all columns on {named(better)}, and clearly worse on {named(worse)}.

{
        table(
            [
                "set",
                f"{ME}, plain",
                "best rival, plain",
                "ridge, all",
                "lasso, all",
                "boosting, all",
                "constant",
                f"{ME}, plain, less ridge, all",
            ],
            rows,
        )
    }
"""


def named(names: Sequence[str]) -> str:
    """Names, or none."""
    return ", ".join(names) or "none"


def rare_classes(new: pd.DataFrame) -> str:
    """AUC and log-loss where one class is rare."""
    names = tables.rare_sets(new)
    if not names:
        return ""
    wanted = [
        (ALL, m) for m in ("constant", "plain", "ridge", "lasso", "random forest", "boosting")
    ]
    wanted += [(name, "plain") for name in (CHOSEN, "GenLinCFA", "PLS", "PCA", "SelectKBest",
                                            "FeatureAgglomeration", "pelora", "wilma")]  # fmt: skip
    wanted += [(CHOSEN, "ridge"), (CHOSEN, "boosting")]
    lines = tables.variant(new, ROBUST)
    rows = []
    for method, model in wanted:
        cells = [f"{name_of(method)}, {model}"]
        for name in names:
            part = lines.query("set == @name and method == @method and model == @model")
            if part.empty:
                cells += ["", ""]
                continue
            ratio = tables.test_per_train(name)
            area = corrected(part["score"].to_numpy(), ratio)
            cost = corrected(part["loss"].to_numpy(), ratio)
            cells += [f"{area.value:.3f} ± {area.high - area.value:.3f}",
                      f"{cost.value:.3f} ± {cost.high - cost.value:.3f}"]  # fmt: skip
        rows.append(cells)
    head = ["columns, model"]
    for name in names:
        head += [f"{name}, AUC", "log-loss"]
    return f"## Rare classes\n\nSmaller log-losses are better.\n\n{table(head, rows)}"


def known_truth(truth: pd.DataFrame) -> str:
    """Groups of generated problems beside the blocks they were made of."""
    if truth.empty:
        return ""
    means = truth.groupby(["method", "set"])[["index", "used"]].mean().unstack("set")
    names = list(dict.fromkeys(truth["set"]))
    order = means["index"].mean(axis=1).sort_values(ascending=False).index
    rows = [
        [name_of(method), *(
            f"{means.loc[method, ('index', name)]:.2f} ({means.loc[method, ('used', name)]:.2f})"
            if not np.isnan(means.loc[method, ("index", name)]) else "" for name in names
        )]
        for method in order
    ]  # fmt: skip
    return f"""
## Known truth

The adjusted Rand index of the groups with the blocks that features were made of, over the features
that are used, and in brackets the share that is used. Three of eight blocks (five in made_rare)
have nothing to do with the target, so that a method is right to leave them out or to merge them.

{table(["method", *names], rows)}
"""


def development(old: pd.DataFrame) -> str:
    """The twelve sets on which Coterie was designed."""
    if old.empty or old["set"].nunique() < 2:
        return "## The development sets\n\nThey have not been run."
    ranks = tables.rank_table(old)
    rows = [
        [name_of(name), *(ranks[model][name].text(1) for model in MODELS)]
        for name in sorted(ranks["plain"], key=lambda name: ranks["plain"][name].value)
    ]
    plain = tables.per_set(old, "plain")
    ridge = tables.per_set(old, "ridge")[ALL]
    best = {name: tables.best_rival(plain.loc[name]) for name in plain.index}
    each = []
    for name, rival in best.items():
        beside = f"{shown(rival)} {three(plain.loc[name, rival])}"
        each.append([name, three(plain.loc[name, CHOSEN]), beside, three(ridge[name])])
    return f"""
## The development sets

The {old["set"].nunique()} sets on which the constants of {ME} were chosen, with other splits
({few(splits_done(old))} of each, training rows at most 450). **They flatter it.** Mean ranks,
robust inputs:

{table(["method", *(f"rank, {m}" for m in MODELS)], rows)}

{table(["set", f"{ME}, plain", "best rival, plain", "ridge, all"], each)}

![Score against columns on the development sets](fight_development.png)
"""


def how_it_was_done(found: pd.DataFrame) -> str:
    """The protocol, and what is missing."""
    failed = found[found["note"].str.startswith(FAILED)]
    failures = "No method failed."
    if len(failed):
        counts = failed.groupby(["method", "set"]).size()
        failures = "Failed: " + ", ".join(
            f"{method} on {name} ({n} times)" for (method, name), n in counts.items()
        ) + "."  # fmt: skip
    how = (Path(__file__).parent / "protocol.md").read_text("utf-8").strip()
    return f"## How it was done\n\n{how.replace('N_BOOT', str(N_BOOT))}\n- {failures}"


def the_list(new: pd.DataFrame) -> str:
    """The sets, and what was installed."""
    done = splits_done(new)
    rows = [
        [entry.name, entry.title, entry.package, entry.licence, how_split(entry), entry.why,
         done.get(name, 0)]
        for name, entry in fight_sets().items()
    ]  # fmt: skip
    known = pd.read_csv(results.VERSIONS, dtype=str) if results.VERSIONS.exists() else None
    said = ""
    if known is not None:
        used = set(new["versions"].dropna().astype(int).astype(str))
        parts = known[known["number"].isin(used)].groupby("name", sort=False)["version"]
        said = "Versions: " + ", ".join(
            f"{name} {' and '.join(dict.fromkeys(part))}" for name, part in parts
        ) + "."  # fmt: skip
    left = ", ".join(f"`{name}`" for name in development_sets())
    return f"""
## The list

Licences are those that the package states; the data are read where they are installed, and none is
part of this project. scikit-learn's breast cancer, digits and wine are left out, because they were
looked at during the design. The development sets are {left}.

{table(["set", "what", "package", "licence", "rows are split", "why", "splits"], rows)}

{said}
"""


def how_split(entry: FightSet) -> str:
    """How the rows of a set are split, in a few words."""
    if entry.split == "in time":
        return f"in time: {entry.window} rows, gap of {entry.gap}, {entry.test} to test"
    return entry.split + (f", of {entry.rows} rows" if entry.rows else "")
