"""The pieces a page is made of, and how numbers are written on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

FIGURES = {
    "linear": "Linear problems (the paper's fig:linearSynth).",
    "quadratic": "Quadratic problems, numbers (fig:squaredSynth).",
    "quadratic-classes": "Quadratic problems, classes (fig:squaredSynthClass).",
    "finance": "Finance: test score at each number of columns.",
    "bankruptcy": "Bankruptcy: test score at each number of columns.",
    "parkinson": "Parkinson: test score at each number of columns.",
    "beyond": "Every method on every data set: honest score and number of columns.",
    "summary": "How probable it is that a method is better, and mean ranks.",
}


@dataclass(frozen=True)
class Cell:
    """A piece of text, with the verdict it stands for if it is one; ours are set in bold."""

    text: str
    verdict: str = ""
    ours: bool = False


@dataclass(frozen=True)
class Table:
    """A table with numbered notes; a folded one opens when asked."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Section:
    """Paragraphs, parted by empty lines, then figures (name and caption), tables and code."""

    title: str
    text: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    code: str = ""


def cells(*values: object) -> tuple[Cell, ...]:
    """A row of a table."""
    return tuple(value if isinstance(value, Cell) else Cell(str(value)) for value in values)


def mark(verdict: str) -> Cell:
    """A cell that stands for a verdict."""
    return Cell(verdict, verdict)


def shown(drawn: Iterable[str], *names: str) -> tuple[tuple[str, str], ...]:
    """Names and captions of those figures that were drawn."""
    return tuple((name, FIGURES[name]) for name in names if name in drawn)


def number(value: float, quantity: str) -> str:
    """A number with as many digits as a reader needs."""
    if pd.isna(value):
        return ""
    return f"{value:.5f}" if quantity == "score" else f"{value:.2f}".removesuffix("0")


def signed(value: float, digits: int = 5) -> str:
    """A difference with its sign, and none for zero."""
    if pd.isna(value):
        return ""
    written = f"{value:+.{digits}f}"
    return written if float(written) else written[1:]


def short(value: float) -> str:
    """A size or time: three digits at most."""
    if pd.isna(value):
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{np.round(value, 2 - (abs(value) >= 10)):g}"


def two_digits(value: float) -> str:
    """A share."""
    return "" if pd.isna(value) else f"{value:.2f}"


def paragraphs(section: Section) -> list[str]:
    """The text of a section in single lines."""
    return [" ".join(part.split()) for part in section.text.split("\n\n") if part.strip()]
