"""One's own criterion, search, aggregation and family, written outside the package."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import coterie
from coterie import CustomCFA, GenLinCFA, LinCFA, Moments, MutualCFA, NonLinCFA
from coterie.datasets import make_groups
from coterie.extending import Decision, Family, Partition, Search, Verdict, outcome

X, Y, LABELS = make_groups(300, 12, 3, noise=3.0, random_state=0)


@dataclass(frozen=True)
class Correlated:
    """Features share a group if they correlate with its aggregate."""

    least: float = 0.7

    def verdict(self, pairs):
        r = pairs.uv / np.sqrt(pairs.uu * pairs.vv)
        return Verdict(price=1 - r, allowance=np.full_like(r, 1 - self.least))


@dataclass(frozen=True)
class LosesR2:
    """The price of NonLinCFA on all rows, by least squares on the columns themselves."""

    tolerance: float
    needs_rows = True

    def verdict(self, pairs):
        prices = [
            self._r2(np.column_stack([pairs.u, v])) - self._r2(w[:, None])
            for v, w in zip(pairs.v.T, pairs.w.T)
        ]
        self_allowance = np.full((1, len(prices)), self.tolerance)
        return Verdict(np.array([prices]), self_allowance)

    def _r2(self, columns):
        design = np.column_stack([np.ones(len(columns)), columns])
        left = Y - design @ np.linalg.lstsq(design, Y, rcond=None)[0]
        return 1 - (left @ left) / (np.var(Y) * len(Y))


@pytest.mark.parametrize("search", ["forward", "restart", "best"])
def test_a_criterion_groups_as_its_definition_says(search):
    reducer = CustomCFA(Correlated(), search=search).fit(X, Y)
    assert reducer.labels_.tolist() == LABELS.tolist()
    refused = reducer.trace_[~reducer.trace_.accepted]
    assert (refused.price > refused.allowance).all()


def test_a_criterion_serves_every_source():
    reducer = CustomCFA(Correlated())
    trace = clone(reducer).fit(X, Y).trace_
    moments = Moments()
    for start in range(0, 300, 100):
        moments.update(X[start : start + 100], Y[start : start + 100])
    for fitted in (
        clone(reducer).fit(sparse.csr_array(X), Y),
        clone(reducer).fit_moments(moments),
        clone(reducer).partial_fit(X, Y),
        CustomCFA(Correlated(), covariance="columns").fit(X, Y),
    ):
        np.testing.assert_array_equal(fitted.trace_.candidate, trace.candidate)
        np.testing.assert_allclose(fitted.trace_.price, trace.price, atol=1e-9)


def test_a_criterion_can_see_rows():
    reducer = CustomCFA(LosesR2(0.01)).fit(X, Y)
    expected = NonLinCFA(0.01, cv=None).fit(X, Y)
    assert reducer.labels_.tolist() == expected.labels_.tolist()
    np.testing.assert_allclose(reducer.trace_.price, expected.trace_.price, atol=1e-8)
    for refused in (lambda: reducer.fit_moments(Moments().update(X, Y)), lambda: sparse_fit()):
        with pytest.raises(ValueError, match="looks at rows"):
            refused()
    assert not hasattr(reducer, "partial_fit")
    with pytest.raises(ValueError, match=r"signs=True cannot be used here: criterion=.* looks at"):
        CustomCFA(LosesR2(0.01), signs=True).fit(X, Y)


def sparse_fit():
    return CustomCFA(LosesR2(0.01)).fit(sparse.csr_array(X), Y)


def test_each_of_several_targets_must_accept():
    both = CustomCFA(Correlated(0.7)).fit(X, np.column_stack([Y, -Y]))
    assert both.labels_.tolist() == LABELS.tolist()


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (Correlated, "got the class Correlated: write Correlated()"),
        (0.5, "criterion must have a method verdict"),
    ],
)
def test_what_is_no_criterion_is_refused(criterion, words):
    with pytest.raises(TypeError, match=words.replace("(", r"\(").replace(")", r"\)")):
        CustomCFA(criterion).fit(X, Y)


def all_pairs_in_a_row(question, limits):
    """The first feature takes whom it can; all others stay alone."""
    others = np.arange(1, question.n_features)
    verdict = question.judge(question.alone(0), others)
    joined = others[verdict.accepts][:1]
    accepted = np.isin(others, joined)
    alone = np.setdiff1d(others, joined)
    groups = [[0, *joined.tolist()], *([one] for one in alone.tolist())]
    return outcome(groups, [Decision(0, others, verdict, accepted)])


@pytest.mark.parametrize("reducer", [NonLinCFA(0.5), GenLinCFA(0.9), LinCFA(), MutualCFA(np.inf)])
def test_a_search_serves_every_reducer(reducer):
    fitted = reducer.set_params(search=all_pairs_in_a_row, trace="all").fit(X, Y)
    assert fitted.n_groups_ in (11, 12)
    assert len(fitted.trace_) == 11
    assert fitted.transform(X).shape == (300, fitted.n_groups_)


def test_a_search_may_ask_for_an_order_of_its_own():
    seen = []

    def alone(question, limits):
        seen.append(limits.copies)
        return outcome([[feature] for feature in range(question.n_features)], [])

    twice = np.column_stack([X, X[:, 0]])
    reducer = NonLinCFA(0.5, search=Search("alone", alone, ignores_order=True)).fit(twice, Y)
    assert reducer.n_groups_ == 13
    assert len(np.unique(seen[-1])) == 12


@pytest.mark.parametrize(
    ("found", "error", "words"),
    [
        (3, TypeError, "must give a SearchResult, as .*outcome does, got 3"),
        (outcome([[0, 1]], []), ValueError, "must put each of the 12 features into one group"),
        (outcome([[0, 1], range(12)], []), ValueError, "each of the 12 features into one group"),
    ],
)
def test_a_search_that_gives_something_else_is_refused(found, error, words):
    with pytest.raises(error, match=words):
        NonLinCFA(0.5, search=lambda question, limits: found).fit(X, Y)


class Energy:
    """A sum of one contribution per column."""

    name, keeps_single = "energy", False

    def contribution(self, columns):
        return columns**2

    def values(self, columns):
        return (columns**2).sum(axis=1)


class Range:
    """Any function of the columns."""

    name = "range"

    def values(self, columns):
        return columns.max(axis=1) - columns.min(axis=1)


def test_an_additive_aggregation_decides_as_the_one_of_ours():
    own = NonLinCFA(0.05, aggregation=Energy()).fit(X, Y)
    ours = NonLinCFA(0.05, aggregation="sum_of_squares").fit(X, Y)
    assert own.labels_.tolist() == ours.labels_.tolist()
    np.testing.assert_array_equal(own.transform(X), ours.transform(X))
    mutual = MutualCFA(0.05, aggregation=Energy()).fit(X, Y)
    assert mutual.labels_.tolist() == (
        MutualCFA(0.05, aggregation="sum_of_squares").fit(X, Y).labels_.tolist()
    )


def test_an_aggregation_needs_no_more_than_a_name_and_values():
    reducer = NonLinCFA(0.3, aggregation=Range()).fit(X, Y)
    members = reducer.groups_[0]
    expected = X[:, members].max(axis=1) - X[:, members].min(axis=1)
    np.testing.assert_allclose(reducer.transform(X)[:, 0], expected)
    assert reducer.get_feature_names_out()[0].startswith("range(")
    with pytest.raises(ValueError, match="aggregation='range' needs dense columns"):
        NonLinCFA(aggregation=Range()).fit(sparse.csr_array(X), Y)


class Silent:
    """Says nothing about groups of one."""

    name = "silent"

    def contribution(self, columns):
        return columns

    def values(self, columns):
        return columns.sum(axis=1)


def test_an_aggregation_need_not_say_what_it_makes_of_one_column():
    names = NonLinCFA(0.0, aggregation=Silent(), keep=[0]).fit(X, Y).get_feature_names_out()
    assert names[0] == "silent(x0)"


def test_a_class_is_no_aggregation():
    with pytest.raises(TypeError, match=r"got the class Range: write Range\(\)"):
        NonLinCFA(aggregation=Range).fit(X, Y)


def test_a_search_is_named_in_a_file(tmp_path):
    search = Search("first_takes", all_pairs_in_a_row)
    reducer = NonLinCFA(0.5, search=search).fit(X, Y)
    reducer.save(tmp_path / "model.json", functions={"mine": search})
    loaded = coterie.load(tmp_path / "model.json", functions={"mine": search})
    assert loaded.search is search
    assert loaded.fit(X, Y).labels_.tolist() == reducer.labels_.tolist()


@pytest.mark.parametrize("thing", [Energy(), Range()])
def test_an_aggregation_is_named_in_a_file(thing, tmp_path):
    reducer = NonLinCFA(0.3, aggregation=thing).fit(X, Y)
    reducer.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match=f"needs the function or family '{thing.name}'"):
        coterie.load(tmp_path / "model.json")
    loaded = coterie.load(tmp_path / "model.json", functions={thing.name: thing})
    np.testing.assert_array_equal(loaded.transform(X), reducer.transform(X))


def test_a_criterion_is_named_in_a_file(tmp_path):
    criterion = Correlated()
    reducer = CustomCFA(criterion).fit(X, Y)
    reducer.save(tmp_path / "model.json", functions={"mine": criterion})
    loaded = coterie.load(tmp_path / "model.json", functions={"mine": criterion})
    assert loaded.criterion is criterion
    np.testing.assert_array_equal(loaded.transform(X), reducer.transform(X))
    assert loaded.fit(X, Y).labels_.tolist() == reducer.labels_.tolist()


def test_a_family_that_takes_labels_has_a_target_for_each_class():
    chance = Family(
        "chance",
        variance=lambda mean: mean * (1 - mean),
        link="logit",
        dispersion=1.0,
        takes_labels=True,
    )
    labels = np.where(Y > 0, "up", "down")
    own = GenLinCFA(family=chance).fit(X, labels)
    ours = GenLinCFA(family="bernoulli").fit(X, labels)
    assert own.classes_.tolist() == ["down", "up"]
    assert own.labels_.tolist() == ours.labels_.tolist()


def test_partitions_are_public():
    assert Partition.of([[2, 0], [1]]).labels.tolist() == [0, 1, 0]
