"""Whatever is wrong is one line, and an exit code that says what kind of thing it is."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from coterie.cli import main
from coterie.cli._errors import BUG, INPUT, INTERRUPTED, OUTPUT, USAGE, exit_code_and_message
from coterie.report import study


def one_line(result, code):
    assert result.exit_code == code
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("coterie: ")
    return result.stderr


WRONG = {
    "a missing column": (["fit", "data.csv", "-t", "Y"], INPUT, "no column 'Y'. Did you mean 'y'?"),
    "no such file": (["fit", "dat.csv", "-t", "y"], INPUT, "data.csv"),
    "no target": (["fit", "data.csv"], USAGE, "Missing option '--target'"),
    "no command": (["fot"], USAGE, "No such command 'fot'"),
    "no such option": (["fit", "data.csv", "-t", "y", "--tolerence", "1"], USAGE, "--tolerance"),
    "a tolerance in words": (
        ["fit", "data.csv", "-t", "y", "--tolerance", "much"],
        INPUT,
        "auto, aic, bic, ric or a number, got 'much'",
    ),
    "another word": (
        ["fit", "data.csv", "-t", "y", "--search", "fast"],
        USAGE,
        "'fast' is not one",
    ),
    "an option of another method": (
        ["fit", "data.csv", "-t", "y", "--method", "lin", "--groups", "3"],
        INPUT,
        "--groups is not supported by LinCFA",
    ),
    "classes for numbers": (
        ["fit", "data.csv", "-t", "y", "--method", "nonlin", "--task", "classes"],
        INPUT,
        "use --task regression, or --method genlin",
    ),
    "nothing to drop": (["fit", "data.csv", "-t", "y", "--drop", "g*"], INPUT, "--drop 'g*'"),
    "a share of rows": (["fit", "data.csv", "-t", "y", "--test-share", "1"], USAGE, "0<=x<1"),
    "weights elsewhere": (["fit", "data.csv", "-t", "y", "--weights", "w"], INPUT, "column 'w'"),
    "no coordinates": (
        ["fit", "data.csv", "-t", "f0", "--neighbours", "1"],
        INPUT,
        "--neighbours needs coordinates",
    ),
    "no path": (["path", "data.csv", "-t", "y", "--method", "lin"], INPUT, "no path"),
    "no model": (["inspect", "data.csv"], INPUT, "it is not JSON"),
    "a model that is not there": (["report", "model.json"], INPUT, "model.json: no such file"),
    "a target twice": (["fit", "data.csv", "-t", "y", "-t", "y"], INPUT, "only one role"),
    "weights that are the target": (
        ["fit", "data.csv", "-t", "y", "--weights", "y"],
        INPUT,
        "can have only one role",
    ),
    "counts below 0": (["fit", "data.csv", "-t", "y", "--task", "counts", "-q"], INPUT, "row 1"),
    "a seed below 0": (["fit", "data.csv", "-t", "y", "--seed", "-1"], USAGE, "'--seed'"),
    "too many folds": (
        ["compare", "data.csv", "-t", "y", "--folds", "100"],
        INPUT,
        "--folds must be from 2 to 60",
    ),
    "too many groups": (
        ["fit", "data.csv", "-t", "y", "--groups", "50", "-q"],
        INPUT,
        "--groups must be",
    ),
    "no such folder": (
        ["path", "data.csv", "-t", "y", "-o", "nowhere/path.csv"],
        OUTPUT,
        "no folder nowhere",
    ),
    "a family elsewhere": (
        ["fit", "data.csv", "-t", "y", "--method", "nonlin", "--family", "poisson"],
        INPUT,
        "--family is not supported by NonLinCFA",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_words_are_one_line(run, data, name):
    words, code, text = WRONG[name]
    assert text in one_line(run(*words), code)


TABLES = {
    "empty": ("", "empty"),
    "a header alone": ("a,b,y\n", ""),
    "constants": ("a,b,c,y\n" + "1,2,x,3\n" * 9, "Left out (constant): 'a', 'b', 'c'."),
    "a target with gaps": ("a,b,y\n" + "1,2,3\n4,5,\n" * 9, "lacks 9 values, the first in row 2"),
    "names twice": ("a,a,y\n" + "1,2,3\n" * 9, "'a'"),
    "mixed separators": ("a,b,y\n" + "1,2,3\n" * 9 + "1;2;3\n", "line 11"),
    "a constant target": ("a,b,y\n" + "1,2,3\n2,3,3\n" * 9, "constant"),
    "one feature": (
        "a,y\n" + "1,2\n2,3\n2,2\n" * 9,
        "There is 1 column to group besides 'y'",
    ),
    "few rows": ("a,b,y\n1,2,3\n2,3,4\n", "There are 2 rows with a target; 4 or more are needed"),
    "one row": ("a,b,y\n1,2,3\n", "There is 1 row with a target; 4 or more are needed"),
    "infinity": ("a,b,y\n" + "1,2,3\ninf,3,4\n" * 9, "'a'"),
    "infinite target": ("a,b,y\n" + "1,2,3\n4,3,inf\n" * 9, "'y'"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_cannot_be_used_are_one_line(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text, expected = TABLES[name]
    Path("bad.csv").write_text(text)
    assert expected in one_line(run("fit", "bad.csv", "-t", "y", "-q"), INPUT)


def test_too_few_rows_for_a_path_are_one_line(run, frame, tmp_path):
    frame.select("f0", "f1", "y").head(9).write_csv(tmp_path / "few.csv")
    said = one_line(run("path", tmp_path / "few.csv", "-t", "y"), INPUT)
    assert "has no path with these options or so few rows" in said


def test_another_encoding_is_one_line(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = ("größe,b,y\n" + "1,2,3\n2,2,5\n" * 9).encode("latin-1")
    Path("bad.csv").write_bytes(content)
    assert "--encoding" in one_line(run("fit", "bad.csv", "-t", "y"), INPUT)


def test_weights_are_checked_by_row(run, frame, tmp_path):
    table = frame.select("f0", "f1", "y", pl.lit(-1).alias("w"))
    table.write_csv(tmp_path / "data.csv")
    said = one_line(run("fit", tmp_path / "data.csv", "-t", "y", "--weights", "w", "-q"), INPUT)
    assert "'w' must hold weights of 0 or more, got -1 in row 1" in said


def test_text_is_no_regression(run, frame, tmp_path):
    frame.select("f0", "f1", "kind").write_csv(tmp_path / "data.csv")
    words = ["fit", tmp_path / "data.csv", "-t", "kind", "--task", "regression", "-q"]
    assert "is text: use --task classes" in one_line(run(*words), INPUT)


def test_a_fit_that_fails_leaves_no_folder(run, data):
    one_line(run("fit", data, "-t", "y", "--groups", "50", "-q"), INPUT)
    assert not Path("data-coterie").exists()


def test_wrong_words_are_json_for_machines(run, data):
    result = run("fit", data, "--json")
    assert json.loads(result.stdout)["code"] == USAGE


def test_no_words_at_all_show_the_help(run):
    result = run()
    assert result.exit_code == USAGE
    assert "Commands:" in result.output
    assert "coterie: " not in result.output


def test_gaps_and_text_in_new_rows_are_said_by_row(run, data, frame):
    run("fit", data, "-t", "y", "-q", "--no-path", "--search", "best")
    model = "data-coterie/model.json"
    holes = pl.when(pl.int_range(120) == 3).then(None).otherwise(pl.col("f2")).alias("f2")
    frame.with_columns(holes).write_csv("new.csv")
    said = one_line(run("transform", model, "new.csv"), INPUT)
    assert "lacks a value of 'f2' in row 4" in said
    frame.with_columns(pl.lit("x").alias("f2")).write_csv("new.csv")
    assert "--drop" not in one_line(run("transform", model, "new.csv"), INPUT)


def test_columns_that_the_model_needs_are_named(run, data, frame):
    run("fit", data, "-t", "y", "-q", "--no-path")
    frame.rename({"f3": "F3"}).write_csv("new.csv")
    said = one_line(run("transform", "data-coterie/model.json", "new.csv"), INPUT)
    assert "lacks 'f3', which the model needs. Did you mean to rename 'F3'?" in said
    frame.drop("f3", "f4").write_csv("new.csv")
    said = one_line(run("transform", "data-coterie/model.json", "new.csv"), INPUT)
    assert "lacks 'f3' and 1 more" in said


def test_machines_get_errors_in_json(run, data):
    result = run("fit", data, "-t", "Y", "--json")
    assert result.exit_code == INPUT
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert answer["code"] == INPUT
    assert "Did you mean 'y'?" in answer["error"]


def test_what_cannot_be_written_says_so_before_the_work(run, data):
    Path("taken").write_text("mine")
    said = one_line(run("fit", data, "-t", "y", "-q", "-o", "taken"), OUTPUT)
    assert "taken" in said
    assert Path("taken").read_text() == "mine"


FILES = ["model.json", "reduced.csv", "report.html"]
# Another model, table and report than those that are there.
ANEW = ["fit", "data.csv", "-t", "y", "-q", "--no-path", "--scale", "--title", "Another"]


def in_folder(folder):
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def fail(monkeypatch, owner, name, at, error):
    """Let the call of some number fail, counted from 0."""
    calls, real = [], getattr(owner, name)

    def called(*args):
        calls.append(args)
        if len(calls) == at + 1:
            raise error
        return real(*args)

    monkeypatch.setattr(owner, name, called)


def test_a_fit_anew_writes_all_files_anew(run, model):
    """Or the tests below could not fail."""
    before = in_folder("data-coterie")
    assert run(*ANEW).exit_code == 0
    after = in_folder("data-coterie")
    assert sorted(after) == FILES
    assert all(after[name] != before[name] for name in FILES)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_disk_that_is_full_at_any_file_leaves_all_old_ones(run, model, monkeypatch, at):
    before = in_folder("data-coterie")
    fail(monkeypatch, os, "fsync", at, OSError(28, "No space left on device"))
    said = one_line(run(*ANEW), OUTPUT)
    assert FILES[at] in said
    assert "no space left on device" in said.lower()
    assert in_folder("data-coterie") == before


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_stop_at_any_file_leaves_all_old_ones(run, model, monkeypatch, at):
    before = in_folder("data-coterie")
    fail(monkeypatch, os, "fsync", at, KeyboardInterrupt())
    assert one_line(run(*ANEW), INTERRUPTED) == "coterie: stopped.\n"
    assert in_folder("data-coterie") == before


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_disk_that_is_full_at_any_file_leaves_no_new_folder(run, data, monkeypatch, at):
    fail(monkeypatch, os, "fsync", at, OSError(28, "No space left on device"))
    one_line(run(*ANEW), OUTPUT)
    assert not Path("data-coterie").exists()


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_file_that_cannot_be_renamed_says_which_are_new(run, model, monkeypatch, at):
    before = in_folder("data-coterie")
    fail(monkeypatch, Path, "replace", at, PermissionError(13, "Permission denied"))
    said = one_line(run(*ANEW), OUTPUT)
    after = in_folder("data-coterie")
    assert sorted(after) == FILES
    assert [name for name in FILES if after[name] != before[name]] == FILES[:at]
    new, _, rest = said.partition(" new, ")
    assert [name for name in FILES if name in new and rest] == FILES[:at]
    assert "permission denied" in said


def test_names_of_new_files_are_told_however_long(run, data, monkeypatch):
    folder = "/".join(["a" * 200] * 3)
    fail(monkeypatch, Path, "replace", 2, PermissionError(13, "Permission denied"))
    said = one_line(run(*ANEW, "-o", folder), OUTPUT)
    assert f"{folder}/model.json and {folder}/reduced.csv are new, " in said
    assert said.endswith("report.html could not be renamed (permission denied).\n")


SILENT = {
    "fit": (["fit", "data.csv", "-t", "y", "--no-path", "-q"], FILES),
    "fit for machines": (["fit", "data.csv", "-t", "y", "--no-path", "--json"], FILES),
    "report": (["report", "data-coterie/model.json"], ["report.html"]),
    "path": (["path", "data.csv", "-t", "y", "-o", "path.csv"], ["path.csv"]),
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
@pytest.mark.parametrize("name", SILENT)
def test_files_that_are_new_are_told_where_standard_output_is_full(model, name):
    words, files = SILENT[name]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "coterie", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert ended.returncode == OUTPUT, ended.stderr
    assert ended.stderr.startswith("coterie: standard output: no space left on device. ")
    assert ended.stderr.endswith(f"{files[-1]} {'is' if len(files) == 1 else 'are'} new.\n")
    assert all(file in ended.stderr for file in files)
    assert ended.stderr.count("\n") == 1


def test_an_output_of_no_known_kind_is_one_line(run, data):
    run("fit", data, "-t", "y", "-q", "--no-path")
    said = one_line(run("transform", "data-coterie/model.json", data, "-o", "out.doc"), OUTPUT)
    assert "out.doc" in said


def test_numbers_out_of_reach_are_no_bug(run, data, monkeypatch):
    def overflown(*_, **__):
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("coterie.cli._commands.study", overflown)
    assert "rescale them" in one_line(run("fit", data, "-t", "y", "-q"), INPUT)


def test_a_bug_is_one_line_unless_debug_is_asked_for(run, data, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("deep inside")

    monkeypatch.setattr("coterie.cli._commands.study", broken)
    said = one_line(run("fit", data, "-t", "y", "-q"), BUG)
    assert "unexpected RuntimeError: deep inside" in said
    with pytest.raises(AssertionError, match="deep inside"):
        run("--debug", "fit", data, "-t", "y", "-q")


def test_a_stop_is_no_error_of_ours(run, data, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("coterie.cli._commands.study", stopped)
    assert one_line(run("fit", data, "-t", "y", "-q"), INTERRUPTED) == "coterie: stopped.\n"


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_a_stop_that_a_library_swallows_comes_again(run, data, monkeypatch):
    def deaf(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            time.sleep(30)

    monkeypatch.setattr("coterie.cli._commands.study", deaf)
    before = signal.getsignal(signal.SIGINT)
    assert one_line(run("fit", data, "-t", "y", "-q"), INTERRUPTED) == "coterie: stopped.\n"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("ctrl_c_is_ignored")
def test_a_command_in_the_background_is_not_stopped(run, data, monkeypatch):
    def pressed(*given, **options):
        signal.raise_signal(signal.SIGINT)
        return study(*given, **options)

    monkeypatch.setattr("coterie.cli._commands.study", pressed)
    assert run("fit", data, "-t", "y", "-q", "--no-path").exit_code == 0
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_compilers_end_before_a_stop(run, data, monkeypatch):
    """What is raised inside a compiler may end the process, so the stop waits for it."""
    scope = {"__name__": "numba.inside", "signal": signal}
    exec("def work():\n    signal.raise_signal(signal.SIGINT)\n    return 'done'", scope)
    ended = []

    def compiling(*_, **__):
        ended.append(scope["work"]())
        time.sleep(30)

    monkeypatch.setattr("coterie.cli._commands.study", compiling)
    assert one_line(run("fit", data, "-t", "y", "-q"), INTERRUPTED) == "coterie: stopped.\n"
    assert ended == ["done"]


def test_errors_have_codes():
    assert exit_code_and_message(MemoryError())[0] == INPUT
    assert exit_code_and_message(OSError(28, "No space left on device", "x.csv")) == (
        OUTPUT,
        "x.csv: no space left on device.",
    )
    assert (
        exit_code_and_message(ImportError('Needs an extra: pip install "coterie[cli]".'))[0]
        == INPUT
    )


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == USAGE
    assert 'pip install "coterie[cli]"' in capsys.readouterr().err


def test_hostile_names_are_text(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["<script>alert(1)</script>", "[bold]b[/bold]", "\x1b[31mred", "a\u202eb", "={1+1}"]
    table = pl.DataFrame(
        {name: [float(i * k % 7) for i in range(40)] for k, name in enumerate(names, 1)}
        | {"y\x1b[2J": [float(i % 5) for i in range(40)]}
    )
    table.write_parquet("data.parquet")
    result = run("fit", "data.parquet", "-t", "y\x1b[2J", "--no-path", "--search", "best")
    assert result.exit_code == 0
    assert "Target y?[2J: classes" in result.output
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert "[bold]b[/bold]" in result.output
    page = Path("data-coterie/report.html").read_text()
    assert "<script>alert(1)</script>" not in page


PRESSED_WHILE_IMPORTING = """
import signal, sys
sys.argv = ["/somewhere/coterie", "fit"]
class Press:
    def find_spec(self, name, *_):
        if name == "NAME":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Press())
from coterie.cli import main
main()
"""


@pytest.mark.parametrize("name", ["sklearn.base", "rich", "coterie.cli._commands"])
def test_ctrl_c_while_importing_has_no_traceback(name):
    code = PRESSED_WHILE_IMPORTING.replace("NAME", name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr == b"coterie: stopped.\n"
