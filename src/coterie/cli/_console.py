"""Printing: tables and lines on standard output, progress bars on standard error."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from coterie.cli._options import DisplayOptions, QuietOption
from coterie.cli._printable import printable

Side = Literal["left", "right"]
# Width of the output where it is not a terminal.
DEFAULT_WIDTH = 110
STEP_LABELS = {
    "read": "reading",
    "fit": "grouping",
    "path": "other tolerances",
    "stability": "resampling",
    "scores": "scoring",
    "importance": "leaving groups out",
    "compare": "comparing",
    "write": "writing",
}


def console() -> Console:
    """A console for standard output, as wide as the terminal."""
    screen = Console(highlight=False, soft_wrap=False)
    return screen if screen.is_terminal else Console(highlight=False, width=DEFAULT_WIDTH)


def print_line(sentence: str) -> None:
    """Print a line on standard output, without interpreting markup."""
    click.echo(printable(sentence))


def print_raw(text: str) -> None:
    """Print text on standard output unchanged."""
    click.echo(text)


def print_json(document: Any) -> None:
    """Print a document as JSON."""
    click.echo(json.dumps(_nonfinite_to_null(document), allow_nan=False))


def _nonfinite_to_null(document: Any) -> Any:
    """The document with None in place of NaN and infinity, which JSON does not have."""
    if isinstance(document, dict):
        return {name: _nonfinite_to_null(one) for name, one in document.items()}
    if isinstance(document, list):
        return [_nonfinite_to_null(one) for one in document]
    return None if isinstance(document, float) and not math.isfinite(document) else document


def empty_table(*columns: tuple[str, Side]) -> Table:
    """An empty table with these columns, each a name and its alignment."""
    table = Table(box=None, pad_edge=False)
    for name, side in columns:
        # Where space is short, names go on in the next line, and numbers are never broken.
        is_name = side == "left"
        table.add_column(name, justify=side, overflow="fold", no_wrap=not is_name)
    return table


def print_table(table: Table) -> None:
    """Print a table; if its numbers do not fit the terminal, wider than that."""
    screen = console()
    least = table.__rich_measure__(screen, screen.options).minimum
    screen.print(table, width=max(screen.width, least), crop=False, soft_wrap=False)


def add_table_row(table: Table, *cells: str, bold: bool = False) -> None:
    """Add a row to a table, without interpreting markup."""
    table.add_row(*(Text(printable(cell)) for cell in cells), style="bold" if bold else None)


class ProgressBars:
    """Progress bars with the time left, one for each step."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how much of a step is done."""
        if self._progress is None:
            return
        # A step of one item has no share to show.
        known_total = None if total == 1 and not done else total
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(STEP_LABELS[what], total=known_total)
        self._progress.update(self._tasks[what], completed=done, total=known_total)


@contextmanager
def progress_bars(display: DisplayOptions | QuietOption) -> Iterator[ProgressBars]:
    """Progress bars on standard error, if it is a terminal and the output is not quiet."""
    screen = Console(stderr=True)
    if display.quiet or display.as_json or not screen.is_terminal:
        yield ProgressBars(None)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as progress:
        yield ProgressBars(progress)
