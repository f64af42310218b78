"""Spark frames give the decisions of a fit in memory, and clear errors."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, PredefinedSplit

from coterie import Coterie, GenLinCFA, LinCFA, Moments, MutualCFA, NonLinCFA, moments_from
from coterie._data.engines import Counting, _spark, engine_of
from coterie._data.engines._spark_columns import quote
from coterie._data.engines._spark_transform import balanced_sum
from coterie.datasets import make_groups

pyspark = pytest.importorskip("pyspark", reason="Spark is not installed.")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed.", allow_module_level=True)

pytestmark = [
    pytest.mark.slow,
    # What Spark says about pandas, and what pandas says about Spark.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    # Libraries with threads of their own, where Java is started.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]

NAMES = ["wind speed", "t.max", "c2", "c3", "c4", "a`b", "c6", "c7"]
N_ROWS = 2300


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("coterie")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.leafNodeDefaultParallelism", "3")
        .getOrCreate()
    )
    yield session
    session.stop()
    if before is None:
        del os.environ["PYSPARK_PYTHON"]
    else:
        os.environ["PYSPARK_PYTHON"] = before


@pytest.fixture(scope="module")
def table():
    """Rows in memory, with all kinds of targets, weights and folds."""
    X, y, _ = make_groups(N_ROWS, 8, 3, noise=3.0, random_state=0)
    rng = np.random.default_rng(1)
    third = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    return pd.DataFrame(X + 5 * rng.normal(size=8), columns=NAMES).assign(
        id=np.arange(N_ROWS),
        y=y,
        other=np.sin(y) + X[:, 1],
        risk=np.array(["low", "some", "much"], dtype=object)[third],
        times=np.arange(N_ROWS) % 3,
        share=rng.uniform(0.1, 2.0, N_ROWS),
        fold=rng.integers(0, 4, N_ROWS),
    )


@pytest.fixture(scope="module")
def frame(spark, table):
    return spark.createDataFrame(table)


def assert_same_decisions(one, other):
    assert one.labels_.tolist() == other.labels_.tolist()
    for name in ("group", "candidate", "accepted"):
        assert one.trace_[name].tolist() == other.trace_[name].tolist()
    for name in ("price", "allowance"):
        np.testing.assert_allclose(one.trace_[name], other.trace_[name], rtol=1e-6, atol=1e-9)
    assert getattr(one, "penalty_", 0) == pytest.approx(getattr(other, "penalty_", 0))


@pytest.mark.parametrize(
    ("reducer", "target"),
    [
        (NonLinCFA(), "y"),
        (NonLinCFA(0.01), "y"),
        (NonLinCFA(0.01, cv=3, search="best", scale=True), ["y", "other"]),
        (GenLinCFA(family="bernoulli"), "risk"),
        (LinCFA(signs=True), "y"),
    ],
    ids=str,
)
def test_every_decision_is_that_of_all_rows_in_memory(frame, reducer, target):
    beside = [target] if isinstance(target, str) else target
    frame = frame.select(*map(quote, [*NAMES, *beside]))
    rows = frame.toPandas()
    in_memory = clone(reducer).fit(rows[NAMES], rows[target])
    reducer.fit(frame, target)
    assert_same_decisions(reducer, in_memory)
    assert reducer.feature_names_in_.tolist() == NAMES
    assert getattr(reducer, "classes_", [None])[0] == getattr(in_memory, "classes_", [None])[0]


@pytest.mark.parametrize("weights", ["times", "share"])
def test_weights_are_those_of_a_fit_in_memory(frame, table, weights):
    reducer = NonLinCFA()
    beside = [name for name in table.columns if name not in (*NAMES, "y", weights)]
    reducer.fit(frame.drop(*beside), "y", sample_weight=weights)
    in_memory = NonLinCFA().fit(table[NAMES], table["y"], table[weights])
    assert_same_decisions(reducer, in_memory)
    moments = moments_from(frame, y="y", columns=NAMES, sample_weight=weights, cv=5)
    in_memory = NonLinCFA(0.01).fit(table[NAMES], table["y"], table[weights])
    assert_same_decisions(NonLinCFA(0.01).fit_moments(moments), in_memory)


def test_folds_may_be_a_column(frame, table):
    moments = moments_from(frame, y="y", columns=NAMES, cv="fold")
    assert moments.n_folds == 4
    by_column = NonLinCFA(0.01, cv=PredefinedSplit(table["fold"]))
    assert_same_decisions(
        NonLinCFA(0.01).fit_moments(moments), by_column.fit(table[NAMES], table["y"])
    )


def test_labels_are_scored_on_contiguous_folds(frame, table):
    moments = moments_from(frame, y="risk", columns=NAMES, cv=5)
    in_memory = NonLinCFA(0.01, cv=KFold(5)).fit(table[NAMES], table["risk"])
    assert_same_decisions(NonLinCFA(0.01).fit_moments(moments), in_memory)


def test_partitions_may_be_many_and_some_empty(spark, table):
    spark.conf.set("spark.sql.leafNodeDefaultParallelism", "20")
    frame = spark.createDataFrame(table).where("id >= 800 AND id <> 1500")
    moments = moments_from(frame, y="y", columns=NAMES, cv=5)
    spark.conf.set("spark.sql.leafNodeDefaultParallelism", "3")
    rows = table[(table["id"] >= 800) & (table["id"] != 1500)]
    assert moments.n_samples_ == len(rows)
    for reducer in (NonLinCFA(), NonLinCFA(0.01)):
        in_memory = clone(reducer).fit(rows[NAMES], rows["y"])
        assert_same_decisions(reducer.fit_moments(moments), in_memory)


def test_large_moments_are_added_by_executors_and_collected_in_chunks(frame, table, monkeypatch):
    expected = NonLinCFA(0.01).fit(table[NAMES], table["y"])
    monkeypatch.setattr(_spark, "MAX_DRIVER_BYTES", 2**14)
    moments = moments_from(frame, y="y", columns=NAMES, cv=5)
    assert_same_decisions(NonLinCFA(0.01).fit_moments(moments), expected)


@pytest.mark.filterwarnings("ignore:X is constant:coterie.FitWarning")
def test_all_number_types_are_features(frame, table):
    kinds = ["FLOAT", "DECIMAL(20, 8)", "BIGINT", "BOOLEAN"]
    exprs = [f"CAST(c{place} AS {kind}) AS c{place}" for place, kind in zip([2, 3, 4, 6], kinds)]
    mixed = frame.selectExpr(*exprs, "c7", "CAST(y AS DECIMAL(20, 10)) AS y")
    rows = mixed.toPandas().astype(float)
    in_memory = NonLinCFA().fit(rows.drop(columns="y"), rows["y"])
    reducer = NonLinCFA().fit(mixed, "y")
    assert_same_decisions(reducer, in_memory)
    np.testing.assert_allclose(
        reducer.transform(mixed).drop("y").toPandas(),
        in_memory.transform(rows.drop(columns="y")),
        rtol=1e-9,
    )


def test_single_precision_is_transferred_as_single(frame, table):
    names = ["c2", "c3", "c4", "c6"]
    single = frame.selectExpr(*(f"CAST({name} AS FLOAT) AS {name}" for name in names), "y")
    rows = single.toPandas()
    assert rows["c2"].dtype == np.float32
    moments = moments_from(single, y="y")
    expected = np.cov(rows[names].to_numpy(dtype=float).T, ddof=0)
    np.testing.assert_allclose(moments.scatter() / N_ROWS, expected, rtol=1e-10)


def test_aggregates_follow_the_columns_that_are_not_features(frame, table):
    reducer = NonLinCFA(scale=True, signs=True).fit(table[NAMES], table["y"])
    # Columns are found by name, in any order.
    reduced = reducer.transform(frame.select(*map(quote, sorted(table.columns))))
    kept = sorted({*table.columns} - {*NAMES})
    assert reduced.columns == [*kept, *reducer.get_feature_names_out()]
    rows = reduced.toPandas()
    assert rows["id"].tolist() == table["id"].tolist()
    np.testing.assert_allclose(rows[rows.columns[len(kept) :]], reducer.transform(table[NAMES]))


def test_thousands_of_columns_are_one_projection(spark, tmp_path, capsys):
    rng = np.random.default_rng(0)
    names = [f"sensor {place}.a" for place in range(2000)]
    rows = pd.DataFrame(rng.normal(size=(30, 2000)), columns=names)
    reducer = NonLinCFA(1e9, cv=None).fit(rows, rng.normal(size=30))
    assert reducer.n_groups_ == 1
    rows.assign(id=7).to_parquet(tmp_path / "rows.parquet")
    reduced = reducer.transform(spark.read.parquet(str(tmp_path)))
    (made,) = zip(*(row[1:] for row in reduced.collect()))
    np.testing.assert_allclose(made, reducer.transform(rows)[:, 0], rtol=1e-9, atol=1e-12)
    reduced.explain()
    plan = capsys.readouterr().out
    assert "Project" in plan
    assert "Python" not in plan
    assert "Arrow" not in plan


class Nested:
    """Something that is added, and how deep it is nested."""

    def __init__(self, depth=0, count=1):
        self.depth, self.count = depth, count

    def __add__(self, other):
        return Nested(1 + max(self.depth, other.depth), self.count + other.count)


def test_sums_are_nested_as_little_as_possible():
    total = balanced_sum([Nested() for _ in range(5000)])
    assert (total.count, total.depth) == (5000, 13)


def vectors(frame, kind):
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions

    if kind == "assembled":
        assembled = VectorAssembler(inputCols=["c2", "c3", "c4", "c6"], outputCol="all of it")
        return assembled.transform(frame).select("id", "all of it", "y")
    listed = functions.expr("array(c2, c3, c4, c6)")
    if kind == "list":
        return frame.select("id", listed.cast("array<float>").alias("all of it"), "y")
    return frame.select("id", array_to_vector(listed).alias("all of it"), "y")


@pytest.mark.parametrize("kind", ["assembled", "list", "vector"])
def test_one_column_may_hold_all_features(frame, table, kind):
    used = vectors(frame, kind)
    X = np.array([np.asarray(row) for row in used.toPandas()["all of it"]])
    in_memory = NonLinCFA(0.01).fit(X.astype(float), table["y"])
    reducer = NonLinCFA(0.01).fit(used.drop("id"), "y")
    assert_same_decisions(reducer, in_memory)
    names = [f"all of it[{place}]" for place in range(4)]
    names = ["c2", "c3", "c4", "c6"] if kind == "assembled" else names
    assert reducer.feature_names_in_.tolist() == names
    reduced = reducer.transform(used)
    assert reduced.columns == ["id", "all of it", "y"]
    assert reduced.dtypes[1][1] == ("array<double>" if kind == "list" else "vector")
    made = np.array([np.asarray(row) for row in reduced.toPandas()["all of it"]])
    np.testing.assert_allclose(made, in_memory.transform(X.astype(float)), rtol=1e-6)
    attributes = reduced.schema["all of it"].metadata["ml_attr"]["attrs"]["numeric"]
    assert [one["name"] for one in attributes] == reducer.get_feature_names_out().tolist()


def test_vectors_may_be_sparse_or_have_features_in_another_order(spark):
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.linalg import Vectors

    rng = np.random.default_rng(3)
    X = np.where(rng.random((60, 5)) < 0.5, 0.0, rng.normal(size=(60, 5)))
    y = X.sum(axis=1) + rng.normal(size=60)
    rows = [(Vectors.sparse(5, dict(enumerate(row))), float(t)) for row, t in zip(X, y)]
    reducer = NonLinCFA().fit(spark.createDataFrame(rows, ["x", "y"]), "y")
    assert reducer.labels_.tolist() == NonLinCFA().fit(X, y).labels_.tolist()

    table = pd.DataFrame(X, columns=list("abcde"))
    by_name = NonLinCFA(1e9, cv=None, separate=[["a"], ["b", "c", "d", "e"]]).fit(table, y)
    turned = VectorAssembler(inputCols=list("edcba"), outputCol="x")
    reduced = by_name.transform(turned.transform(spark.createDataFrame(table)).select("x"))
    made = np.array([row.x.toArray() for row in reduced.collect()])
    np.testing.assert_allclose(made, by_name.transform(table), rtol=1e-9)


def test_a_reducer_without_names_takes_a_vector_or_columns_in_order(frame, table):
    names = ["c2", "c3", "c4", "c6"]
    reducer = NonLinCFA().fit(table[names].to_numpy(), table["y"])
    expected = reducer.transform(table[names].to_numpy())
    made = reducer.transform(vectors(frame, "vector")).toPandas()["all of it"]
    np.testing.assert_allclose(np.array([row.toArray() for row in made]), expected)
    np.testing.assert_allclose(reducer.transform(frame.select(*names)).toPandas(), expected)
    with pytest.raises(ValueError, match="saw 4 features without names, and the frame has 15"):
        reducer.transform(frame)


def test_a_frame_with_changed_partitions_is_counted_again(spark, table, monkeypatch):
    job = _spark._make_job
    settings = {
        "spark.sql.shuffle.partitions": "12",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "30000",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1000",
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    rounds = []
    monkeypatch.setattr(_spark, "_make_job", lambda *given: rounds.append(0) or job(*given))
    moved = spark.createDataFrame(table).repartition("id")
    moments = moments_from(moved, y="y", columns=NAMES, cv=5)
    assert len(rounds) == 2
    for name in settings:
        spark.conf.unset(name)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    sizes = [part.count for part in moments.accumulated]
    assert sizes == [460] * 5
    assert len(moments.kept.looked_at(N_ROWS)) == 767
    np.testing.assert_allclose(moments.scatter(), N_ROWS * np.cov(table[NAMES].T, ddof=0))


def test_a_frame_that_changes_is_refused(frame):
    # Not a function of this module, which Spark would have to import.
    def fewer_each_time(batches):
        for batch in batches:
            yield batch.slice(int.from_bytes(os.urandom(2)) % batch.num_rows)

    schema = "c2 double, c3 double, y double"
    changing = frame.select("c2", "c3", "y").mapInArrow(fewer_each_time, schema)
    with pytest.raises(ValueError, match=r"other partitions each time it is read.*cache\(\) it"):
        NonLinCFA().fit(changing, "y")


def with_missing(frame, column, missing):
    """The same frame, with a missing value in the last partition."""
    from pyspark.sql import functions

    kind = dict(frame.dtypes)[column]
    return frame.withColumn(
        column, functions.expr(f"IF(id = 2290, CAST({missing} AS {kind}), {column})")
    )


@pytest.mark.parametrize(
    ("column", "missing", "target"),
    [("c3", "'NaN'", "y"), ("risk", "NULL", "risk")],
)
def test_the_error_names_the_column_with_missing_values(frame, column, missing, target):
    chosen = with_missing(frame, column, missing).select("c2", "c3", "c4", target)
    with pytest.raises(ValueError) as raised:
        NonLinCFA().fit(chosen, target)
    assert str(raised.value) == (
        f"The frame has NaN or null in column '{column}'. Fill the missing values or drop those "
        "rows first, for example with fillna or dropna."
    )
    assert "Traceback" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"y": "rain"}, "The frame has no column 'rain'."),
        ({"y": None}, "y is missing: pass the name of a column"),
        ({"y": []}, r"y must be the name of a column of the frame.*got \[\]"),
        ({"columns": ["c2", "c9"]}, "The frame has no column 'c9'."),
        ({"columns": None}, "The frame has string in column 'risk', and features must be numbers"),
        ({"columns": ["c2", "y"]}, "Column 'y' can be only one of feature, target, weights"),
        ({"columns": []}, "no columns that can be features"),
        ({"sample_weight": np.ones(3)}, "sample_weight must be the name of a column.*got ndarray"),
        ({"sample_weight": "risk"}, "column of numbers, got 'risk', which is string."),
        ({"cv": np.arange(3)}, "cv must be a number of folds, or the name of a column"),
        ({"cv": "other"}, "column of whole numbers, got 'other', which is double."),
        ({"cv": 1}, "cv must be 2 or more, got 1."),
        ({"cv": 2301}, "cv must not exceed the number of rows, 2300, got 2301."),
        ({"chunk_rows": 100}, "chunk_rows cannot be used with Dask or Spark"),
        ({"checkpoint": "a.npz"}, "checkpoint cannot be used"),
        ({"max_bytes": 1000.0}, "max_bytes allows 1 kB"),
        ({"progress": True}, "progress cannot be used"),
    ],
    ids=str,
)
def test_invalid_input_raises_a_clear_error(frame, asked, message):
    with pytest.raises((ValueError, TypeError), match=message):
        moments_from(frame, **{"y": "y", "columns": ["c2", "c3"], **asked})


def test_frames_that_cannot_be_counted_are_refused(spark, frame):
    with pytest.raises(ValueError, match="no rows with a weight above 0"):
        NonLinCFA().fit(frame.select("c2", "c3", "y").limit(0), "y")
    stream = spark.readStream.format("rate").load().selectExpr("value AS a", "value AS b")
    with pytest.raises(ValueError, match="X is a stream"):
        NonLinCFA().fit(stream, "a")
    with pytest.raises(ValueError, match="partial_fit counts rows, and those of X are not"):
        NonLinCFA().partial_fit(frame.select("c2", "c3"), "y")
    with pytest.raises(TypeError, match="X is a table of Spark"):
        Moments().update(frame.select("c2", "c3"), "y")
    with pytest.raises(ValueError, match="MutualCFA counts rows"):
        MutualCFA().fit(frame, "y")
    with pytest.raises(TypeError, match="must be a Spark DataFrame, got Column"):
        NonLinCFA().fit(frame["c2"], "y")
    with pytest.raises(ValueError, match="several column 'c2'"):
        NonLinCFA().fit(frame.select("c2", "c2", "y"), "y")
    with pytest.raises(ValueError, match="Target 'd' must hold numbers or text, got date"):
        NonLinCFA().fit(frame.selectExpr("c2", "c3", "date'2026-01-01' AS d"), "d")
    with pytest.raises(ValueError, match="'v' of the frame can hold all features, and there are"):
        NonLinCFA().fit(frame.selectExpr("c2", "array(c2) AS v", "y"), "y")


def test_the_error_for_pandas_on_spark_says_to_convert():
    kind = type("DataFrame", (), {"__module__": "pyspark.pandas.frame", "to_spark": None})
    with pytest.raises(TypeError, match=r"pass X.to_spark\(\)"):
        engine_of(kind()).moments(kind(), Counting("y"))


def test_frames_that_cannot_be_transformed_are_refused(frame, table):
    reducer = NonLinCFA().fit(table[["c2", "c3", "c4"]], table["y"])
    with pytest.raises(ValueError, match="The frame has no column 'c4'"):
        reducer.transform(frame.drop("c4"))
    with pytest.raises(ValueError, match="The frame has string in column 'c4'"):
        reducer.transform(frame.drop("c4").withColumnRenamed("risk", "c4"))
    all_in_one = NonLinCFA(1e9, cv=None).fit(table[["c2", "c3"]], table["y"])
    with pytest.raises(ValueError, match=r"already has column 'mean\(c2, c3\)'"):
        all_in_one.transform(frame.withColumnRenamed("y", "mean(c2, c3)"))
    with pytest.raises(ValueError, match="set_output makes frames in memory"):
        all_in_one.set_output(transform="pandas").transform(frame)
    median = NonLinCFA(aggregation="median").fit(table[["c2", "c3"]], table["y"])
    with pytest.raises(ValueError, match="aggregation='median' is no weighted sum"):
        median.transform(frame)


def test_vectors_of_another_length_raise_when_computed(frame, table):
    reducer = NonLinCFA().fit(table[["c2", "c3", "c4"]].to_numpy(), table["y"])
    with pytest.raises(Exception, match="Column 'all of it' must hold 3 numbers in each row"):
        reducer.transform(vectors(frame, "list")).collect()


def test_coterie_finds_the_groups_of_rows_in_memory(frame):
    frame = frame.select(*map(quote, [*NAMES, "y"]))
    rows = frame.toPandas()
    reducer = Coterie().fit(frame, "y")
    in_memory = Coterie(inputs=None, cv=KFold(5)).fit(rows[NAMES], rows["y"])
    assert reducer.labels_.tolist() == in_memory.labels_.tolist()
    assert reducer.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(reducer.path_["score"], in_memory.path_["score"], rtol=1e-6)
    np.testing.assert_allclose(reducer.stability_, in_memory.stability_, rtol=1e-6)
    made = reducer.transform(frame.select(*map(quote, NAMES))).toPandas()
    np.testing.assert_allclose(made, in_memory.transform(rows[NAMES]), rtol=1e-6)
    assert made.columns.tolist() == in_memory.get_feature_names_out().tolist()


def test_coterie_counts_batches_only_in_memory(frame):
    with pytest.raises(ValueError, match="partial_fit counts rows, and those of X are not in"):
        Coterie().partial_fit(frame, "y")
