import warnings
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from coterie._core.criteria import NonLin, Parsimony
from coterie._core.criteria._fitted import Fitted, FittedParsimony, fits
from coterie._core.evidence import PairColumns, PairMoments
from coterie.families import FAMILIES, Family, negative_binomial

links = sm.families.links
EVERY = {**FAMILIES, "negative_binomial": negative_binomial(0.5)}
THEIRS = {
    "gaussian": sm.families.Gaussian(),
    "bernoulli": sm.families.Binomial(),
    "binomial": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(links.Log()),
    "inverse_gaussian": sm.families.InverseGaussian(links.Log()),
    "negative_binomial": sm.families.NegativeBinomial(alpha=0.5),
}
every_family = pytest.mark.parametrize("name", EVERY)
# Likelihoods with a single peak; that of the inverse gaussian may have several.
unimodal = pytest.mark.parametrize("name", [name for name in EVERY if name != "inverse_gaussian"])
seeds = st.integers(0, 2**16)


def standard(columns):
    spread = columns.std(axis=0)
    varies = spread > 1e-12
    return varies * (columns - columns.mean(axis=0)) / np.where(varies, spread, 1.0)


def target(name, predictor, rng):
    """A draw from a family around exp or expit of the predictor."""
    mean, chance = np.exp(predictor), 1 / (1 + np.exp(-predictor))
    draw = {
        "gaussian": lambda: predictor + rng.normal(size=predictor.shape),
        "bernoulli": lambda: rng.binomial(1, chance),
        "binomial": lambda: rng.binomial(7, chance) / 7,
        "poisson": lambda: rng.poisson(mean),
        "gamma": lambda: rng.gamma(2.0, mean / 2),
        "inverse_gaussian": lambda: rng.wald(mean, 3.0),
        "negative_binomial": lambda: rng.negative_binomial(2, 2 / (2 + mean)),
    }
    return draw[name]().astype(float)


def problem(name, rng, n=80, m=4, *, weights=None, offset=None):
    """A group and candidates that share a signal; each merger is their mean."""
    signal = rng.normal(size=(n, 1))
    u = standard(signal + 0.6 * rng.normal(size=(n, 1)))
    v = standard(signal + 0.8 * rng.normal(size=(n, m)))
    offset = np.zeros((n, 1)) if offset is None else offset
    weights = np.ones((n, 1)) if weights is None else weights
    y = target(name, 0.3 + 0.6 * signal + offset, rng)
    return PairColumns(u, v, standard(u + v), y, weights, offset)


def with_candidates(pairs, v):
    """The same group with other candidates."""
    v = standard(v)
    return pairs._replace(v=v, w=standard(pairs.u + v))


def rows_of(pairs, rows):
    return PairColumns(*(column[rows] for column in pairs))


def deviance(theirs, pairs, j, *inputs):
    return model(theirs, pairs, j, *inputs).deviance


def model(theirs, pairs, j, *inputs):
    """That of statsmodels, one at a time."""
    weights = np.broadcast_to(pairs.weights, pairs.v.shape)[:, j]
    X = np.hstack([np.ones_like(pairs.u), *inputs])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        glm = sm.GLM(
            pairs.y[:, 0], X, family=theirs, freq_weights=weights, offset=pairs.offset[:, 0]
        )
        return glm.fit(tol=1e-14, maxiter=300)


def expected_shares(theirs, pairs):
    """Shares of the null deviance that (u, v) and that w leave, by statsmodels."""
    shares = []
    for j in range(pairs.v.shape[1]):
        null = deviance(theirs, pairs, j)
        apart = deviance(theirs, pairs, j, pairs.u, pairs.v[:, [j]])
        merged = deviance(theirs, pairs, j, pairs.w[:, [j]])
        shares.append((apart / null, merged / null))
    return np.array(shares).T


def assert_equals_statsmodels(family, theirs, pairs, rtol=1e-8):
    found = fits(family, pairs)
    apart, merged = expected_shares(theirs, pairs)
    np.testing.assert_allclose(found.apart.deviance / found.null, apart, rtol=rtol)
    np.testing.assert_allclose(found.merged.deviance / found.null, merged, rtol=rtol)
    price = Fitted(family, 0.0).verdict(pairs).price
    np.testing.assert_allclose(price, (merged - apart)[None], atol=rtol)


def price(family, pairs):
    return Fitted(family, 0.0).verdict(pairs).price[0]


@every_family
def test_deviances_are_those_of_statsmodels(name, rng):
    assert_equals_statsmodels(EVERY[name], THEIRS[name], problem(name, rng))


