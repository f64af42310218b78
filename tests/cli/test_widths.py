"""No digit is cut, whatever the width of the terminal."""

import json
import os
import re
import subprocess

import pytest
from cli.test_installed import COMMAND
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


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_rows_are_stacked_where_the_terminal_is_too_narrow(width, monkeypatch, capsys):
    monkeypatch.setattr(_console, "console", lambda: Console(width=width, highlight=False))
    names = ["method", "score", "n", "is", "best member"]
    table = empty_table(*((name, "right" if name in ("score", "n") else "left") for name in names))
    for row in ROWS:
        add_table_row(table, *row, "app_LT_TKEO_std_7_coefficient")
    print_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    printed = "\n".join(lines)
    # No name is dropped, or broken within a word.
    assert printed.count("app_LT_TKEO_std_7_coefficient") == 2
    assert all(word in printed for word in ["mean(a_long_name_of_a_feature,", "another)"])
    assert all(name in printed for name in names[1:])
    is_stacked = "score: -1.23e-05" in printed
    assert is_stacked == (width < 110)


def test_lines_are_broken_between_words(monkeypatch, capsys):
    screen = Console(width=40, force_terminal=True)
    monkeypatch.setattr(_console, "console", lambda: screen)
    sentence = "Use these 12 columns instead of 100: no loss can be shown (R2 -0.001 +- 0.014)."
    _console.print_line(sentence)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(lines) == sentence


@pytest.mark.parametrize("columns", ["40", "200", None])
def test_piped_tables_hold_every_number_whole(columns, finished):
    """Of the installed command, without a terminal, however narrow the shell says it is."""
    plain = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    settings = plain if columns is None else plain | {"COLUMNS": columns}
    options = {"cwd": finished, "env": settings, "capture_output": True, "timeout": 60}
    command = [COMMAND, "inspect", "data-coterie/model.json"]
    printed = subprocess.run(command, **options).stdout.decode()
    answer = json.loads(subprocess.run([*command, "--json"], **options).stdout)
    assert "\N{HORIZONTAL ELLIPSIS}" not in printed
    words = {*re.findall(r"[^\s()]+", printed)}
    assert answer["scores"]
    assert answer["groups"]
    for score in answer["scores"]:
        assert {f"{score['score']:.4f}", f"{score['n_columns']:.1f}"} <= words
    for difference in answer["verdict"]["differences"]:
        assert {f"{difference['gain']:+.3f}", f"{difference['error']:.3f}"} <= words
    for group in answer["groups"]:
        numbers = [f"{group['effects'][0]:.3g}", f"{group['stability']:.2f}"]
        numbers += [f"{group['contribution']:.4f}", f"{group['contribution_error']:.4f}"]
        assert {*numbers} <= words
