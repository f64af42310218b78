"""Each command does what its Python twin does."""

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.model_selection import KFold

import coterie
from coterie import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from coterie.cli import _commands

FEATURES = [f"f{k}" for k in range(12)]


def test_fit_does_the_whole_job(run, data, frame):
    result = run("fit", data, "--target", "y")
    assert result.exit_code == 0
    assert "Target y: regression" in result.output
    assert "12 columns became" in result.output
    twin = coterie.report.study(frame.select(FEATURES), frame["y"].to_numpy())
    folder = Path("data-coterie")
    loaded = coterie.load(folder / "model.json")
    assert loaded.labels_.tolist() == twin.reducer.labels_.tolist()
    ours = twin.summary.scores[0].score
    assert f"{ours:.3f}" in result.output
    for name in twin.reducer.get_feature_names_out():
        assert name in result.output
    reduced = pl.read_csv(folder / "reduced.csv")
    np.testing.assert_array_equal(
        reduced.drop("y").to_numpy(), loaded.transform(frame.select(FEATURES))
    )
    assert reduced.columns == [*twin.reducer.get_feature_names_out(), "y"]
    assert reduced["y"].to_list() == frame["y"].to_list()
    assert "12 columns became" in (folder / "report.html").read_text()


def test_fit_answers_machines(run, data):
    answer = json.loads(run("fit", data, "-t", "y", "--json", "--no-path").stdout)
    assert {group["name"] for group in answer["groups"]}
    assert answer["scores"][0]["name"] == "coterie"
    assert Path(answer["files"]["model"]).exists()
    assert answer["path"] is None


def test_machines_are_told_what_is_left_out(run, frame, tmp_path, rng):
    noise = pl.Series("noise", rng.normal(size=len(frame)))
    frame.select(*FEATURES, "y").with_columns(noise).write_parquet(tmp_path / "data.parquet")
    words = ["-t", "y", "--json", "--no-path", "-o", tmp_path / "out"]
    fitted = json.loads(run("fit", tmp_path / "data.parquet", *words).stdout)
    inspected = json.loads(run("inspect", tmp_path / "out/model.json", "--json").stdout)
    loaded = coterie.load(tmp_path / "out/model.json")
    for answer in (fitted, inspected):
        assert answer["labels"] == loaded.labels_.tolist()
        assert [answer["features"][one] for one in answer["rest"]][-1] == "noise"
        assert answer["rest"] == loaded.rest_.tolist()
        assert [group["members"] for group in answer["groups"]] == [
            members.tolist() for members in loaded.groups_
        ]


