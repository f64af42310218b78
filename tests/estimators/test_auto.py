"""An allowance that nobody has to choose."""

import numpy as np
import oracle
import pytest
from conftest import correlated
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score

from coterie import GenLinCFA, NonLinCFA
from coterie._core.evidence import effective_number, residual_ss
from coterie.datasets import make_groups


def rss(columns, y):
    return np.sum((y - LinearRegression().fit(columns, y).predict(columns)) ** 2)


@pytest.mark.parametrize("word", ["aic", "bic", "ric"])
def test_the_rule_is_an_f_test(problem, word):
    X, y = problem
    n, D = X.shape
    penalty = {"aic": 2.0, "bic": np.log(n), "ric": 2 * np.log(D)}[word]
    reducer = NonLinCFA(word, search="forward").fit(X, y)
    first = [record for record in reducer.trace_ if record.group == 0]
    group = [0]
    for record in first:
        apart = rss(np.column_stack([X[:, group].mean(axis=1), X[:, record.candidate]]), y)
        merged = rss(X[:, [*group, record.candidate]].mean(axis=1, keepdims=True), y)
        f = (merged - apart) / (apart / (n - 3))
        assert record.price / record.allowance * penalty == pytest.approx(f)
        assert record.accepted == (f <= penalty)
        group += [record.candidate] if record.accepted else []


def test_classes_and_counts_ask_the_same_question_in_units_of_their_dispersion(problem):
    X, y = problem
    above = (y > np.median(y)).astype(float)
    classes = GenLinCFA(family="bernoulli").fit(X, np.where(above > 0, "yes", "no"))
    assert (classes.labels_ == NonLinCFA().fit(X, above).labels_).all()
    counts = np.round(np.exp((y - y.mean()) / y.std()))
    in_dozens = GenLinCFA(family="poisson").fit(X, 12 * counts).labels_
    assert (GenLinCFA(family="poisson").fit(X, counts).labels_ == in_dozens).all()


def test_where_there_is_only_noise_everything_merges():
    # A refusal needs a chi-square beyond 2 + 2 log 35 = 9.1: one in 400 questions, so that of 20
    # problems with 40 questions each about two have one.
    n_merged = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 40)), rng.normal(size=300)
        n_merged += NonLinCFA().fit(X, y).n_groups_ == 1
    assert n_merged >= 15


def known(seed, n_samples):
    return make_groups(
        n_samples, n_features=30, n_groups=3, correlation=0.9, noise=1.0, random_state=seed
    )


def test_known_groups_are_found_as_samples_grow():
    found = {}
    for n_samples in (30, 4000):
        right = 0
        for seed in range(10):
            X, y, labels = known(seed, n_samples)
            ours = NonLinCFA().fit(X, y).labels_
            right += ((ours[:, None] == ours) == (labels[:, None] == labels)).mean()
        found[n_samples] = right / 10
    assert found[4000] > 0.98
    assert found[30] < found[4000]


def test_no_fixed_tolerance_is_much_better():
    errors = {}
    for tolerance in ("auto", 1e-4, 1e-3, 1e-2, 0.1, 1.0):
        error = 0.0
        for seed in range(20):
            X, y, _ = known(seed, 2150)
            reducer = NonLinCFA(tolerance, cv=None).fit(X[:150], y[:150])
            Z = reducer.transform(X)
            model = LinearRegression().fit(Z[:150], y[:150])
            error += np.mean((y[150:] - model.predict(Z[150:])) ** 2)
        errors[tolerance] = error
    assert min(errors.values()) > 0.95 * errors["auto"]


def test_many_effects_do_not_drown_in_each_other():
    # Ten groups with effects 1 to 10: to each pair, the other eight are noise.
    errors = {"auto": 0.0, "bic": 0.0}
    for seed in range(5):
        X, y, _ = make_groups(2150, 100, 10, correlation=0.7, random_state=seed)
        for word in errors:
            Z = NonLinCFA(word).fit(X[:150], y[:150]).transform(X)
            model = LinearRegression().fit(Z[:150], y[:150])
            errors[word] += np.mean((y[150:] - model.predict(Z[150:])) ** 2)
    assert errors["auto"] < 0.8 * errors["bic"]


def test_the_penalty_is_told(problem):
    X, y = problem
    n, D = X.shape
    assert NonLinCFA("aic").fit(X, y).penalty_ == 2
    assert NonLinCFA("bic").fit(X, y).penalty_ == np.log(n)
    assert NonLinCFA("ric").fit(X, y).penalty_ == 2 * np.log(D)
    most = max(np.log(n), 2 + 2 * np.log(effective_number(X)))
    reducer = NonLinCFA().fit(X, y)
    halvings = np.log2(most / reducer.penalty_)
    assert halvings == pytest.approx(round(halvings))
    assert not hasattr(reducer.set_params(tolerance=0.1).fit(X, y), "penalty_")
    reducer.set_params(tolerance="auto", n_groups=2).fit(X, y)
    assert not hasattr(reducer.set_params(n_groups=None).fit(X, y), "tolerance_")


def test_what_regression_leaves_is_what_regression_leaves(problem):
    X, y = problem
    collinear = np.column_stack([X, X[:, 0] + X[:, 1]])
    for columns in (X, collinear, np.ones((len(y), 1))):
        assert residual_ss(columns, y[:, None]) == pytest.approx(rss(columns, y))


