import itertools
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from coterie._data.fields import Layout, field_to_graph, is_field, sample_dim_of


def sea(rng, n_lat=3, n_lon=4, land=((0, 1), (2, 3))):
    """Six months of a field of which some cells are land."""
    values = rng.normal(size=(6, n_lat, n_lon))
    for lat, lon in land:
        values[:, lat, lon] = np.nan
    coords = {
        "time": pd.date_range("2000-01-01", periods=6, freq="MS"),
        "lat": np.linspace(-30.0, 30.0, n_lat),
        "lon": 120 + 2.5 * np.arange(n_lon),
        "month": ("time", np.arange(1, 7)),
        "level": 850.0,
    }
    dims = ("time", "lat", "lon")
    return xr.DataArray(values, coords, dims, name="sst", attrs={"units": "K"})


def weather(rng):
    """Variables on different dimensions, one of them a single series."""
    wind = sea(rng, land=())
    return xr.Dataset(
        {
            "sst": sea(rng),
            "wind": wind.transpose("lon", "time", "lat"),
            "profile": wind.isel(lon=0, drop=True),
            "nino": wind.isel(lat=0, lon=0, drop=True),
        }
    )


fields = pytest.mark.parametrize("make", [sea, weather])


def variables_of(field):
    return list(field.data_vars.values()) if isinstance(field, xr.Dataset) else [field]


@pytest.mark.parametrize("X", [np.zeros((2, 2)), pd.DataFrame({"a": [1]}), None, "DataArray"])
def test_other_things_are_no_fields(X):
    assert not is_field(X)


@fields
def test_data_arrays_and_datasets_are_fields(rng, make):
    assert is_field(make(rng))


def test_asking_for_a_field_does_not_import_xarray():
    code = (
        "import sys; from coterie._data.fields import is_field; "
        "assert not is_field([1]); assert 'xarray' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@fields
def test_the_table_has_a_column_for_each_cell_with_a_value(rng, make):
    field = make(rng)
    layout = Layout.of(field, "time")
    expected = []
    for variable in variables_of(field):
        dims = [dim for dim in variable.dims if dim != "time"]
        for cell in itertools.product(*(range(variable.sizes[dim]) for dim in dims)):
            column = variable.isel(dict(zip(dims, cell))).values
            expected += [] if np.isnan(column).all() else [column]
    table = layout.table(field)
    assert (table == np.column_stack(expected)).all()
    assert table.shape == (6, layout.n_columns)


def test_gaps_in_a_cell_with_values_stay():
    field = xr.DataArray([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan]], dims=("time", "x"))
    layout = Layout.of(field, "time")
    np.testing.assert_array_equal(layout.table(field), [[1, np.nan], [np.nan, 2]])
    np.testing.assert_array_equal(layout.table(field * np.nan), np.full((2, 2), np.nan))


@fields
def test_a_table_goes_back_to_its_field(rng, make):
    field = make(rng)
    layout = Layout.of(field, "time")
    xr.testing.assert_identical(layout.unstacked(layout.table(field), field), field)


@fields
def test_without_a_field_the_samples_have_no_coordinates(rng, make):
    field = make(rng)
    layout = Layout.of(field, "time")
    back = layout.unstacked(layout.table(field))
    xr.testing.assert_identical(back, field.drop_vars(["time", "month"]))


@fields
def test_a_field_of_values_has_them_as_its_table(rng, make):
    field = make(rng)
    layout = Layout.of(field, "time")
    values = rng.normal(size=layout.n_columns)
    there = layout.field(values)
    assert (layout.table(there.expand_dims("time")) == values).all()
    for variable, before in zip(variables_of(there), variables_of(field)):
        assert variable.dims == tuple(dim for dim in before.dims if dim != "time")
        xr.testing.assert_equal(variable.isnull(), before.isnull().all("time"))


