"""Command-line options in dataclasses, so that several commands can share them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, get_type_hints

import click

from coterie._core.aggregations import AGGREGATIONS
from coterie._core.search import SEARCHES
from coterie.cli._errors import remember_json
from coterie.families import FAMILIES
from coterie.report.studies import FAMILY_OF, SYNONYMS


def option(*flags: str, default: Any = None, **details: Any) -> Any:
    """A dataclass field that is a command-line option."""
    parameter = functools.partial(click.Option, flags, default=default, **details)
    return field(default=default, metadata={"parameter": parameter})


def repeated_option(*flags: str, help: str, metavar: str) -> Any:  # noqa: A002
    """A dataclass field that is an option which can be given several times."""
    return option(*flags, default=(), multiple=True, help=help, metavar=metavar)


def choice_option(
    *flags: str,
    words: tuple[str, ...],
    default: str | None = None,
    help: str,  # noqa: A002
) -> Any:
    """A dataclass field that is an option with a fixed set of values."""
    kind = click.Choice(words)
    return option(*flags, default=default, type=kind, help=help, show_default=default is not None)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a function that takes dataclasses of options into a click command.

    Click passes one keyword argument per option; the function gets the dataclasses.
    """
    kinds = {
        name: kind
        for name, kind in get_type_hints(command).items()
        if hasattr(kind, "__dataclass_fields__")
    }

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        groups = {
            name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            for name, kind in kinds.items()
        }
        return command(**groups, **given)

    own = getattr(command, "__click_params__", [])
    parameters = [_click_parameter(one) for kind in kinds.values() for one in fields(kind)]
    # Click reads the parameters from last to first.
    run.__click_params__ = [*own, *reversed(parameters)]  # type: ignore[attr-defined]
    return run


def _click_parameter(one: Field[Any]) -> click.Parameter:
    parameter: click.Parameter = one.metadata["parameter"]()
    # The flag may differ from the parameter, as --groups does from n_groups.
    parameter.name = one.name
    return parameter


@dataclass(frozen=True)
class TableOptions:
    """Which table to read, and how."""

    data: str = field(metadata={"parameter": functools.partial(click.Argument, ["data"])})
    format: str | None = choice_option(
        "--format",
        words=("csv", "tsv", "parquet", "feather", "jsonl", "json", "excel"),
        help="File format; by default from the name and the first bytes.",
    )
    separator: str | None = option("--separator", help="Field separator; guessed by default.")
    decimal: str | None = choice_option("--decimal", words=(".", ","), help="Decimal separator.")
    encoding: str | None = option(
        "--encoding", help="Text encoding, such as latin-1; UTF-8 by default."
    )
    sheet: str | None = option("--sheet", help="Sheet of an Excel workbook; the first by default.")


@dataclass(frozen=True)
class ColumnOptions:
    """Which role each column of the table has."""

    target: tuple[str, ...] = option(
        "--target",
        "-t",
        default=(),
        multiple=True,
        required=True,
        help="The column to predict; give it several times for several targets.",
        metavar="COLUMN",
    )
    task: str | None = choice_option(
        "--task",
        words=(*FAMILY_OF, *SYNONYMS),
        help="Kind of target; by default inferred from its values.",
    )
    drop: tuple[str, ...] = repeated_option(
        "--drop",
        help="Leave out columns, as names or patterns such as 'id*', separated by commas.",
        metavar="COLUMNS",
    )
    text: str = choice_option(
        "--text",
        words=("encode", "drop", "refuse"),
        default="encode",
        help="What to do with text, categories and dates: encode them as numbers, leave them out, "
        "or stop.",
    )
    keep: tuple[str, ...] = repeated_option(
        "--keep",
        help="Columns that are never merged, as names or patterns separated by commas. They are "
        "not left out as keys, or because they give the target away.",
        metavar="COLUMNS",
    )
    separate: tuple[str, ...] = repeated_option(
        "--separate",
        help="Columns that are never merged with other columns, as names or patterns "
        "separated by commas.",
        metavar="COLUMNS",
    )
    weights: str | None = option(
        "--weights", help="The column of sample weights.", metavar="COLUMN"
    )
    exposure: str | None = option(
        "--exposure",
        help="For counts: the column that they are proportional to, such as hours or inhabitants.",
        metavar="COLUMN",
    )
    offset: str | None = option(
        "--offset", help="For counts: the column of the log of the exposure.", metavar="COLUMN"
    )
    row_groups: str | None = option(
        "--row-groups",
        help="The column that says which rows belong together, such as a patient: these are never "
        "on both sides of a split.",
        metavar="COLUMN",
    )
    time: str | None = option(
        "--time",
        help="Sort the rows by this column, and test on the last ones.",
        metavar="COLUMN",
    )
    by_time: bool | None = option(
        "--by-time/--no-by-time",
        help="Whether rows are in time order, so that later rows are predicted from earlier ones; "
        "by default if a column of dates is in order.",
    )
    skip_gaps: bool = option(
        "--skip-gaps", default=False, is_flag=True, help="Leave out rows whose target is missing."
    )


