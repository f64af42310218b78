"""Plans become jobs, jobs become lines, and a run that was stopped goes on."""

import csv
import json

import numpy as np
import pytest

from experiments import results
from experiments.__main__ import main
from experiments.data import descriptions
from experiments.methods import METHODS
from experiments.plans import PROTOCOLS, read_plan, read_plans
from experiments.run import expected, run

PLAN = """
title = "A small one"
rows = "synthetic"
model = "plain"

[all]
datasets = ["lin-100-reg"]
trials = 2

[[runs]]
methods = ["LinCFA"]
quick = { trials = 1 }

[[runs]]
methods = ["GenLinCFA"]
tolerances = [0.79, 0.8]
options = { inputs = "x**2" }

[[runs]]
methods = ["PCA"]
label = "components"
protocols = ["sizes"]
trials = 1
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(PLAN, encoding="utf-8")
    return read_plan(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out" / "results.csv"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The lines of a whole run of the plan, and the text of its file."""
    folder = tmp_path_factory.mktemp("done")
    (folder / "small.toml").write_text(PLAN, encoding="utf-8")
    lines = run([read_plan(folder / "small.toml")], folder / "results.csv", None, n_jobs=1)
    return lines, (folder / "results.csv").read_text(encoding="utf-8")


def without_seconds(lines):
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def test_a_plan_stands_for_all_combinations(plan):
    jobs = list(plan.jobs())
    assert len(jobs) == 2 + 2 * 2 + 1
    assert len({job.key for job in jobs}) == len(jobs)
    assert jobs[2].options == {"inputs": "x**2", "tolerance": 0.79}
    assert [job.label for job in jobs][-1] == "components"
    assert [job.trial for job in plan.jobs(quick=True)] == [0]