@every_family
def test_deviances_with_weights_and_offset_are_those_of_statsmodels(name, rng):
    offset = 0.5 * rng.normal(size=(80, 1))
    weights = rng.integers(1, 5, size=(80, 1)) * 1.0
    pairs = problem(name, rng, weights=weights, offset=offset)
    assert_equals_statsmodels(EVERY[name], THEIRS[name], pairs)
    assert_equals_statsmodels(EVERY[name], THEIRS[name], pairs._replace(weights=weights / 3))


@every_family
def test_each_candidate_may_have_weights_of_its_own(name, rng):
    weights = rng.integers(0, 3, size=(80, 4)) * 1.0
    pairs = problem(name, rng, weights=weights, offset=0.3 * rng.normal(size=(80, 1)))
    assert_equals_statsmodels(EVERY[name], THEIRS[name], pairs)


def test_deviances_are_those_of_scikit_learn(rng):
    pairs = problem("bernoulli", rng)
    found = fits(FAMILIES["bernoulli"], pairs)
    y = pairs.y[:, 0]
    for j in range(4):
        X = np.hstack([pairs.u, pairs.v[:, [j]]])
        classifier = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
        loss = log_loss(y, classifier.predict_proba(X), normalize=False)
        np.testing.assert_allclose(found.apart.deviance[j], 2 * loss, rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "link", "theirs"),
    [
        ("bernoulli", "probit", sm.families.Binomial(links.Probit())),
        ("binomial", "cloglog", sm.families.Binomial(links.CLogLog())),
        ("gamma", "inverse", sm.families.Gamma(links.InversePower())),
        ("gamma", "identity", sm.families.Gamma(links.Identity())),
        ("poisson", "identity", sm.families.Poisson(links.Identity())),
        ("inverse_gaussian", "inverse_squared", sm.families.InverseGaussian()),
    ],
)
def test_other_links_are_those_of_statsmodels(name, link, theirs, rng):
    u = rng.uniform(-1, 1, size=(200, 1))
    v = rng.uniform(-1, 1, size=(200, 3)) + u
    y = target(name, 1.0 + 0.3 * u + 0.05 * v[:, :1], rng)
    if name == "inverse_gaussian":
        y = np.exp(0.2 * u) * rng.gamma(50, 1 / 50, size=u.shape)
    pairs = PairColumns(
        standard(u), standard(v), standard(u + v), y, np.ones((200, 1)), np.zeros((200, 1))
    )
    family = replace(EVERY[name], link=link)
    assert_equals_statsmodels(family, theirs, pairs, rtol=1e-7)


def test_a_family_of_ones_own_is_as_good(rng):
    claims = Family(
        "claims", lambda mean: mean**1.5, link="log", takes=lambda y: y >= 0, expects="0 or more"
    )
    theirs = sm.families.Tweedie(links.Log(), var_power=1.5)
    pairs = problem("gamma", rng)
    pairs.y[::3] = 0.0
    assert_equals_statsmodels(claims, theirs, pairs)


@every_family
def test_quadrature_gives_the_same_prices(name, rng):
    pairs = problem(name, rng)
    same = replace(EVERY[name], deviance=None)
    np.testing.assert_allclose(price(same, pairs), price(EVERY[name], pairs), atol=1e-8)


def moments(pairs):
    """Weighted moments of the columns, as NonLin takes them."""
    weights = pairs.weights / pairs.weights.sum(axis=0)

    def centred(column):
        return column - (weights * column).sum(axis=0)

    def scatter(a, b):
        return (weights * centred(a) * centred(b)).sum(axis=0)[None]

    u, v, w, y = pairs[:4]
    zero = np.zeros((1, 1))
    own = [scatter(a, a) for a in (u, v, w, y)]
    n = pairs.weights.sum(axis=0)[None]
    crossed = [scatter(a, b) for a, b in ((u, v), (u, y), (v, y), (w, y))]
    return PairMoments(n, zero, zero, zero, zero, *own, *crossed)


@given(seeds, st.sampled_from([0.0, 273.15, 1e6]), st.sampled_from([1.0, 1e-6, 1e40]))
def test_gaussian_prices_are_those_of_nonlin(seed, shift, unit):
    rng = np.random.default_rng(seed)
    pairs = problem("gaussian", rng, weights=rng.integers(0, 4, size=(80, 1)) * 1.0)
    pairs = pairs._replace(y=unit * (pairs.y + shift))
    found = Fitted(FAMILIES["gaussian"], 0.1).verdict(pairs)
    expected = NonLin(0.1).verdict(moments(pairs))
    np.testing.assert_allclose(found.price, expected.price, atol=1e-12 * max(1, shift))
    np.testing.assert_array_equal(found.allowance, expected.allowance)


