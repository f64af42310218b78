"""A summary says what the reducer, the data and the model behind say."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler

import coterie
from coterie._persist.files import Entry, UnreadableError, plain_record, record_in
from coterie.datasets import make_groups
from coterie.report.inspection import Score, Summary


@pytest.fixture(scope="module")
def fit():
    X, y, _ = make_groups(200, 14, 4, noise=2.0, random_state=1)
    return coterie.NonLinCFA(trace="all").fit(X, y), X, y


@pytest.fixture(scope="module")
def whole(fit):
    """A summary with every part."""
    reducer, X, y = fit
    return coterie.report.summarise(
        reducer,
        X,
        y,
        path=coterie.tolerance_path(X, y, n_tolerances=5, cv=3),
        stability=coterie.stability(X, y, estimator=reducer, n_resamples=3, random_state=0),
        positions=np.arange(14),
        coordinates=np.random.default_rng(0).normal(size=(14, 2)),
        scores=[Score("coterie", 4.0, 0.8), Score("PCA", 4.0, float("nan"))],
        metric="R2",
        notes=["a note"],
    )


def test_groups_are_those_of_the_reducer(fit, whole):
    reducer = fit[0]
    assert [group.members for group in whole.groups] == [g.tolist() for g in reducer.groups_]
    assert [group.name for group in whole.groups] == reducer.get_feature_names_out().tolist()
    assert whole.labels == reducer.labels_.tolist()
    assert whole.features == [f"x{k}" for k in range(14)]


def test_merges_are_those_of_the_trace(fit, whole):
    trace = fit[0].trace_
    for number, group in enumerate(whole.groups):
        own = trace[(trace.group == number) & trace.accepted]
        told = [(merge.feature, merge.price, merge.allowance) for merge in group.merges]
        assert told == list(zip(own.candidate, own.price, own.allowance))
        assert group.refused == np.sum((trace.group == number) & ~trace.accepted)
        assert len(group.merges) == len(group.members) - 1


def test_weights_are_those_of_the_regression_behind(fit, whole):
    reducer, X, y = fit
    Z = reducer.transform(X)
    own = RidgeCV(np.logspace(-2, 3, 11) * len(y)).fit((Z - Z.mean(axis=0)) / Z.std(axis=0), y)
    assert [group.effects[0] for group in whole.groups] == pytest.approx(own.coef_)
    weights = own.coef_ / Z.std(axis=0)
    assert [group.weights[0] for group in whole.groups] == pytest.approx(weights)
    assert whole.outputs == ["target"]


def test_weights_of_classes_are_per_class_and_per_unit(rng):
    X, y, _ = make_groups(200, 8, 2, noise=1.0, random_state=0)
    names = np.array(["low", "mid", "top"])[np.digitize(y, np.quantile(y, [0.3, 0.6]))]
    reducer = coterie.GenLinCFA(family="bernoulli").fit(X, names)
    summary = coterie.report.summarise(reducer, X, names, targets=["taste"])
    Z = reducer.transform(X)
    scaler = StandardScaler().fit(Z)
    model = LogisticRegression(max_iter=1000).fit(scaler.transform(Z), names)
    assert summary.outputs == ["taste = low", "taste = mid", "taste = top"]
    effects = np.array([group.effects for group in summary.groups])
    weights = np.array([group.weights for group in summary.groups])
    assert effects == pytest.approx(model.coef_.T)
    assert weights == pytest.approx(model.coef_.T / scaler.scale_[:, None])


def test_two_classes_have_one_output_and_counts_too(rng):
    X, y, _ = make_groups(200, 8, 2, noise=1.0, random_state=0)
    two = coterie.GenLinCFA(family="bernoulli").fit(X, y > 0)
    assert coterie.report.summarise(two, X, y > 0).outputs == ["target = True"]
    counts = np.random.default_rng(0).poisson(np.exp(y / y.std()))
    reducer = coterie.GenLinCFA(family="poisson").fit(X, counts)
    summary = coterie.report.summarise(reducer, X, counts)
    scaler = StandardScaler().fit(reducer.transform(X))
    model = GridSearchCV(
        PoissonRegressor(solver="newton-cholesky"),
        {"alpha": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
        scoring="neg_mean_poisson_deviance",
        cv=KFold(3, shuffle=True, random_state=0),
    )
    model.fit(scaler.transform(reducer.transform(X)), counts)
    model = model.best_estimator_
    assert [group.effects[0] for group in summary.groups] == pytest.approx(model.coef_, rel=1e-6)


def test_near_copies_share_their_effect(rng):
    """Least squares would give them large effects of opposite sign."""
    common = rng.normal(size=(60, 1))
    X = common + 1e-4 * rng.normal(size=(60, 2))
    y = common.ravel() + rng.normal(size=60)
    reducer = coterie.NonLinCFA(keep=[0, 1]).fit(X, y)
    effects = [group.effects[0] for group in coterie.report.summarise(reducer, X, y).groups]
    assert np.abs(LinearRegression().fit(X, y).coef_ * X.std(axis=0)).max() > 10
    assert max(map(abs, effects)) < 1.5
    assert min(effects) > 0


@pytest.mark.parametrize("gaps", [False, True])
def test_rows_of_no_weight_change_nothing(fit, gaps):
    _, X, y = fit
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1 * gaps, np.nan, X)
    options = {"missing": "pairwise"} if gaps else {}
    weights = np.ones(len(y))
    weights[150:] = 0
    strange = X.copy()
    strange[150:] *= 100
    some = coterie.report.summarise(
        coterie.NonLinCFA(**options).fit(X[:150], y[:150]), X[:150], y[:150]
    )
    reducer = coterie.NonLinCFA(**options).fit(strange, y, sample_weight=weights)
    every = coterie.report.summarise(reducer, strange, y, sample_weight=weights)
    for one, other in zip(some.groups, every.groups):
        assert one.members == other.members
        assert one.effects == pytest.approx(other.effects)
        assert one.weights == pytest.approx(other.weights)
        assert one.likeness == pytest.approx(other.likeness)
        assert one.weakest == pytest.approx(other.weakest)


def test_several_targets_have_an_output_each(fit):
    _, X, y = fit
    both = np.column_stack([y, X[:, 0]])
    reducer = coterie.NonLinCFA().fit(X, both)
    assert coterie.report.summarise(reducer, X, both, targets=["a", "b"]).outputs == ["a", "b"]
    assert coterie.report.summarise(reducer, X, both).outputs == ["target 0", "target 1"]


def test_signs_are_told_and_counted_in_likeness(rng):
    z = rng.normal(size=(200, 1))
    X = np.hstack([z, -z, rng.normal(size=(200, 1))]) + 0.1 * rng.normal(size=(200, 3))
    y = 3 * z.ravel() + rng.normal(size=200)
    reducer = coterie.NonLinCFA(0.05, signs=True).fit(X, y)
    summary = coterie.report.summarise(reducer, X, y)
    assert summary.signs == [1, -1, 1]
    assert summary.labels == [0, 0, 1]
    assert summary.groups[0].likeness == pytest.approx(-np.corrcoef(X[:, 0], X[:, 1])[0, 1])


def test_a_model_alone_tells_its_groups(fit, tmp_path):
    reducer = fit[0]
    reducer.save(tmp_path / "model.json")
    alone = coterie.report.summarise(coterie.load(tmp_path / "model.json"))
    assert [group.members for group in alone.groups] == [g.tolist() for g in reducer.groups_]
    assert alone.correlation is None
    assert alone.scores == []
    assert all(group.likeness is None and not group.weights for group in alone.groups)


def test_parameters_that_were_set_are_told(fit):
    _, X, y = fit
    reducer = coterie.NonLinCFA(0.01, search="best", cv=None, keep=[0]).fit(X, y)
    summary = coterie.report.summarise(reducer)
    told = {"tolerance": "0.01", "search": "'best'", "cv": "None", "keep": "[0]"}
    assert summary.parameters == told
    assert summary.tolerance == 0.01


def test_curves_are_shown_where_names_are_numbers_and_neighbours_alike(rng):
    names = [f"{900 + 2 * k} nm" for k in range(20)]
    curve = np.cumsum(rng.normal(size=(50, 20)), axis=1) + 10 * rng.normal(size=(50, 1))
    y = curve[:, 3] + rng.normal(size=50)
    reducer = coterie.NonLinCFA(0.1).fit(curve, y)
    reducer.feature_names_in_ = np.array(names, dtype=object)
    spectrum = coterie.report.summarise(reducer).spectrum
    assert spectrum is None
    frame = pd.DataFrame(curve, columns=names)
    spectrum = coterie.report.summarise(coterie.NonLinCFA(0.1).fit(frame, y), frame, y).spectrum
    assert spectrum.axis == "nm"
    assert spectrum.positions == [900.0 + 2 * k for k in range(20)]
    assert spectrum.mean == pytest.approx(curve.mean(axis=0))
    assert spectrum.low == pytest.approx(np.quantile(curve, 0.05, axis=0))
    noise = pd.DataFrame(rng.normal(size=(50, 20)), columns=names)
    assert coterie.report.summarise(coterie.NonLinCFA(0.1).fit(noise, y), noise, y).spectrum is None


def test_what_does_not_fit_is_refused(fit):
    reducer, X, y = fit
    with pytest.raises(NotFittedError):
        coterie.report.summarise(coterie.NonLinCFA())
    with pytest.raises(TypeError, match="must be a reducer such as NonLinCFA"):
        coterie.report.summarise(LinearRegression().fit(X, y))
    with pytest.raises(ValueError, match="positions need X"):
        coterie.report.summarise(reducer, positions=range(14))
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(200,\), got \(3,\)"):
        coterie.report.summarise(reducer, X, y, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="sample_weight is zero in all rows but 0"):
        coterie.report.summarise(reducer, X, y, sample_weight=np.zeros(200))
    with pytest.raises(
        ValueError, match=r"targets must hold one name per target \(1\), got \['a', 'b'\]"
    ):
        coterie.report.summarise(reducer, X, y, targets=["a", "b"])
    with pytest.raises(ValueError, match="14 features"):
        coterie.report.summarise(reducer, X[:, 1:], y)
    with pytest.raises(ValueError, match=r"shape \(14,\)"):
        coterie.report.summarise(reducer, X, y, positions=[1, 2])
    other = coterie.stability(X, y, estimator=coterie.NonLinCFA(1.0), n_resamples=2)
    with pytest.raises(ValueError, match="same groups"):
        coterie.report.summarise(reducer, stability=other)


def test_a_summary_goes_through_json_and_back(whole):
    text = json.dumps(plain_record(whole), allow_nan=False)
    again = record_in(Entry(json.loads(text)), Summary)
    assert str(again) == str(whole)


BREAK = {
    "labels": lambda s: s["labels"].pop(),
    "signs": lambda s: s["signs"].__setitem__(0, 3),
    "a member twice": lambda s: s["groups"][0]["members"].append(0),
    "a merge twice": lambda s: s["groups"][0]["merges"].append(s["groups"][0]["merges"][0]),
    "another group's merge": lambda s: s["groups"][0]["merges"][0].update(feature=99),
    "weights": lambda s: s["groups"][0]["weights"].append(1.0),
    "path": lambda s: s["path"]["n_groups"].pop(),
    "path labels": lambda s: s["path"]["labels"][0].__setitem__(0, 77),
    "path count": lambda s: s["path"]["n_groups"].__setitem__(0, 2**52),
    "best": lambda s: s["path"].update(best=50),
    "square": lambda s: s["correlation"]["thousandths"][0].pop(),
    "too much": lambda s: s["correlation"]["thousandths"][0].__setitem__(0, 1001),
    "cells": lambda s: s["correlation"]["features"][0].clear(),
    "spectrum": lambda s: s["spectrum"]["mean"].pop(),
    "map": lambda s: s["map"]["up"].pop(),
    "unknown": lambda s: s.update(more=1),
    "missing": lambda s: s.pop("title"),
    "kind": lambda s: s.update(title=5),
    "null": lambda s: s.update(features=None),
    "text for number": lambda s: s["scores"][0].update(score="much"),
}


@pytest.mark.parametrize("name", BREAK)
def test_a_broken_summary_is_one_sentence(whole, name):
    plain = json.loads(json.dumps(plain_record(whole)))
    BREAK[name](plain)
    with pytest.raises(UnreadableError) as caught:
        record_in(Entry(plain, "summary"), Summary)
    assert "summary" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_name_and_one_note_need_no_list(fit):
    summary = coterie.report.summarise(*fit, targets="fat", notes="a note")
    assert summary.targets == summary.outputs == ["fat"]
    assert summary.notes == ["a note"]


def test_parts_must_speak_of_the_same_features(whole):
    with pytest.raises(ValueError, match="every feature in one group"):
        replace(whole, groups=whole.groups[1:])


def test_what_is_left_out_has_no_stability(rng):
    hidden = rng.normal(size=(200, 1))
    X = np.hstack([hidden + 0.3 * rng.normal(size=(200, 3)), rng.normal(size=(200, 2))])
    reducer = coterie.Coterie().fit(X, hidden.ravel())
    found = coterie.stability(X, hidden.ravel(), n_resamples=3, random_state=0)
    summary = coterie.report.summarise(reducer, X, hidden.ravel(), stability=found)
    assert [group.stability for group in summary.groups] == [*found.group_scores, None]


def test_a_joint_fit_has_its_numbers_its_tree_and_its_reasons(tmp_path):
    rng = np.random.default_rng(0)
    X, y, _ = make_groups(200, 9, 3, noise=1.0, random_state=0)
    X = np.hstack([X, rng.normal(size=(200, 3))])
    reducer = coterie.Coterie().fit(X, y)
    summary = coterie.report.summarise(reducer, X, y)
    numbers, tree = summary.numbers, summary.tree
    assert numbers.n_groups == reducer.path_["n_groups"].tolist()
    for number, labels in zip(numbers.n_groups, numbers.labels, strict=True):
        own = reducer.with_n_groups(number).labels_
        assert labels == np.where(own < 0, number, own).tolist()
    assert [tree.first, tree.second] == reducer.children_.T.tolist()
    np.testing.assert_allclose(tree.likeness, 1 - reducer.distances_, atol=5e-5)
    shown = [one for own in summary.correlation.features for one in own]
    kept = [one for one in tree.order if reducer.labels_[one] >= 0]
    assert shown[: len(kept)] == kept
    assert {*shown[len(kept) :]} == {*reducer.rest_.tolist()}
    reducer.save(tmp_path / "model.json")
    again = coterie.report.summarise(coterie.load(tmp_path / "model.json"))
    assert again.tree.likeness == tree.likeness
    assert (again.tree.allowance is None) == (not again.tree.prices)
    assert (again.numbers.labels == []) == (again.tree.prices == [])
