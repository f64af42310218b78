"""The installed command, in a process of its own, on real files."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import coterie

COMMAND = str(Path(sys.executable).with_name("coterie"))
FEATURES = [f"f{k}" for k in range(12)]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(COMMAND).exists(), reason="the command is not installed"),
]


def coterie_run(*words, cwd, **options):
    return subprocess.run(
        [COMMAND, *map(str, words)], cwd=cwd, capture_output=True, timeout=120, **options
    )


def test_fit_and_transform_a_real_file(frame, twin, tmp_path):
    table = frame.select(*FEATURES, "y")
    table.write_parquet(tmp_path / "data.parquet")
    fit = coterie_run("fit", "data.parquet", "--target", "y", "--no-path", cwd=tmp_path)
    assert fit.returncode == 0, fit.stderr
    assert fit.stderr == b""
    model = coterie.load(tmp_path / "data-coterie" / "model.json")
    assert model.labels_.tolist() == twin.reducer.labels_.tolist()
    words = ["transform", "data-coterie/model.json", "data.parquet", "-o", "out.parquet"]
    made = coterie_run(*words, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    expected = pl.DataFrame(
        model.transform(table.select(FEATURES)), schema=model.get_feature_names_out().tolist()
    )
    assert_frame_equal(pl.read_parquet(tmp_path / "out.parquet"), expected)


def test_standard_input_and_output(run, frame, tmp_path):
    text = frame.select(*FEATURES, "y").write_csv().encode()
    fit = coterie_run("fit", "-", "-t", "y", "--no-path", "-q", cwd=tmp_path, input=text)
    assert fit.returncode == 0, fit.stderr
    model = tmp_path / "stdin-coterie" / "model.json"
    made = run("transform", model, "-", stdin=text)
    assert pl.read_csv(made.stdout_bytes).height == 120


def test_a_reader_that_stops_reading_is_no_error(finished):
    pipe = f"{COMMAND} transform data-coterie/model.json data.csv | head -n 1"
    ended = subprocess.run(pipe, shell=True, cwd=finished, capture_output=True, timeout=60)
    assert ended.stdout.count(b"\n") == 1
    assert ended.stderr == b""


def test_bars_are_for_terminals(run, frame, tmp_path, monkeypatch):
    """With a terminal for standard error there are bars; the answer is the same without."""
    frame.select(*FEATURES, "y").write_csv(tmp_path / "data.csv")
    words = [COMMAND, "fit", "data.csv", "-t", "y", "--stability", "2", "--search", "restart"]
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:
            # A terminal whose last writer has gone.
            pass
        told = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b"other tolerances" in shown
    monkeypatch.chdir(tmp_path)
    assert told == run(*words[1:]).stdout_bytes


@pytest.fixture
def fitted(finished, tmp_path):
    """A folder with a file and what was fitted to it, of one's own."""
    return shutil.copytree(finished, tmp_path / "fitted")


def test_a_full_disk_leaves_the_old_files(fitted):
    folder = fitted / "data-coterie"
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    # No file may grow beyond a kilobyte: what a full disk does, without one.
    words = f"{COMMAND} fit data.csv -t y -q --scale --no-path"
    limited = f"ulimit -f 1; trap '' XFSZ; exec {words}"
    ended = subprocess.run(["bash", "-c", limited], cwd=fitted, capture_output=True, timeout=120)
    assert ended.returncode == 4, ended.stderr
    assert ended.stderr.count(b"\n") == 1
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("moment", [0.0, 0.01])
def test_a_kill_while_writing_loses_nothing(run, fitted, moment):
    """Every file is the old one or the new one, and whole."""
    folder = fitted / "data-coterie"
    old = {file.name: file.read_bytes() for file in folder.iterdir()}
    words = [COMMAND, "fit", "data.csv", "-t", "y", "-q", "--scale", "--no-path"]
    process = subprocess.Popen(words, cwd=fitted, stdout=subprocess.DEVNULL)
    # Until the first new file appears beside the old ones.
    until = time.monotonic() + 60
    while len([*folder.iterdir()]) == len(old) and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.0005)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    coterie.load(folder / "model.json")
    assert run("inspect", folder / "model.json").exit_code == 0
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    assert pl.read_csv(folder / "reduced.csv").height == 120


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_is_one_line(frame, tmp_path):
    wide = pl.DataFrame({f"g{k}": frame["f0"] * k + frame["f1"] for k in range(1500)})
    pl.concat([wide, frame.select("y")], how="horizontal").write_parquet(tmp_path / "data.parquet")
    words = [COMMAND, "fit", "data.parquet", "-t", "y", "--stability", "1000"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    assert process.stdout.readline().startswith(b"Target y")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    # What there is to say about the table may have been said before.
    *notes, last = complaint.splitlines()
    assert last == b"coterie: stopped."
    assert all(note.startswith(b"coterie: note: ") for note in notes)


def test_the_module_is_the_command(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "coterie", "--version"], capture_output=True, text=True, cwd=tmp_path
    )
    assert ended.stdout == f"coterie, version {coterie.__version__}\n"


def test_shells_complete_commands_and_options(tmp_path):
    environment = os.environ | {
        "_COTERIE_COMPLETE": "bash_complete",
        "COMP_WORDS": "coterie fit --tol",
        "COMP_CWORD": "2",
    }
    assert b"--tolerance" in coterie_run(cwd=tmp_path, env=environment).stdout


def test_an_error_in_json_is_json(tmp_path):
    ended = coterie_run("fit", "nothing.csv", "-t", "y", "--json", cwd=tmp_path)
    assert ended.returncode == 3
    assert json.loads(ended.stdout)["code"] == 3
