"""The commands. Each one is a thin call of a public Python function."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from coterie._core.compiled import warm_up as compile_searches
from coterie._data.tables import TableError, write_table
from coterie._persist.models import load, load_preparer, load_summary
from coterie.cli._apply import model_features, prepare_new_rows, reduce_table
from coterie.cli._console import print_json, print_line, print_raw, progress_bars
from coterie.cli._errors import CommandGroup, guard_printing, guard_writing
from coterie.cli._frames import select_columns
from coterie.cli._options import (
    ColumnOptions,
    DisplayOptions,
    MethodOptions,
    QuietOption,
    SplitOptions,
    TableOptions,
    with_options,
)
from coterie.cli._outputs import (
    base_name,
    json_of,
    output_folder,
    output_suffix,
    write_outputs,
)
from coterie.cli._reducers import build_reducer, scale_notes
from coterie.cli._render import (
    missing_values_notes,
    path_columns,
    print_comparison,
    print_notes,
    print_path,
    print_summary,
    target_message,
)
from coterie.cli._roles import (
    check_column,
    prepare_table,
    read_source,
    rows_in_time,
    split_names,
    time_notes,
)
from coterie.report.inspection import Summary, report_html, summarise, write_report
from coterie.report.studies import compare as compare_methods
from coterie.report.studies import study

# With more features the tolerance path is too slow to compute by default.
MAX_PATH_FEATURES = 5_000


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="coterie", prog_name="coterie")
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
def coterie(debug: bool) -> None:
    """Reduce a table to fewer columns that can still be explained.

    Groups columns that carry the same information about a target, and replaces each
    group by one column. A merge is accepted when its price does not exceed its allowance.

    Try it with: coterie demo
    """


@coterie.command(short_help="Group the columns of a table; write model, table and report.")
@with_options
@click.option("--output", "-o", metavar="FOLDER", help="Where to write; by default NAME-coterie.")
@click.option("--path/--no-path", default=None, help="Whether to compute other tolerances.")
@click.option(
    "--stability",
    "n_resamples",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Fit the groups again on N random halves of the rows.",
)
@click.option("--title", default=None, help="Title of the report.")
def fit(
    source: TableOptions,
    columns: ColumnOptions,
    method: MethodOptions,
    split: SplitOptions,
    display: DisplayOptions,
    output: str | None,
    path: bool | None,
    n_resamples: int,
    title: str | None,
) -> None:
    """Group the columns of a table, score on held-out rows, and write model, table and report.

    DATA is a CSV, TSV, Parquet, Feather, JSON lines or Excel file; - is standard input.

    In Python: coterie.report.study(X, y).
    """
    folder = Path(base_name(source.data) + "-coterie" if output is None else output)
    with progress_bars(display) as bar:
        bar("read", 0, 1)
        data = prepare_table(source, columns)
        bar("read", 1, 1)
        if not (display.as_json or display.quiet):
            print_line(target_message(data, columns))
        reducer = build_reducer(method, columns, data)
        with output_folder(folder):
            result = study(
                data.X,
                data.y,
                estimator=reducer,
                task=data.task.name,
                test_share=split.test_share,
                test_last=split.test_last,
                by_time=rows_in_time(data, columns, test_last=split.test_last),
                **data.about_rows,
                path=data.X.width <= MAX_PATH_FEATURES if path is None else path,
                n_resamples=n_resamples,
                random_state=split.seed,
                title=base_name(source.data) if title is None else title,
                targets=columns.target,
                notes=[
                    *data.notes,
                    *time_notes(data, columns, test_last=split.test_last),
                    *scale_notes(method, reducer),
                    *missing_values_notes(data, reducer),
                ],
                progress=bar,
            )
            bar("write", 0, 1)
            files = write_outputs(
                folder, output_suffix(source), result.reducer, result.summary, data, columns
            )
            bar("write", 1, 1)
    with guard_printing(*files.values()):
        if display.as_json:
            paths = {name: str(file) for name, file in files.items()}
            prepared = [asdict(one) for one in data.preparer.columns_]
            print_json(json_of(result.summary) | {"files": paths, "columns": prepared})
            return
        print_summary(result.summary)
        if path and result.summary.path is None:
            print_line("Note: other tolerances are not computed with these options or so few rows.")
        for name, file in files.items():
            print_line(f"{name:8}{file}")


@coterie.command(short_help="Replace the columns of a new table by the groups of a model.")
@click.argument("model")
@with_options
@click.option(
    "--output",
    "-o",
    default="-",
    metavar="FILE",
    help="Where to write; CSV on standard output by default.",
)
@click.option(
    "--with",
    "kept_columns",
    multiple=True,
    metavar="COLUMNS",
    help="Columns to keep next to the groups, as names separated by commas.",
)
def transform(
    model: str,
    source: TableOptions,
    display: QuietOption,
    output: str,
    kept_columns: tuple[str, ...],
) -> None:
    """Replace the columns of a new table by the groups of a model.

    Columns are found by name, in any order; others are ignored, and those that the model leaves
    out need not be there. Categories, dates and text are encoded as in the fit.

    In Python: coterie.load(model).transform(X), after coterie.load_preparer(model).transform(X) if
    it is not None.
    """
    reducer, preparer = load(model), load_preparer(model)
    with progress_bars(display) as bar:
        bar("read", 0, 1)
        frame = read_source(source)
        bar("read", 1, 1)
        kept = [name for text in kept_columns for name in split_names(text, frame.columns)]
        for name in kept:
            check_column(frame, name, source.data)
        prepared = prepare_new_rows(frame, reducer, preparer, source.data)
        X = model_features(prepared, reducer, source.data)
        table = reduce_table(reducer, X, select_columns(frame, kept))
    with guard_writing():
        write_table(table, output)


@coterie.command(short_help="Write the report of a model.")
@click.argument("model")
@click.option(
    "--output",
    "-o",
    default=None,
    metavar="FILE",
    help="Where to write; report.html next to the model by default.",
)
def report(model: str, output: str | None) -> None:
    """Write the report of a model: one HTML file that needs no network.

    In Python: coterie.report.write_report(coterie.report.summarise(reducer, X, y), path).
    """
    summary = _load_or_build_summary(model)
    if output == "-":
        print_raw(report_html(summary))
        return
    file = Path(model).with_name("report.html") if output is None else Path(output)
    with guard_writing():
        write_report(summary, file)
    with guard_printing(file):
        print_line(str(file))


def _load_or_build_summary(model: str) -> Summary:
    """The summary saved with a model, or one built from the model alone."""
    saved = load_summary(model)
    return summarise(load(model), title=Path(model).stem) if saved is None else saved


@coterie.command(short_help="Show the groups of a model.")
@click.argument("model")
@click.option("--all", "show_all", is_flag=True, help="Show all groups.")
@with_options
def inspect(model: str, display: DisplayOptions, show_all: bool) -> None:
    """Show the groups of a model.

    In Python: coterie.load(model).groups_.
    """
    summary = _load_or_build_summary(model)
    if display.as_json:
        print_json(json_of(summary))
        return
    words = [summary.method, *(f"{name}={value}" for name, value in summary.parameters.items())]
    print_line(" ".join(words))
    print_summary(summary, show_all=show_all)


@coterie.command(short_help="Show the groups and the score for each tolerance.")
@with_options
@click.option(
    "--output", "-o", default=None, metavar="FILE", help="Also write the result as a table."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed of the folds."
)
def path(
    source: TableOptions,
    columns: ColumnOptions,
    method: MethodOptions,
    display: DisplayOptions,
    output: str | None,
    seed: int,
) -> None:
    """Show the number of groups and the score on held-out folds for each tolerance.

    In Python: coterie.tolerance_path(X, y).
    """
    with progress_bars(display) as bar:
        bar("read", 0, 1)
        data = prepare_table(source, columns)
        bar("read", 1, 1)
        reducer = build_reducer(method, columns, data, needs_tolerance=True)
        summary = study(
            data.X,
            data.y,
            estimator=reducer,
            task=data.task.name,
            test_share=0,
            by_time=rows_in_time(data, columns),
            **data.about_rows,
            random_state=seed,
            progress=bar,
        ).summary
    if summary.path is None:
        raise TableError(
            f"{summary.method} has no path with these options or so few rows. Use a "
            "method that has a tolerance, and a dozen rows or more."
        )
    steps = path_columns(summary.path)
    if output is not None:
        import polars

        with guard_writing():
            write_table(polars.DataFrame(steps), output)
    with guard_printing(*([] if output in (None, "-") else [output])):
        if display.as_json:
            print_json(asdict(summary.path) | {"metric": summary.metric})
        else:
            print_path(summary.path, summary.metric)
            print_notes(time_notes(data, columns))


@coterie.command(short_help="Compare the score of the groups with other methods.")
@with_options
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Number of folds."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed of the folds."
)
def compare(
    source: TableOptions,
    columns: ColumnOptions,
    method: MethodOptions,
    display: DisplayOptions,
    folds: int,
    seed: int,
) -> None:
    """Compare the groups with PCA, PLS, FeatureAgglomeration, SelectKBest and all columns.

    All methods are fitted to the same rows and scored on the same held-out folds. The other methods
    choose their number of columns by cross-validation on the training rows.

    In Python: coterie.report.compare(X, y).
    """
    with progress_bars(display) as bar:
        bar("read", 0, 1)
        data = prepare_table(source, columns)
        bar("read", 1, 1)
        comparison = compare_methods(
            data.X,
            data.y,
            estimator=build_reducer(method, columns, data),
            task=data.task.name,
            cv=folds,
            by_time=rows_in_time(data, columns),
            **data.about_rows,
            random_state=seed,
            progress=lambda done, total: bar("compare", done, total),
        )
    if display.as_json:
        print_json(asdict(comparison))
    else:
        print_comparison(comparison)
        print_notes(time_notes(data, columns))


@coterie.command(short_help="Try it on spectra of meat.")
@with_options
@click.option("--output", "-o", default="coterie-demo", metavar="FOLDER", help="Where to write.")
def demo(display: DisplayOptions, output: str) -> None:
    """Predict fat in meat from near-infrared spectra: 100 columns, a few groups, and a report.

    In Python: coterie.report.study(X, y) with X, y from coterie.datasets.load_tecator.
    """
    import polars

    from coterie.datasets import load_tecator

    tecator = load_tecator()
    # 100 channels from 850 to 1050 nm.
    names = [f"{850 + 2 * channel} nm" for channel in range(100)]
    frame = polars.DataFrame(tecator.data, schema=names, orient="row")
    folder = Path(output)
    file = folder / "tecator.csv"
    with guard_writing():
        folder.mkdir(parents=True, exist_ok=True)
        write_table(frame.with_columns(polars.Series("fat", tecator.target)), file)
    if not (display.as_json or display.quiet):
        print_line(f"$ coterie fit {file} -t fat -o {folder}")
    arguments = {
        "data": str(file),
        "target": ("fat",),
        "output": str(folder),
        "title": "Fat in meat from near-infrared spectra",
        "as_json": display.as_json,
        "quiet": display.quiet,
    }
    click.get_current_context().invoke(fit, **_option_defaults(fit) | arguments)


def _option_defaults(command: click.Command) -> dict[str, Any]:
    context = click.Context(command)
    return {str(one.name): one.get_default(context) for one in command.params}


SHELLS = ("bash", "zsh", "fish")


@coterie.command(short_help="Print the completion script for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print a script that makes a shell complete commands and options.

    For bash: eval "$(coterie completion bash)" in ~/.bashrc; for fish, coterie completion fish >
    ~/.config/fish/completions/coterie.fish.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise TableError(f"shell must be one of {', '.join(SHELLS)}, got {shell}.")
    print_raw(kind(coterie, {}, "coterie", "_COTERIE_COMPLETE").source())


@coterie.command("warm-up", short_help="Compile the searches of the paper's rules.")
def warm_up() -> None:
    """Compile the searches of the paper's rules, so that no fit has to wait for it.

    This takes about two minutes, once per machine and version, and needs numba. Until then,
    searches of some seconds are not compiled, and longer ones are when they begin.
    """
    if not compile_searches():
        raise TableError("numba is not installed: pip install 'coterie[fast]'.")
    print_line("The searches are compiled.")
