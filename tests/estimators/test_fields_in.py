"""Labelled fields go in, and come back as labelled fields."""

import pickle

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from coterie import GenLinCFA, NonLinCFA, ToleranceCV, field_to_graph, stability


def a_field(rng, n_samples=200, *, land=True):
    """West and east of a globe, that meet at longitude 0."""
    west, east = rng.normal(size=(2, n_samples))
    side = np.array([0, 0, 1, 1, 1, 0])
    values = np.stack([west, east])[side].T[:, None, :] + 0.5 * rng.normal(size=(n_samples, 3, 6))
    if land:
        values[:, 1, 3] = np.nan
    coords = {
        "time": pd.date_range("2000-01-01", periods=n_samples),
        "lat": [-10.0, 0.0, 10.0],
        "lon": np.arange(0, 360, 60),
    }
    field = xr.DataArray(values, coords, ("time", "lat", "lon"), "sst")
    index = xr.DataArray(west - east + rng.normal(size=n_samples), {"time": field.time}, ("time",))
    return field, index


def table_of(field):
    stacked = field.transpose("time", ...).values.reshape(field.sizes["time"], -1)
    return stacked[:, ~np.isnan(stacked).all(axis=0)]


@pytest.mark.parametrize(
    "reducer",
    [
        NonLinCFA(),
        NonLinCFA(0.02, search="best", scale=True),
        GenLinCFA(0.9),
        NonLinCFA(signs=True),
    ],
    ids=str,
)
def test_a_field_is_the_table_of_its_cells(rng, reducer):
    field, index = a_field(rng)
    expected = reducer.fit(table_of(field), index.values)
    labels, trace, Z = expected.labels_, expected.trace_, expected.transform(table_of(field))
    reducer.fit(field, index)
    assert reducer.n_features_in_ == 17
    np.testing.assert_array_equal(reducer.labels_, labels)
    np.testing.assert_array_equal(reducer.trace_, trace)
    got = reducer.transform(field)
    np.testing.assert_allclose(got.values, Z)
    assert got.dims == ("time", "group")
    assert got.time.equals(field.time)
    assert got.group.values.tolist() == reducer.get_feature_names_out().tolist()


def test_groups_and_coefficients_are_maps(rng):
    field, index = a_field(rng)
    graph = field_to_graph(field, periodic="lon")
    reducer = NonLinCFA(connectivity=graph).fit(field, index)
    labels = reducer.as_field()
    assert labels.dims == ("lat", "lon")
    assert np.isnan(labels.sel(lat=0.0, lon=180))
    west = labels.sel(lon=[0, 60, 300])
    assert (west == 0).all()
    assert (labels.sel(lon=[120, 240]) == 1).all()
    effects = LinearRegression().fit(reducer.transform(field), index).coef_
    shown = reducer.as_field(effects)
    assert (shown.sel(lon=60) > 0).all()
    assert (shown.sel(lon=120) < 0).all()


def test_without_a_seam_the_west_would_fall_apart(rng):
    field, index = a_field(rng)
    closed = NonLinCFA(np.inf, connectivity=field_to_graph(field.sel(lon=[0, 300]), periodic="lon"))
    assert closed.fit(field.sel(lon=[0, 300]), index).n_groups_ == 1
    graph = field_to_graph(field, distance={"lon": 60.0, "lat": 10.0})
    around = field_to_graph(field, distance={"lon": 60.0, "lat": 10.0}, periodic="lon")
    assert around.nnz > graph.nnz


def test_names_tell_where_a_cell_lies(rng):
    field, index = a_field(rng)
    reducer = NonLinCFA(keep=["sst(lat=-10, lon=60)"]).fit(field, index)
    assert "sst(lat=-10, lon=60)" in reducer.get_feature_names_out()


def test_the_way_back_is_a_field(rng):
    field, index = a_field(rng)
    reducer = NonLinCFA().fit(field, index)
    back = reducer.inverse_transform(reducer.transform(field))
    assert back.dims == field.dims
    assert back.sizes == field.sizes
    assert np.isnan(back.sel(lat=0.0, lon=180)).all()
    expected = reducer.inverse_transform(reducer.transform(field).values)
    np.testing.assert_allclose(table_of(back), expected)


def test_datasets_have_a_map_for_each_variable(rng):
    field, index = a_field(rng)
    both = xr.Dataset({"sst": field, "wind": -field + 0.1, "nino": field.mean(("lat", "lon"))})
    reducer = NonLinCFA(signs=True).fit(both, index)
    labels = reducer.as_field()
    assert set(labels.data_vars) == {"sst", "wind", "nino"}
    assert labels["nino"].ndim == 0
    assert reducer.transform(both).sizes == {"time": 200, "group": reducer.n_groups_}
    assert set(reducer.inverse_transform(reducer.transform(both)).data_vars) == set(both.data_vars)


