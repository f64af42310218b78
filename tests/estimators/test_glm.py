"""GenLinCFA for every family: the deviance itself, offsets, families of one's own."""

import warnings

import numpy as np
import oracle
import pytest
import statsmodels.api as sm
from complete import GenLinCFA, NonLinCFA
from conftest import correlated
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from coterie.families import FAMILIES, Family, negative_binomial

LOG = sm.families.links.Log()


def drawn(rng, predictor):
    """A target of each family with this linear predictor."""
    mean = np.exp(predictor)
    return {
        "gaussian": predictor + rng.normal(size=len(mean)),
        "bernoulli": rng.uniform(size=len(mean)) < 1 / (1 + 1 / mean),
        "binomial": rng.binomial(12, 1 / (1 + 1 / mean)) / 12,
        "poisson": rng.poisson(mean),
        "gamma": rng.gamma(2.0, mean / 2),
        "inverse_gaussian": rng.wald(mean, 2.0),
        "negative_binomial(0.5)": rng.negative_binomial(2, 2 / (2 + mean)),
    }


THEIRS = {
    "gaussian": sm.families.Gaussian(),
    "bernoulli": sm.families.Binomial(),
    "binomial": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(LOG),
    "inverse_gaussian": sm.families.InverseGaussian(LOG),
    "negative_binomial(0.5)": sm.families.NegativeBinomial(LOG, alpha=0.5),
}
OURS = {**FAMILIES, "negative_binomial(0.5)": negative_binomial(0.5)}


def a_problem(seed, family, n_samples=150):
    rng = np.random.default_rng(seed)
    X, _ = correlated(rng, n_samples, 6)
    predictor = 0.3 * (X @ rng.normal(size=6))
    return X, np.asarray(drawn(rng, predictor - predictor.mean())[family], dtype=float)


def fitted_by_statsmodels(family, tolerance, *, offset=None, penalty=None):
    """Price: what a merge adds to the deviance, as a share of that of the null model."""

    def judge(u, v, w, y):
        def fit(*columns):
            design = np.column_stack([np.ones(len(y)), *columns])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = sm.GLM(y, design, family=THEIRS[family], offset=offset)
                return model.fit(tol=1e-12, maxiter=200)

        null, apart, merged = fit(), fit(u, v), fit(w)
        price = (merged.deviance - apart.deviance) / null.deviance
        if penalty is None:
            return price, tolerance
        known = family in ("bernoulli", "binomial")
        dispersion = 1.0 if known else apart.pearson_chi2 / (len(y) - 3)
        return price, penalty * dispersion / null.deviance

    return judge


