"""The commands: few verbs, each a thin call with a twin in Python."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from coterie._data.tables import TableError, write_table
from coterie._persist.models import load, load_summary
from coterie.cli._apply import features_in, reduced
from coterie.cli._console import answer, bars, say, say_raw
from coterie.cli._errors import Group, saying, writing
from coterie.cli._frames import beside
from coterie.cli._options import Columns, Method, Quiet, Source, Splitting, Voice, takes
from coterie.cli._outputs import made, stem, suffix_for, written
from coterie.cli._reducers import reducer_of
from coterie.cli._render import (
    about_gaps,
    about_target,
    path_columns,
    show_comparison,
    show_path,
    show_summary,
)
from coterie.cli._roles import check_column, chosen, read
from coterie.report.inspection import Summary, report_html, summarise, write_report
from coterie.report.studies import compare as compared
from coterie.report.studies import study

# With more features the path takes longer than people wait for.
MOST_FEATURES = 5_000


@click.group(
    cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="coterie", prog_name="coterie")
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
def coterie(debug: bool) -> None:
    """Fewer columns that can still be explained.

    Groups columns that say the same about a target, and replaces each group by one column. A merge
    is accepted when its price does not exceed its allowance.

    Try it with: coterie demo
    """


@coterie.command(short_help="Group the columns of a table; write model, table and report.")
@takes
@click.option("--output", "-o", metavar="FOLDER", help="Where to write; by default NAME-coterie.")
@click.option("--path/--no-path", default=None, help="Whether to try other tolerances.")
@click.option(
    "--stability",
    "n_resamples",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Learn the groups again from N random halves of the rows.",
)
@click.option("--title", default=None, help="Of the report.")
def fit(
    source: Source,
    columns: Columns,
    method: Method,
    splitting: Splitting,
    voice: Voice,
    output: str | None,
    path: bool | None,
    n_resamples: int,
    title: str | None,
) -> None:
    """Group the columns of a table, score on held-out rows, and write model, table and report.

    DATA is a file of CSV, TSV, Parquet, Feather, JSON lines or Excel; - is standard input.

    In Python: coterie.study(X, y).
    """
    folder = Path(stem(source.data) + "-coterie" if output is None else output)
    with bars(voice) as bar:
        bar("read", 0, 1)
        data = chosen(source, columns)
        bar("read", 1, 1)
        if not (voice.as_json or voice.quiet):
            say(about_target(data, columns))
        reducer = reducer_of(method, columns, data)
        with made(folder):
            told = study(
                data.X,
                data.y,
                estimator=reducer,
                task=data.task.name,
                test_share=splitting.test_share,
                test_last=splitting.test_last,
                by_time=columns.by_time or columns.time is not None,
                sample_weight=data.weights,
                path=data.X.width <= MOST_FEATURES if path is None else path,
                n_resamples=n_resamples,
                random_state=splitting.seed,
                title=stem(source.data) if title is None else title,
                targets=columns.target,
                notes=[*data.notes, *about_gaps(data)],
                progress=bar,
            )
            bar("write", 0, 1)
            files = written(folder, suffix_for(source), told.reducer, told.summary, data, columns)
            bar("write", 1, 1)
    with saying(*files.values()):
        if voice.as_json:
            paths = {name: str(file) for name, file in files.items()}
            answer(asdict(told.summary) | {"files": paths})
            return
        show_summary(told.summary)
        if path and told.summary.path is None:
            say("Note: with these options or so few rows there are no other tolerances to try.")
        for name, file in files.items():
            say(f"{name:8}{file}")


@coterie.command(short_help="Replace the columns of a new table by groups.")
@click.argument("model")
@takes
@click.option(
    "--output",
    "-o",
    default="-",
    metavar="FILE",
    help="Where to write; CSV on standard output by default.",
)
@click.option(
    "--with", "carried", multiple=True, metavar="COLUMN", help="Columns to keep beside the groups."
)
def transform(
    model: str, source: Source, voice: Quiet, output: str, carried: tuple[str, ...]
) -> None:
    """Replace the columns of a new table by the groups of a model.

    Columns are found by name, in any order; others are ignored.

    In Python: coterie.load(model).transform(X).
    """
    reducer = load(model)
    with bars(voice) as bar:
        bar("read", 0, 1)
        frame = read(source)
        bar("read", 1, 1)
        for name in carried:
            check_column(frame, name, source.data)
        X = features_in(frame, reducer, source.data)
        table = reduced(reducer, X, beside(frame, carried))
    with writing():
        write_table(table, output)


@coterie.command(short_help="Write the report of a model.")
@click.argument("model")
@click.option(
    "--output", "-o", default=None, metavar="FILE", help="report.html beside it by default."
)
def report(model: str, output: str | None) -> None:
    """Write the report of a model: one HTML file that needs no network.

    In Python: coterie.write_report(coterie.summarise(reducer, X, y), path).
    """
    summary = _summary(model)
    if output == "-":
        say_raw(report_html(summary))
        return
    file = Path(model).with_name("report.html") if output is None else Path(output)
    with writing():
        write_report(summary, file)
    with saying(file):
        say(str(file))


def _summary(model: str) -> Summary:
    """What was told of a model when it was fitted, or what it can tell alone."""
    told = load_summary(model)
    return summarise(load(model), title=Path(model).stem) if told is None else told


@coterie.command(short_help="Show the groups of a model.")
@click.argument("model")
@click.option("--all", "every", is_flag=True, help="All groups, however many.")
@takes
def inspect(model: str, voice: Voice, every: bool) -> None:
    """Show the groups of a model.

    In Python: coterie.load(model).groups_.
    """
    summary = _summary(model)
    if voice.as_json:
        answer(asdict(summary))
        return
    told = [summary.method, *(f"{name}={value}" for name, value in summary.parameters.items())]
    say(" ".join(told))
    show_summary(summary, every=every)


@coterie.command(short_help="Show what each tolerance leads to.")
@takes
@click.option("--output", "-o", default=None, metavar="FILE", help="Write it as a table, too.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For the folds.")
def path(
    source: Source, columns: Columns, method: Method, voice: Voice, output: str | None, seed: int
) -> None:
    """Show what each tolerance leads to: how many groups, and which score on held-out folds.

    In Python: coterie.tolerance_path(X, y).
    """
    with bars(voice) as bar:
        bar("read", 0, 1)
        data = chosen(source, columns)
        bar("read", 1, 1)
        reducer = reducer_of(method, columns, data)
        told = study(
            data.X,
            data.y,
            estimator=reducer,
            task=data.task.name,
            test_share=0,
            by_time=columns.by_time or columns.time is not None,
            sample_weight=data.weights,
            random_state=seed,
            progress=bar,
        ).summary
    if told.path is None:
        raise TableError(
            f"{told.method} has no path with these options or so few rows: use a method that has a "
            "tolerance, and a dozen rows or more."
        )
    found = path_columns(told.path)
    if output is not None:
        import polars

        with writing():
            write_table(polars.DataFrame(found), output)
    with saying(*([] if output in (None, "-") else [output])):
        if voice.as_json:
            answer(asdict(told.path) | {"metric": told.metric})
        else:
            show_path(told.path, told.metric)


@coterie.command(short_help="Score the groups beside other methods.")
@takes
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For the folds.")
def compare(
    source: Source, columns: Columns, method: Method, voice: Voice, folds: int, seed: int
) -> None:
    """Score the groups beside PCA, PLS, FeatureAgglomeration, SelectKBest and all columns.

    All learn from the same rows and are scored on the same held-out folds; the others choose their
    number of columns on folds of the training rows.

    In Python: coterie.compare(X, y).
    """
    with bars(voice) as bar:
        bar("read", 0, 1)
        data = chosen(source, columns)
        bar("read", 1, 1)
        found = compared(
            data.X,
            data.y,
            estimator=reducer_of(method, columns, data),
            task=data.task.name,
            cv=folds,
            by_time=columns.by_time or columns.time is not None,
            sample_weight=data.weights,
            random_state=seed,
            progress=lambda done, total: bar("compare", done, total),
        )
    if voice.as_json:
        answer(asdict(found))
    else:
        show_comparison(found)


@coterie.command(short_help="Try it on spectra of meat.")
@takes
@click.option("--output", "-o", default="coterie-demo", metavar="FOLDER", help="Where to write.")
def demo(voice: Voice, output: str) -> None:
    """Fat in meat from near-infrared spectra: a hundred columns, a few groups, and a report.

    In Python: coterie.study(X, y) with X, y of coterie.datasets.load_tecator.
    """
    import polars

    from coterie.datasets import load_tecator

    tecator = load_tecator()
    # A hundred channels from 850 to 1050 nm.
    names = [f"{850 + 2 * channel} nm" for channel in range(100)]
    frame = polars.DataFrame(tecator.data, schema=names, orient="row")
    folder = Path(output)
    file = folder / "tecator.csv"
    with writing():
        folder.mkdir(parents=True, exist_ok=True)
        write_table(frame.with_columns(polars.Series("fat", tecator.target)), file)
    if not (voice.as_json or voice.quiet):
        say(f"$ coterie fit {file} -t fat --test-last --test-share 0.2 --stability 20 -o {folder}")
    chosen = {
        "data": str(file),
        "target": ("fat",),
        # The split that others use: of 215 spectra the last 43 are tested.
        "test_last": True,
        "test_share": 0.2,
        "output": str(folder),
        "n_resamples": 20,
        "title": "Fat in meat from near-infrared spectra",
        "as_json": voice.as_json,
        "quiet": voice.quiet,
    }
    click.get_current_context().invoke(fit, **_defaults(fit) | chosen)


def _defaults(command: click.Command) -> dict[str, Any]:
    context = click.Context(command)
    return {str(one.name): one.get_default(context) for one in command.params}


SHELLS = ("bash", "zsh", "fish")


@coterie.command(short_help="Completion for bash, zsh and fish.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what makes a shell complete commands and options.

    For bash: eval "$(coterie completion bash)" in ~/.bashrc; for fish, coterie completion fish >
    ~/.config/fish/completions/coterie.fish.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise TableError(f"There is no completion for {shell}.")
    say_raw(kind(coterie, {}, "coterie", "_COTERIE_COMPLETE").source())