OPTIONS = {
    "lin": (["--method", "lin"], LinCFA()),
    "mutual": (["--method", "mutual", "--tolerance", "0.3"], MutualCFA(0.3)),
    "genlin": (["--method", "genlin"], GenLinCFA()),
    "tolerance": (["--tolerance", "0.02"], NonLinCFA(0.02)),
    "word": (["--tolerance", "bic"], NonLinCFA("bic")),
    "coterie": (["--method", "coterie"], Coterie()),
    "groups": (["--groups", "4"], Coterie(n_groups=4)),
    "search": (["--search", "best"], NonLinCFA(search="best")),
    "aggregation": (["--aggregation", "max"], Coterie(aggregation="max")),
    "signs": (["--signs"], Coterie(signs=True)),
    "scale": (["--scale"], NonLinCFA(scale=True)),
    "size": (["--max-group-size", "2"], Coterie(max_group_size=2)),
    "keep": (["--keep", "f1*"], Coterie(keep=["f1", "f10", "f11"])),
    "keep a name": (["--keep", "f1"], Coterie(keep=["f1"])),
    "separate": (
        ["--separate", "f0, f1"],
        Coterie(separate=[["f0", "f1"], [f"f{k}" for k in range(2, 12)]]),
    ),
    "neighbours": (
        ["--neighbours", "2"],
        Coterie(connectivity=coterie.coordinates_to_graph(np.arange(12), 2)),
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_parameters(run, data, frame, name):
    words, twin = OPTIONS[name]
    result = run("fit", data, "-t", "y", "--no-path", "--test-share", 0, *words)
    assert result.exit_code == 0, result.output
    loaded = coterie.load("data-coterie/model.json")
    twin = twin.fit(frame.select(FEATURES), frame["y"].to_numpy())
    assert loaded.labels_.tolist() == twin.labels_.tolist()
    assert type(loaded) is type(twin)
    np.testing.assert_array_equal(
        loaded.transform(frame.select(FEATURES)), twin.transform(frame.select(FEATURES))
    )


def packed(frame, file):
    file.write_bytes(gzip.compress(frame.write_csv().encode()))


WRITERS = {
    "csv": lambda frame, file: frame.write_csv(file),
    "tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    "parquet": lambda frame, file: frame.write_parquet(file),
    "feather": lambda frame, file: frame.write_ipc(file),
    "jsonl": lambda frame, file: frame.write_ndjson(file),
    "xlsx": lambda frame, file: frame.write_excel(file),
    "csv.gz": packed,
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_fit_and_transform_real_files_of_every_kind(run, frame, twin, tmp_path, suffix):
    table, file, folder = frame.select(*FEATURES, "y"), tmp_path / f"data.{suffix}", tmp_path / "to"
    WRITERS[suffix](table, file)
    fit = run("fit", file, "--target", "y", "--no-path", "-o", folder)
    assert fit.exit_code == 0, fit.stderr
    assert fit.stderr == ""
    # Excel keeps 16 digits.
    model = coterie.load(folder / "model.json")
    assert model.labels_.tolist() == twin.reducer.labels_.tolist()
    made = run("transform", folder / "model.json", file, "-o", tmp_path / "out.parquet")
    assert made.exit_code == 0, made.stderr
    expected = pl.DataFrame(
        model.transform(table.select(FEATURES)), schema=model.get_feature_names_out().tolist()
    )
    assert_frame_equal(pl.read_parquet(tmp_path / "out.parquet"), expected)
    assert {file.name for file in folder.iterdir()} >= {"model.json", "report.html"}


@pytest.mark.parametrize(
    ("target", "task", "family"), [("kind", "classes", "bernoulli"), ("count", "counts", "poisson")]
)
@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_the_task_is_found_and_said(run, frame, tmp_path, target, task, family):
    file = tmp_path / "data.parquet"
    frame.select(*FEATURES, target).write_parquet(file)
    result = run("fit", file, "-t", target, "-o", tmp_path / "out")
    assert f"Target {target}: {task} (" in result.output
    assert coterie.load(tmp_path / "out/model.json").task_ == task
    run("fit", file, "-t", target, "-o", tmp_path / "out", "--method", "genlin")
    assert coterie.load(tmp_path / "out/model.json").family == family


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_tasks_can_be_told(run, frame, tmp_path):
    file = tmp_path / "data.parquet"
    frame.select(*FEATURES, "count").write_parquet(file)
    result = run("fit", file, "-t", "count", "--task", "regression", "-o", tmp_path / "out")
    assert "Target count: regression." in result.output
    assert coterie.load(tmp_path / "out/model.json").task_ == "regression"


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "number"])
def test_time_is_read_as_time(run, frame, tmp_path, form):
    days = pl.datetime(2020, 1, 1) + pl.duration(days=pl.col("day"))
    time = pl.col("day") if form == "number" else days.dt.strftime(form)
    table = frame.select(*FEATURES, "y", time.alias("when"))
    table.write_csv(tmp_path / "data.csv")
    words = ["--time", "when", "-o", tmp_path / "out", "--no-path"]
    answer = json.loads(run("fit", tmp_path / "data.csv", "-t", "y", "--json", *words).stdout)
    ordered = frame.sort("day")
    twin = coterie.report.study(
        ordered.select(FEATURES), ordered["y"].to_numpy(), by_time=True, path=False
    )
    assert answer["scores"][0]["score"] == twin.summary.scores[0].score


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_in_the_order_of_dates_are_split_in_time(run, frame, tmp_path, suffix):
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 4, 29), eager=True)
    table = frame.select(*FEATURES, "y").with_columns(days.alias("sold"))
    file = tmp_path / f"data.{suffix}"
    (table.write_csv if suffix == "csv" else table.write_parquet)(file)
    words = ["fit", file, "-t", "y", "--json", "--no-path", "-o", tmp_path / "out"]
    note = "Rows are in the order of 'sold', so they are split in time"

    def told(*more):
        answer = json.loads(run(*words, *more).stdout)
        return any(note in one for one in answer["notes"]), answer["verdict"]["splits"]

    is_told, splits = told()
    assert is_told
    assert "each predicted from the rows before it" in splits
    for more in (["--no-by-time"], ["--test-last"]):
        is_told, splits = told(*more)
        assert not is_told
        assert "before it" not in splits
    # A column that is no feature tells the order, too; what was asked for needs no word.
    assert told("--drop", "sold")[0]
    assert told("--by-time") == (False, told()[1])
    assert note in run("compare", file, "-t", "y", "--folds", "2").stdout
    refused = run("fit", file, "-t", "y", "--time", "sold", "--no-by-time")
    assert refused.exit_code == 3
    assert "leave out --no-by-time" in refused.stderr