def assert_same_decisions(reducer, X, y, judge):
    groups, asked = oracle.SEARCHES[reducer.search](X, y, oracle.AGGREGATIONS["mean"], judge)
    assert [group.tolist() for group in reducer.groups_] == groups
    np.testing.assert_allclose(reducer.trace_.price, [a[2] for a in asked], rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(reducer.trace_.allowance, [a[3] for a in asked], rtol=1e-5)
    assert 0 < reducer.trace_.accepted.sum() < len(reducer.trace_)


@pytest.mark.parametrize("family", OURS)
def test_fitted_prices_are_those_of_statsmodels(family):
    X, y = a_problem(1, family)
    reducer = GenLinCFA(0.03, family=OURS[family], bound="fitted").fit(X, y)
    assert_same_decisions(reducer, X, y, fitted_by_statsmodels(family, 0.03))


@pytest.mark.parametrize("family", OURS)
def test_fitted_allowances_are_multiples_of_the_dispersion(family):
    X, y = a_problem(2, family)
    reducer = GenLinCFA("bic", family=OURS[family], bound="fitted").fit(X, y)
    penalty = np.log(len(y))
    assert reducer.penalty_ == pytest.approx(penalty)
    assert_same_decisions(reducer, X, y, fitted_by_statsmodels(family, 0, penalty=penalty))


@pytest.mark.parametrize("family", ["poisson", "negative_binomial(0.5)", "gamma"])
def test_an_exposure_is_an_offset_of_its_log(family):
    X, y = a_problem(3, family)
    exposure = np.random.default_rng(0).uniform(1, 50, size=len(y))
    reducer = GenLinCFA(0.05, family=OURS[family], bound="fitted").fit(X, y, exposure=exposure)
    offset = np.log(exposure)
    assert_same_decisions(reducer, X, y, fitted_by_statsmodels(family, 0.05, offset=offset))
    by_offset = GenLinCFA(0.05, family=OURS[family], bound="fitted").fit(X, y, offset=offset)
    assert by_offset.trace_.tolist() == reducer.trace_.tolist()


def scored_at_the_null(y, offset, penalty):
    """R2 and F of weighted least squares on the working residuals of the null model."""
    null = sm.GLM(y, np.ones(len(y)), family=sm.families.Poisson(), offset=offset).fit(tol=1e-14)
    mean = null.fittedvalues
    residual, weights = y / mean - 1, mean / mean.mean()

    def judge(u, v, w, _):
        def explained(*columns):
            design = np.column_stack(columns)
            return (
                LinearRegression().fit(design, residual, weights).score(design, residual, weights)
            )

        apart = explained(u, v)
        return apart - explained(w), penalty * (1 - apart) / (len(y) - 3)

    return judge


def test_without_fits_an_exposure_is_a_weighted_regression_at_the_null_model():
    X, y = a_problem(4, "poisson")
    exposure = np.random.default_rng(0).uniform(1, 50, size=len(y))
    reducer = GenLinCFA("bic", family="poisson").fit(X, y, exposure=exposure)
    judge = scored_at_the_null(y, np.log(exposure), np.log(len(y)))
    assert_same_decisions(reducer, X, y, judge)


@settings(max_examples=20)
@given(st.floats(0.01, 100), st.sampled_from(["general", "fitted"]))
def test_units_of_the_exposure_do_not_matter(factor, bound):
    X, y = a_problem(5, "poisson", 80)
    exposure = np.random.default_rng(0).uniform(1, 50, size=len(y))
    one, other = (
        GenLinCFA(family="poisson", bound=bound).fit(X, y, exposure=given_exposure).trace_
        for given_exposure in (exposure, factor * exposure)
    )
    np.testing.assert_array_equal(one.candidate, other.candidate)
    np.testing.assert_allclose(one.price, other.price, rtol=1e-6, atol=1e-9)


def test_an_exposure_finds_what_it_would_hide(rng):
    """Large places have more of everything; rates depend on two things."""
    warm, poor, size = rng.normal(size=(3, 600))
    X = np.column_stack([warm, warm, poor, poor]) + 0.1 * rng.normal(size=(600, 4))
    people = np.exp(5 + size)
    deaths = rng.poisson(people * np.exp(0.3 * warm - 0.3 * poor) / 5)
    for bound in ("general", "fitted"):
        reducer = GenLinCFA(family="poisson", bound=bound).fit(X, deaths, exposure=people)
        assert reducer.labels_.tolist() == [0, 0, 1, 1]


def test_an_offset_is_the_same_as_taking_it_off_a_gaussian_target():
    for seed in (0, 13):
        rng = np.random.default_rng(seed)
        factors = rng.normal(size=(400, 3))
        X = np.repeat(factors, 3, axis=1) + 0.3 * rng.normal(size=(400, 9))
        y = factors @ [0.5, 0.3, -0.4] + 0.5 * rng.normal(size=400)
        offset = 10 * rng.normal(size=400)
        for bound in ("general", "fitted"):
            plain = GenLinCFA(bound=bound).fit(X, y)
            moved = GenLinCFA(bound=bound).fit(X, y + offset, offset=offset)
            assert moved.penalty_ == pytest.approx(plain.penalty_)
            np.testing.assert_array_equal(moved.labels_, plain.labels_)


def test_an_offset_that_leaves_the_range_of_the_mean_is_refused():
    X, y = a_problem(0, "gamma")
    family = Family("f", np.square, link="inverse")
    with pytest.raises(ValueError, match="link 'inverse' may leave the range of the mean"):
        GenLinCFA(family=family).fit(X, y, offset=X[:, 0])


@pytest.mark.parametrize("aggregation", ["mean", "median", "max", "sum_of_squares", "principal"])
def test_the_gaussian_deviance_is_r2(problem, aggregation):
    X, y = problem
    fitted = GenLinCFA(0.05, bound="fitted", aggregation=aggregation).fit(X, y)
    r2 = NonLinCFA(0.05, cv=None, aggregation=aggregation).fit(X, y)
    assert fitted.labels_.tolist() == r2.labels_.tolist()
    np.testing.assert_allclose(fitted.trace_.price, r2.trace_.price, atol=1e-9)
    parsimony = GenLinCFA("bic", bound="fitted", aggregation=aggregation).fit(X, y)
    expected = NonLinCFA("bic", aggregation=aggregation).fit(X, y)
    np.testing.assert_allclose(parsimony.trace_.allowance, expected.trace_.allowance, rtol=1e-7)


@pytest.mark.parametrize("search", ["forward", "restart", "best"])
def test_classes_that_are_separated_do_no_harm(rng, search):
    X = rng.normal(size=(60, 5))
    X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=60)
    y = np.where(X[:, 0] > 0, "yes", "no")
    reducer = GenLinCFA(family="bernoulli", bound="fitted", search=search).fit(X, y)
    assert reducer.n_groups_ < 5
    assert np.isfinite(reducer.trace_.price).all()