@given(
    st.integers(0, 2**16),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(0, 3),
    st.sampled_from([np.float32, np.float64]),
)
def test_any_grid_goes_there_and_back(seed, sizes, place, dtype):
    rng = np.random.default_rng(seed)
    dims = [f"d{number}" for number in range(len(sizes))]
    values = rng.normal(size=(5, *sizes)).astype(dtype)
    values[:, rng.random(sizes) < 0.3] = np.nan
    values.flat[0] = 1
    field = xr.DataArray(values, dims=("time", *dims))
    place = min(place, len(dims))
    field = field.transpose(*dims[:place], "time", *dims[place:])
    layout = Layout.of(field, "time")
    table = layout.table(field)
    assert table.dtype == dtype
    xr.testing.assert_identical(layout.unstacked(table), field)
    assert len(set(layout.names)) == table.shape[1]


@fields
def test_the_order_of_dimensions_does_not_change_the_table(rng, make):
    field = make(rng)
    layout = Layout.of(field, "time")
    for dims in itertools.permutations(["time", "lat", "lon"]):
        assert (layout.table(field.transpose(*dims)) == layout.table(field)).all()


def test_columns_stand_in_the_order_of_the_dimensions(rng):
    field = sea(rng, 2, 2, land=()).transpose("lon", "lat", "time")
    assert Layout.of(field, "time").names == [
        "sst(lon=120, lat=-30)",
        "sst(lon=120, lat=30)",
        "sst(lon=122.5, lat=-30)",
        "sst(lon=122.5, lat=30)",
    ]


@fields
def test_labels_become_a_map(rng, make):
    field = make(rng)
    layout = Layout.of(field, "time")
    labels = np.arange(layout.n_columns)
    for variable in variables_of(layout.field(labels)):
        masked = variable.name == "sst"
        assert variable.dtype.kind == ("f" if masked else "i")
        assert bool(variable.isnull().any()) == masked
        assert variable.attrs == {}
        for dim in variable.dims:
            assert variable.indexes[dim].equals(field.indexes[dim])


def test_a_map_is_no_view_of_the_labels(rng):
    labels = np.arange(12)
    Layout.of(sea(rng, land=()), "time").field(labels).values[:] = -1
    assert (labels == np.arange(12)).all()


@fields
def test_groups_keep_the_samples(rng, make):
    field = make(rng)
    layout = Layout.of(field, "time")
    values = rng.normal(size=(6, 2)).astype(np.float32)
    grouped = layout.samples(values, field, np.array(["a", "b"], dtype=object))
    assert grouped.dims == ("time", "group")
    assert grouped.dtype == np.float32
    assert (grouped.values == values).all()
    assert list(grouped.group.values) == ["a", "b"]
    assert set(grouped.coords) == {"time", "month", "group"}
    assert grouped.indexes["time"].equals(field.indexes["time"])


def test_several_indices_of_the_samples_are_kept(rng):
    pairs = pd.MultiIndex.from_product([[2000, 2001], [1, 2, 3]], names=["year", "month"])
    coords = xr.Coordinates.from_pandas_multiindex(pairs, "time")
    field = sea(rng).drop_vars(["time", "month"]).assign_coords(coords)
    layout = Layout.of(field, "time")
    xr.testing.assert_identical(layout.unstacked(layout.table(field), field), field)
    assert layout.samples(np.zeros((6, 1)), field, ["a"]).sel(year=2000).sizes["month"] == 3


def test_coordinates_of_many_samples_are_not_those_of_cells(rng):
    field = sea(rng).assign_coords(height=(("time", "lat"), np.ones((6, 3))))
    layout = Layout.of(field, "time")
    assert "height" not in layout.field(np.zeros(layout.n_columns)).coords


def test_a_curved_grid_keeps_its_coordinates(rng):
    field = sea(rng).rename(lat="y", lon="x").drop_vars(["x", "y"])
    field = field.assign_coords(lat=(("y", "x"), rng.normal(size=(3, 4))))
    layout = Layout.of(field, "time")
    assert layout.names[:2] == ["sst(y=0, x=0)", "sst(y=0, x=2)"]
    back = layout.field(np.zeros(layout.n_columns))
    xr.testing.assert_identical(back.lat, field.lat)


