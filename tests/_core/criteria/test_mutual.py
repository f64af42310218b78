import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from coterie._core.criteria._mutual import (
    Mutual,
    MutualParsimony,
    information_lost,
    levels_for,
    strata,
)
from coterie._core.criteria._nonlin import in_sample_scores
from coterie._core.evidence import PairColumns, PairMoments

seeds = st.integers(0, 2**16)
kinds = st.sampled_from(["normal", "counts", "classes", "skewed"])


def standard(columns):
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-12)


def pairs_of(u, v, y, *, w=None, weights=None):
    """Columns as a criterion sees them; w is the mean of the standardised columns if not given."""
    u, v = standard(u[:, None]), standard(v[:, None] if v.ndim == 1 else v)
    w = u + v if w is None else w.reshape(v.shape)
    weights = np.ones(len(u)) if weights is None else weights
    weights = weights.reshape(len(u), -1)
    return PairColumns(u, v, standard(w), y[:, None], weights, np.zeros_like(u))


def drawn(kind, rng, n=150, m=4):
    """One column, m others that have to do with it, and a target."""
    common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, m + 1))
    X = common + own
    X = {
        "normal": X,
        "counts": rng.poisson(np.exp(X / 2)).astype(float),
        "classes": 1.0 * (X > 0.4),
        "skewed": np.exp(X),
    }[kind]
    y = common[:, 0] + own[:, 0] * own[:, 1] + rng.normal(size=n)
    return X[:, 0], X[:, 1:], np.round(y) if kind == "counts" else y


def lost(*columns, levels=3, **kwargs):
    return information_lost(pairs_of(*columns, **kwargs), levels)


