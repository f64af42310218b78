"""Dask tables give the decisions of a fit in memory, and stay lazy."""

import pickle
import warnings
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import correlated
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline

import coterie
from coterie import (
    GenLinCFA,
    LinCFA,
    Moments,
    MutualCFA,
    NonLinCFA,
    ToleranceCV,
    moments_from,
    stability,
    tolerance_path,
)
from coterie._data.engines._block_offsets import block_offsets, measure_block
from coterie._data.engines._folds import ContiguousFolds, StratifiedFolds, fold_rule
from coterie._data.engines._sizes import TASK_ROWS, group_blocks
from coterie.datasets import make_groups
from coterie.estimators._remote import LightTransform, transformed_rows

NAMES = [f"c{place}" for place in range(9)]
LENGTHS = (400, 0, 13, 1, 700, 250, 136)  # uneven, and one is empty


@pytest.fixture(autouse=True)
def _quietly():
    """Use one thread, so that blocks are counted in order; a test may ask for more."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(5)
    X, y = correlated(rng, n_samples=sum(LENGTHS), n_features=len(NAMES), noise=6.0)
    return X * rng.uniform(0.2, 5, len(NAMES)) + 20 * rng.normal(size=len(NAMES)), y


def targets_by_kind(y):
    third = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    return {
        "numbers": y,
        "labels": np.array(["low", "some", "much"])[third],
        "two": y > np.median(y),
        "counts": np.round(np.exp((y - y.mean()) / y.std())),
        "several": np.column_stack([y, np.sin(y)]),
    }


def dask_array(values, lengths=LENGTHS):
    """A Dask array in uneven chunks, along columns too if asked for."""
    values = np.asarray(values)
    widths = ((4, values.shape[1] - 4),) if values.ndim == 2 and values.shape[1] > 4 else ()
    whole = () if values.ndim == 1 else ((values.shape[1],),)
    return da.from_array(values, chunks=(lengths, *(widths or whole)))


def dask_frame(frame, lengths=LENGTHS):
    """A Dask data frame in uneven partitions, one of them empty."""
    ends = np.cumsum([0, *lengths])
    parts = [frame.iloc[start:end] for start, end in pairwise(ends)]
    return dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])


def as_arrays(X, y, weights):
    return (
        dask_array(X),
        dask_array(y, LENGTHS[::-1]),
        None if weights is None else dask_array(weights),
    )


def as_array_with_memory_target(X, y, weights):
    return dask_array(X), y, weights


def as_frame(X, y, weights):
    frame = pd.DataFrame(X, columns=NAMES)
    targets = pd.DataFrame(y).add_prefix("target ")
    names = list(targets.columns)
    frame = pd.concat([frame, targets], axis=1)
    if weights is not None:
        frame = frame.assign(times=weights)
    target = names[0] if len(names) == 1 else names
    return dask_frame(frame), target, None if weights is None else "times"


def as_series(X, y, weights):
    frame, target, times = as_frame(X, y, weights)
    return frame[NAMES], frame[target], None if weights is None else frame[times]


def as_unknown(X, y, weights):
    frame, target, times = as_series(X, y, weights)
    # Dask warns that text becomes objects.
    is_text = np.asarray(y).dtype.kind == "U"
    return frame.to_dask_array(), target if is_text else target.to_dask_array(), times


WAYS = [as_arrays, as_array_with_memory_target, as_frame, as_series, as_unknown]


def assert_same(one, other, X):
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.signs_.tolist() == other.signs_.tolist()
    for name in ("group", "candidate", "accepted"):
        assert one.trace_[name].tolist() == other.trace_[name].tolist()
    for name in ("price", "allowance"):
        np.testing.assert_allclose(one.trace_[name], other.trace_[name], rtol=1e-6, atol=1e-9)
    if hasattr(other, "penalty_"):
        assert one.penalty_ == pytest.approx(other.penalty_, rel=1e-9)
    if hasattr(other, "classes_"):
        assert one.classes_.tolist() == other.classes_.tolist()
    rows = X if not hasattr(one, "feature_names_in_") else pd.DataFrame(X, columns=NAMES)
    np.testing.assert_allclose(one.transform(rows), other.transform(X), rtol=1e-9)


REDUCERS = [
    (NonLinCFA(), "numbers"),
    (NonLinCFA("aic"), "several"),
    (NonLinCFA(0.01), "numbers"),
    (NonLinCFA(0.01, cv=3, signs=True), "labels"),
    (NonLinCFA(0.01, cv=None, scale=True), "several"),
    (NonLinCFA(n_groups=4), "numbers"),
    (GenLinCFA(family="bernoulli"), "labels"),
    (GenLinCFA(0.9, family="bernoulli", curvature="null"), "two"),
    (GenLinCFA("bic", family="poisson"), "counts"),
    (LinCFA(), "numbers"),
    (LinCFA(search="best", scale=True), "numbers"),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_every_decision_is_that_of_all_rows_in_memory(columns, way, is_weighted):
    X, y = columns
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, len(y)).astype(float) if is_weighted else None
    for reducer, kind in REDUCERS:
        target = targets_by_kind(y)[kind]
        in_memory = clone(reducer).fit(X, target, weights)
        elsewhere = clone(reducer).fit(*way(X, target, weights))
        assert_same(elsewhere, in_memory, X)


@pytest.mark.parametrize("weights", ["none", "whole", "tenths", "random"])
def test_an_automatic_tolerance_uses_the_same_rows(weights):
    X, y, _ = make_groups(5000, 40, 5, correlation=0.5, noise=3.0, random_state=1)
    rng = np.random.default_rng(0)
    counts = {
        "none": None,
        "whole": rng.integers(0, 3, 5000).astype(float),
        "tenths": rng.integers(1, 9, 5000) / 10,
        "random": 3 * rng.random(5000),
    }[weights]
    lengths = (1, 999, 0, 2500, 137, 1363)
    chunks = None if counts is None else da.from_array(counts, chunks=(lengths,))
    expected = NonLinCFA().fit(X, y, counts)
    found = NonLinCFA().fit(da.from_array(X, chunks=(lengths, 40)), y, chunks)
    assert found.penalty_ == pytest.approx(expected.penalty_, rel=1e-12)
    assert found.labels_.tolist() == expected.labels_.tolist()


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=6),
    st.integers(0, 2**31),
    st.sampled_from([NonLinCFA(), NonLinCFA(0.01, cv=3), LinCFA()]),
    st.booleans(),
)
def test_groups_do_not_depend_on_blocks(lengths, seed, reducer, is_single):
    rng = np.random.default_rng(seed)
    lengths = (*lengths, 30)
    X, y = correlated(rng, n_samples=sum(lengths), n_features=6)
    X = X.astype(np.float32) if is_single else X
    chunks = da.from_array(X, chunks=(lengths, (1, 5)))
    found = clone(reducer).fit(chunks, da.from_array(y, chunks=17))
    assert found.labels_.tolist() == clone(reducer).fit(X.astype(float), y).labels_.tolist()


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=9), min_size=1, max_size=8),
    st.integers(2, 5),
    st.integers(0, 2**31),
    st.booleans(),
)
def test_folds_are_those_of_scikit_learn(blocks, n_folds, seed, is_weighted):
    rng = np.random.default_rng(seed)
    labels = [np.array(block, dtype=object) for block in [*blocks, list("abc" * 5)]]
    weights = [rng.integers(0 if is_weighted else 1, 2, len(block)) for block in labels]
    looks = [measure_block(each, times, None, "0") for each, times in zip(labels, weights)]
    *places, end = block_offsets(looks)
    kept = np.concatenate(weights) > 0
    every = np.concatenate(labels)[kept]
    if len(every) < n_folds or np.unique(every, return_counts=True)[1].max() < n_folds:
        return
    for kind, splitter, stratified in (
        (ContiguousFolds, KFold(n_folds), False),
        (StratifiedFolds, StratifiedKFold(n_folds), True),
    ):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class")
            rule = fold_rule(n_folds, stratified, end)
            splits = list(splitter.split(every, every))
        assert isinstance(rule, kind)
        found = [rule.of(*each) for each in zip(places, labels, [w > 0 for w in weights])]
        expected = np.empty(len(every), dtype=int)
        for number, (_, held_out) in enumerate(splits):
            expected[held_out] = number
        assert np.concatenate(found)[kept].tolist() == expected.tolist()


def test_rare_labels_warn_as_in_scikit_learn(columns):
    X, y = columns
    labels = np.where(np.arange(len(y)) < 3, "rare", np.where(y > np.median(y), "up", "down"))
    with pytest.warns(UserWarning, match="has only 3 members, which is less than n_splits=5"):
        found = NonLinCFA(0.01).fit(dask_array(X), dask_array(labels))
    with pytest.warns(UserWarning, match="has only 3 members, which is less than n_splits=5"):
        in_memory = NonLinCFA(0.01).fit(X, labels)
    assert found.labels_.tolist() == in_memory.labels_.tolist()
    with pytest.raises(ValueError, match="cv=8 needs 8 rows or more of some label"):
        NonLinCFA(0.01, cv=8).fit(dask_array(X[:12], (12,)), np.array(["a", "b"] * 6))


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_moments_do_not_depend_on_the_scheduler(columns, scheduler):
    X, y = columns
    with dask.config.set(scheduler=scheduler, num_workers=3):
        found = moments_from(dask_array(X), dask_array(y), cv=4)
    with dask.config.set(scheduler="threads", num_workers=2):
        again = moments_from(dask_array(X), dask_array(y), cv=4)
    np.testing.assert_array_equal(found.scatter(), again.scatter())
    expected = np.cov(X.T, ddof=0) * len(X)
    np.testing.assert_allclose(found.scatter(), expected, rtol=1e-10)


def test_small_blocks_are_counted_together_and_large_ones_alone():
    joined = group_blocks([100] * 100, 100, n_features=400)
    assert [len(some) for some in joined] == [40, 40, 20]
    assert group_blocks([10**6, 10**6], 2, 400) == [range(1), range(1, 2)]
    assert group_blocks([0, 0, TASK_ROWS + 1, 0], 4, 400) == [range(3), range(3, 4)]
    assert group_blocks(None, 2, 400) == [range(1), range(1, 2)]
    # Narrow tables need more rows to be worth a task.
    assert len(group_blocks([10_000] * 10, 10, n_features=4)) == 1


class ReadCounter:
    """An array that is not in memory, and counts how often its blocks are read."""

    ndim = 2

    def __init__(self, values):
        self.values, self.shape, self.dtype, self.looks = values, values.shape, values.dtype, 0

    def __getitem__(self, where):
        found = self.values[where]
        self.looks += bool(found.size)
        return found


def counted_array(values, rows=100):
    source = ReadCounter(values)
    chunks = (rows, values.shape[1])
    return source, da.from_array(source, chunks=chunks, asarray=False, name=False)


def test_a_block_shared_by_features_and_target_is_computed_once(columns):
    X, y = columns
    source, table = counted_array(np.column_stack([X, y]))
    n_blocks = table.numblocks[0]
    found = NonLinCFA().fit(table[:, :-1], table[:, -1])
    assert source.looks == n_blocks
    assert_same(found, NonLinCFA().fit(X, y), X)
    found.transform(table[:, :-1])
    assert source.looks == n_blocks


def test_only_weights_are_computed_first(columns):
    X, y = columns
    weights = 1.0 + (np.arange(len(y)) % 3)
    features, table = counted_array(X)
    times, counts = counted_array(weights[:, None])
    NonLinCFA().fit(table, y, counts[:, 0])
    assert features.looks == table.numblocks[0]
    assert times.looks == 2 * counts.numblocks[0]


def test_lengths_are_computed_only_if_needed(columns, tmp_path):
    X, y = columns
    frame = pd.DataFrame(X, columns=NAMES).assign(rain=y)
    reads = []

    def load_part(number, columns=None):
        reads.append(columns)
        some = frame.iloc[500 * number : 500 * (number + 1)]
        return some if columns is None else some[columns]

    table = dd.from_map(load_part, range(3), meta=frame.iloc[:0])
    NonLinCFA(0.01, cv=None).fit(table, "rain")
    assert reads == [None] * 3
    reads.clear()
    NonLinCFA(0.01).fit(table, "rain")
    assert sorted(reads, key=str) == [None] * 3 + [["rain"]] * 3


def test_a_folder_of_parquet_keeps_its_partitions(columns, tmp_path):
    # Dask reads files together once only few of many columns are wanted.
    X, y = columns
    frame = pd.DataFrame(X, columns=NAMES).assign(rain=y, times=1 + np.arange(len(y)) % 2)
    for number, rows in enumerate(np.array_split(np.arange(len(y)), 9)):
        frame.iloc[rows].to_parquet(tmp_path / f"{number}.parquet")
    for filesystem in ("fsspec", "arrow"):
        table = dd.read_parquet(tmp_path, filesystem=filesystem)
        assert table["rain"].optimize().npartitions < 9
        # One of the two reads files in the order of their names.
        rows = table.compute()
        X = rows[NAMES].to_numpy()
        expected = NonLinCFA(0.01).fit(X, rows["rain"], rows["times"])
        found = NonLinCFA(0.01).fit(table, "rain", "times")
        assert_same(found, expected, X)
        beside = NonLinCFA(0.01).fit(table[NAMES], table["rain"], table["times"])
        assert_same(beside, expected, X)
        Z = found.transform(table).compute()
        assert list(Z.columns) == found.get_feature_names_out().tolist()
        np.testing.assert_allclose(Z, expected.transform(X))


@pytest.mark.parametrize("n_columns", [1, 2])
def test_large_blocks_are_counted_in_chunks(columns, monkeypatch, n_columns):
    X, y = columns
    target = np.column_stack([y, -y])[:, :n_columns].squeeze()
    monkeypatch.setattr("coterie._data.engines._count_blocks.BYTES_PER_UPDATE", 8 * len(NAMES) * 64)
    expected = NonLinCFA(0.01).fit(X, target)
    assert_same(NonLinCFA(0.01).fit(dask_array(X, (1500,)), target), expected, X)
    assert_same(NonLinCFA(0.01).fit(*as_frame(X, target, None)), expected, X)


@pytest.mark.parametrize("lengths", [(100, 700, 700), (1500,)])
def test_errors_name_the_row_of_the_table(columns, monkeypatch, lengths):
    """The row number does not depend on blocks, or on chunks of large ones."""
    X, y = columns[0].copy(), columns[1].copy()
    X[1234, 2] = np.nan
    monkeypatch.setattr("coterie._data.engines._count_blocks.BYTES_PER_UPDATE", 8 * len(NAMES) * 64)
    says = f"^X has NaN in column 2 of chunk {len(lengths) - 1}, row 1,234 of X\\."
    lazy = da.from_array(X, chunks=(lengths, 3))
    for folds in (None, 5):
        with pytest.raises(ValueError, match=says):
            moments_from(lazy, y, cv=folds)
    y[801] = np.inf
    weights = np.ones(1500)
    weights[[3, 800, 1234]] = 0.0
    says = "^y has NaN, None or infinity in chunk ., row 801 of X"
    with pytest.raises(ValueError, match=says):
        moments_from(da.from_array(X, chunks=(lengths, 3)), y, sample_weight=weights)


def test_errors_name_the_row_of_the_partition_if_lengths_are_unknown(columns):
    X, y = columns
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y)
    frame.loc[[1002, 1003], "c1"] = np.nan
    lazy = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(ValueError, match="of partition 2, rows 1,002 to 1,003 of X"):
        moments_from(lazy, y="y")
    # A fit that needs no folds and no rows has no first look at the lengths.
    with pytest.raises(ValueError, match=r"of partition 2, rows 2 to 3\. "):
        LinCFA().fit(lazy[NAMES], lazy["y"])


def test_rechunked_columns_keep_to_the_chunk_size_of_dask():
    values = np.zeros((8000, 100))
    values[:, 0] = np.arange(8000)
    with dask.config.set({"array.chunk-size": "1MiB"}):
        from coterie._data.engines._dask_tables import rechunk_columns

        tall = rechunk_columns(da.from_array(values, chunks=(8000, 10)))
        assert tall.numblocks[1] == 1
        assert max(tall.chunks[0]) * 100 * 8 <= 2**20
        small = rechunk_columns(da.from_array(values, chunks=(100, 10)))
        assert small.chunks[0] == (100,) * 80


def test_lazy_tables_become_lazy_tables_of_the_same_kind(columns):
    X, y = columns
    reducer = NonLinCFA(0.01).fit(X, y)
    Z = reducer.transform(X)
    lazy = reducer.transform(dask_array(X))
    assert isinstance(lazy, da.Array)
    assert lazy.shape == Z.shape
    assert lazy.chunks[0] == LENGTHS
    assert lazy.dtype == np.float64
    np.testing.assert_allclose(lazy.compute(), Z)
    np.testing.assert_allclose(
        reducer.inverse_transform(lazy).compute(), reducer.inverse_transform(Z)
    )
    middle = np.median(X[:, 0])
    unknown = reducer.transform(dask_array(X)[dask_array(X)[:, 0] > middle])
    np.testing.assert_allclose(unknown.compute(), reducer.transform(X[X[:, 0] > middle]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("scale", [False, True])
def test_numbers_stay_as_precise_as_in_memory(columns, dtype, scale):
    X, y = columns
    X = X.astype(dtype)
    reducer = NonLinCFA(0.01, cv=None, scale=scale).fit(X, y)
    lazy = reducer.transform(dask_array(X))
    Z = reducer.transform(X)
    assert lazy.dtype == lazy.compute().dtype == Z.dtype
    np.testing.assert_allclose(lazy.compute(), Z, rtol=1e-5)
    back, expected = reducer.inverse_transform(lazy), reducer.inverse_transform(Z)
    assert back.dtype == back.compute().dtype == expected.dtype
    named = NonLinCFA(0.01, cv=None, scale=scale).fit(pd.DataFrame(X, columns=NAMES), y)
    frame = named.transform(dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=3))
    assert set(frame.dtypes) == set(frame.compute().dtypes) == {Z.dtype}


def test_frames_have_names_and_divisions(columns):
    X, y = columns
    frame = pd.DataFrame(X, columns=NAMES).assign(rain=y).set_index(np.arange(len(y)) * 2)
    table = dd.from_pandas(frame, npartitions=4)
    reducer = NonLinCFA(0.01).fit(table, "rain")
    assert reducer.feature_names_in_.tolist() == NAMES
    lazy = reducer.transform(table)
    assert isinstance(lazy, dd.DataFrame)
    assert lazy.divisions == table.divisions
    assert list(lazy.columns) == reducer.get_feature_names_out().tolist()
    expected = reducer.transform(frame[NAMES])
    computed = lazy.compute()
    assert computed.index.equals(frame.index)
    np.testing.assert_allclose(computed, expected)
    # Found by name, whatever the order.
    np.testing.assert_allclose(reducer.transform(table[NAMES[::-1]]).compute(), expected)
    back = reducer.inverse_transform(lazy)
    assert list(back.columns) == NAMES
    np.testing.assert_allclose(back.compute(), reducer.inverse_transform(expected))


def test_columns_without_names_are_matched_by_position(columns):
    X, y = columns
    reducer = NonLinCFA(0.01).fit(dd.from_pandas(pd.DataFrame(X), npartitions=3), dask_array(y))
    assert not hasattr(reducer, "feature_names_in_")
    assert_same(reducer, NonLinCFA(0.01).fit(X, y), X)
    table = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=3)
    np.testing.assert_allclose(reducer.transform(table).compute(), reducer.transform(X))
    with pytest.raises(ValueError, match="X has 3 columns, and 9 are expected"):
        reducer.transform(table[NAMES[:3]])


def test_any_reducer_transforms_dask_tables(columns):
    X, y = columns
    table = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=3)
    frame = pd.DataFrame(X, columns=NAMES)
    for reducer in (
        MutualCFA(),
        NonLinCFA(0.02, aggregation="max"),
        NonLinCFA(0.02, aggregation="principal", scale=True),
        NonLinCFA(0.02, inputs=np.abs),
        ToleranceCV(tolerances=[0.01, 0.1], cv=2),
    ):
        fitted = reducer.fit(frame[:300], y[:300])
        np.testing.assert_allclose(fitted.transform(table).compute(), fitted.transform(frame))


def test_the_trace_is_not_sent_to_workers(columns):
    X, y = columns
    reducer = NonLinCFA(0.3, cv=None, connectivity=np.ones((9, 9))).partial_fit(X, y)
    of_rows = LightTransform.of(reducer, transformed_rows)
    light = of_rows.reducer
    assert len(light.trace_) == 0
    assert light.connectivity is None
    assert not hasattr(light, "_moments")
    assert len(reducer.trace_) > 0
    again = pickle.loads(pickle.dumps(of_rows))
    np.testing.assert_allclose(again(X), reducer.transform(X))
    graph = dict(dask.optimize(reducer.transform(dask_array(X)))[0].__dask_graph__())
    heavy = sum(b"NonLinCFA" in pickle.dumps(task) for task in graph.values())
    assert heavy == 1


def test_a_pipeline_stays_lazy(columns):
    X, y = columns
    source, table = counted_array(X)
    lazy = make_pipeline(NonLinCFA()).fit_transform(table, y)
    assert isinstance(lazy, da.Array)
    assert source.looks == table.numblocks[0]
    np.testing.assert_allclose(lazy.compute(), NonLinCFA().fit_transform(X, y))
    model = make_pipeline(NonLinCFA(), LinearRegression()).fit(dask_array(X), y)
    in_memory = make_pipeline(NonLinCFA(), LinearRegression()).fit(X, y)
    np.testing.assert_allclose(model.predict(X), in_memory.predict(X))


def a_field(n_samples=120):
    rng = np.random.default_rng(3)
    west, east = rng.normal(size=(2, n_samples))
    side = np.array([0, 0, 1, 1, 1, 0])
    values = np.stack([west, east])[side].T[:, None, :] + 0.5 * rng.normal(size=(n_samples, 3, 6))
    values[:, 1, 3] = np.nan
    coords = {
        "time": pd.date_range("2000-01-01", periods=n_samples),
        "lat": [-10.0, 0.0, 10.0],
        "lon": np.arange(0, 360, 60),
    }
    field = xr.DataArray(values, coords, ("time", "lat", "lon"), "sst")
    index = xr.DataArray(west - east + rng.normal(size=n_samples), {"time": field.time}, ("time",))
    return field, index


CHUNKS = {"time": 25, "lat": 2, "lon": 4}


@pytest.mark.parametrize("reducer", [NonLinCFA(), NonLinCFA(0.02, scale=True), LinCFA()], ids=str)
@pytest.mark.parametrize("kind", ["array", "samples last", "dataset"])
def test_fields_over_dask_are_fields(reducer, kind):
    field, index = a_field()
    if kind == "samples last":
        field = field.transpose("lat", "lon", "time")
    if kind == "dataset":
        nino = field.mean(("lat", "lon"))
        field = xr.Dataset({"sst": field, "wind": -field + 0.1, "nino": nino})
    lazy = field.chunk({"time": 25, "lat": 2, "lon": 4})
    expected = clone(reducer).fit(field, index)
    labelled = [index.chunk({"time": 40}), index]
    for y in labelled if kind == "samples last" else [*labelled, index.values]:
        found = clone(reducer).fit(lazy, y)
        assert found.labels_.tolist() == expected.labels_.tolist()
        np.testing.assert_allclose(found.trace_.price, expected.trace_.price, rtol=1e-6, atol=1e-9)
    assert not hasattr(found, "feature_names_in_")
    xr.testing.assert_identical(found.as_field(), expected.as_field())
    made = found.transform(lazy)
    assert made.chunks is not None
    xr.testing.assert_allclose(made.compute(), expected.transform(field))
    assert made.name is None
    back = found.inverse_transform(made)
    assert back.chunks
    expected_back = expected.inverse_transform(expected.transform(field))
    xr.testing.assert_allclose(back.compute(), expected_back)


def test_fields_in_single_precision_stay_single():
    field, index = a_field()
    single = field.astype(np.float32)
    reducer = NonLinCFA(0.01, cv=None).fit(single.chunk(CHUNKS), index)
    made = reducer.transform(single.chunk(CHUNKS))
    assert made.dtype == made.compute().dtype == reducer.transform(single).dtype == np.float32


def test_labelled_targets_over_dask_are_paired_by_their_labels():
    field, index = a_field()
    shuffled = index.isel(time=np.random.default_rng(0).permutation(index.size))
    found = NonLinCFA().fit(field.chunk(CHUNKS), shuffled.chunk({"time": 7}))
    np.testing.assert_allclose(found.trace_.price, NonLinCFA().fit(field, index).trace_.price)
    later = index.assign_coords(time=index.time + np.timedelta64(1, "D"))
    with pytest.raises(ValueError, match="different coordinates along 'time'"):
        NonLinCFA().fit(field.chunk(CHUNKS), later)


def test_the_error_names_cells_of_a_field_with_missing_values():
    field, index = a_field()
    field[-1, 0, 1] = np.nan
    with pytest.raises(ValueError, match=r"X has NaN in column 'sst\(lat=-10, lon=60\)' of chunk"):
        NonLinCFA().fit(field.chunk(CHUNKS), index)


def test_moments_of_dask_are_those_of_rows(columns):
    X, y = columns
    fold = np.arange(len(y)) % 4
    weights = 1.0 + np.arange(len(y)) % 3
    expected = Moments(weights.sum()).update(X, y, weights, fold)
    frame = pd.DataFrame(X, columns=NAMES).assign(rain=y, times=weights, fold=fold)
    table = dask_frame(frame)
    for found in (
        moments_from(dask_array(X), y, sample_weight=weights, cv=fold),
        moments_from(
            dask_array(X),
            dask_array(y),
            sample_weight=dask_array(weights),
            cv=lambda rows: rows % 4,
        ),
        moments_from(table, y="rain", sample_weight="times", cv="fold"),
        moments_from(table[NAMES], table["rain"], sample_weight=table["times"], cv=table["fold"]),
        moments_from(table, y=["rain"], columns=NAMES, sample_weight="times", cv=fold),
    ):
        assert found.count == expected.count
        assert found.fold_numbers == [0, 1, 2, 3]
        np.testing.assert_allclose(found.scatter(), expected.scatter(), rtol=1e-9)
        kept = found.kept.looked_at(found.count)
        np.testing.assert_array_equal(kept, expected.kept.looked_at(expected.count))
    chosen = moments_from(table, y="rain", columns=["c3", "c1"])
    assert chosen.feature_names_in_.tolist() == ["c3", "c1"]
    assert chosen.targets == ["rain"]
    np.testing.assert_allclose(chosen.mean, X[:, [3, 1]].mean(axis=0))
    folds = moments_from(table, y="rain", columns=NAMES, cv="fold")
    by_hand = NonLinCFA(0.01, cv=PredefinedSplit(fold)).fit(X, y)
    assert_same(NonLinCFA(0.01).fit_moments(folds), by_hand, X)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"chunk_rows": 10}, "chunk_rows cannot be used .* in chunks already"),
        ({"checkpoint": "m.npz"}, "checkpoint cannot be used with Dask or Spark"),
        ({"progress": True}, "progress cannot be used .* such as dask.diagnostics.ProgressBar"),
        ({"max_bytes": 5000}, "9 features in 1 fold take 74 kB here, and max_bytes allows 5 kB"),
        ({"max_bytes": 75_000, "cv": 5}, "9 features in 5 folds take 77 kB here"),
        (
            {"cv": 1},
            "cv must be from 2 to the number of rows with a weight above 0, 1500, got 1",
        ),
        ({"cv": 2000}, "cv must be from 2 to the number of rows with a weight above 0, 1500"),
        ({"cv": "fold"}, "X is an array without column names, and cv names a"),
        ({"columns": ["a"]}, "X is an array without column names, and columns names"),
        ({"y": "a"}, "X is an array without column names, and y names a column"),
        ({"y": None}, "y is missing: pass the name of a column, a list of names, or an array"),
    ],
)
def test_invalid_options_are_refused(columns, given, says):
    X, y = columns
    with pytest.raises(ValueError, match=says):
        moments_from(dask_array(X), **{"y": dask_array(y), **given})


def test_a_matrix_larger_than_memory_is_refused(columns):
    X, y = columns
    with pytest.raises(ValueError, match="Moments of 9 features in 5 folds take"):
        NonLinCFA(0.01, max_bytes=1000).fit(dask_array(X), y)


def test_a_missing_value_in_the_last_chunk_is_named(columns):
    X, y = columns
    X = X.copy()
    X[-1, 3] = np.nan
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            with pytest.raises(
                ValueError, match=r"^X has NaN in column 3 of chunk 6, row 1,499 of X\. Fill"
            ):
                NonLinCFA().fit(dask_array(X), y)
            with pytest.raises(ValueError, match=r"^X has NaN in column 'c3' of partition 6, row "):
                NonLinCFA().fit(*as_frame(X, y, None))
    reducer = NonLinCFA().fit(np.nan_to_num(X), y)
    with pytest.raises(ValueError, match="X has NaN in column 3"):
        reducer.transform(dask_array(X)).compute()


def with_odd_partition(frame, change):
    parts = [frame.iloc[:500], change(frame.iloc[500:1000]), frame.iloc[1000:]]
    return dd.from_delayed(
        [dask.delayed(part) for part in parts], meta=frame.iloc[:0], verify_meta=False
    )


def test_columns_of_a_partition_are_matched_by_name(columns):
    X, y = columns
    frame = pd.DataFrame(X, columns=NAMES).assign(rain=y)
    turned = with_odd_partition(frame, lambda part: part[list(part.columns)[::-1]])
    found = NonLinCFA().fit(turned, "rain")
    assert_same(found, NonLinCFA().fit(X, y), X)
    other = with_odd_partition(frame, lambda part: part.rename(columns={"c2": "z"}))
    with pytest.raises(ValueError, match=r"^X has no column 'c2' in partition 1\.$"):
        NonLinCFA().fit(other, "rain")
    lacking = with_odd_partition(frame[NAMES], lambda part: part.drop(columns="c2"))
    with pytest.raises(ValueError, match=r"^X has no column 'c2' in partition 1\.$"):
        NonLinCFA().fit(lacking, y)
    with pytest.raises(ValueError, match=r"^X has no column 'c2' in a partition\.$"):
        found.transform(lacking).compute()
    dry = with_odd_partition(frame, lambda part: part.drop(columns="rain"))
    with pytest.raises(ValueError, match=r"^X has no column 'rain' in one of its partitions\.$"):
        NonLinCFA().fit(dry, "rain")
    with pytest.raises(ValueError, match=r"^X has no column 'c2' in one of its partitions\.$"):
        moments_from(other, y="rain", columns=["c1", "c2"])
    text = with_odd_partition(frame, lambda part: part.assign(c4="much"))
    with pytest.raises(ValueError, match="X has text in column 'c4'"):
        NonLinCFA().fit(text, "rain")


def test_y_and_weights_must_have_the_same_rows(columns):
    X, y = columns
    with pytest.raises(ValueError, match=r"^X has 1500 rows, and y has 1499\.$"):
        NonLinCFA().fit(dask_array(X), y[:-1])
    with pytest.raises(ValueError, match=r"^X has 1500 rows, and y has 1499\.$"):
        NonLinCFA().fit(dask_array(X), da.from_array(y[:-1], chunks=100))
    with pytest.raises(ValueError, match=r"X has 1500 rows, and sample_weight has 3\."):
        NonLinCFA().fit(dask_array(X), y, np.ones(3))
    frame = pd.DataFrame(X, columns=NAMES)
    table, series = dask_frame(frame), pd.Series(y, name="rain")
    with pytest.raises(ValueError, match="X has 7 blocks of rows, and y has 3: split both into"):
        NonLinCFA().fit(table, dd.from_pandas(series, npartitions=3))
    # An array is cut anew, a series is not.
    as_array = da.from_array(y, chunks=((*LENGTHS[:-2], 249, 137),))
    assert_same(NonLinCFA().fit(table, as_array), NonLinCFA().fit(X, y), X)
    other = dask_frame(series.to_frame(), (*LENGTHS[:-2], 249, 137))["rain"]
    with pytest.raises(
        ValueError, match="X has 250 rows in partition 5, and y has 249: split both"
    ):
        NonLinCFA().fit(table, other)
    with pytest.raises(ValueError, match="y must have 1 or 2 dimensions"):
        NonLinCFA().fit(dask_array(X), np.zeros((1500, 1, 1)))


def test_rows_that_change_during_the_computation_are_refused(columns):
    X, y = columns
    frame, looks = pd.DataFrame(X, columns=NAMES).assign(rain=y), []

    def load_part(number):
        looks.append(number)
        return frame.iloc[: 500 if len(looks) > 3 else 400]

    table = dd.from_map(load_part, range(3), meta=frame.iloc[:0])
    with pytest.raises(
        ValueError, match="X had 400 rows in partition 0 when they were first counted"
    ):
        NonLinCFA().fit(table, "rain")


@pytest.mark.parametrize(
    ("y", "weights", "says"),
    [
        ("snow", None, r"^X has no column 'snow'\.$"),
        (["rain", "snow"], None, r"^X has no column 'snow'\.$"),
        ("rain", "often", r"^X has no column 'often'\.$"),
        (None, None, "y is missing"),
    ],
)
def test_names_are_checked_before_anything_is_computed(columns, y, weights, says):
    frame = pd.DataFrame(columns[0], columns=NAMES).assign(rain=columns[1])
    table = dd.from_map(lambda number: 1 / 0, range(3), meta=frame.iloc[:0])
    with pytest.raises(ValueError, match=says):
        NonLinCFA().fit(table, y, weights)
    reducer = NonLinCFA().fit(frame[NAMES], columns[1])
    with pytest.raises(ValueError, match=r"^X has no columns 'c0', 'c1'\.$"):
        reducer.transform(table[NAMES[2:]])
    dated = table.assign(c0=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match="X has dates in column 'c0'"):
        NonLinCFA().fit(dated, "rain")


def test_other_invalid_input_is_refused(columns):
    X, y = columns
    with pytest.raises(TypeError, match="Dask array or data frame, got dask's Delayed"):
        NonLinCFA().fit(dask.delayed(X), y)
    with pytest.raises(ValueError, match="X must have 2 dimensions"):
        NonLinCFA().fit(dask_array(y), y)
    with pytest.raises(ValueError, match="X is an array without column names, and y"):
        NonLinCFA().fit(dask_array(X), "rain")
    with pytest.raises(
        ValueError, match="sample_weight must be 0 or more, got -1 in chunk 2, row 2"
    ):
        NonLinCFA().fit(dask_array(X), y, dask_array(np.where(np.arange(1500) == 402, -1.0, 1.0)))
    with pytest.raises(ValueError, match="X has no rows with a weight above 0"):
        NonLinCFA().fit(dask_array(X), y, np.zeros(1500))
    with pytest.raises(ValueError, match="X has no rows with a weight above 0"):
        NonLinCFA(0.1, cv=None).fit(da.empty((0, 3)), np.empty(0))
    with pytest.raises(ValueError, match="2 features or more"):
        NonLinCFA().fit(dask_array(X)[:, :1], y)
    with pytest.raises(ValueError, match="X has 3 columns, and 9 are expected"):
        NonLinCFA().fit(X, y).transform(dask_array(X)[:, :3])
    with pytest.raises(ValueError, match="set_output makes frames in memory"):
        NonLinCFA().fit(X, y).set_output(transform="pandas").transform(dask_array(X))
    with pytest.raises(ValueError, match="more than 1,000 different labels"):
        NonLinCFA(0.01).fit(dask_array(X), np.arange(1500).astype(str))


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (MutualCFA().fit, "MutualCFA counts rows"),
        (ToleranceCV().fit, "ToleranceCV scores models on rows"),
        (ToleranceCV(GenLinCFA()).fit, "ToleranceCV scores models on rows"),
        (tolerance_path, "tolerance_path scores models on rows"),
        (stability, "stability draws rows"),
        (coterie.report.study, "Some rows are held out"),
        (coterie.report.compare, "Some rows are held out"),
        (NonLinCFA(aggregation="max").fit, "aggregation='max' looks at the rows of each group"),
        (NonLinCFA(missing="pairwise").fit, "missing='pairwise' looks at the rows that have a"),
        (NonLinCFA(inputs=np.abs).fit, "inputs is a function of rows"),
        (GenLinCFA(bound="fitted").fit, "bound='fitted' fits models to rows"),
        (NonLinCFA().partial_fit, "partial_fit counts rows"),
    ],
)
@pytest.mark.parametrize("kind", ["array", "frame", "field"])
def test_what_needs_rows_in_memory_is_refused(columns, use, says, kind):
    X, y = columns
    table = {
        "array": dask_array(X),
        "frame": dask_frame(pd.DataFrame(X, columns=NAMES)),
        "field": xr.DataArray(dask_array(X), dims=("time", "cell")),
    }[kind]
    with pytest.raises(ValueError, match=f"^{says}.*, and those of X are not in memory: load X"):
        use(table, y)


def test_what_else_needs_rows_is_refused(columns):
    X, y = columns
    reducer = NonLinCFA().fit(X, y)
    with pytest.raises(ValueError, match="This looks at rows, and those of X are not in memory"):
        coterie.report.summarise(reducer, dask_array(X), y)
    with pytest.raises(TypeError, match=r"X is a table of Dask, and .*: call compute\(\) first"):
        Moments().update(dask_array(X), y)
    with pytest.raises(ValueError, match="groups needs the rows in memory: load X first"):
        NonLinCFA(0.1, cv=GroupKFold(2)).fit(dask_array(X), y, groups=np.arange(1500))
    with pytest.raises(ValueError, match="offset needs the rows in memory: load X first"):
        GenLinCFA().fit(dask_array(X), y, offset=y)
    with pytest.raises(ValueError, match="cv must be None or a number of 2 or more"):
        NonLinCFA(0.1, cv=KFold(3)).fit(dask_array(X), y)


def test_blas_has_its_threads_back_after_a_fit(columns):
    from threadpoolctl import threadpool_info

    X, y = columns
    before = [pool["num_threads"] for pool in threadpool_info()]
    with dask.config.set(scheduler="threads", num_workers=4):
        NonLinCFA().fit(dask_array(X), y)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_known_groups_are_found():
    X, y, labels = make_groups(3000, 30, 3, correlation=0.9, noise=1.0, random_state=0)
    frame = pd.DataFrame(X, columns=[f"station {i}" for i in range(30)]).assign(rain=y)
    table = dd.from_pandas(frame, npartitions=6)
    reducer = NonLinCFA().fit(table, "rain")
    assert reducer.labels_.tolist() == labels.tolist()
    groups = reducer.transform(table)
    assert groups.columns[0].startswith("mean(station 0")
    assert groups.compute().shape == (3000, 3)
