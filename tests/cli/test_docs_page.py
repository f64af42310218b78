"""The page about the command line is true: its commands run, and all there is is on it."""

import re
import shlex
from pathlib import Path

import pytest

from coterie.cli import _errors
from coterie.cli._commands import coterie

PAGE = (Path(__file__).parents[2] / "docs" / "user-guide" / "command-line.md").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize("name", coterie.commands)
def test_every_command_is_on_the_page(name):
    assert re.search(rf"coterie {name}\b", PAGE)


@pytest.mark.parametrize("name", coterie.commands)
def test_every_option_is_on_the_page_and_has_help(name):
    for parameter in coterie.commands[name].params:
        if parameter.param_type_name == "option":
            assert parameter.help, parameter.name
            flags = {*parameter.opts, *parameter.secondary_opts}
            assert any(flag in PAGE for flag in flags), flags


def test_every_command_names_its_twin_in_python():
    for name, command in coterie.commands.items():
        is_of_the_shell = name in {"completion", "warm-up"}
        assert is_of_the_shell or "In Python: coterie." in command.help, name


@pytest.mark.parametrize("code", ["DONE", "BUG", "USAGE", "INPUT", "OUTPUT", "INTERRUPTED"])
def test_every_exit_code_is_on_the_page(code):
    assert re.search(rf"^\| {getattr(_errors, code)} \|", PAGE, flags=re.MULTILINE)


@pytest.mark.slow
def test_the_commands_of_the_page_run_word_for_word(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    lines = "".join(blocks).splitlines()
    assert len(lines) >= 7
    for line in lines:
        command, *words = shlex.split(line)
        assert command == "coterie"
        ended = run(*words)
        assert ended.exit_code == 0, ended.stderr
        assert ended.stderr == ""
    assert (tmp_path / "coterie-demo" / "report.html").exists()
    assert (tmp_path / "reduced.parquet").exists()