def assert_same(left, right):
    np.testing.assert_allclose(left.nats, right.nats, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(left.freedom, right.freedom, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(left.n, right.n)


def bins(values, levels):
    """Bins of equal frequency, one row at a time; equal values share one."""
    rank = [
        sum(other < value for other in values) + sum(other == value for other in values) / 2
        for value in values
    ]
    return np.array([min(math.floor(levels * r / len(values)), levels - 1) for r in rank])


def bins_within(groups, values, levels):
    found = np.empty(len(values), dtype=int)
    for group in np.unique(groups):
        found[groups == group] = bins(values[groups == group], levels)
    return found


def divergence(level, stratum, inside, target):
    """Observed against expected, summed over strata, one row and one stratum at a time."""
    observed = Counter(zip(level, inside, target))
    expected = Counter()
    for s in np.unique(stratum):
        here = stratum == s
        for a, count_a in Counter(inside[here]).items():
            for b, count_b in Counter(target[here]).items():
                expected[level[here][0], a, b] += count_a * count_b / here.sum()
    total = sum(count * math.log(count / expected[cell]) for cell, count in observed.items())
    return total / len(level)


# Oracles


def test_with_few_values_of_w_it_is_a_difference_of_two_informations(rng):
    u, v = rng.normal(size=(2, 300))
    w = np.digitize(u + v, [-0.7, 0.7]).astype(float)
    y = np.sin(3 * (u - v)) + rng.normal(size=300)
    found = lost(u, v, y, w=w, levels=4)

    a, b, c = standard(np.column_stack([u, v, w])).T
    rest = (a - b) - np.dot(a - b, c) / np.dot(c, c) * c
    rest *= np.sign(np.sum(rest * np.abs(rest)))
    cells = 10 * w + bins_within(w, rest, 4)
    target = bins(y, 4)
    expected = mutual_info_score(target, cells) - mutual_info_score(target, w)
    np.testing.assert_allclose(found.nats, expected)


@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_it_compares_what_is_observed_with_what_is_expected(kind, rng):
    u, v, y = drawn(kind, rng, n=240, m=1)
    pairs = pairs_of(u, v, y)
    a, b, c = pairs.u[:, 0], pairs.v[:, 0], pairs.w[:, 0]
    rest = (a - b) - np.dot(a - b, c) / np.dot(c, c) * c
    rest *= np.sign(np.sum(rest * np.abs(rest)))
    stratum = strata(pairs.w.T, pairs.weights.T, 4)[0]
    inside, target, level = bins_within(stratum, rest, 4), bins(y, 4), bins(stratum, 4)
    expected = divergence(level, stratum, inside, target)
    np.testing.assert_allclose(information_lost(pairs, 4).nats, expected)


def test_opposites_cost_all_they_tell(rng):
    x = rng.normal(size=200)
    y = x**2 + rng.normal(size=200)
    expected = mutual_info_score(bins(x, 5), bins(y, 5))
    np.testing.assert_allclose(lost(x, -x, y, levels=5).nats, expected)


def test_noise_has_as_much_freedom_as_the_table_has_room(rng):
    x, y = rng.normal(size=(2, 200))
    found = lost(x, -x, y, levels=5)
    np.testing.assert_allclose(found.freedom, (5 - 1) * (5 - 1) * 200 / 199)


def test_a_merge_that_loses_nothing_costs_nothing_on_average(rng):
    prices = []
    for _ in range(200):
        u, v = standard(rng.normal(size=(500, 2))).T
        pairs = pairs_of(u, v, u + v + rng.normal(size=500))
        prices.append(Mutual(0.0, 3).verdict(pairs).price[0, 0])
    expected_of_noise = 3 * 2 * 2 / (2 * 500)
    assert abs(np.mean(prices)) < 0.1 * expected_of_noise
    assert min(prices) < 0 < max(prices)


# Laws


@given(seeds, kinds)
def test_no_price_is_negative(seed, kind):
    rng = np.random.default_rng(seed)
    found = lost(*drawn(kind, rng, n=40))
    assert (found.nats >= 0).all()
    assert (found.freedom >= 0).all()


@given(seeds, kinds)
def test_the_order_of_rows_does_not_matter(seed, kind):
    rng = np.random.default_rng(seed)
    columns = drawn(kind, rng)
    order = rng.permutation(len(columns[0]))
    assert_same(lost(*columns), lost(*(column[order] for column in columns)))


@given(seeds, kinds)
def test_weights_count_rows(seed, kind):
    rng = np.random.default_rng(seed)
    u, v, y = drawn(kind, rng)
    times = rng.integers(0, 4, size=len(u))
    weighted = pairs_of(u, v, y, weights=times.astype(float))
    repeated = PairColumns(*(np.repeat(column, times, axis=0) for column in weighted))
    repeated = repeated._replace(weights=np.ones_like(repeated.u))
    assert_same(information_lost(weighted, 3), information_lost(repeated, 3))


@given(seeds, kinds)
def test_each_candidate_has_rows_of_its_own(seed, kind):
    rng = np.random.default_rng(seed)
    u, v, y = drawn(kind, rng)
    counts = rng.random(v.shape) < 0.8
    together = pairs_of(u, v, y, weights=1.0 * counts)
    found = information_lost(together, 3)
    for j in range(v.shape[1]):
        alone = PairColumns(
            *(column[counts[:, j], min(j, column.shape[1] - 1), None] for column in together)
        )
        one = information_lost(alone, 3)
        np.testing.assert_allclose(found.nats[j], one.nats[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.freedom[j], one.freedom[0], rtol=1e-9, atol=1e-9)


@given(seeds, kinds)
def test_it_does_not_matter_who_else_is_asked(seed, kind):
    rng = np.random.default_rng(seed)
    pairs = pairs_of(*drawn(kind, rng))
    together = information_lost(pairs, 3)
    for j in range(len(together.n)):
        alone = information_lost(pairs._replace(v=pairs.v[:, [j]], w=pairs.w[:, [j]]), 3)
        assert (alone.nats[0], alone.freedom[0]) == (together.nats[j], together.freedom[j])


def test_nobody_asked_gets_no_answer(rng):
    pairs = pairs_of(*drawn("normal", rng))
    pairs = pairs._replace(v=pairs.v[:, :0], w=pairs.w[:, :0])
    assert Mutual(0.1, 3).verdict(pairs).price.shape == (1, 0)


@given(seeds)
def test_who_is_the_group_and_who_joins_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    u, v, y = drawn("normal", rng, m=1)
    assert_same(lost(u, v, y), lost(v[:, 0], u, y))


@given(seeds)
def test_a_curve_through_the_target_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    u, v, y = drawn("normal", rng)
    assert_same(lost(u, v, y), lost(u, v, np.exp(y / 2)))


@given(seeds)
def test_names_of_classes_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    u, v, y = drawn("normal", rng)
    classes = np.digitize(y, [-1.0, -0.5, 0.0, 1.0, 1.5])
    names = rng.permutation(6).astype(float)
    assert_same(lost(u, v, names[classes]), lost(u, v, 1.0 * classes))


@given(seeds, st.floats(-8, 8), st.floats(-6, 6), kinds)
def test_twins_cost_nothing_and_are_allowed_nothing(seed, exponent, shift, kind):
    rng = np.random.default_rng(seed)
    u, _, y = drawn(kind, rng)
    pairs = pairs_of(u, 10.0**exponent * (u + shift), y)
    for criterion in (Mutual(0.0, 3), MutualParsimony(0.0, 3)):
        price, allowance = criterion.verdict(pairs)
        assert price.tolist() == allowance.tolist() == [[0.0]]


def test_a_constant_costs_nothing(rng):
    x, y = rng.normal(size=(2, 100))
    constant = np.full(100, 273.15)
    assert lost(x, constant, y).nats == lost(constant, x, y).nats == 0


def test_a_merger_that_still_tells_both_costs_nothing(rng):
    u, v = rng.integers(0, 2, size=(2, 400)).astype(float)
    y = 1.0 * (u != v)
    one_to_one = Mutual(0.0, 4).verdict(pairs_of(u, v, y, w=u + 2 * v))
    assert one_to_one.price == 0
    assert Mutual(0.0, 4).verdict(pairs_of(u, v, u - v)).price > 0.3


def test_values_too_near_to_be_told_apart_do_not_tell_both(rng):
    u, v = rng.integers(0, 2, size=(2, 400)).astype(float)
    nearly = pairs_of(u, v, u - v, w=u + 1.001 * v)
    assert Mutual(0.0, 4).verdict(nearly).price > 0.3


def test_a_difference_loses_the_sum(rng):
    u, v = rng.normal(size=(2, 500))
    y = u + v + rng.normal(size=500)
    u, v = standard(u), standard(v)
    assert lost(u, v, y, w=u - v).nats > 4 * lost(u, v, y, w=u + v).nats


@given(seeds)
def test_a_tolerance_without_end_accepts_all_and_none_accepts_only_what_is_free(seed):
    rng = np.random.default_rng(seed)
    u, v, y = drawn("normal", rng)
    pairs = pairs_of(u, np.column_stack([u, v]), y)
    assert Mutual(np.inf, 3).verdict(pairs).accepts.all()
    assert MutualParsimony(np.inf, 3).verdict(pairs).accepts.all()
    accepts = MutualParsimony(0.0, 3).verdict(pairs).accepts[0]
    assert accepts.tolist() == [True] + [False] * v.shape[1]


def test_more_penalty_allows_more(rng):
    pairs = pairs_of(*drawn("normal", rng))
    allowances = [MutualParsimony(k, 3).verdict(pairs).allowance for k in (1.0, 2.0, 8.0, 40.0)]
    assert (np.diff(allowances, axis=0) > 0).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_rows_tell_nothing_but_do_no_harm(n, rng):
    weights = np.zeros(20)
    weights[:n] = 1.0
    pairs = pairs_of(*drawn("normal", rng, n=20), weights=weights)
    for criterion in (Mutual(0.1, 3), MutualParsimony(2.0, 3)):
        price, allowance = criterion.verdict(pairs)
        assert price.shape == allowance.shape == (1, 4)
        assert np.isfinite(price).all()
        assert np.isfinite(allowance).all()


# Stories


def is_accepted(u, v, y, **kwargs):
    n = len(y)
    pairs = pairs_of(u, v, y, **kwargs)
    return bool(MutualParsimony(math.log(n), levels_for(n)).verdict(pairs).accepts[0, 0])


def lines_accept(u, v, y):
    pairs = pairs_of(u, v, y)
    u, v, w, y = (standard(column) for column in pairs[:4])
    n, zero = np.array([float(len(y))]), np.zeros(1)
    products = [(u, u), (v, v), (w, w), (y, y), (u, v), (u, y), (v, y), (w, y)]
    scatters = [np.sum(a * b, axis=0) for a, b in products]
    apart, merged = in_sample_scores(PairMoments(n, zero, zero, zero, zero, *scatters))
    return bool(apart - merged <= math.log(n[0]) * (1 - apart) / (n - 3))


@pytest.mark.parametrize("n", [500, 2000])
def test_noisy_copies_are_accepted(n, rng):
    z = rng.normal(size=n)
    u, v = z + 0.5 * rng.normal(size=(2, n))
    assert is_accepted(u, v, z + rng.normal(size=n))
    assert is_accepted(u, v, (u + v) ** 2 + 0.1 * rng.normal(size=n))
    assert is_accepted(u, v, 1.0 * (u + v + rng.normal(size=n) > 0))
    assert is_accepted(u, v, rng.normal(size=n))


@pytest.mark.parametrize(
    "target",
    [
        lambda u, v, e: u**2 + v**2 + e,
        lambda u, v, e: u**2 + e,
        lambda u, v, e: u * v + 0.5 * e,
        lambda u, v, e: 1.0 * (u * v > 0),
        lambda u, v, e: 1.0 * (np.hypot(u, v) > 1),
        lambda u, v, e: (1 + np.abs(u - v)) * e,
    ],
    ids=["squares", "one square", "product", "exclusive or", "ring", "spread"],
)
def test_what_no_line_sees_is_kept_apart(target, rng):
    u, v, e = rng.normal(size=(3, 1000))
    y = target(u, v, e)
    assert lines_accept(u, v, y)
    assert not is_accepted(u, v, y)


def test_classes_without_an_order_are_kept_apart(rng):
    u, v = rng.normal(size=(2, 1000))
    sector = np.floor((np.arctan2(u, v) + math.pi) / (2 * math.pi / 5))
    y = np.array([3.0, 0.0, 4.0, 1.0, 2.0])[sector.astype(int) % 5]
    assert not is_accepted(u, v, y)


def test_counts_that_matter_alike_are_merged_and_others_kept_apart(rng):
    u, v = rng.poisson(2.0, size=(2, 1000)).astype(float)
    noise = rng.normal(size=1000)
    alike = standard(u) + standard(v)
    assert is_accepted(u, v, alike + noise)
    assert not is_accepted(u, v, u - v + noise)


def test_a_maximum_loses_the_minimum(rng):
    u, v, e = rng.normal(size=(3, 1000))
    u, v = standard(u), standard(v)
    assert is_accepted(u, v, np.maximum(u, v) + e, w=np.maximum(u, v))
    assert not is_accepted(u, v, np.minimum(u, v) + e, w=np.maximum(u, v))


def test_a_few_giants_do_not_blind_it(rng):
    z = rng.normal(size=2000)
    u, v = np.exp(2 * z + rng.normal(size=(2, 2000)))
    w = u / u.std() + v / v.std()
    y = np.log(w) + 0.3 * rng.normal(size=2000)
    assert is_accepted(u, v, y)


def test_of_a_hundred_copies_few_are_refused(rng):
    n = 1000
    z = rng.normal(size=n)
    u, v = z + rng.normal(size=n), z[:, None] + rng.normal(size=(n, 100))
    criterion = MutualParsimony(2 + 2 * math.log(100), levels_for(n))
    y = rng.normal(size=n)
    assert criterion.verdict(pairs_of(u, v, y)).accepts.all()