def test_the_order_of_dimensions_does_not_matter_after_fit(rng):
    field, index = a_field(rng)
    reducer = NonLinCFA().fit(field.transpose("lat", "lon", "time"), index)
    straight = NonLinCFA().fit(field, index)
    np.testing.assert_array_equal(reducer.labels_, straight.labels_)
    turned = reducer.transform(field.transpose("lon", "time", "lat"))
    np.testing.assert_allclose(turned, straight.transform(field))


def test_set_output_and_pickle(rng):
    field, index = a_field(rng)
    reducer = NonLinCFA().fit(field, index)
    again = pickle.loads(pickle.dumps(reducer))
    xr.testing.assert_identical(again.as_field(), reducer.as_field())
    frame = reducer.set_output(transform="pandas").transform(field)
    assert list(frame.columns) == reducer.get_feature_names_out().tolist()


def test_weights_gaps_and_several_targets(rng):
    field, index = a_field(rng)
    holed = field.where(xr.DataArray(rng.random(field.shape) > 0.1, dims=field.dims))
    targets = xr.concat([index, -index], "kind")  # samples come second
    weights = rng.integers(0, 3, size=200)
    reducer = NonLinCFA(missing="pairwise").fit(holed, targets, sample_weight=weights)
    table = table_of(holed)
    expected = NonLinCFA(missing="pairwise").fit(table, targets.values.T, sample_weight=weights)
    np.testing.assert_array_equal(reducer.labels_, expected.labels_)
    assert reducer.transform(holed).shape == (200, reducer.n_groups_)


def test_labelled_targets_are_paired_by_their_labels(rng):
    field, index = a_field(rng)
    expected = NonLinCFA().fit(field, index).trace_
    shuffled = index.isel(time=rng.permutation(200))
    np.testing.assert_array_equal(NonLinCFA().fit(field, shuffled).trace_, expected)
    later = index.assign_coords(time=index.time + np.timedelta64(1, "D"))
    with pytest.raises(ValueError, match=r"different coordinates along 'time'\. Align them"):
        NonLinCFA().fit(field, later)
    np.testing.assert_array_equal(NonLinCFA().fit(field, later.values).trace_, expected)


@pytest.mark.parametrize("kind", ["samples last", "dataset"])
def test_tuning_and_stability_take_fields(rng, kind):
    field, index = a_field(rng)
    X = field.transpose("lat", "lon", "time") if kind == "samples last" else field.to_dataset()
    tuned = ToleranceCV(tolerances=[0.02, 0.5], cv=3).fit(X, index)
    assert tuned.as_field().sizes == {"lat": 3, "lon": 6}
    plain = ToleranceCV(tolerances=[0.02, 0.5], cv=3).fit(table_of(field), index.values)
    frame = tuned.set_output(transform="polars").transform(X)
    assert frame.shape == (len(index), tuned.n_groups_)
    tuned.set_output(transform="default")
    np.testing.assert_allclose(tuned.path_.cv_scores, plain.path_.cv_scores)
    result = stability(X, index, estimator=NonLinCFA(0.02), n_resamples=3, random_state=0)
    assert result.resampled.shape == (3, 17)


def test_samples_may_be_called_groups(rng):
    field, index = a_field(rng)
    reducer = NonLinCFA().fit(field.rename(time="group"), index.values)
    assert reducer.transform(field.rename(time="group")).dims == ("group", "groups")


def test_in_a_pipeline_that_is_scored(rng):
    field, index = a_field(rng)
    scores = cross_val_score(
        make_pipeline(NonLinCFA(), LinearRegression()), field, index.values, cv=4
    )
    assert scores.mean() > 0.4


def test_a_table_after_a_field_and_a_field_after_a_table(rng):
    field, index = a_field(rng)
    reducer = NonLinCFA().fit(field, index)
    np.testing.assert_allclose(reducer.transform(table_of(field)), reducer.transform(field))
    reducer.fit(table_of(field), index.values)
    assert not hasattr(reducer, "as_field")
    with pytest.raises(ValueError, match="X is an xarray field, and fit saw a table"):
        reducer.transform(field)


def test_bad_fields(rng):
    field, index = a_field(rng)
    reducer = NonLinCFA().fit(field, index)
    with pytest.raises(ValueError, match="'lon'"):
        reducer.transform(field.isel(lon=slice(3)))
    with pytest.raises(ValueError, match="values must have one entry per group, 2, got shape"):
        reducer.as_field([1.0])
    with pytest.raises(ValueError, match="sst"):
        NonLinCFA().fit(field.where(field > 0), index)
    with pytest.raises(TypeError, match="y is a Dataset"):
        NonLinCFA().fit(field, xr.Dataset({"y": index}))
    with pytest.raises(ValueError, match="dimension"):
        NonLinCFA().fit(field, index.rename(time="day"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        NonLinCFA().fit(field, index[:-1])
    with pytest.raises(TypeError, match="must hold real numbers"):
        NonLinCFA().fit(field.astype(str), index)