def test_cells_may_be_stacked_already(rng):
    field = sea(rng).stack(cell=("lat", "lon"))
    layout = Layout.of(field, "time")
    assert layout.names[:2] == ["sst(cell=(-30.0, 120.0))", "sst(cell=(-30.0, 125.0))"]
    xr.testing.assert_identical(layout.unstacked(layout.table(field), field), field)
    labels = layout.field(np.arange(10)).unstack()
    xr.testing.assert_equal(labels, Layout.of(sea(rng), "time").field(np.arange(10)))


@fields
def test_a_layout_can_be_pickled(rng, make):
    field = make(rng)
    layout = pickle.loads(pickle.dumps(Layout.of(field, "time")))
    assert layout.names == Layout.of(field, "time").names
    xr.testing.assert_identical(layout.unstacked(layout.table(field), field), field)


def test_names_of_a_dataset(rng):
    names = Layout.of(weather(rng), "time").names
    assert names[0] == "sst(lat=-30, lon=120)"
    assert names[10] == "wind(lon=120, lat=-30)"
    assert names[22] == "profile(lat=-30)"
    assert names[-1] == "nino"
    assert len(set(names)) == len(names) == 10 + 12 + 3 + 1


@pytest.mark.parametrize(
    ("coordinates", "texts"),
    [
        ([-0.0, 0.1 + 0.2], ["0", "0.3"]),
        (np.float32([0.1, 122.5]), ["0.1", "122.5"]),
        ([4321567.0, 13358338.0], ["4321567", "13358338"]),
        ([5e-7, 5.2e-7], ["5e-07", "5.2e-07"]),
        ([1.00000001, 1.00000002], ["1.00000001", "1.00000002"]),
        ([0.3, 0.1 + 0.2], ["0.29999999999999999", "0.30000000000000004"]),
        ([1, 20], ["1", "20"]),
        (["north", "south"], ["north", "south"]),
        (np.array(["2000-01-01", "2001-01-01"], "M8[ns]"), ["2000-01-01", "2001-01-01"]),
        (
            np.array(["2000-01-01", "2000-01-01T06"], "M8[ns]"),
            ["2000-01-01", "2000-01-01T06:00"],
        ),
        (np.array([1, 2], "m8[D]").astype("m8[ns]"), ["1D", "2D"]),
        (np.array([24, 30], "m8[h]").astype("m8[ns]"), ["24h", "30h"]),
        (pd.period_range("2000-01", periods=2, freq="M"), ["2000-01", "2000-02"]),
        (["a", "a"], ["a#0", "a#1"]),
        ([2.5, 2.5], ["2.5#0", "2.5#1"]),
        (None, ["0", "1"]),
    ],
)
def test_coordinates_are_spelled_short_and_all_different(coordinates, texts):
    coords = {} if coordinates is None else {"x": coordinates}
    field = xr.DataArray(np.ones((3, 2)), coords, dims=("time", "x"))
    assert Layout.of(field, "time").names == [f"(x={text})" for text in texts]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float32", "float32"),
        (">f4", "float32"),
        ("float64", "float64"),
        ("float16", "float64"),
        ("int16", "float64"),
        ("bool", "float64"),
    ],
)
def test_single_precision_stays_and_the_rest_is_double(dtype, expected):
    field = xr.DataArray(np.ones((3, 2), dtype=dtype), dims=("time", "x"))
    assert Layout.of(field, "time").table(field).dtype == np.dtype(expected)


def test_a_variable_without_any_value_has_no_columns(rng):
    field = weather(rng)
    field["nino"] = field.nino * np.nan
    field["profile"] = field.profile * np.nan
    layout = Layout.of(field, "time")
    assert layout.n_columns == 22
    assert layout.table(field).shape == (6, 22)
    assert layout.field(np.zeros(22)).nino.isnull()
    assert field_to_graph(field).shape == (22, 22)


def test_further_variables_are_ignored(rng):
    field = weather(rng)
    layout = Layout.of(field[["nino", "sst"]], "time")
    assert (layout.table(field) == layout.table(field[["sst", "nino"]])).all()


def test_coordinates_may_differ_by_rounding_or_be_missing(rng):
    field = sea(rng)
    layout = Layout.of(field, "time")
    single = field.assign_coords(lon=(field.lon + 1e-6).astype(np.float32))
    assert (layout.table(single) == layout.table(field)).all()
    assert (layout.table(field.drop_vars(["lat", "lon"])) == layout.table(field)).all()


