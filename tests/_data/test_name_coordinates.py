"""Names tell where features lie, and say nothing where they do not."""

import numpy as np
import pytest

from coterie._data.name_coordinates import axis_from_names, plane_from_names


@pytest.mark.parametrize(
    ("form", "axis"),
    [
        ("{}", ""),
        ("nm_{}", "nm"),
        ("{} cm-1", "cm-1"),
        ("ch_{:03}", "ch"),
        ("lag({})", "lag"),
        ("abs(wavelength={})", "wavelength"),
        ("B2_{}", "B"),
    ],
)
def test_numbers_that_rise_are_an_axis(form, axis):
    numbers = np.arange(900, 930, 2)
    found = axis_from_names([form.format(number) for number in numbers])
    assert found.name == axis
    assert found.positions.tolist() == numbers.tolist()


def test_numbers_that_fall_are_an_axis():
    assert axis_from_names([str(4000.5 - 2 * k) for k in range(20)]).positions[0] == 4000.5


@pytest.mark.parametrize(
    "names",
    [
        [str(k) for k in range(7)],
        ["a", "b", "c", "d", "e", "f", "g", "h", "i"],
        [f"x{k % 5}" for k in range(10)],
        [f"x{k}_y{k}" for k in range(10)],
        [*(f"nm{k}" for k in range(9)), "age9"],
    ],
)
def test_other_names_are_no_axis(names):
    assert axis_from_names(names) is None


@pytest.mark.parametrize(
    "form", ["w_lon{x}_lat{y}", "lat={y}, lon={x}", "flu_d83_x{x}_y{y}", "E{x} N{y}"]
)
def test_coordinates_are_told_by_the_words_before_them(form):
    places = [(120.5, -30.0), (122.5, 0.0), (-5.0, 7.25)]
    plane = plane_from_names([form.format(x=x, y=y) for x, y in places])
    assert list(zip(plane.across, plane.up, strict=True)) == places


@pytest.mark.parametrize(
    "names", [["a", "b"], ["lon1_lat2", "age"], ["lon1_lat2", "x1_y2"], ["lon5"], []]
)
def test_other_names_have_no_coordinates(names):
    assert plane_from_names(names) is None


def test_what_lies_at_the_same_places_is_told_apart():
    winds = [f"{wind}wnd_lon{x}_lat{y}" for wind in "uv" for y in (0, 5) for x in (1, 2)]
    assert plane_from_names(winds).layers == ["uwnd"] * 4 + ["vwnd"] * 4
    places = [f"flu_lag{lag}_d{8000 + k}_x{k}_y{2 * k}" for lag in (0, 1) for k in range(20)]
    assert plane_from_names(places).layers == ["flu lag0"] * 20 + ["flu lag1"] * 20
    assert plane_from_names(["x1_y2", "x2_y2"]).layers == ["", ""]


def test_long_names_take_no_longer_than_they_are():
    assert plane_from_names(["a" * 10**6]) is None
    assert axis_from_names(["a" * 10**6] * 10) is None


def test_numbers_that_are_not_finite_are_no_place():
    assert plane_from_names(["lon1e999_lat1", "lon2_lat2"]) is None
    assert axis_from_names([f"{k}e999" for k in range(1, 12)]) is None