def test_times_that_are_no_times_are_refused(run, frame, tmp_path):
    table = frame.select(*FEATURES, "y", pl.format("{}.01.2020", "day").alias("when"))
    table.write_csv(tmp_path / "data.csv")
    result = run("fit", tmp_path / "data.csv", "-t", "y", "--time", "when", "-q")
    assert result.exit_code == 3
    assert "numbers or dates such as 2020-01-31" in result.stderr


def test_separate_columns_join_no_others(run, data):
    words = ["--separate", "f0,f1,f2", "--tolerance", "1", "--test-share", "0", "--no-path"]
    answer = json.loads(run("fit", data, "-t", "y", "--json", *words).stdout)
    for group in answer["groups"]:
        assert len({member < 3 for member in group["members"]}) == 1


def test_targets_that_are_nan_are_gaps(run, frame, tmp_path):
    holes = pl.when(pl.int_range(120) < 5).then(float("nan")).otherwise(pl.col("y")).alias("y")
    frame.select(*FEATURES, holes).write_parquet(tmp_path / "data.parquet")
    words = ["fit", tmp_path / "data.parquet", "-t", "y", "-q", "-o", tmp_path / "out", "--no-path"]
    assert "lacks 5 values, the first in row 1" in run(*words).stderr
    answer = json.loads(run(*words, "--skip-gaps", "--json").stdout)
    assert answer["notes"][0] == "Left out: 5 rows without a target."


def test_columns_that_hold_nothing_are_left_out(run, frame, tmp_path):
    empty = pl.lit(None, dtype=pl.Float64).alias("empty")
    frame.select(*FEATURES, "y", empty).write_parquet(tmp_path / "data.parquet")
    words = ["--json", "-o", tmp_path / "out", "--no-path"]
    answer = json.loads(run("fit", tmp_path / "data.parquet", "-t", "y", *words).stdout)
    assert answer["features"] == FEATURES
    assert answer["notes"][0] == "Left out (empty): 'empty'."


def test_names_that_look_like_patterns_are_names(run, frame, tmp_path):
    odd = {"f0": "^f.*$", "f1": "*", "f2": "a.b", "y": "^y$"}
    frame.select(*FEATURES, "y").rename(odd).write_csv(tmp_path / "data.csv")
    words = ["--json", "-o", tmp_path / "out", "--no-path"]
    answer = json.loads(run("fit", tmp_path / "data.csv", "-t", "^y$", *words).stdout)
    assert answer["features"][:4] == ["^f.*$", "*", "a.b", "f3"]
    made = run("transform", tmp_path / "out/model.json", tmp_path / "data.csv", "--with", "^y$")
    assert pl.read_csv(made.stdout.encode())["^y$"].to_list() == frame["y"].to_list()


def test_a_group_may_be_called_like_the_target(run, frame, tmp_path):
    only = frame.select("f0", "f1", pl.col("y").alias("mean(f0, f1)"))
    only.write_parquet(tmp_path / "data.parquet")
    words = ["--tolerance", "1", "-o", tmp_path / "out", "-q", "--no-path"]
    assert run("fit", tmp_path / "data.parquet", "-t", "mean(f0, f1)", *words).exit_code == 0
    reduced = pl.read_parquet(tmp_path / "out/reduced.parquet")
    assert reduced.columns == ["mean(f0, f1) (group)", "mean(f0, f1)"]


