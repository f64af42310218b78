import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.families import FAMILIES, LINKS, NUMBERED_FAMILIES, Family, Link, negative_binomial

EVERY = {**FAMILIES, "negative_binomial": negative_binomial(0.7)}
THEIRS = {
    "gaussian": sm.families.Gaussian(),
    "bernoulli": sm.families.Binomial(),
    "binomial": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(sm.families.links.Log()),
    "inverse_gaussian": sm.families.InverseGaussian(sm.families.links.Log()),
    "negative_binomial": sm.families.NegativeBinomial(alpha=0.7),
}
TARGETS = {
    "gaussian": [-2.0, 0.0, 1.5],
    "bernoulli": [0.0, 1.0],
    "binomial": [0.0, 0.2, 0.5, 1.0],
    "poisson": [0.0, 1.0, 7.0, 300.0],
    "gamma": [0.01, 1.0, 40.0],
    "inverse_gaussian": [0.01, 1.0, 40.0],
    "negative_binomial": [0.0, 1.0, 7.0, 300.0],
}
REFUSED = {
    "gaussian": [np.inf, np.nan],
    "bernoulli": [0.5, -1.0, 2.0, np.nan],
    "binomial": [-0.1, 1.1, 7.0, np.nan],
    "poisson": [-1.0, np.inf, np.nan],
    "gamma": [0.0, -1.0, np.inf, np.nan],
    "inverse_gaussian": [0.0, -1.0, np.inf, np.nan],
    "negative_binomial": [-1.0, np.inf, np.nan],
}
every_family = pytest.mark.parametrize("name", EVERY)
every_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)


def means(name):
    proportions = np.array([1e-6, 0.03, 0.5, 0.9, 1 - 1e-6])
    if name in ("bernoulli", "binomial"):
        return proportions
    return np.array([-3.0, 0.0, 2.0]) if name == "gaussian" else np.array([1e-3, 0.4, 2.0, 250.0])


def grid(name):
    """Every target beside every mean."""
    y, mean = np.meshgrid(TARGETS[name], means(name))
    return y.ravel(), mean.ravel()


def predictors(link):
    least = 0.1 if link.name.startswith("inverse") else -3.0
    return np.linspace(least, 1.5, 40)


@every_link
def test_the_predictor_of_a_mean_is_the_one_it_came_from(link):
    again = link.of_mean(link.mean(predictors(link)))
    np.testing.assert_allclose(again, predictors(link), atol=1e-14)


@every_link
def test_the_slope_is_the_derivative_of_the_mean(link):
    predictor, h = predictors(link), 1e-6
    difference = (link.mean(predictor + h) - link.mean(predictor - h)) / (2 * h)
    np.testing.assert_allclose(link.slope(link.mean(predictor)), difference, rtol=1e-7)


@pytest.mark.parametrize(
    ("word", "theirs"),
    [
        ("log", sm.families.links.Log()),
        ("logit", sm.families.links.Logit()),
        ("probit", sm.families.links.Probit()),
        ("cloglog", sm.families.links.CLogLog()),
        ("inverse", sm.families.links.InversePower()),
        ("inverse_squared", sm.families.links.InverseSquared()),
    ],
)
def test_links_are_those_of_statsmodels(word, theirs):
    mean = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(LINKS[word].of_mean(mean), theirs(mean), atol=1e-12)
    np.testing.assert_allclose(LINKS[word].slope(mean), 1 / theirs.deriv(mean))


@every_link
def test_means_stay_inside_their_range(link):
    mean = link.mean(np.array([-1e300, -1e3, -37.0, -8.3, 0.0, 8.3, 37.0, 1e3, 1e300]))
    assert np.isfinite(mean).all()
    if link.name != "identity":
        assert (mean > 0).all()
    if link.name in ("logit", "probit", "cloglog"):
        assert (mean < 1).all()
        assert (link.slope(mean) > 0).all()


@every_link
def test_means_at_the_edge_have_a_predictor(link):
    assert np.isfinite(link.of_mean(np.array([0.0, 1.0]))).all()


@every_family
def test_variances_and_deviances_are_those_of_statsmodels(name):
    theirs, (y, mean) = THEIRS[name], grid(name)
    np.testing.assert_allclose(EVERY[name].variance(mean), theirs.variance(mean))
    expected = [theirs.deviance(np.array([a]), np.array([b])) for a, b in zip(y, mean)]
    np.testing.assert_allclose(EVERY[name].unit_deviances(y, mean), expected, rtol=1e-9, atol=1e-9)


@every_family
def test_quadrature_finds_the_deviances(name):
    y, mean = grid(name)
    found = replace(EVERY[name], deviance=None).unit_deviances(y, mean)
    np.testing.assert_allclose(found, EVERY[name].unit_deviances(y, mean), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["poisson", "gamma", "inverse_gaussian", "negative_binomial"])
def test_quadrature_is_exact_over_many_orders_of_magnitude(name):
    y, mean = np.meshgrid([1e-20, 1e-3, 1.0, 1e4], [1e-12, 0.5, 3.0, 1e6])
    found = replace(EVERY[name], deviance=None).unit_deviances(y, mean)
    np.testing.assert_allclose(found, EVERY[name].unit_deviances(y, mean), rtol=1e-9)


def test_quadrature_is_exact_for_likely_proportions():
    y, mean = np.meshgrid([0.0, 1e-3, 0.4, 1.0], [0.01, 0.1, 0.5, 0.9, 0.99])
    found = replace(FAMILIES["binomial"], deviance=None).unit_deviances(y, mean)
    np.testing.assert_allclose(found, FAMILIES["binomial"].unit_deviances(y, mean), rtol=1e-9)


