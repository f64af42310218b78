import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from coterie import Coterie
from coterie.datasets import make_groups
from coterie.plot import EffectsDisplay, plot_effects
from coterie.report import summarise


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_groups(200, 12, 3, noise=1.0, random_state=0)
    return X, y, Coterie().fit(X, y)


def test_an_effect_is_a_difference_of_predictions(data):
    X, y, reducer = data
    Z = reducer.transform(X)
    model = LinearRegression().fit(Z, y)
    shown = EffectsDisplay.from_estimator(reducer, model, X)
    for group, spread in enumerate(Z.std(axis=0)):
        moved = Z.copy()
        moved[:, group] += spread
        expected = (model.predict(moved) - model.predict(Z)).mean()
        assert shown.effects[0, group] == pytest.approx(expected)


def test_units_do_not_change_effects(data):
    X, y, reducer = data
    model = make_pipeline(StandardScaler(), LinearRegression())
    plain = EffectsDisplay.from_estimator(reducer, model.fit(reducer.transform(X), y), X)
    other = Coterie().fit(1000 * X, y)
    Z = other.transform(1000 * X)
    scaled = EffectsDisplay.from_estimator(other, LinearRegression().fit(Z, y), 1000 * X)
    np.testing.assert_allclose(plain.effects, scaled.effects)


def test_intervals_are_about_three_and_a_third_standard_errors_wide(data):
    X, y, reducer = data
    Z = reducer.transform(X)
    model = LinearRegression().fit(Z, y)
    shown = EffectsDisplay.from_estimator(reducer, model, X, y, n_resamples=400)
    design = np.column_stack([np.ones(len(Z)), Z])
    residual = y - model.predict(Z)
    noise = residual @ residual / (len(y) - design.shape[1])
    variance = noise * np.linalg.inv(design.T @ design).diagonal()[1:]
    expected = 2 * 1.645 * np.sqrt(variance) * Z.std(axis=0)
    np.testing.assert_allclose((shown.high - shown.low)[0], expected, rtol=0.3)
    assert ((shown.low <= shown.effects) & (shown.effects <= shown.high)).all()


def test_the_strongest_is_first_and_the_target_is_named(data):
    X, y, reducer = data
    named = pd.Series(y, name="yield")
    model = RidgeCV().fit(reducer.transform(X), named)
    ax = plot_effects(reducer, model, X, named, n_resamples=5)
    x = np.abs(ax.collections[-1].get_offsets()[:, 0])
    assert (np.diff(x) <= 0).all()
    assert ax.get_xlabel().startswith("Change of yield for one standard deviation")


def test_the_effects_of_a_summary_are_shown(data):
    X, y, reducer = data
    summary = summarise(reducer, X, y)
    shown = EffectsDisplay.from_summary(summary).plot()
    assert shown.effects.tolist() == [[group.effects[0] for group in summary.groups]]
    assert shown.intervals_ is None
    assert plot_effects(summary).get_title() == "Effects"
    with pytest.raises(ValueError, match="no effects: pass X and y to summarise"):
        plot_effects(summarise(reducer, X))


def test_classes_are_outputs(data):
    X, _, reducer = data
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = LogisticRegression().fit(reducer.transform(X), y)
    shown = EffectsDisplay.from_estimator(reducer, model, X, y, n_resamples=5).plot(output=2)
    assert shown.outputs == [f"the target = {k}" for k in range(3)]
    assert "the target = 2" in shown.ax_.get_xlabel()


def test_only_the_strongest_of_many_are_shown(rng):
    effects = rng.normal(size=(1, 200))
    shown = EffectsDisplay([f"g{k}" for k in range(200)], effects, ["y"]).plot()
    assert len(shown.ax_.get_yticks()) == 30
    assert shown.ax_.get_title() == "Effects of the 30 strongest of 200 groups"


def test_other_models_and_other_columns_are_refused(data):
    X, y, reducer = data
    Z = reducer.transform(X)
    with pytest.raises(TypeError, match="with coef_, got DecisionTreeRegressor"):
        plot_effects(reducer, DecisionTreeRegressor().fit(Z, y), X)
    with pytest.raises(ValueError, match="got one of 12 columns"):
        plot_effects(reducer, LinearRegression().fit(X, y), X)
    with pytest.raises(TypeError, match="needs a model and X with a reducer"):
        plot_effects(reducer)
    assert not plt.get_fignums()
