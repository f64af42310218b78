"""No digit is cut, whatever the width of the terminal."""

import pytest
from rich.console import Console

from coterie.cli import _console
from coterie.cli._console import add_table_row, empty_table, print_table

ROWS = [
    (
        "mean(a_long_name_of_a_feature, another)",
        "-1.23e-05",
        "12,345",
        "worse (-0.040 +- 0.010)",
    ),
    ("ridge on all columns", "0.98765", "3", "about the same (+0.001 +- 0.123)"),
]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_numbers_are_whole_at_any_width(width, monkeypatch, capsys):
    monkeypatch.setattr(_console, "console", lambda: Console(width=width, highlight=False))
    table = empty_table(("method", "left"), ("score", "right"), ("n", "right"), ("is", "left"))
    for row in ROWS:
        add_table_row(table, *row)
    print_table(table)
    printed = capsys.readouterr().out
    assert "\N{HORIZONTAL ELLIPSIS}" not in printed
    for _, score, count, words in ROWS:
        assert score in printed
        assert count in printed
        numbers = [one.strip("()") for one in words.split() if any(map(str.isdigit, one))]
        assert all(number in printed for number in numbers)
