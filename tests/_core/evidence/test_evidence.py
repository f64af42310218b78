"""Every source of pair moments keeps the same promise: it equals building the columns."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, TimeSeriesSplit

from coterie._core.aggregations import AGGREGATIONS, Custom
from coterie._core.evidence import ComputeOptions, RowSets, build_evidence
from coterie._core.evidence._columns import CONSTANT
from coterie._core.evidence._rows import unless_constant

SPLITS = {"all rows": None, "folds": KFold(3), "time": TimeSeriesSplit(3)}
AGGREGATES = {**AGGREGATIONS, "custom": Custom(lambda Z: Z.max(axis=1) - Z.sum(axis=1))}


def correlations(columns):
    """Correlations, with 0 where a column is constant."""
    spread = columns.std(axis=0)
    columns = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return columns.T @ columns / len(columns)


def correlations_of(pairs, at):
    get = {
        name: np.broadcast_to(getattr(pairs, name), pairs.uv.shape)[at] for name in pairs._fields
    }
    root = {c: np.sqrt(get[c + c]) for c in "uvwy"}
    return {ab: get[ab] / (root[ab[0]] * root[ab[1]]) for ab in ("uv", "uy", "vy", "wy")}


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("name", AGGREGATES)
def test_moments_equal_those_of_the_columns(rng, name, splits, engine):
    X, y = rng.normal(size=(30, 6)) + 3, rng.normal(size=30)
    aggregation, splitter = AGGREGATES[name], SPLITS[splits]
    chosen = [] if splitter is None else list(splitter.split(X))
    rows = RowSets.of_splits(chosen, 30) if chosen else RowSets.all_rows()
    evidence = build_evidence(X, y[:, None], aggregation, rows, ComputeOptions(engine))
    group = evidence.joined(evidence.alone(1), np.array([4, 0]))
    pairs = evidence.pairs(group, np.array([2, 3, 5]))
    u = aggregation.values(X[:, [1, 4, 0]])
    sets = [((), slice(None))] + [
        ((side, number), rows_)
        for number, split in enumerate(chosen)
        for side, rows_ in enumerate(split)
    ]
    for at, rows_ in sets[1:] if chosen else sets:
        for position, candidate in enumerate([2, 3, 5]):
            w = aggregation.values(X[:, [1, 4, 0, candidate]])
            expected = correlations(np.column_stack([u, X[:, candidate], w, y])[rows_])
            got = correlations_of(pairs, (*at, 0, position))
            np.testing.assert_allclose(got["uv"], expected[0, 1], atol=1e-12)
            np.testing.assert_allclose(got["uy"], expected[0, 3], atol=1e-12)
            np.testing.assert_allclose(got["vy"], expected[1, 3], atol=1e-12)
            # A merged principal component has no direction of its own.
            sign = np.sign(got["wy"] * expected[2, 3]) if name == "principal" else 1
            np.testing.assert_allclose(got["wy"], sign * expected[2, 3], atol=1e-9)


@pytest.mark.parametrize("name", AGGREGATES)
def test_joining_in_another_order_gives_the_same_group(rng, name):
    X, y = rng.normal(size=(25, 5)), rng.normal(size=25)
    evidence = build_evidence(X, y[:, None], AGGREGATES[name], RowSets.all_rows(), ComputeOptions())
    one = evidence.joined(evidence.joined(evidence.alone(0), np.array([1])), np.array([2]))
    other = evidence.joined(evidence.alone(2), np.array([0, 1]))
    candidates = np.array([3, 4])
    a = correlations_of(evidence.pairs(one, candidates), ())
    b = correlations_of(evidence.pairs(other, candidates), ())
    np.testing.assert_allclose(np.abs(a["wy"]), np.abs(b["wy"]), atol=1e-9)
    np.testing.assert_allclose(a["uv"], b["uv"], atol=1e-9)


def test_a_column_that_is_constant_within_a_fold_has_no_scatter_there(rng):
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    X[:10, 1] = 7.0
    rows = RowSets.of_splits(KFold(2).split(X), 20)
    for name in ("mean", "max"):
        evidence = build_evidence(X, y[:, None], AGGREGATIONS[name], rows, ComputeOptions())
        pairs = evidence.pairs(evidence.alone(0), np.array([1, 2]))
        assert pairs.vv[1, 0, 0, 0] == 0.0  # held-out rows of the first split
        assert pairs.vv[0, 0, 0, 0] > 0.0


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("name", ["mean", "sum", "sum_of_squares"])
def test_foreseen_groups_equal_groups_that_have_grown(rng, name, splits, engine):
    X, y = rng.normal(size=(30, 8)) + 3, rng.normal(size=30)
    splitter = SPLITS[splits]
    rows = RowSets.of_splits(splitter.split(X), 30) if splitter else RowSets.all_rows()
    evidence = build_evidence(X, y[:, None], AGGREGATES[name], rows, ComputeOptions(engine))
    group, links, candidates = evidence.alone(1), np.array([4, 0, 6]), np.array([2, 3, 5])
    along = evidence.pairs_along(group, links, candidates)
    in_turn = evidence.pairs_in_turn(evidence.alone(0), np.array([1, 3, 6]), np.array([2, 4, 5]))
    for place, (candidate, before) in enumerate([(2, [1]), (4, [1, 3]), (5, [1, 3])]):
        grown = evidence.pairs(
            evidence.joined(evidence.alone(0), np.array(before)), np.array([candidate])
        )
        for field in ("uv", "uy", "vy", "wy", "uu", "vv", "ww", "u", "v", "w"):
            each = np.broadcast_to(getattr(in_turn, field), in_turn.uv.shape)[..., place]
            alone = np.broadcast_to(getattr(grown, field), grown.uv.shape)[..., 0]
            np.testing.assert_allclose(each, alone, rtol=1e-9, atol=1e-9)
    singles = evidence.pairs_of_singles(links, candidates)
    for k in range(3):
        grown = evidence.pairs(evidence.joined(group, links[: k + 1]), candidates)
        alone = evidence.pairs(evidence.alone(int(links[k])), candidates)
        for many, one in ((along, grown), (singles, alone)):
            for field in ("uv", "uy", "vy", "wy", "uu", "vv", "ww", "u", "v", "w"):
                all_groups = np.broadcast_to(getattr(many, field), many.uv.shape)
                this_group = np.broadcast_to(getattr(one, field), one.uv.shape)
                np.testing.assert_allclose(
                    all_groups[..., k, :], this_group[..., 0, :], rtol=1e-9, atol=1e-9
                )


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize("at_once", [True, False])
def test_members_that_cancel_leave_no_scatter(rng, at_once, engine):
    # Their sum is 0 but for rounding, which is no evidence of anything.
    a, b, z, y = rng.normal(size=(4, 50))
    X = np.column_stack([a / 3, b / 7, -(a / 3 + b / 7), z])
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["sum"], RowSets.all_rows(), ComputeOptions(engine)
    )
    group = evidence.alone(0)
    for links in [np.array([1, 2])] if at_once else [np.array([1]), np.array([2])]:
        group = evidence.joined(group, links)
    assert evidence.pairs(group, np.array([3])).uu.item() == 0
    before = evidence.joined(evidence.alone(0), np.array([1]))
    pairs = evidence.pairs(before, np.array([2]))
    assert pairs.uu.item() > 0
    assert pairs.ww.item() == 0


@pytest.mark.parametrize("n", [1.0, 10.0, 1e6])
def test_a_column_whose_every_row_is_off_by_rounding_is_constant(n):
    mean, off = np.array([-273.15]), np.array([0.5, 2.0]) * CONSTANT * 273.15
    assert (unless_constant(n * off**2, np.array([n]), mean) > 0).tolist() == [False, True]


@pytest.mark.parametrize("engine", ["gram", "columns"])
@pytest.mark.parametrize(
    "units", [(1e-140, 1e-3, 1e140), (1e-150, 1e-149, 1e-10), (1e-90, 1e-89, 1e150)]
)
def test_of_columns_in_units_far_apart_a_sum_is_the_one_in_the_largest(rng, units, engine):
    a, b, c, y = rng.normal(size=(4, 40))
    X = np.column_stack([a, b, c]) * units
    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["sum"], RowSets.all_rows(), ComputeOptions(engine)
    )
    # Whoever opens the group, and whoever joins: the last column outweighs the others.
    for first, second in ((0, 1), (1, 0)):
        group = evidence.joined(evidence.alone(first), np.array([second]))
        got = correlations_of(evidence.pairs(group, np.array([2])), (0, 0))
        together = units[0] / units[1] * a + b
        expected = correlations(np.column_stack([together, c, y]))
        np.testing.assert_allclose(got["uy"], expected[0, 2], atol=1e-12)
        np.testing.assert_allclose(got["uv"], expected[0, 1], atol=1e-12)
        np.testing.assert_allclose(got["vy"], expected[1, 2], atol=1e-12)
        np.testing.assert_allclose(got["wy"], expected[1, 2], atol=1e-9)
    group = evidence.joined(evidence.alone(2), np.array([0]))
    got = correlations_of(evidence.pairs(group, np.array([1])), (0, 0))
    np.testing.assert_allclose(got["uy"], expected[1, 2], atol=1e-9)
    np.testing.assert_allclose(got["wy"], expected[1, 2], atol=1e-9)