def test_gaussian_allowances_are_those_of_parsimony(rng):
    pairs = problem("gaussian", rng, weights=rng.integers(1, 4, size=(80, 1)) * 1.0)
    found = FittedParsimony(FAMILIES["gaussian"], 4.0).verdict(pairs)
    expected = Parsimony(4.0).verdict(moments(pairs))
    np.testing.assert_allclose(found.allowance, expected.allowance)
    np.testing.assert_allclose(found.price, expected.price, atol=1e-12)


@every_family
def test_allowances_are_multiples_of_the_dispersion(name, rng):
    weights = rng.integers(1, 4, size=(80, 1)) * 1.0
    pairs = problem(name, rng, weights=weights)
    allowance = FittedParsimony(EVERY[name], 3.0).verdict(pairs).allowance
    for j in range(4):
        null = deviance(THEIRS[name], pairs, j)
        fit = model(THEIRS[name], pairs, j, pairs.u, pairs.v[:, [j]])
        known = name in ("bernoulli", "binomial")
        scale = 1.0 if known else fit.pearson_chi2 / (weights.sum() - 3)
        np.testing.assert_allclose(allowance[0, j], 3 * scale / null, rtol=1e-5)


@every_family
@given(seeds, st.floats(0.01, 100), st.floats(-5, 5), st.booleans())
def test_twins_and_constants_are_free(name, seed, factor, shift, is_opposite):
    rng = np.random.default_rng(seed)
    pairs = problem(name, rng, n=30, offset=0.3 * rng.normal(size=(30, 1)))
    twin = factor * (pairs.u + shift)
    pairs = with_candidates(pairs, np.hstack([twin, np.zeros_like(twin)]))
    assert (price(EVERY[name], pairs) == 0).all()
    if is_opposite:
        opposite = pairs._replace(u=-pairs.u, w=-pairs.w)
        assert (price(EVERY[name], opposite) == 0).all()


@every_family
def test_opposites_cost_all_they_explain(name, rng):
    pairs = problem(name, rng)
    pairs = with_candidates(pairs, -pairs.u)
    found = fits(EVERY[name], pairs)
    assert (pairs.w == 0).all()
    np.testing.assert_allclose(found.merged.deviance, found.null)
    expected = 1 - deviance(THEIRS[name], pairs, 0, pairs.u) / found.null
    if name != "gaussian":
        np.testing.assert_allclose(price(EVERY[name], pairs), expected, atol=1e-8)


@unimodal
@given(seeds, st.integers(5, 60))
def test_prices_of_means_are_never_negative(name, seed, n):
    rng = np.random.default_rng(seed)
    pairs = problem(name, rng, n=n, weights=rng.integers(0, 3, size=(n, 1)) * rng.random((n, 1)))
    assert price(EVERY[name], pairs).min() >= -1e-9


@unimodal
@given(seeds)
def test_prices_on_rows_of_ones_own_are_never_negative(name, seed):
    rng = np.random.default_rng(seed)
    pairs = problem(name, rng, n=20, weights=rng.integers(0, 2, size=(20, 4)) * 1.0)
    assert price(EVERY[name], pairs).min() >= -1e-9


@unimodal
@given(seeds, st.floats(-20, 20), st.floats(0.1, 50))
def test_units_of_the_inputs_do_not_matter(name, seed, shift, factor):
    pairs = problem(name, np.random.default_rng(seed), n=40)
    changed = pairs._replace(u=pairs.u * factor, v=shift - pairs.v / factor, w=3 * pairs.w + shift)
    np.testing.assert_allclose(price(EVERY[name], changed), price(EVERY[name], pairs), atol=1e-8)


@unimodal
@given(seeds)
def test_the_order_of_the_rows_does_not_matter(name, seed):
    rng = np.random.default_rng(seed)
    pairs = problem(name, rng, n=40, offset=rng.normal(size=(40, 1)))
    shuffled = rows_of(pairs, rng.permutation(40))
    np.testing.assert_allclose(price(EVERY[name], shuffled), price(EVERY[name], pairs), atol=1e-9)


