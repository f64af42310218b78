"""The code for Spark executors, tested on Arrow batches without Spark."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import Moments
from coterie._data.engines import _spark, _spark_executor
from coterie._data.engines._spark_executor import (
    Job,
    PartitionSize,
    UncountableError,
    add_moment_chunks,
    add_partitions,
    count_moments,
    count_partition_rows,
)

pytest.importorskip("pyspark", reason="Spark is not installed.")
pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

N_ROWS, NAMES = 57, ["a", "b", "c"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.array(["low", "some", "much"], dtype=object)[rng.integers(0, 3, N_ROWS)]
    weights = rng.integers(0, 3, N_ROWS).astype(float)
    return rng.normal(size=(N_ROWS, 3)) + 20, y, weights


def batches_of(X, y, weights, cuts):
    """The rows in batches of any length, some of them empty."""
    fold_ends = [0, *sorted(cuts), len(X)]
    for begin, end in pairwise(fold_ends):
        at = slice(begin, end)
        lists = pa.array(list(X[at]), type=pa.list_(pa.float64()))
        columns = {"x": lists, "y0": pa.array(y[at], pa.string())}
        yield pa.record_batch(columns if weights is None else {**columns, "w": weights[at]})


def count_in_one_partition(rows, cuts, fold_ends=None):
    (sizes,) = [
        batch.to_pylist()[0] for batch in count_partition_rows("w", batches_of(*rows, cuts))
    ]
    assert sizes.pop("partition_id") == 0
    job = Job(["risk"], NAMES, None, {0: PartitionSize(**sizes)}, fold_ends)
    chunks = count_moments(job, batches_of(*rows, cuts))
    return add_partitions(row for batch in chunks for row in batch.to_pylist())


@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=6))
def test_moments_do_not_depend_on_batches(rows, cuts):
    X, y, weights = rows
    total = count_in_one_partition(rows, cuts)
    expected = Moments(weights.sum()).update(X, y, weights)
    assert total.sizes == {0: PartitionSize(N_ROWS, np.count_nonzero(weights), weights.sum())}
    assert total.moments.n_samples_ == expected.n_samples_
    assert total.moments.targets == ["risk"]
    assert total.moments.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(total.moments.scatter(), expected.scatter(), rtol=1e-10)


@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=4), edge=st.integers(1, 30))
def test_folds_split_the_rows_with_a_weight_above_0(rows, cuts, edge):
    counts = rows[2][rows[2] > 0]
    total = count_in_one_partition(rows, cuts, [edge, len(counts)])
    assert [part.count for part in total.moments.accumulated] == [
        counts[:edge].sum(),
        counts[edge:].sum(),
    ]


@pytest.mark.parametrize("moments_bytes", [100, 2**22])
@pytest.mark.parametrize("chunk_bytes", [200, 2**26])
def test_chunk_sizes_do_not_change_the_moments(rows, monkeypatch, moments_bytes, chunk_bytes):
    expected = count_in_one_partition(rows, [])
    monkeypatch.setattr(_spark_executor, "MOMENTS_CHUNK_BYTES", moments_bytes)
    monkeypatch.setattr(_spark_executor, "SPARK_CHUNK_BYTES", chunk_bytes)
    total = count_in_one_partition(rows, [20])
    np.testing.assert_allclose(total.moments.scatter(), expected.moments.scatter(), rtol=1e-10)


def test_moments_of_several_partitions_add_up(rows, monkeypatch):
    monkeypatch.setattr(_spark_executor, "MOMENTS_CHUNK_BYTES", 500)
    X, y, weights = rows
    sizes = {part: PartitionSize(19, 19, 19.0) for part in range(3)}
    chunks = []
    for part, at in enumerate(np.split(np.arange(N_ROWS), 3)):
        monkeypatch.setattr(_spark_executor, "_partition_id", lambda part=part: part)
        chunks += count_moments(
            Job(["risk"], NAMES, None, sizes), batches_of(X[at], y[at], None, [])
        )
    total = add_partitions(row for batch in add_moment_chunks(chunks) for row in batch.to_pylist())
    assert total.sizes == sizes
    np.testing.assert_allclose(total.moments.scatter(), N_ROWS * np.cov(X.T, ddof=0), rtol=1e-10)


def batch_of(x=((1.0, 2.0), (3.0, 5.0)), **others):
    lists = pa.array([None if row is None else list(row) for row in x], pa.list_(pa.float64()))
    return pa.record_batch({"x": lists, "y0": pa.array([1.0, 2.5]), **others})


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (batch_of([(1.0, None), (3.0, 5.0)]), "The frame has NaN or null in column 'b'. Fill"),
        (batch_of([(1.0, np.nan), (np.nan, 5.0)]), "NaN or null in columns 'a', 'b'. Fill"),
        (batch_of(y0=pa.array([None, 1])), "NaN or null in column 'rain'. Fill the missing"),
        (batch_of(y0=pa.array(["dry", None])), "NaN or null in column 'rain'."),
        (batch_of([None, (3.0, 5.0)]), "The frame has null in column 'v'. Fill"),
        (batch_of([(1.0,), (3.0, 5.0)]), "Column 'v' has vectors of 1 numbers and of 2."),
        (
            batch_of([(np.inf, 1.0), (3.0, 5.0)]),
            r"infinity .* 'a' of batch 0.*\(partition 0 of the",
        ),
        (
            batch_of(fold=pa.array([0, None])),
            "Folds must be whole numbers of 0 or more in all rows.",
        ),
        (batch_of(fold=pa.array([0, -1])), "Folds must be whole numbers of 0 or more in all rows."),
    ],
)
def test_invalid_input_raises_a_clear_error(batch, message):
    job = Job(["rain"], ["a", "b"], "v", {0: PartitionSize(2, 2, 2.0)})
    with pytest.raises(UncountableError, match=message):
        list(count_moments(job, [batch]))


def test_errors_name_the_row_of_the_partition(monkeypatch):
    """The row number does not depend on the chunks that are counted."""
    monkeypatch.setattr(_spark_executor, "SPARK_MAX_CHUNK_ROWS", 2)
    monkeypatch.setattr(_spark_executor, "_partition_id", lambda: 3)
    job = Job(["rain"], ["a", "b"], "v", {3: PartitionSize(6, 6, 6.0)})
    batches = [batch_of(), batch_of(), batch_of([(3.0, 5.0), (np.inf, 1.0)])]
    says = r"column 'a' of batch 2, row 5\. Replace it first \(partition 3 of the frame\)\."
    with pytest.raises(UncountableError, match=says):
        list(count_moments(job, batches))


@pytest.mark.parametrize(("weight", "text"), [(-1.0, "-1"), (None, "nan"), (np.inf, "inf")])
def test_weights_are_0_or_more(weight, text):
    batch = batch_of(w=pa.array([1.0, weight], pa.float64()))
    with pytest.raises(UncountableError, match=f"must be 0 or more, got {text} in column 'times'."):
        list(count_partition_rows("times", [batch]))


def test_missing_values_are_allowed_in_rows_of_weight_0():
    job = Job(["rain"], ["a", "b"], None, {0: PartitionSize(2, 1, 1.0)})
    batch = batch_of([(1.0, np.nan), (3.0, 5.0)], w=pa.array([0.0, 1.0]))
    (chunk,) = count_moments(job, [batch])
    assert add_partitions(chunk.to_pylist()).moments.n_samples_ == 1


def test_vectors_of_two_lengths_do_not_add(monkeypatch):
    job = Job(["rain"], None, "v", {0: PartitionSize(2, 2, 2.0), 1: PartitionSize(2, 2, 2.0)})
    chunks = list(count_moments(job, [batch_of()]))
    monkeypatch.setattr(_spark_executor, "_partition_id", lambda: 1)
    chunks += count_moments(job, [batch_of([(1.0,), (2.0,)])])
    with pytest.raises(UncountableError, match=r"2 features \('v\[0\]', .* have 1 features"):
        list(add_moment_chunks(chunks))


def test_empty_partitions_give_no_rows():
    assert list(count_partition_rows(None, [])) == []
    assert list(count_moments(Job(["y"], NAMES, None, {0: PartitionSize(1, 1, 1.0)}), [])) == []
    assert list(add_moment_chunks([])) == []


def test_many_columns_come_in_chunks_of_more_rows_than_columns():
    for n_features in (1, 10, 400, 3_000):
        assert _spark_executor._rows_per_chunk(n_features) > n_features
    # Not where a chunk would be very large.
    assert 8 * 20_000 * _spark_executor._rows_per_chunk(20_000) <= 2**28


def test_spark_errors_become_our_own():
    raised_by = "coterie._data.engines._spark_executor.UncountableError"
    java = f"Job aborted.\nTraceback\n{raised_by}: Too few.\n\tat"
    with pytest.raises(ValueError, match=r"^Too few\.$") as raised, _spark._translate_errors():
        raise RuntimeError(java)
    assert isinstance(raised.value.__cause__, RuntimeError)
    with (
        pytest.raises(ImportError, match="must be installed on all Spark"),
        _spark._translate_errors(),
    ):
        raise RuntimeError("ModuleNotFoundError: No module named 'coterie'")
    with pytest.raises(RuntimeError, match="something else"), _spark._translate_errors():
        raise RuntimeError("something else")