# Before xarray 2025.1, all dates become nanoseconds.
@pytest.mark.filterwarnings("ignore:Converting non-nanosecond precision")
def test_dates_are_the_same_in_any_unit(rng):
    days = np.array(["2000-01-01", "2000-01-02", "2000-01-03"], "M8[s]")
    field = sea(rng).assign_coords(lat=days)
    layout = Layout.of(field, "time")
    layout.table(field.assign_coords(lat=days.astype("M8[ns]")))
    with pytest.raises(ValueError, match="along 'lat', got 2000-01-02"):
        layout.table(field.assign_coords(lat=days + np.timedelta64(1, "D")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.isel(time=0), "dimensions 'time', 'lat', 'lon' as in fit, got dimensions 'l"),
        (lambda f: f.rename(lon="x"), "got dimensions 'time', 'lat', 'x'"),
        (lambda f: f.isel(lat=[0, 1]), "size 3 along 'lat' as in fit, got 2"),
        (lambda f: f.isel(lat=[2, 1, 0]), "along 'lat', got 30.0 in place of -30.0"),
        (lambda f: f.assign_coords(lon=f.lon + 1), "along 'lon', got 121.0 in place of 120.0"),
        (lambda f: f.assign_coords(lon=list("abcd")), "along 'lon', got a in place of 120.0"),
    ],
)
@fields
def test_another_grid_than_in_fit_gets_one_sentence(rng, make, change, message):
    field = make(rng)
    with pytest.raises(ValueError, match=f"^Variable 'sst' must have .*{message}"):
        Layout.of(field, "time").table(change(field))


def test_a_missing_variable_gets_one_sentence(rng):
    field = weather(rng)
    layout = Layout.of(field, "time")
    with pytest.raises(ValueError, match="The Dataset lacks variable 'sst', seen in fit"):
        layout.table(field.drop_vars("sst"))


def test_another_kind_than_in_fit_gets_one_sentence(rng):
    array, dataset = sea(rng), weather(rng)
    with pytest.raises(TypeError, match="X must be a DataArray as in fit, got Dataset"):
        Layout.of(array, "time").table(dataset)
    with pytest.raises(TypeError, match="X must be a Dataset as in fit, got ndarray"):
        Layout.of(dataset, "time").table(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([["a", "b"]]), "<U1"),
        (np.array([["a", 1.0]], dtype=object), "object"),
        (np.zeros((1, 2), "M8[ns]"), "datetime64"),
        (np.zeros((1, 2), "m8[ns]"), "timedelta64"),
        (np.zeros((1, 2), complex), "complex128"),
    ],
)
def test_what_is_no_number_gets_one_sentence(values, kind):
    field = xr.DataArray(values, dims=("time", "x"), name="v")
    with pytest.raises(TypeError, match=f"Variable 'v' must hold real numbers, got {kind}"):
        Layout.of(field, "time")
    numbers = xr.DataArray(np.ones((1, 2)), dims=("time", "x"))
    with pytest.raises(TypeError, match="must hold real numbers"):
        Layout.of(numbers, "time").table(field)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (xr.DataArray(np.ones(3), dims="time"), "The field must have dimensions for cells besides"),
        (xr.DataArray(np.ones((3, 2)), dims=("x", "y")), "must have dimension 'time' for the sam"),
        (xr.Dataset({"a": ("x", [1.0])}), "Variable 'a' must have dimension 'time'.*got dimension"),
        (xr.Dataset(), "a Dataset without variables"),
        (xr.DataArray(np.full((3, 2), np.nan), dims=("time", "y")), "no cell with a value"),
        (xr.DataArray(np.ones((0, 2)), dims=("time", "y")), "no cell with a value"),
    ],
)
def test_a_field_without_columns_gets_one_sentence(field, message):
    with pytest.raises(ValueError, match=message):
        Layout.of(field, "time")