@every_family
@given(seeds)
def test_a_weight_says_how_often_a_row_counts(name, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, size=(40, 1)) * 1.0
    pairs = problem(name, rng, n=40, weights=weights)
    repeated = rows_of(pairs, np.repeat(np.arange(40), weights[:, 0].astype(int)))
    repeated = repeated._replace(weights=np.ones_like(repeated.u))
    np.testing.assert_allclose(price(EVERY[name], repeated), price(EVERY[name], pairs), atol=1e-9)
    penalised = FittedParsimony(EVERY[name], 2.0)
    np.testing.assert_allclose(
        penalised.verdict(repeated).allowance, penalised.verdict(pairs).allowance, rtol=1e-7
    )


@every_family
def test_what_stands_in_rows_that_do_not_count_is_ignored(name, rng):
    weights = np.ones((80, 1))
    weights[::4] = 0.0
    pairs = problem(name, rng, weights=weights)
    y = pairs.y.copy()
    y[::4] = np.nan
    np.testing.assert_array_equal(
        price(EVERY[name], pairs._replace(y=y)), price(EVERY[name], pairs)
    )


@every_family
def test_candidates_do_not_depend_on_each_other(name, rng):
    pairs = problem(name, rng, m=6)
    each = [
        price(EVERY[name], pairs._replace(v=pairs.v[:, [j]], w=pairs.w[:, [j]])) for j in range(6)
    ]
    np.testing.assert_allclose(price(EVERY[name], pairs), np.ravel(each), atol=1e-11)


def of_classes(x, y, *candidates):
    """Two classes, a group and some candidates."""
    u, v = standard(np.array(x, dtype=float)[:, None]), np.array(candidates, dtype=float).T
    n = len(u)
    y = np.array(y, dtype=float)[:, None]
    pairs = PairColumns(u, u, u, y, np.ones((n, 1)), np.zeros((n, 1)))
    return with_candidates(pairs, v)


def test_a_merger_that_separates_as_well_is_free(rng):
    x = np.arange(10.0)
    pairs = of_classes(x, x > 4.5, x + 0.1 * rng.normal(size=10), 2 * x)
    np.testing.assert_array_equal(price(FAMILIES["bernoulli"], pairs), 0)


def test_a_merger_that_no_longer_separates_costs_what_it_leaves(rng):
    x = np.arange(10.0)
    noise = 30 * rng.normal(size=10)
    pairs = of_classes(x, x > 4.5, noise)
    merged = deviance(THEIRS["bernoulli"], pairs, 0, pairs.w)
    expected = merged / (20 * np.log(2))
    np.testing.assert_allclose(price(FAMILIES["bernoulli"], pairs), expected, rtol=1e-8)


def test_classes_that_touch_are_fitted_in_the_limit():
    # All rows but those at 2 are told apart: half of these two are left.
    x = [0.0, 1.0, 2.0, 2.0, 3.0, 4.0]
    pairs = of_classes(x, [0, 0, 0, 1, 1, 1], [1, 0, 1, 0, 1, 0], x)
    found = fits(FAMILIES["bernoulli"], pairs)
    np.testing.assert_allclose(found.merged.deviance[1], 4 * np.log(2), rtol=1e-9)
    np.testing.assert_allclose(found.apart.deviance[1], 4 * np.log(2), rtol=1e-9)
    assert (found.apart.deviance <= found.merged.deviance + 1e-9).all()


def test_an_indicator_of_one_row_is_fitted_in_the_limit(rng):
    pairs = problem("bernoulli", rng, n=40)
    pairs = with_candidates(pairs, (np.arange(40) == 3)[:, None] * 1.0)
    found = fits(FAMILIES["bernoulli"], pairs)
    rest = rows_of(pairs, np.arange(40) != 3)
    expected = deviance(THEIRS["bernoulli"], rest, 0, rest.u)
    np.testing.assert_allclose(found.apart.deviance, expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["poisson", "negative_binomial"])
def test_all_counts_but_one_may_be_zero(name, rng):
    pairs = problem(name, rng)
    pairs.y[:] = 0.0
    pairs.y[np.argmax(pairs.u)] = 3.0
    found = price(EVERY[name], pairs)
    assert np.isfinite(found).all()
    assert found.min() >= -1e-9


@pytest.mark.parametrize("name", ["poisson", "gamma"])
@pytest.mark.parametrize("size", [1e-9, 1e9, 1e15])
def test_targets_may_be_huge_or_tiny(name, size, rng):
    pairs = problem("gamma", rng)
    huge = pairs._replace(y=size * pairs.y)
    np.testing.assert_allclose(price(EVERY[name], huge), price(EVERY[name], pairs), atol=1e-9)
    assert (price(EVERY[name], with_candidates(huge, 2 * pairs.u)) == 0).all()


