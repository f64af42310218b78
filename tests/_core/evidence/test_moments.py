from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie._core.evidence import BatchMoments, GramSource, RowSets
from coterie._core.evidence._pairs import without_rounding


def assert_equal(a, b):
    assert a.count == b.count
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(a.scatter, b.scatter, rtol=1e-9, atol=1e-9)


def test_scatter_is_n_times_the_population_covariance(rng):
    table = rng.normal(size=(30, 4))
    moments = BatchMoments.of(table)
    np.testing.assert_allclose(moments.scatter, 30 * np.cov(table.T, ddof=0))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 2**16))
def test_chunking_does_not_change_the_moments(sizes, seed):
    table = np.random.default_rng(seed).normal(size=(sum(sizes), 3))
    chunks = np.split(table, np.cumsum(sizes)[:-1])
    assert_equal(reduce(add, map(BatchMoments.of, chunks)), BatchMoments.of(table))


def test_addition_does_not_depend_on_the_order(rng):
    a, b, c = (BatchMoments.of(rng.normal(size=(n, 2))) for n in (3, 10, 1))
    assert_equal((a + b) + c, c + (b + a))


def test_far_means_do_not_cancel(rng):
    table = rng.normal(size=(40, 2))
    far = BatchMoments.of(table[:20] + 1e9) + BatchMoments.of(table[20:] + 1e9)
    np.testing.assert_allclose(far.scatter, BatchMoments.of(table).scatter, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-40, 1e-9, 1.0, 1e9, 1e40])
def test_scatter_is_counted_in_the_square_of_the_unit(rng, unit):
    table = rng.normal(size=(30, 3)) + 2
    scatter = BatchMoments.of(unit * table).scatter
    np.testing.assert_allclose(scatter / unit / unit, 30 * np.cov(table.T, ddof=0), rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-40, 1.0, 1e40])
def test_what_is_rounding_in_one_unit_is_rounding_in_every_unit(unit):
    # Doubles have 16 digits; of a sum of squares, the last three are rounding.
    scatter, magnitude = unit * np.array([5e-14, 2e-13, 1.0]), np.full(3, unit)
    assert (without_rounding(scatter, magnitude) > 0).tolist() == [False, True, True]


def step_by(step, axis):
    """Makes a view with gaps in memory, or turned round, of the same values."""

    def view(table):
        wide = np.repeat(table, abs(step), axis=axis)
        wide = np.flip(wide, axis) if step < 0 else wide
        return wide[::step] if axis == 0 else wide[:, ::step]

    return view


LAYOUTS = {
    "by row": np.ascontiguousarray,
    "by column": np.asfortranarray,
    "some columns": lambda table: np.hstack([table, table])[:, : table.shape[1]],
    "some rows": lambda table: np.asfortranarray(np.vstack([table, table]))[: len(table)],
    "every other column": step_by(2, 1),
    "every other row by column": lambda table: step_by(2, 1)(table.T).T,
    "columns turned round": step_by(-1, 1),
    "rows turned round": step_by(-1, 0),
}


# By which order a processor adds, and so where two sums differ, depends on the shape.
@pytest.mark.parametrize("shape", [(7, 5), (48, 13), (100, 130)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scatters_are_symmetric_to_the_last_bit_wherever_rows_lie(rng, layout, shape):
    plain = rng.normal(size=shape) + rng.normal(size=shape[1])
    targets = rng.normal(size=(len(plain), 2))
    table = LAYOUTS[layout](plain)
    np.testing.assert_array_equal(table, plain)
    weights = rng.random(len(plain)) + 0.5
    rows = RowSets.all_rows()
    scatters = {
        "of rows": BatchMoments.of(table).scatter,
        "of rows far from 0": BatchMoments.of(table + 1e6).scatter,
        "of weighted rows": BatchMoments.of(table, weights=weights).scatter,
        "of a table": GramSource.of_table(table, rows).scatters[0],
        "of columns": GramSource.of_columns(table, targets, rows).scatters[0],
    }
    for name, scatter in scatters.items():
        np.testing.assert_array_equal(scatter, scatter.T, err_msg=name)
    centred = plain - plain.mean(axis=0)
    np.testing.assert_allclose(scatters["of rows"], centred.T @ centred, atol=1e-10)