@pytest.mark.parametrize("function", [field_to_graph, sample_dim_of])
def test_what_is_no_field_gets_one_sentence(function):
    with pytest.raises(TypeError, match="must be an xarray DataArray or Dataset, got ndarray"):
        function(np.ones((3, 2)))


@pytest.mark.parametrize("method", ["field", "unstacked"])
def test_values_for_other_columns_get_one_sentence(rng, method):
    layout = Layout.of(sea(rng), "time")
    with pytest.raises(ValueError, match=r"size 10, one per column, got shape \(6, 9\)"):
        getattr(layout, method)(np.zeros((6, 9)))


@pytest.mark.parametrize(
    ("dims", "y", "expected"),
    [
        (("time", "lat"), None, "time"),
        (("lat", "time"), None, "lat"),
        (("lat", "time"), [1.0], "lat"),
        (("lat", "time"), xr.DataArray([1.0], dims="time"), "time"),
        (("lat", "time"), xr.DataArray([[1.0]], dims=("time", "target")), "time"),
        (("lat", "time"), xr.DataArray([[1.0]], dims=("time", "lat")), "lat"),
    ],
)
def test_the_target_says_where_the_samples_are(dims, y, expected):
    assert sample_dim_of(xr.DataArray(np.ones((2, 2)), dims=dims), y) == expected


def test_the_samples_of_a_dataset_lie_where_all_variables_do(rng):
    field = weather(rng)
    assert sample_dim_of(field) == "time"
    assert sample_dim_of(field[["wind", "sst"]]) == "lon"
    assert sample_dim_of(field[["wind", "sst"]], field.nino) == "time"


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (xr.DataArray(1.0), None, "no dimension that all variables share, for the samples"),
        (xr.DataArray([1.0], dims="time"), None, "dimensions for cells besides 'time'"),
        (
            xr.Dataset({"a": ("x", [1.0]), "b": ("z", [1.0])}),
            None,
            "no dimension that all variables share",
        ),
        (
            xr.DataArray([[1.0]], dims=("time", "x")),
            xr.DataArray([1.0], dims="year"),
            "y has dimension 'year', of which the field has none: it has dimensions 'time', 'x'",
        ),
        (
            xr.Dataset({"a": (("x", "t"), [[1.0]]), "b": ("x", [1.0])}),
            xr.DataArray([1.0], dims="t"),
            "Variable 'b' must have dimension 't' for the samples, got dimension 'x'",
        ),
    ],
)
def test_no_place_for_the_samples_gets_one_sentence(X, y, message):
    with pytest.raises(ValueError, match=message):
        sample_dim_of(X, y)


def brute_graph(field, near):
    """Neighbours by asking ``near(variable, cell, other variable, other cell)`` of all pairs."""
    cells = []
    for variable in variables_of(field):
        dims = [dim for dim in variable.dims if dim != "time"]
        for index in itertools.product(*(range(variable.sizes[dim]) for dim in dims)):
            cell = dict(zip(dims, index))
            if not variable.isel(cell).isnull().all():
                cells.append((variable, cell))
    return np.array(
        [
            [a != b and near(*cells[a], *cells[b]) for b in range(len(cells))]
            for a in range(len(cells))
        ]
    )


@fields
@pytest.mark.parametrize("periodic", [(), "lon", ("lon",), {"lon": 10.0}])
def test_neighbours_are_one_step_apart(rng, make, periodic):
    field = make(rng)

    def near(_, cell, __, other):
        def step(dim):
            apart = abs(cell[dim] - other[dim])
            return min(apart, 4 - apart) if dim == "lon" and periodic else apart

        return cell.keys() == other.keys() and all(step(dim) <= 1 for dim in cell)

    graph = field_to_graph(field, "time", periodic=periodic)
    assert ((graph.toarray() > 0) == brute_graph(field, near)).all()