@pytest.mark.parametrize("size", [1e9, 1e15])
def test_large_counts_of_a_negative_binomial_are_gamma(size, rng):
    pairs = problem("gamma", rng)
    pairs = pairs._replace(y=size * pairs.y)
    expected = price(FAMILIES["gamma"], pairs)
    np.testing.assert_allclose(price(negative_binomial(2.0), pairs), expected, atol=1e-8)
    assert (price(negative_binomial(2.0), with_candidates(pairs, 2 * pairs.u)) == 0).all()


def test_large_counts_that_hardly_vary_keep_their_digits(rng):
    pairs = problem("poisson", rng, n=400)
    mean = 1e10 * np.exp(1e-5 * pairs.u)
    pairs = pairs._replace(y=rng.poisson(mean).astype(float))
    found = price(FAMILIES["poisson"], pairs)
    # Next to its mean, a large count is gaussian.
    np.testing.assert_allclose(found, price(FAMILIES["gaussian"], pairs), atol=1e-5)
    assert (price(FAMILIES["poisson"], with_candidates(pairs, -3 * pairs.u + 1)) >= 0).all()
    assert (price(FAMILIES["poisson"], with_candidates(pairs, 3 * pairs.u + 1)) == 0).all()


@every_family
def test_a_constant_group_loses_nothing_to_anybody(name, rng):
    pairs = problem(name, rng)
    pairs = pairs._replace(u=np.zeros_like(pairs.u), w=pairs.v)
    np.testing.assert_array_equal(price(EVERY[name], pairs), 0)


@every_family
def test_nearly_equal_columns_are_fitted(name, rng):
    pairs = problem(name, rng)
    for size in (1e-3, 1e-5, 1e-7, 1e-10, 1e-14):
        near = with_candidates(pairs, pairs.u + size * rng.normal(size=(80, 3)))
        found = price(EVERY[name], near)
        assert np.isfinite(found).all()
        assert found.min() >= -max(1e-9, 10 * size if size < 1e-5 else 0)


@every_family
def test_a_target_that_does_not_vary_where_it_counts_is_free_to_merge(name, rng):
    weights = np.ones((80, 4))
    pairs = problem(name, rng, weights=weights)
    for value in np.unique(pairs.y)[[0, -1]]:
        weights[:, 2] = pairs.y[:, 0] == value
        assert price(EVERY[name], pairs)[2] == 0
    weights[:, 2] = 0.0
    for criterion in (Fitted(EVERY[name], 0.1), FittedParsimony(EVERY[name], 2.0)):
        verdict = criterion.verdict(pairs)
        assert verdict.price[0, 2] == 0
        assert np.isfinite(verdict.allowance).all()


@every_family
@settings(max_examples=20)
@given(seeds, st.sampled_from([0.0, 1.0, 8.0]), st.integers(1, 12))
def test_nothing_is_ever_undefined(name, seed, size, n):
    rng = np.random.default_rng(seed)
    offset = size * rng.normal(size=(n, 1))
    weights = rng.integers(0, 2, size=(n, 4)) * 1.0
    pairs = problem(name, rng, n=n, weights=weights, offset=offset)
    pairs.v[:, 0] = rng.standard_cauchy(n)
    for criterion in (Fitted(EVERY[name], 0.1), FittedParsimony(EVERY[name], 2.0)):
        verdict = criterion.verdict(pairs)
        assert verdict.price.shape == verdict.allowance.shape == (1, 4)
        assert np.isfinite(verdict.price).all()
        assert np.isfinite(verdict.allowance).all()
        assert verdict.price.max() <= 1


@every_family
def test_inputs_never_leave_more_than_nothing_does(name, rng):
    pairs = problem(name, rng, n=12)
    found = fits(EVERY[name], pairs)
    assert (found.apart.deviance <= found.null).all()
    assert (found.merged.deviance <= found.null).all()


def test_a_merger_may_gain(rng):
    u, v = rng.normal(size=(2, 200, 1))
    largest = np.maximum(u, v)
    y = target("poisson", largest, rng)
    pairs = PairColumns(u, v, standard(largest), y, np.ones_like(u), np.zeros_like(u))
    assert price(FAMILIES["poisson"], pairs) < -0.01


def test_a_link_that_leaves_the_range_of_the_mean_is_named(rng):
    family = replace(FAMILIES["poisson"], link="identity")
    pairs = problem("poisson", rng)._replace(offset=50 * rng.normal(size=(80, 1)))
    with pytest.raises(ValueError, match=r"family 'poisson' has no finite deviance .* 'identity'"):
        fits(family, pairs)