def test_a_perfect_fit_leaves_no_allowance(rng):
    X = rng.normal(size=(50, 4))
    X = np.column_stack([X, X[:, 0]])
    reducer = NonLinCFA().fit(X, X[:, 0])
    assert reducer.labels_[0] == reducer.labels_[4]
    assert (reducer.trace_.allowance[reducer.trace_.group == 0] < 1e-12).all()


@pytest.mark.parametrize("reducer", [NonLinCFA(), GenLinCFA(), NonLinCFA("ric", search="best")])
def test_more_features_than_samples_need_nothing_special(rng, reducer):
    X = rng.normal(size=(20, 200))
    y = X[:, 0] + 0.1 * rng.normal(size=20)
    assert 1 < reducer.fit(X, y).n_groups_ < 20


def contrasts(X):
    """D^2 over all squared correlations of what is left of columns beside the mean of all."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    mean = Z.mean(axis=1, keepdims=True)
    left = Z - LinearRegression().fit(mean, Z).predict(mean)
    return X.shape[1] ** 2 / np.sum(np.corrcoef(left.T) ** 2)


def test_candidates_count_for_as_many_as_their_contrasts_are_in_effect(rng):
    factors = rng.normal(size=(1000, 6))
    alike = rng.normal(size=(1000, 1)) + 0.3 * rng.normal(size=(1000, 40))
    copies = np.repeat(factors, [1, 1, 1, 7, 7, 7], axis=1)
    for X in (factors, alike, copies, correlated(rng, 100, 15)[0]):
        assert effective_number(X) == pytest.approx(contrasts(X))
    # D columns that are not correlated have D - 1 contrasts, whatever they have in common.
    assert effective_number(factors) == pytest.approx(5, rel=0.05)
    assert effective_number(alike) == pytest.approx(39, rel=0.05)
    assert effective_number(np.ones((10, 3))) == 1
    assert effective_number(np.repeat(factors[:, :1], 5, axis=1)) == 1
    wide = rng.normal(size=(30, 2000))
    assert effective_number(wide) < 31


def test_with_signs_contrasts_do_not_depend_on_how_columns_are_turned(rng):
    X = rng.normal(size=(200, 1)) + 0.5 * rng.normal(size=(200, 20))
    turned = rng.choice([-1.0, 1.0], size=20)
    plain = effective_number(X)
    assert effective_number(X * turned, signs=True) == pytest.approx(plain)
    assert effective_number(X * turned) < plain / 2


@pytest.mark.parametrize("search", ["restart", "best"])
def test_where_columns_have_much_in_common_noise_merges_too(search):
    # As above: about two of 20 problems with 40 candidates have a refusal.
    n_merged = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = 0.91 * rng.normal(size=(300, 1)) + 0.41 * rng.normal(size=(300, 40))
        n_merged += NonLinCFA(search=search).fit(X, rng.normal(size=300)).n_groups_ == 1
    assert n_merged >= 15


def test_rounding_does_not_decide_which_columns_are_looked_at(rng):
    # More columns than are looked at, and rows in which most are 0.
    X = rng.poisson(0.3, size=(150, 400)) + 1.0 * rng.poisson(1.0, size=(150, 1))
    y = X[:, :20].sum(axis=1) + rng.normal(size=150)
    penalty = NonLinCFA().fit(X, y).penalty_
    for _ in range(3):
        nearly = X * (1 + 1e-14 * rng.normal(size=X.shape))
        assert NonLinCFA().fit(nearly, y).penalty_ == pytest.approx(penalty, rel=1e-9)
    order = rng.permutation(150)
    assert NonLinCFA().fit(X[order], y[order]).penalty_ == pytest.approx(penalty, rel=1e-9)


@pytest.mark.parametrize("search", ["forward", "restart", "best"])
def test_on_folds_the_allowance_is_less_by_what_a_coefficient_too_many_costs(rng, search):
    X, y = correlated(rng, 90)
    splits = list(KFold(3).split(X))
    penalty = np.log(90)

    def judge(u, v, w, y):
        two, one = np.column_stack([u, v]), w[:, None]
        apart = cross_val_score(LinearRegression(), two, y, cv=splits)
        merged = cross_val_score(LinearRegression(), one, y, cv=splits)
        noise = np.mean(np.maximum(1 - apart, 0)) / (90 - 3)
        return apart.mean() - merged.mean(), (penalty - 2) * noise

    reducer = NonLinCFA("bic", cv=splits, search=search, trace="all").fit(X, y)
    groups, asked = oracle.SEARCHES[search](X, y, oracle.AGGREGATIONS["mean"], judge)
    assert [group.tolist() for group in reducer.groups_] == groups
    trace = reducer.trace_ if search != "best" else reducer.trace_[reducer.trace_.accepted]
    np.testing.assert_allclose(trace.price, [a[2] for a in asked], atol=1e-9)
    np.testing.assert_allclose(trace.allowance, [a[3] for a in asked], atol=1e-9)


def test_prices_on_folds_find_known_groups_too():
    X, y, labels = make_groups(400, 12, 3, noise=3.0, random_state=4)
    for cv in (5, 10):
        assert NonLinCFA(cv=cv).fit(X, y).labels_.tolist() == labels.tolist()


def test_the_order_of_columns_does_not_change_their_number(rng):
    X = rng.normal(size=(40, 400)) + rng.normal(size=(40, 1))
    shuffled = X[:, rng.permutation(400)]
    assert effective_number(shuffled) == pytest.approx(effective_number(X), rel=1e-12)