def test_n_groups_are_found_by_the_deviance():
    X, y = a_problem(6, "poisson")
    for n_groups in range(1, 7):
        reducer = GenLinCFA(n_groups=n_groups, family="poisson", bound="fitted").fit(X, y)
        assert reducer.n_groups_ == n_groups


def test_a_family_of_ones_own():
    X, y = a_problem(7, "gamma")
    claims = Family("claims", lambda mean: mean**1.5, link="log", takes=lambda y: y >= 0)
    reducer = GenLinCFA(0.03, family=claims, bound="fitted").fit(X, y)
    THEIRS["claims"] = sm.families.Tweedie(LOG, var_power=1.5)
    assert_same_decisions(reducer, X, y, fitted_by_statsmodels("claims", 0.03))
    by_bound = GenLinCFA(0.9, family=claims, curvature="null").fit(X, y)
    k = y.mean() ** 1.5
    expected = oracle.genlin(0.9, k, "general", standardise_target=False)
    groups, asked = oracle.restart(X, y, oracle.AGGREGATIONS["mean"], expected)
    np.testing.assert_allclose(by_bound.trace_.price, [a[2] for a in asked], rtol=1e-7)
    with pytest.raises(ValueError, match="family 'claims' needs y to be finite numbers, got -"):
        GenLinCFA(family=claims).fit(X, -y)


@pytest.mark.parametrize("family", ["gamma", "inverse_gaussian", "negative_binomial(0.5)"])
def test_the_null_curvature_serves_where_there_is_none_at_zero(family):
    X, y = a_problem(8, family)
    variance = OURS[family].variance(np.array(y.mean()))
    reducer = GenLinCFA(0.9, family=OURS[family], curvature="null").fit(X, y)
    judge = oracle.genlin(0.9, float(variance), "general", standardise_target=False)
    groups, asked = oracle.restart(X, y, oracle.AGGREGATIONS["mean"], judge)
    assert [group.tolist() for group in reducer.groups_] == groups
    np.testing.assert_allclose(reducer.trace_.price, [a[2] for a in asked], rtol=1e-7)
    with pytest.raises(ValueError, match=r"has no curvature at zero; use curvature='null'"):
        GenLinCFA(0.9, family=OURS[family]).fit(X, y)
    GenLinCFA(family=OURS[family]).fit(X, y)  # a word needs no curvature


BAD = [
    ({"offset": np.ones(10)}, {}, "offset must have shape (150,), got (10,)."),
    ({"offset": np.full(150, np.nan)}, {}, "offset has NaN or infinity in rows 0, 1, 2, 3, 4 and"),
    ({"exposure": np.zeros(150)}, {}, "exposure must be more than 0, got 0."),
    ({"exposure": ["a"] * 150}, {}, "exposure must hold numbers, got an array of"),
    ({"exposure": np.ones(150), "offset": np.ones(150)}, {}, "Give offset or exposure, not both"),
    (
        {"exposure": np.ones(150)},
        {"tolerance": 0.9},
        "with a tolerance that is a number need bound",
    ),
    (
        {},
        {"bound": "fitted", "signs": True},
        "signs=True cannot be used here: bound='fitted' fits models to rows",
    ),
    ({}, {"n_groups": 2, "bound": "oops"}, "bound must be one of 'general', 'bivariate', 'fitted'"),
    ({}, {"n_groups": 2, "curvature": -1}, "curvature must be more than 0, got -1.0."),
]


@pytest.mark.parametrize(("rows", "parameters", "sentence"), BAD, ids=[b[2] for b in BAD])
def test_bad_offsets(rows, parameters, sentence):
    X, y = a_problem(0, "poisson")
    with pytest.raises(ValueError) as error:
        GenLinCFA(family="poisson", **parameters).fit(X, y, **rows)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_several_targets_with_an_exposure_need_fits():
    X, y = a_problem(0, "poisson")
    Y = np.column_stack([y, y[::-1]])
    with pytest.raises(ValueError, match="with several targets need bound='fitted'"):
        GenLinCFA(family="poisson").fit(X, Y, exposure=np.ones(150))
    GenLinCFA(family="poisson", bound="fitted").fit(X, Y, exposure=np.ones(150))
