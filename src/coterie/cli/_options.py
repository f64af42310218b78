"""Options by the idea they belong to, each said once and used by several commands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, get_type_hints

import click

from coterie.cli._errors import remember_json


def option(*flags: str, default: Any = None, **details: Any) -> Any:
    """A field that is an option of the command line."""
    parameter = functools.partial(click.Option, flags, default=default, **details)
    return field(default=default, metadata={"parameter": parameter})


def repeated_option(*flags: str, help: str, metavar: str) -> Any:  # noqa: A002
    """A field that can be given several times."""
    return option(*flags, default=(), multiple=True, help=help, metavar=metavar)


def choice_option(
    *flags: str,
    words: tuple[str, ...],
    default: str | None = None,
    help: str,  # noqa: A002
) -> Any:
    """A field that is one of some words."""
    kind = click.Choice(words)
    return option(*flags, default=default, type=kind, help=help, show_default=default is not None)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters are dataclasses of options, as a command of those options.

    The click decorators above see one keyword argument for each option.
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
    # Click reads them from the last to the first.
    run.__click_params__ = [*own, *reversed(parameters)]  # type: ignore[attr-defined]
    return run


def _click_parameter(one: Field[Any]) -> click.Parameter:
    parameter: click.Parameter = one.metadata["parameter"]()
    # A flag may say it in other words, as --groups does for n_groups.
    parameter.name = one.name
    return parameter


@dataclass(frozen=True)
class TableOptions:
    """The table, and how to read it."""

    data: str = field(metadata={"parameter": functools.partial(click.Argument, ["data"])})
    format: str | None = choice_option(
        "--format",
        words=("csv", "tsv", "parquet", "feather", "jsonl", "json", "excel"),
        help="What kind of file it is; by default as its name and its first bytes say.",
    )
    separator: str | None = option("--separator", help="Between fields; guessed by default.")
    decimal: str | None = choice_option(
        "--decimal", words=(".", ","), help="Decimal point or comma."
    )
    encoding: str | None = option("--encoding", help="Such as latin-1; UTF-8 by default.")
    sheet: str | None = option("--sheet", help="Of an Excel workbook; the first by default.")


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of the table are."""

    target: tuple[str, ...] = option(
        "--target",
        "-t",
        default=(),
        multiple=True,
        required=True,
        help="The column to predict; several for several targets.",
        metavar="COLUMN",
    )
    task: str | None = choice_option(
        "--task",
        words=("regression", "classes", "counts"),
        help="What kind of target it is; by default told by its values.",
    )
    drop: tuple[str, ...] = repeated_option(
        "--drop", help="Leave out columns, by name or pattern such as 'id*'.", metavar="COLUMN"
    )
    drop_text: bool = option("--drop-text", default=False, is_flag=True, help="Leave out text.")
    keep: tuple[str, ...] = repeated_option(
        "--keep", help="Columns that stay alone, by name or pattern.", metavar="COLUMN"
    )
    separate: tuple[str, ...] = repeated_option(
        "--separate",
        help="Columns that never join the others, as names or patterns with commas between.",
        metavar="COLUMNS",
    )
    weights: str | None = option(
        "--weights", help="The column that says how often a row counts.", metavar="COLUMN"
    )
    time: str | None = option(
        "--time",
        help="Order rows by this column, and test on the last ones.",
        metavar="COLUMN",
    )
    by_time: bool = option(
        "--by-time",
        default=False,
        is_flag=True,
        help="Rows are in order of time: test on the last.",
    )
    skip_gaps: bool = option(
        "--skip-gaps", default=False, is_flag=True, help="Leave out rows without a target."
    )


@dataclass(frozen=True)
class MethodOptions:
    """How to group."""

    method: str = choice_option(
        "--method",
        words=("auto", "nonlin", "genlin", "lin", "mutual"),
        default="auto",
        help="NonLinCFA for regression and GenLinCFA for classes and counts by default.",
    )
    tolerance: str | None = option(
        "--tolerance", help="auto (default), aic, bic, ric, or a number.", metavar="WORD|NUMBER"
    )
    n_groups: int | None = option(
        "--groups", type=click.IntRange(1), help="How many groups there shall be."
    )
    family: str | None = choice_option(
        "--family",
        words=("gaussian", "bernoulli", "poisson", "gamma", "inverse_gaussian"),
        help="Of the target, for genlin.",
    )
    search: str | None = choice_option(
        "--search", words=("forward", "restart", "best"), help="restart by default."
    )
    aggregation: str | None = choice_option(
        "--aggregation",
        words=("mean", "sum", "sum_of_squares", "norm", "max", "min", "median", "principal"),
        help="What becomes of a group; the mean by default.",
    )
    signs: bool = option(
        "--signs", default=False, is_flag=True, help="Opposite features may join with a minus."
    )
    scale: bool = option("--scale", default=False, is_flag=True, help="Standardise features first.")
    max_group_size: int | None = option(
        "--max-group-size", type=click.IntRange(1), help="The largest group."
    )
    neighbours: float | None = option(
        "--neighbours",
        type=click.FloatRange(0),
        help="Merge only within this distance, by the coordinates in the columns' names "
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
        help="Hold out the last rows, in no order of time.",
    )
    test_share: float = option(
        "--test-share",
        default=0.25,
        type=click.FloatRange(0, 1, max_open=True),
        show_default=True,
        help="Share of the rows that are held out; 0 for none.",
    )
    seed: int = option(
        "--seed", default=0, type=click.IntRange(0), show_default=True, help="For the split."
    )


@dataclass(frozen=True)
class QuietOption:
    """How much is said."""

    quiet: bool = option("--quiet", "-q", default=False, is_flag=True, help="No bars.")
    as_json: ClassVar[bool] = False


@dataclass(frozen=True)
class DisplayOptions:
    """How much is said, and to whom."""

    as_json: bool = option(
        "--json",
        default=False,
        is_flag=True,
        callback=remember_json,
        help="Answer in JSON, for machines.",
    )
    quiet: bool = option(
        "--quiet",
        "-q",
        default=False,
        is_flag=True,
        help="No bars, and nothing said before the answer.",
    )