@dataclass(frozen=True)
class MethodOptions:
    """How to group the columns."""

    method: str = choice_option(
        "--method",
        words=("auto", "coterie", "nonlin", "genlin", "lin", "mutual"),
        default="auto",
        help="Coterie by default; with --tolerance, --search or --scale, NonLinCFA or GenLinCFA.",
    )
    tolerance: str | None = option(
        "--tolerance", help="auto (default), aic, bic, ric, or a number.", metavar="WORD|NUMBER"
    )
    n_groups: int | None = option("--groups", type=click.IntRange(1), help="Number of groups.")
    family: str | None = choice_option(
        "--family",
        words=tuple(FAMILIES),
        help="Family of the target, for genlin.",
    )
    search: str | None = choice_option(
        "--search",
        words=tuple(SEARCHES),
        help="Order of the search; restart by default.",
    )
    aggregation: str | None = choice_option(
        "--aggregation",
        words=tuple(AGGREGATIONS),
        help="How a group becomes one column; the mean by default.",
    )
    signs: bool = option(
        "--signs",
        default=False,
        is_flag=True,
        help="Allow features with opposite sign in one group, multiplied by -1.",
    )
    scale: bool | None = option(
        "--scale/--no-scale",
        help="Whether to standardise features first; by default if their spreads differ ten times.",
    )
    max_group_size: int | None = option(
        "--max-group-size", type=click.IntRange(1), help="Largest number of columns in a group."
    )
    neighbours: float | None = option(
        "--neighbours",
        type=click.FloatRange(0),
        help="Merge only columns within this distance, by the coordinates in their names "
        "(lon120_lat-30, x3_y7, or wavelengths).",
        metavar="DISTANCE",
    )


@dataclass(frozen=True)
class SplitOptions:
    """Which rows are held out."""

    test_last: bool = option(
        "--test-last",
        default=False,
        is_flag=True,
        help="Hold out the last rows, once; unlike --by-time, rows are not in time order.",
    )
    test_share: float = option(
        "--test-share",
        default=0.2,
        type=click.FloatRange(0, 1, max_open=True),
        show_default=True,
        help="Share of the rows that each split holds out; 0 for none.",
    )
    seed: int = option(
        "--seed",
        default=0,
        type=click.IntRange(0),
        show_default=True,
        help="Random seed of the split.",
    )


@dataclass(frozen=True)
class QuietOption:
    """Whether progress bars are shown."""

    quiet: bool = option(
        "--quiet", "-q", default=False, is_flag=True, help="Show no progress bars."
    )
    as_json: ClassVar[bool] = False


@dataclass(frozen=True)
class DisplayOptions:
    """What is printed: progress bars, tables or JSON."""

    as_json: bool = option(
        "--json",
        default=False,
        is_flag=True,
        callback=remember_json,
        help="Print JSON, for scripts.",
    )
    quiet: bool = option(
        "--quiet",
        "-q",
        default=False,
        is_flag=True,
        help="Print only the result: no progress bars and no messages before it.",
    )