def test_quadrature_broadcasts():
    y, mean = np.array([[0.0], [3.0]]), np.array([[1.0, 2.0, 5.0]])
    quasi = replace(FAMILIES["poisson"], deviance=None)
    assert quasi.unit_deviances(y, mean).shape == (2, 3)


@every_family
@given(st.floats(1e-3, 0.999), st.floats(1e-3, 0.999))
@example(0.8739999998945231, 0.8739999979734421)
def test_deviances_are_positive_and_vanish_at_the_target(name, y, mean):
    if name == "bernoulli":
        y = np.round(y)
    found = EVERY[name].unit_deviances(np.array([y, mean]), np.array([mean, mean]))
    assert found[0] >= 0
    if name != "bernoulli":
        assert found[1] == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("name", ["poisson", "negative_binomial"])
def test_deviances_of_large_counts_keep_their_digits(name):
    mean = np.array([1e9, 1e12, 1e15])
    y = mean + np.round(np.sqrt(mean))
    expected = (y - mean) ** 2 / EVERY[name].variance(mean)
    np.testing.assert_allclose(EVERY[name].unit_deviances(y, mean), expected, rtol=1e-4)
    assert EVERY[name].unit_deviances(np.array([1.0]), np.array([1e22])) > 0


def test_a_hardly_dispersed_negative_binomial_is_a_poisson():
    y, mean = grid("poisson")
    found = negative_binomial(1e-12).unit_deviances(y, mean)
    np.testing.assert_allclose(
        found, FAMILIES["poisson"].unit_deviances(y, mean), rtol=1e-6, atol=1e-9
    )


@every_family
def test_families_take_what_they_expect(name):
    assert EVERY[name].takes(np.array(TARGETS[name])).all()
    assert not EVERY[name].takes(np.array(REFUSED[name])).any()
    assert EVERY[name].expects


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("gaussian", "zero", 1.0),
        ("gaussian", "null", 1.0),
        ("gaussian", 0.5, 0.5),
        ("bernoulli", "zero", 0.25 / 0.4),
        ("bernoulli", "null", 0.2 * 0.8 / 0.4),
        ("binomial", "zero", 0.25 / 0.4),
        ("poisson", "zero", 1 / 0.4),
        ("poisson", "null", 0.2 / 0.4),
        ("poisson", 3.0, 3 / 0.4),
        ("gamma", "null", 0.2**2 / 0.4),
        ("inverse_gaussian", "null", 0.2**3 / 0.4),
        ("negative_binomial", "null", (0.2 + 0.7 * 0.2**2) / 0.4),
    ],
)
def test_curvature_is_on_the_scale_of_the_standardised_target(name, at, expected):
    assert EVERY[name].curvature(0.2, 0.4, at) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["gamma", "inverse_gaussian", "negative_binomial"])
def test_some_families_have_no_curvature_at_zero(name):
    with pytest.raises(ValueError, match=r"has no curvature at zero; use curvature='null' or a nu"):
        EVERY[name].curvature(1.0, 1.0, "zero")


def test_the_words_are_the_names():
    assert all(name == family.name for name, family in FAMILIES.items())
    assert NUMBERED_FAMILIES["negative_binomial"](2.0).name == "negative_binomial(2)"


def test_canonical_is_a_family_whose_link_has_its_variance_for_slope():
    canonical = {name for name, family in EVERY.items() if family.is_canonical}
    assert canonical == {"gaussian", "bernoulli", "binomial", "poisson"}
    assert not replace(FAMILIES["bernoulli"], link="probit").is_canonical


@every_family
def test_families_survive_a_journey(name):
    family = EVERY[name]
    for arrived in (pickle.loads(pickle.dumps(family)), copy.deepcopy(family)):
        y, mean = grid(name)
        np.testing.assert_array_equal(
            arrived.unit_deviances(y, mean), family.unit_deviances(y, mean)
        )
        assert arrived.is_canonical == family.is_canonical


def test_a_link_may_be_ones_own():
    half = Link("half", lambda mean: 2 * mean, lambda eta: eta / 2, lambda mean: 0 * mean + 0.5)
    family = Family("mine", lambda mean: 0 * mean + 1, link=half)
    assert family.resolved_link is half
    np.testing.assert_allclose(family.unit_deviances(np.array([3.0]), np.array([1.0])), 4)


@pytest.mark.parametrize(
    ("error", "message", "settings"),
    [
        (ValueError, "link must be one of 'identity', .* or a Link, got 'logg'", {"link": "logg"}),
        (TypeError, "variance must be a function, got 1", {"variance": 1.0}),
        (TypeError, "takes must be a function", {"takes": "all"}),
        (TypeError, "deviance must be a function", {"deviance": "x"}),
        (ValueError, "variance must give one number for each", {"variance": lambda mean: 1.0}),
        (ValueError, "link must be .* got \\['log'\\]", {"link": ["log"]}),
        (ValueError, "dispersion must be more than 0", {"dispersion": 0.0}),
        (TypeError, "dispersion must be a number, got True", {"dispersion": True}),
        (ValueError, "curvature_at_zero must be more than 0", {"curvature_at_zero": -1.0}),
    ],
)
def test_families_that_make_no_sense_are_refused(error, message, settings):
    with pytest.raises(error, match=message):
        Family(**{"name": "mine", "variance": np.square, **settings})


@pytest.mark.parametrize("dispersion", [0, -1.0, np.nan, np.inf])
def test_a_negative_binomial_needs_a_positive_dispersion(dispersion):
    with pytest.raises(ValueError, match="dispersion must be more than 0 and finite"):
        negative_binomial(dispersion)


def test_a_negative_binomial_needs_a_number():
    with pytest.raises(TypeError, match="dispersion must be a number, got 'auto'"):
        negative_binomial("auto")
