"""What executors of Spark do with batches of Arrow, seen without Spark."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import Moments
from coterie._data.engines import _spark, _spark_executor
from coterie._data.engines._spark_executor import (
    Job,
    Share,
    UncountableError,
    add_counted,
    added,
    count_rows,
    count_shares,
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
    """The rows in batches that are cut somewhere, some of them empty."""
    edges = [0, *sorted(cuts), len(X)]
    for begin, end in pairwise(edges):
        at = slice(begin, end)
        lists = pa.array(list(X[at]), type=pa.list_(pa.float64()))
        columns = {"x": lists, "y0": pa.array(y[at], pa.string())}
        yield pa.record_batch(columns if weights is None else {**columns, "w": weights[at]})


def counted_in(rows, cuts, edges=None):
    (shares,) = [batch.to_pylist()[0] for batch in count_shares("w", batches_of(*rows, cuts))]
    assert shares.pop("part") == 0
    job = Job(["risk"], NAMES, None, {0: Share(**shares)}, edges)
    pieces = count_rows(job, batches_of(*rows, cuts))
    return added(row for batch in pieces for row in batch.to_pylist())


@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=6))
def test_however_batches_are_cut_the_moments_are_those_of_all_rows(rows, cuts):
    X, y, weights = rows
    total = counted_in(rows, cuts)
    expected = Moments(weights.sum()).update(X, y, weights)
    assert total.shares == {0: Share(N_ROWS, np.count_nonzero(weights), weights.sum())}
    assert total.moments.n_samples_ == expected.n_samples_
    assert total.moments.targets == ["risk"]
    assert total.moments.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(total.moments.scatter(), expected.scatter(), rtol=1e-10)


@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=4), edge=st.integers(1, 30))
def test_folds_are_cut_among_the_rows_that_count(rows, cuts, edge):
    counts = rows[2][rows[2] > 0]
    total = counted_in(rows, cuts, [edge, len(counts)])
    assert [part.count for part in total.moments.accumulated] == [
        counts[:edge].sum(),
        counts[edge:].sum(),
    ]


@pytest.mark.parametrize("piece", [100, 2**22])
@pytest.mark.parametrize("block", [200, 2**26])
def test_neither_the_size_of_pieces_nor_of_blocks_matters(rows, monkeypatch, piece, block):
    expected = counted_in(rows, [])
    monkeypatch.setattr(_spark_executor, "PIECE", piece)
    monkeypatch.setattr(_spark_executor, "BLOCK", block)
    total = counted_in(rows, [20])
    np.testing.assert_allclose(total.moments.scatter(), expected.moments.scatter(), rtol=1e-10)


def test_pieces_of_many_add_up(rows, monkeypatch):
    monkeypatch.setattr(_spark_executor, "PIECE", 500)
    X, y, weights = rows
    shares = {part: Share(19, 19, 19.0) for part in range(3)}
    pieces = []
    for part, at in enumerate(np.split(np.arange(N_ROWS), 3)):
        monkeypatch.setattr(_spark_executor, "_part", lambda part=part: part)
        pieces += count_rows(Job(["risk"], NAMES, None, shares), batches_of(X[at], y[at], None, []))
    total = added(row for batch in add_counted(pieces) for row in batch.to_pylist())
    assert total.shares == shares
    np.testing.assert_allclose(total.moments.scatter(), N_ROWS * np.cov(X.T, ddof=0), rtol=1e-10)


def block(x=((1.0, 2.0), (3.0, 5.0)), **others):
    lists = pa.array([None if row is None else list(row) for row in x], pa.list_(pa.float64()))
    return pa.record_batch({"x": lists, "y0": pa.array([1.0, 2.5]), **others})


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (block([(1.0, None), (3.0, 5.0)]), "The frame has NaN or null in column 'b'. Fill"),
        (block([(1.0, np.nan), (np.nan, 5.0)]), "NaN or null in columns 'a', 'b'. Fill"),
        (block(y0=pa.array([None, 1])), "NaN or null in column 'rain'. Fill the gaps or drop"),
        (block(y0=pa.array(["dry", None])), "NaN or null in column 'rain'."),
        (block([None, (3.0, 5.0)]), "The frame has null in column 'v'. Fill"),
        (block([(1.0,), (3.0, 5.0)]), "Column 'v' has vectors of 1 numbers and of 2."),
        (block([(np.inf, 1.0), (3.0, 5.0)]), r"infinity .* 'a' of batch 0.*\(partition 0 of the"),
        (block(fold=pa.array([0, None])), "Folds must be whole numbers of 0 or more in all rows."),
        (block(fold=pa.array([0, -1])), "Folds must be whole numbers of 0 or more in all rows."),
    ],
)
def test_what_is_wrong_is_one_sentence(batch, message):
    job = Job(["rain"], ["a", "b"], "v", {0: Share(2, 2, 2.0)})
    with pytest.raises(UncountableError, match=message):
        list(count_rows(job, [batch]))


def test_a_fault_is_told_with_its_row_of_the_partition(monkeypatch):
    """However the rows of a partition are cut to be counted."""
    monkeypatch.setattr(_spark_executor, "MOST_ROWS", 2)
    monkeypatch.setattr(_spark_executor, "_part", lambda: 3)
    job = Job(["rain"], ["a", "b"], "v", {3: Share(6, 6, 6.0)})
    batches = [block(), block(), block([(3.0, 5.0), (np.inf, 1.0)])]
    says = r"column 'a' of batch 2, row 5\. Replace it first \(partition 3 of the frame\)\."
    with pytest.raises(UncountableError, match=says):
        list(count_rows(job, batches))


@pytest.mark.parametrize(("weight", "told"), [(-1.0, "-1"), (None, "nan"), (np.inf, "inf")])
def test_weights_are_0_or_more(weight, told):
    batch = block(w=pa.array([1.0, weight], pa.float64()))
    with pytest.raises(UncountableError, match=f"Weights 'times' must be 0 or more, got {told}."):
        list(count_shares("times", [batch]))


def test_gaps_do_not_matter_in_rows_that_do_not_count():
    job = Job(["rain"], ["a", "b"], None, {0: Share(2, 1, 1.0)})
    batch = block([(1.0, np.nan), (3.0, 5.0)], w=pa.array([0.0, 1.0]))
    (piece,) = count_rows(job, [batch])
    assert added(piece.to_pylist()).moments.n_samples_ == 1


def test_vectors_of_two_lengths_do_not_add(monkeypatch):
    job = Job(["rain"], None, "v", {0: Share(2, 2, 2.0), 1: Share(2, 2, 2.0)})
    pieces = list(count_rows(job, [block()]))
    monkeypatch.setattr(_spark_executor, "_part", lambda: 1)
    pieces += count_rows(job, [block([(1.0,), (2.0,)])])
    with pytest.raises(UncountableError, match=r"2 features \('v\[0\]', .* of 1 features"):
        list(add_counted(pieces))


def test_nothing_gives_nothing():
    assert list(count_shares(None, [])) == []
    assert list(count_rows(Job(["y"], NAMES, None, {0: Share(1, 1, 1.0)}), [])) == []
    assert list(add_counted([])) == []


def test_many_columns_come_in_blocks_of_more_rows_than_columns():
    for n_features in (1, 10, 400, 3_000):
        assert _spark_executor._rows_at_a_time(n_features) > n_features
    # Not where a block would be very large.
    assert 8 * 20_000 * _spark_executor._rows_at_a_time(20_000) <= 2**28


def test_what_spark_says_becomes_one_sentence():
    raised_by = "coterie._data.engines._spark_executor.UncountableError"
    java = f"Job aborted.\nTraceback\n{raised_by}: Too few.\n\tat"
    with pytest.raises(ValueError, match=r"^Too few\.$") as raised, _spark._one_sentence():
        raise RuntimeError(java)
    assert isinstance(raised.value.__cause__, RuntimeError)
    with pytest.raises(ImportError, match="must be installed wherever"), _spark._one_sentence():
        raise RuntimeError("ModuleNotFoundError: No module named 'coterie'")
    with pytest.raises(RuntimeError, match="something else"), _spark._one_sentence():
        raise RuntimeError("something else")
