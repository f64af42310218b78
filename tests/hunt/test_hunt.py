"""The long hunt tells what it tried, and how to see again what went wrong."""

import pytest

from hunt import __main__ as command
from hunt.problems import drawn
from hunt.trials import SkippedError


def told(capsys, monkeypatch, *arguments, **laws):
    monkeypatch.setattr(command, "LAWS", laws)
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    code = command.main([*arguments])
    return code, capsys.readouterr().out


def test_it_tells_how_often_each_law_and_each_value_was_tried(capsys, monkeypatch):
    def holds(trial):
        trial.drawn(search=["best"])

    code, out = told(capsys, monkeypatch, "--cases", "7", "--seed", "40", holds=holds)
    assert code == 0
    assert "1 laws, seeds from 40 on" in out
    assert "      7        0       0  holds" in out
    assert "  search: best 7" in out


def test_it_tells_the_seed_and_the_problem_of_a_failure_and_how_to_see_it_again(
    capsys, monkeypatch
):
    def breaks(trial):
        trial.drawn(reducer=["LinCFA"])
        assert trial.seed != 6, "six"

    code, out = told(capsys, monkeypatch, "--cases", "5", "--seed", "4", breaks=breaks)
    assert code == 1
    assert "BROKEN: breaks, seed 6" in out
    assert "AssertionError: six" in out
    assert "LinCFA(" in out
    assert "python -m hunt --law 'breaks' --seed 6 --cases 1" in out
    assert "      5        0       1  breaks" in out


def test_a_law_that_is_broken_is_not_tried_for_ever(capsys, monkeypatch):
    def breaks(trial):
        raise ValueError("always")

    code, out = told(capsys, monkeypatch, "--cases", "50", breaks=breaks)
    assert (code, out.count("BROKEN")) == (1, 3)


def test_a_law_must_not_skip_many_problems(capsys, monkeypatch):
    def shies(trial):
        if trial.seed % 3:
            raise SkippedError("close")

    code, out = told(capsys, monkeypatch, "--cases", "30", shies=shies)
    assert code == 1
    assert "1 skipped too often: shies" in out


def test_an_unknown_law_is_told(capsys, monkeypatch):
    code, out = told(capsys, monkeypatch, "--law", "gravity", holds=lambda trial: None)
    assert code == 2
    assert "No law has 'gravity' in its name" in out


@pytest.mark.parametrize("seed", range(5))
def test_a_seed_gives_one_problem(seed):
    one, other = drawn(seed), drawn(seed)
    assert str(one) == str(other)
    assert (one.X == other.X)[~(one.X != one.X)].all()
