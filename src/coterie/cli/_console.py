"""Printing: tables and lines on standard output, progress bars on standard error."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
DEFAULT_WIDTH = 120
# No text is wrapped to less.
MIN_WIDTH = 20
# Space between columns, and the least width of a column of long names.
GAP, MIN_NAME_WIDTH = 2, 16
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
    """Print a line on standard output, without markup; in a terminal, broken between words."""
    text = printable(sentence)
    screen = console()
    click.echo("\n".join(_wrapped(text, screen.width)) if screen.is_terminal else text)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines no wider than this, if no word is."""
    start = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        text,
        max(width, MIN_WIDTH),
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent=start + indent,
    ) or [text]


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


@dataclass(frozen=True)
class TextTable:
    """A table to print: columns with their alignment, and rows of text.

    Parameters
    ----------
    columns : list of (str, "left" or "right")
        Cells of columns on the left side are names or words, which may go on in the next line.
    rows : list of (list of str, bool)
        The cells of a row, and whether it is bold.
    """

    columns: list[tuple[str, Side]]
    rows: list[tuple[list[str], bool]] = field(default_factory=list)

    def least_width(self) -> int:
        """The width with which no number and no word is broken."""
        widths = [self._least_of(place, side) for place, (_, side) in enumerate(self.columns)]
        return sum(widths) + GAP * (len(widths) - 1)

    def _least_of(self, place: int, side: Side) -> int:
        name = self.columns[place][0]
        cells = [name, *(cells[place] for cells, _ in self.rows)]
        longest = max(map(len, cells))
        if side == "right":
            return longest
        words = max((len(word) for cell in cells for word in cell.split()), default=0)
        return min(longest, max(words, MIN_NAME_WIDTH))

    def as_rich(self) -> Table:
        """The table, whose names go on in the next line where space is short."""
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        for place, (name, side) in enumerate(self.columns):
            least = self._least_of(place, side)
            table.add_column(
                name, justify=side, overflow="fold", no_wrap=side == "right", min_width=least
            )
        for cells, is_bold in self.rows:
            table.add_row(*map(Text, cells), style="bold" if is_bold else None)
        return table

    def stacked(self, width: int) -> Iterator[tuple[str, bool]]:
        """Each row as lines: its name, and below it "name: value" of the other columns."""
        names = [name for name, _ in self.columns]
        for cells, is_bold in self.rows:
            for line in _wrapped(cells[0], width, "  "):
                yield line, is_bold
            said = [
                f"{name}: {cell}" if name else cell
                for name, cell in zip(names[1:], cells[1:], strict=True)
                if cell
            ]
            line = ""
            for one in said:
                if line and len(line) + len(one) + GAP > width:
                    yield line, False
                    line = ""
                parts = _wrapped(f"{line}  {one}" if line else f"  {one}", width, "  ")
                for part in parts[:-1]:
                    yield part, False
                line = parts[-1]
            if line:
                yield line, False


def empty_table(*columns: tuple[str, Side]) -> TextTable:
    """An empty table with these columns, each a name and its alignment."""
    return TextTable(list(columns))


def print_table(table: TextTable) -> None:
    """Print a table; where the terminal is too narrow for it, each row in lines of its own."""
    screen = console()
    if table.least_width() <= screen.width:
        screen.print(table.as_rich(), crop=False, soft_wrap=False)
        return
    for line, is_bold in table.stacked(screen.width):
        screen.print(Text(line, style="bold" if is_bold else ""), soft_wrap=True)


def add_table_row(table: TextTable, *cells: str, bold: bool = False) -> None:
    """Add a row to a table, without interpreting markup."""
    table.rows.append(([printable(cell) for cell in cells], bold))


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