def test_names_of_files_keep_their_points(run, frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.select(*FEATURES, "y").write_csv("data.2024.csv")
    run("fit", "data.2024.csv", "-t", "y", "-q", "--no-path")
    assert Path("data.2024-coterie").is_dir()


def test_weights_and_time_are_no_features(run, frame, tmp_path):
    file = tmp_path / "data.parquet"
    frame.drop("kind", "count").write_parquet(file)
    words = ["--weights", "weight", "--time", "day", "-o", tmp_path / "out", "--no-path"]
    answer = json.loads(run("fit", file, "-t", "y", "--json", *words).stdout)
    assert answer["features"] == FEATURES
    ordered = frame.sort("day")
    twin = coterie.report.study(
        ordered.select(FEATURES),
        ordered["y"].to_numpy(),
        by_time=True,
        sample_weight=ordered["weight"].to_numpy(),
        path=False,
    )
    assert answer["labels"] == twin.reducer.labels_.tolist()
    assert answer["scores"][0]["score"] == twin.summary.scores[0].score
    reduced = pl.read_parquet(tmp_path / "out/reduced.parquet")
    assert reduced["day"].to_list() == sorted(frame["day"])


def test_several_targets(run, frame, tmp_path):
    file = tmp_path / "data.parquet"
    frame.select(*FEATURES, "y", (pl.col("f0") * 2 + pl.col("f5")).alias("z")).write_parquet(file)
    answer = json.loads(run("fit", file, "-t", "y", "-t", "z", "--json", "-o", tmp_path).stdout)
    assert answer["outputs"] == ["y", "z"]


def test_columns_are_dropped_by_name_and_pattern(run, data):
    words = ["--drop", "f1*", "--drop", "f2", "--no-path"]
    answer = json.loads(run("fit", data, "-t", "y", "--json", *words).stdout)
    assert answer["features"] == ["f0", *(f"f{k}" for k in range(3, 10))]


def test_text_is_left_out_where_asked_for(run, frame, tmp_path):
    file = tmp_path / "data.csv"
    frame.select(*FEATURES, "kind", "y").write_csv(file)
    words = ["--text", "drop", "-o", tmp_path / "out", "--no-path"]
    answer = json.loads(run("fit", file, "-t", "y", "--json", *words).stdout)
    assert answer["features"] == FEATURES
    assert answer["notes"][0] == "Left out (text): 'kind'."


def test_the_index_that_pandas_writes_is_no_feature(run, frame, tmp_path):
    file = tmp_path / "data.csv"
    frame.select(*FEATURES, "y").to_pandas().to_csv(file)
    words = ["-o", tmp_path / "out", "--no-path"]
    answer = json.loads(run("fit", file, "-t", "y", "--json", *words).stdout)
    assert answer["features"] == FEATURES
    assert answer["notes"][0] == "Left out (row numbers): 'unnamed_1'."


def test_gaps_are_asked_around(run, frame, tmp_path):
    file = tmp_path / "data.csv"
    holes = frame.select(
        pl.when(pl.int_range(120) % 17 == 3).then(None).otherwise(pl.col("f0")).alias("f0"),
        *FEATURES[1:],
        "y",
    )
    holes.write_csv(file)
    words = ["-o", tmp_path / "out", "--no-path"]
    answer = json.loads(run("fit", file, "-t", "y", "--json", *words).stdout)
    assert "Features lack 7 values" in answer["notes"][0]
    assert "at the mean of their feature" in answer["notes"][0]
    answer = json.loads(run("fit", file, "-t", "y", "--json", "--search", "best", *words).stdout)
    assert "rows that have all of its values" in answer["notes"][0]
    assert coterie.load(tmp_path / "out/model.json").missing == "pairwise"


def test_stability_is_computed_where_asked_for(run, data):
    words = ["--no-path", "--stability", "3"]
    answer = json.loads(run("fit", data, "-t", "y", "--json", *words).stdout)
    assert all(0 <= group["stability"] <= 1 for group in answer["groups"])


def test_transform_finds_columns_by_name(run, model, frame):
    shuffled = frame.select(["weight", *reversed(FEATURES), "kind"])
    shuffled.write_parquet("new.parquet")
    assert run("transform", model, "new.parquet", "-o", "out.parquet").exit_code == 0
    loaded = coterie.load(model)
    expected = loaded.transform(frame.select(FEATURES))
    found = pl.read_parquet("out.parquet")
    np.testing.assert_array_equal(found.to_numpy(), expected)
    assert found.columns == loaded.get_feature_names_out().tolist()


def test_transform_writes_csv_to_standard_output(run, model, frame):
    frame.write_csv("new.csv")
    result = run("transform", model, "new.csv", "--with", "kind")
    found = pl.read_csv(result.stdout.encode())
    assert found["kind"].to_list() == frame["kind"].to_list()
    run("transform", model, "new.csv", "-o", "file.csv", "--with", "kind")
    assert_frame_equal(found, pl.read_csv("file.csv"))


def test_report_and_inspect_tell_what_fit_told(run, model):
    told = (model.parent / "report.html").read_text()
    assert run("report", model, "-o", "again.html").stdout == "again.html\n"
    assert Path("again.html").read_text() == told
    assert run("report", model, "-o", "-").stdout == told + "\n"
    shown = run("inspect", model).stdout
    assert "12 columns became" in shown
    plain = json.loads(run("inspect", model, "--json").stdout)
    assert plain["title"] == "data"
    assert any("cross-validated R2" in note for note in plain["notes"])


def test_models_saved_in_python_have_a_report_too(run, frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NonLinCFA().fit(frame.select(FEATURES), frame["y"].to_numpy()).save("model.json")
    assert run("report", "model.json").exit_code == 0
    assert "12 columns became" in Path("report.html").read_text()
    assert "12 columns became" in run("inspect", "model.json").stdout


def test_models_without_names_take_columns_by_place(run, frame, tmp_path):
    X = frame.select(FEATURES).to_numpy()
    reducer = NonLinCFA().fit(X, frame["y"].to_numpy())
    reducer.save(tmp_path / "model.json")
    frame.select(FEATURES).write_csv(tmp_path / "new.csv")
    result = run("transform", tmp_path / "model.json", tmp_path / "new.csv")
    found = pl.read_csv(result.stdout.encode())
    np.testing.assert_array_equal(found.to_numpy(), reducer.transform(X))
    frame.write_csv(tmp_path / "new.csv")
    result = run("transform", tmp_path / "model.json", tmp_path / "new.csv")
    assert result.exit_code == 3
    assert "has 17 columns" in result.stderr


def test_path_shows_every_tolerance(run, data, frame):
    result = run("path", data, "-t", "y", "-o", "path.csv")
    cv = KFold(5, shuffle=True, random_state=0)
    twin = coterie.tolerance_path(frame.select(FEATURES), frame["y"].to_numpy(), cv=cv)
    table = pl.read_csv("path.csv")
    np.testing.assert_array_equal(table["tolerance"], twin.tolerances)
    np.testing.assert_array_equal(table["n_groups"], twin.n_groups)
    np.testing.assert_allclose(table["cv_score"], twin.cv_mean)
    assert result.stdout.count("best") == 1
    plain = json.loads(run("path", data, "-t", "y", "--json").stdout)
    assert plain["n_groups"] == twin.n_groups.tolist()


def test_compare_shows_everyone(run, data, frame):
    result = run("compare", data, "-t", "y", "--folds", "3")
    twin = coterie.report.compare(frame.select(FEATURES), frame["y"].to_numpy(), cv=3)
    for score in twin.scores:
        assert score.name in result.stdout
        assert f"{score.score:.4f}" in result.stdout
    plain = json.loads(run("compare", data, "-t", "y", "--folds", "3", "--json").stdout)
    assert plain["fold_scores"] == twin.fold_scores


def test_demo_ends_with_a_report(run, tmp_path):
    result = run("demo", "-o", tmp_path / "demo")
    assert result.exit_code == 0
    assert "100 columns became" in result.output
    last = result.output.strip().splitlines()[-1].split(maxsplit=1)[1]
    assert Path(last).read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_how_to_complete(run, shell):
    assert "_COTERIE_COMPLETE" in run("completion", shell).stdout


def test_transform_does_without_columns_that_the_model_leaves_out(run, tmp_path):
    rng = np.random.default_rng(0)
    shared = rng.normal(size=200)
    table = pl.DataFrame(
        {f"x{k}": shared + 0.2 * rng.normal(size=200) for k in range(3)}
        | {"noise": rng.normal(size=200), "city": rng.choice(["Rome", "Oslo", "Bonn"], 200)}
        | {"y": shared + 0.5 * rng.normal(size=200)}
    )
    table.write_csv(tmp_path / "data.csv")
    folder, reduced = tmp_path / "out", tmp_path / "reduced.csv"
    assert run("fit", tmp_path / "data.csv", "-t", "y", "-q", "-o", folder).exit_code == 0
    assert coterie.load(folder / "model.json").rest_.size >= 2
    table.drop("noise", "city", "y").write_csv(tmp_path / "new.csv")
    result = run("transform", folder / "model.json", tmp_path / "new.csv", "-o", reduced)
    assert result.exit_code == 0, result.stderr
    whole = pl.read_csv(folder / "reduced.csv").select(pl.read_csv(reduced).columns)
    np.testing.assert_allclose(pl.read_csv(reduced).to_numpy(), whole.to_numpy())
    table.drop("x1").write_csv(tmp_path / "less.csv")
    result = run("transform", folder / "model.json", tmp_path / "less.csv", "-o", reduced)
    assert "lacks 'x1', which the model needs" in result.stderr


@pytest.mark.parametrize(("has_compiler", "code"), [(True, 0), (False, 3)])
def test_warm_up_compiles_or_says_what_is_missing(run, monkeypatch, has_compiler, code):
    monkeypatch.setattr(_commands, "compile_searches", lambda: has_compiler)
    result = run("warm-up")
    assert result.exit_code == code
    assert ("compiled" if has_compiler else "coterie[fast]") in result.output