def test_trials_may_be_a_list_and_labels_name_their_method(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(
        PLAN.replace("trials = 2", "trials = [0, 3, 8]").replace(
            'methods = ["LinCFA"]', 'methods = ["LinCFA"]\nlabel = "{method}, again"'
        ),
        encoding="utf-8",
    )
    jobs = [job for job in read_plan(path).jobs() if job.method == "LinCFA"]
    assert [job.trial for job in jobs] == [0, 3, 8]
    assert {job.label for job in jobs} == {"LinCFA, again"}


def test_words_that_a_plan_does_not_have_are_named(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(PLAN.replace("tolerances", "tolerence"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong\.toml: a run has no 'tolerence'"):
        read_plan(path)


@pytest.mark.parametrize(
    ("word", "instead", "message"),
    [
        ('["sizes"]', '["size"]', "there is no protocol 'size'"),
        ('title = "A small one"', "", "a plan needs 'title'"),
        ("title", "tilte", "a plan has no 'tilte'"),
        (
            '"synthetic"',
            '"sinthetic"',
            "rows must be one of synthetic, paper, permuted, resampled, fair, got",
        ),
        ('"plain"', '"Plain"', "model must be one of plain, standardised, got 'Plain'"),
        ("{ trials = 1 }", "{ tirals = 1 }", "a run has no 'tirals'"),
        ('methods = ["LinCFA"]', "", "a run needs 'methods'"),
        ('["PCA"]\nlabel = "components"', '["LinCFA"]', "two runs do the same"),
    ],
)
def test_plans_that_make_no_sense_are_refused(tmp_path, word, instead, message):
    path = tmp_path / "wrong.toml"
    assert word in PLAN
    path.write_text(PLAN.replace(word, instead), encoding="utf-8")
    with pytest.raises(ValueError, match=f"wrong.toml: {message}"):
        read_plan(path)


def test_what_a_plan_wants_otherwise_is_done_again(done, path, tmp_path):
    before, text = done
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    changed = PLAN.replace('options = { inputs = "x**2" }', "options = { curvature = 0.5 }")
    (tmp_path / "small.toml").write_text(changed.replace("0.79, 0.8", "0.79"), encoding="utf-8")
    after = run([read_plan(tmp_path / "small.toml")], path, None, n_jobs=1)
    same = [line for line in after if line in before]
    again = [line for line in after if line not in before]
    assert {line["method"] for line in same} == {"LinCFA", "components"}
    assert {(line["method"], line["inputs"], line["tolerance"]) for line in again} == {
        ("GenLinCFA", "x", "0.79")
    }


def test_what_was_tuned_can_be_read(tmp_path, path):
    small = PLAN.replace('["LinCFA"]', '["NonLinCFA tuned"]').replace("trials = 2", "trials = 1")
    (tmp_path / "tuned.toml").write_text(small, encoding="utf-8")
    found = run([read_plan(tmp_path / "tuned.toml")], path, None, n_jobs=1, quick=True)
    assert json.loads(found[0]["setting"])["tolerance"] > 0
    assert found[0]["tolerance"] == ""


def test_the_plans_name_what_there_is():
    synthetic = {
        f"{r}-{d}-{t}" for r in ("lin", "quad") for d in (100, 1000) for t in ("reg", "cls")
    }
    real = set(descriptions()) | {"climate_class", "climate2_class"}
    keys = set()
    for plan in read_plans():
        for job in plan.jobs():
            assert job.method in METHODS
            assert job.dataset in (synthetic if plan.rows == "synthetic" else real)
            assert job.protocol in PROTOCOLS
            assert job.key not in keys
            keys.add(job.key)
        assert {job.key for job in plan.jobs(quick=True)} <= keys


def test_lines_are_tidy_and_complete(done):
    found, text = done
    assert next(csv.reader(text.splitlines())) == list(results.COLUMNS)
    frame = results.as_frame(found)
    assert set(frame["method"]) == {"LinCFA", "GenLinCFA", "components"}
    assert frame["score"].between(-1, 1).all()
    curve = frame[frame["protocol"] == "sizes"]
    assert curve["n_groups"].tolist() == list(range(1, 51))
    (best,) = frame[(frame["method"] == "components") & (frame["protocol"] == "paper")]["score"]
    assert best == curve["score"].max()
    assert frame["version"].nunique() == 1
    assert (frame["seconds"] > 0).all()


# The last line was being written when the run was stopped, or had just been.
@pytest.mark.parametrize(
    ("kept", "share"), [(1, 0), (1, 0.1), (2, 0.5), (5, 0.1), (30, 0.5), (-1, 0), (-1, 0.5)]
)
def test_a_run_goes_on_where_it_stopped(plan, path, done, kept, share):
    whole, written = done
    text = written.splitlines(keepends=True)
    assert len(whole) == len(text) - 1
    path.parent.mkdir()
    part = text[kept][: int(share * len(text[kept]))]
    path.write_text("".join(text[:kept]) + part, encoding="utf-8")
    assert without_seconds(run([plan], path, None, n_jobs=1)) == without_seconds(whole)


def test_what_is_done_is_not_done_again(plan, path, done, monkeypatch):
    before = done[1]
    path.parent.mkdir()
    path.write_text(before, encoding="utf-8")
    monkeypatch.setattr("experiments.run.did", lambda job, folder: pytest.fail("did it again"))
    run([plan], path, None, n_jobs=1)
    assert path.read_text(encoding="utf-8") == before


def test_two_at_a_time_give_the_same_lines(plan, path, done):
    both = run([plan], path, None, n_jobs=2)
    assert without_seconds(both) == without_seconds(done[0])


def test_missing_data_and_methods_leave_a_reason_and_the_rest_runs(tmp_path, path):
    plan_path = tmp_path / "some.toml"
    some = PLAN.replace('rows = "synthetic"', 'rows = "fair"')
    some = some.replace('"lin-100-reg"', '"nir_tecator_fat", "nir_gasoline"')
    plan_path.write_text(some.replace('["PCA"]', '["NCA"]'), encoding="utf-8")
    found = run([read_plan(plan_path)], path, tmp_path, n_jobs=1)
    scored = [line for line in found if line["score"]]
    assert {line["dataset"] for line in scored} == {"nir_tecator_fat"}
    reasons = {(line["dataset"], line["method"]): line["note"] for line in found if line["note"]}
    assert reasons["nir_tecator_fat", "components"] == "needs classes"
    assert "nir_gasoline.parquet is not there" in reasons["nir_gasoline", "LinCFA"]
    # Once for all trials, and tried again the next time.
    assert len([line for line in found if line["note"]]) == 1 + 4
    assert not any(line["note"] for line in results.still_good(found, [read_plan(plan_path)]))
    assert results.still_good(found, []) == found


def test_the_time_that_a_run_takes_is_that_of_the_last(plan):
    (job, *_) = plan.jobs()
    line = dict(zip(results.KEY, job.key, strict=True)) | {"seconds": "7"}
    assert expected([job], [line])[job.key] == pytest.approx(7.1)


def test_the_command_says_what_is_wrong(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["run", "tables"])
    assert stop.value.code == 2
    assert "There is no plan 'tables'; there are beyond," in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["check", "--into", str(tmp_path / "nowhere")])
    assert "is not there: python -m experiments run" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\xff\xfe\x00", b"plan,dataset\n"])
def test_a_file_of_another_kind_is_left_alone(capsys, tmp_path, content):
    (tmp_path / "results.csv").write_bytes(content)
    with pytest.raises(SystemExit):
        main(["run", "beyond", "--quick", "--into", str(tmp_path)])
    assert "does not hold results of these experiments" in capsys.readouterr().err
    assert (tmp_path / "results.csv").read_bytes() == content


def test_a_header_cut_short_is_no_result(tmp_path):
    (tmp_path / "results.csv").write_text("plan,data", encoding="utf-8")
    assert results.read(tmp_path / "results.csv") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jobs", "0"], "must be 1 or more, got 0"),
        (["--jobs", "-3"], "must be 1 or more, got -3"),
        (["--into", __file__], "is a file; --into names a folder"),
    ],
)
def test_words_that_make_no_sense_are_refused(capsys, words, message):
    with pytest.raises(SystemExit):
        main(["run", "beyond", "--quick", *words])
    assert message in capsys.readouterr().err


def test_the_command_lists_the_plans(capsys):
    assert main(["plans"]) == 0
    said = capsys.readouterr().out
    assert all(plan.title in said for plan in read_plans())


def test_scores_keep_the_digits_that_are_compared(plan, path):
    found = run([plan], path, None, n_jobs=1, quick=True)
    assert np.isclose(float(found[0]["score"]), 0.8676786606323242, rtol=1e-9)


def test_a_method_that_breaks_does_not_stop_the_others(plan, path, monkeypatch, capsys):
    class Broken:
        def settings(self, task, n_samples, n_features):
            raise ZeroDivisionError("no way")

    monkeypatch.setitem(METHODS, "PCA", Broken())
    found = run([plan], path, None, n_jobs=1)
    (broken,) = (line for line in found if line["note"])
    assert broken["note"] == "failed: ZeroDivisionError: no way"
    assert sum(bool(line["score"]) for line in found) == 6
    assert main(["check", "--into", str(path.parent)]) == 1
    assert "components, trial 0: failed: ZeroDivisionError" in capsys.readouterr().out