@fields
@pytest.mark.parametrize("periodic", [(), "lon", {"lon": 10.0}, {"lon": 7.0, "lat": 80.0}])
@pytest.mark.parametrize(
    "distance", [{"lon": 2.5}, {"lon": 5.0, "lat": 30.0}, {"lon": 0, "lat": np.inf}, {}]
)
def test_neighbours_are_within_a_distance_or_a_step(rng, make, distance, periodic):
    field = make(rng)
    periods = {"lon": 360.0} if periodic == "lon" else dict(periodic)

    def near(one, cell, another, other):
        def apart(dim):
            if dim in distance:
                step = abs(float(one[dim][cell[dim]]) - float(another[dim][other[dim]]))
                period = periods.get(dim, np.inf)
            else:
                step = abs(cell[dim] - other[dim])
                period = one.sizes[dim] if dim in periods else np.inf
            return step if np.isinf(period) else min(step % period, period - step % period)

        return cell.keys() == other.keys() and all(
            apart(dim) <= distance.get(dim, 1) for dim in cell
        )

    graph = field_to_graph(field, "time", distance=distance, periodic=periodic)
    assert ((graph.toarray() > 0) == brute_graph(field, near)).all()


def test_the_graph_has_the_shape_of_the_table(rng):
    field = weather(rng)
    layout = Layout.of(field, "time")
    graph = field_to_graph(field)
    assert graph.shape == (layout.n_columns, layout.n_columns)
    assert (graph != graph.T).nnz == 0
    assert graph.diagonal().sum() == 0


def test_the_first_dimension_holds_the_samples_unless_named(rng):
    field = sea(rng, land=())
    graph = field_to_graph(field.transpose("lat", "time", "lon"), "time")
    assert (graph != field_to_graph(field)).nnz == 0
    assert field_to_graph(field.transpose("lat", "time", "lon")).shape == (24, 24)


def test_steps_do_not_care_how_wide_they_are(rng):
    field = sea(rng, land=())
    uneven = field.assign_coords(lat=[-80.0, -79.0, 90.0], lon=list("abcd"))
    assert (field_to_graph(uneven) != field_to_graph(field)).nnz == 0


@pytest.mark.parametrize("dtype", ["float32", ">f4", "float64"])
def test_decimal_steps_count_in_single_precision(dtype):
    longitudes = (np.arange(36) / 10).astype(dtype)
    field = xr.DataArray(np.ones((3, 36)), {"lon": longitudes}, ("time", "lon"))
    measured = field_to_graph(field, distance={"lon": 0.1}, periodic={"lon": 3.6})
    assert (measured != field_to_graph(field, periodic="lon")).nnz == 0


def test_series_without_a_place_are_neighbours(rng):
    series = sea(rng).isel(lat=0, lon=0, drop=True)
    field = xr.Dataset({"a": series, "b": series, "map": sea(rng)})
    graph = field_to_graph(field).toarray()
    assert graph[0].tolist() == [0, 1] + [0] * 10
    assert graph[1].tolist() == [1, 0] + [0] * 10


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"distance": 1}, TypeError, "distance must be None or a dict .* got 1"),
        (
            {"distance": {"lat": -1}},
            ValueError,
            "distance along 'lat' must be .* 0 or more, got -1",
        ),
        ({"distance": {"lat": np.nan}}, ValueError, "distance along 'lat' must be .* got nan"),
        ({"distance": {"lat": "far"}}, ValueError, "distance along 'lat' must be .* got 'far'"),
        ({"distance": {"site": 1}}, ValueError, "distance along 'site' needs .* got .* Leave it"),
        (
            {"distance": {"time": 1}},
            ValueError,
            "distance names 'time', which is not a dimension of the cells: these have .*'lat'",
        ),
        ({"periodic": "lno"}, ValueError, "periodic names 'lno', which is not a dimension"),
        ({"periodic": 360}, TypeError, "periodic must name dimensions, or .* got 360"),
        ({"periodic": {"lon": 0}}, ValueError, "periodic along 'lon' must be .* 0, got 0"),
        ({"periodic": {"lon": None}}, ValueError, "periodic along 'lon' must be .* got None"),
        ({"sample_dim": "year"}, ValueError, "must have dimension 'year' for the samples"),
    ],
)
def test_bad_options_get_one_sentence(rng, options, error, message):
    field = sea(rng).expand_dims(site=list("ab"), axis=-1)
    with pytest.raises(error, match=message):
        field_to_graph(field, **options)
