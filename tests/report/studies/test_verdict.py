"""The verdict follows from the scores on many splits, and is said with its error."""

import re
from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance

import coterie
from coterie import Coterie, GenLinCFA, NonLinCFA
from coterie._model_selection.tuning import fitted_model, penalised_model, rates_of
from coterie._persist.files import Entry, plain_record, record_in
from coterie.datasets import make_groups
from coterie.report import compare, study
from coterie.report.inspection import Difference, StudyVerdict, decisive
from coterie.report.studies._dates import times_of_rows
from coterie.report.studies._verdict import corrected_error, judge

SPLITS = np.random.default_rng(0).normal(size=15)


def verdict_of(metric="R2", n_columns=7, **means):
    """The verdict on scores that vary between splits about these means."""
    names = {"ridge": "ridge on all columns", "lasso": "lasso on all columns"}
    names |= {"guess": "the class shares" if metric == "ROC AUC" else "the mean"}
    noise = {name: np.roll(SPLITS, number) for number, name in enumerate(means)}
    scores = {
        names.get(name, name): {
            one: mean + spread * noise[name] for one, (mean, spread) in known.items()
        }
        for name, known in means.items()
    }
    options = {"n_columns": n_columns, "n_features": 100, "splits": "5 folds, 3 times"}
    return judge(metric, scores, test_ratio=0.25, **options)


def r2(mean, spread=0.01):
    return {"R2": (mean, spread)}


@pytest.mark.parametrize(("n", "ratio"), [(15, 0.25), (5, 0.25), (2, 1.0)])
def test_the_interval_is_that_of_nadeau_and_bengio(n, ratio):
    values = SPLITS[:n]
    variance = sum((value - sum(values) / n) ** 2 for value in values) / (n - 1)
    expected = stats.t.ppf(0.975, n - 1) * ((1 / n + ratio) * variance) ** 0.5
    assert corrected_error(values, ratio) == pytest.approx(expected)


def test_one_split_has_no_error():
    assert corrected_error([0.5], 0.25) is None


def test_groups_that_keep_up_are_recommended():
    verdict = verdict_of(coterie=r2(0.86), ridge=r2(0.86), lasso=r2(0.85), guess=r2(0.0))
    assert verdict.code == "use_groups"
    assert verdict.sentence.startswith("Use these 7 columns instead of 100: ")
    assert "better" not in verdict.sentence


def test_a_better_rival_is_recommended_by_how_much():
    verdict = verdict_of(coterie=r2(0.80), ridge=r2(0.86), lasso=r2(0.82), guess=r2(0.0))
    assert (verdict.code, verdict.rival) == ("use_rival", "ridge on all columns")
    gain = next(one for one in verdict.differences if one.rival == "ridge on all columns")
    assert gain.is_loss
    assert f"better by {-gain.gain:.3f} \N{PLUS-MINUS SIGN} {gain.error:.3f}" in verdict.sentence
    assert "ridge on all 100 columns" in verdict.sentence


def test_nothing_predicts_if_no_method_beats_the_mean():
    verdict = verdict_of(coterie=r2(0.0), ridge=r2(-0.01), lasso=r2(0.001), guess=r2(0.0))
    assert verdict.code == "nothing_predicts"
    assert "Nothing here predicts the target" in verdict.sentence


def test_a_small_sure_difference_matters_to_nobody():
    close = verdict_of(coterie=r2(0.86, 0), ridge=r2(0.863, 0), lasso=r2(0.8, 0), guess=r2(0.0, 0))
    assert close.code == "use_groups"


def test_wide_intervals_are_said_to_be_wide():
    wide = verdict_of(coterie=r2(0.3, 0.15), ridge=r2(0.35, 0.15), guess=r2(0.0, 0.0))
    assert wide.code == "unsure"
    assert "Too few rows" in wide.sentence


def test_columns_that_all_stay_are_said_to_stay():
    kept = verdict_of(coterie=r2(0.8), ridge=r2(0.8), guess=r2(0.0), n_columns=100)
    assert kept.code == "keep_all"


def test_a_worse_log_loss_is_a_loss_even_if_the_auc_is_kept():
    told = {
        "coterie": {"ROC AUC": (0.9, 0.001), "log-loss": (0.20, 0.001)},
        "ridge": {"ROC AUC": (0.9, 0.001), "log-loss": (0.15, 0.001)},
        "guess": {"ROC AUC": (0.5, 0.0), "log-loss": (0.3, 0.0)},
    }
    verdict = verdict_of("ROC AUC", **told)
    assert verdict.code == "use_rival"
    assert "(log-loss)" in verdict.sentence


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_rare_classes_that_nothing_predicts_are_not_said_to_be_kept():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 8)), np.arange(500) % 25 == 0
    result = study(X, y, path=False)
    assert result.verdict.code == "nothing_predicts"
    assert result.summary.scores[0].others["accuracy"] > 0.9
    assert "kept" not in str(result.verdict)


def test_a_verdict_comes_back_from_a_file():
    verdict = verdict_of(coterie=r2(0.80), ridge=r2(0.86), guess=r2(0.0))
    assert record_in(Entry(plain_record(verdict)), StudyVerdict) == verdict
    with pytest.raises(ValueError, match="code of a verdict"):
        StudyVerdict(**asdict(verdict) | {"code": "maybe"})


DAYS = pd.date_range("2020-01-01", periods=160)
DATES = {
    "datetime": (DAYS, True),
    "text": (DAYS.strftime("%Y-%m-%d"), True),
    "times": (DAYS.strftime("%Y-%m-%d %H:%M"), True),
    "objects": (DAYS.date, True),
    "shuffled": (DAYS[np.random.default_rng(0).permutation(160)], False),
    "one day": (DAYS[:1].repeat(160), False),
}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", DATES)
def test_rows_in_time_are_noticed(kind, name):
    values, is_ordered = DATES[name]
    X, y, _ = make_groups(160, 6, 2, noise=3.0, random_state=0)
    table = {f"f{k}": X[:, k] for k in range(6)}
    found = study(kind({"day": list(values)} | table), y, path=False, estimator=NonLinCFA()).summary
    assert set(table) <= set(found.features)
    assert "day" not in found.features
    assert any("split in time" in note for note in found.notes) == is_ordered


def test_rows_in_time_are_shuffled_where_asked_for():
    X, y, _ = make_groups(160, 6, 2, noise=3.0, random_state=0)
    table = pd.DataFrame({"day": DAYS} | {f"f{k}": X[:, k] for k in range(6)})
    asked = study(table, y, path=False, estimator=NonLinCFA(), by_time=False)
    assert "shuffled rows" in asked.verdict.splits
    assert not any("split in time" in note for note in asked.summary.notes)
    found, told, other = (
        compare(table, y, cv=2, estimator=NonLinCFA(), by_time=by_time).fold_scores
        for by_time in (None, True, False)
    )
    assert found == told
    assert found != other


@pytest.mark.parametrize("values", [["a", "b"], ["20", "21"], [1.0, 2.0], ["2020-01-01", "later"]])
def test_what_is_no_date_is_left_alone(values):
    assert times_of_rows(pd.DataFrame({"day": values}), [0.0, 1.0]) is None


def test_groups_of_rows_are_never_on_both_sides():
    """With a copy of each row, knowing the copy would predict noise."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), rng.normal(size=40)
    X, y, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(40), 4)
    options = {"path": False, "estimator": NonLinCFA(0.0)}
    leaking = study(X, y, **options).summary.scores[1].score
    honest = study(X, y, groups=groups, **options).summary.scores[1].score
    assert leaking > 0.5
    assert honest < 0.1


def test_groups_need_as_many_values_as_folds():
    X, y, _ = make_groups(60, 6, 2, noise=3.0, random_state=0)
    with pytest.raises(ValueError, match="as many values as there are folds"):
        study(X, y, groups=np.arange(60) % 3)
    with pytest.raises(ValueError, match="groups of rows or by_time"):
        study(X, y, groups=np.arange(60), by_time=True)


def exposed():
    rng = np.random.default_rng(0)
    X, z, _ = make_groups(400, 6, 2, noise=0.5, random_state=0)
    exposure = rng.uniform(0.2, 5.0, size=400)
    return X, rng.poisson(exposure * np.exp(0.5 * z / z.std())), exposure


def test_exposures_count_in_fit_model_and_score():
    X, y, exposure = exposed()
    options = {"estimator": GenLinCFA(family="poisson"), "test_last": True, "path": False}
    result = study(X, y, exposure=exposure, **options)
    same = study(X, y, offset=np.log(exposure), **options)
    assert result.summary.scores[0].score == pytest.approx(same.summary.scores[0].score)
    train = slice(0, 320)
    expected = GenLinCFA(family="poisson").fit(X[train], y[train], exposure=exposure[train])
    assert result.reducer.labels_.tolist() == expected.labels_.tolist()
    test, columns = slice(320, None), expected.transform(X)
    model = penalised_model(expected, columns[train], y[train])
    fitted_model(model, columns[train], (y / exposure)[train], exposure[train])
    seen, known = model.predict(columns[train]), (y / exposure)[train]
    low, high = max(seen.min(), 0.01 * known.mean()), min(seen.max(), known.max())
    means = model.predict(columns[test]).clip(low, high) * exposure[test]
    guess = y[test].sum() / exposure[test].sum() * exposure[test]
    share = 1 - mean_poisson_deviance(y[test], means) / mean_poisson_deviance(y[test], guess)
    assert result.summary.scores[0].score == pytest.approx(share)
    with pytest.raises(ValueError, match="takes no offset or exposure"):
        study(X, y, exposure=exposure, estimator=NonLinCFA())


def test_rates_have_the_deviance_of_counts_with_an_offset():
    """The coefficients solve the equations of the model with an offset."""
    X, y, exposure = exposed()
    rates, weights = rates_of("poisson", y, None, np.log(exposure))
    model = PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000).fit(X, rates, weights)
    residual = y - exposure * model.predict(X)
    assert X.T @ residual == pytest.approx(np.zeros(6), abs=1e-3 * y.sum())
    assert residual.sum() == pytest.approx(0, abs=1e-3)


def test_fields_are_studied_as_their_columns():
    xarray = pytest.importorskip("xarray")
    X, y, _ = make_groups(120, 12, 3, noise=3.0, random_state=0)
    field = xarray.DataArray(X.reshape(120, 3, 4), dims=("time", "lat", "lon"))
    target = xarray.DataArray(y, dims="time")
    options = {"path": False, "test_last": True}
    found = study(field, target, **options)
    plain = study(X, y, **options)
    expected = [score.score for score in plain.summary.scores]
    assert [score.score for score in found.summary.scores] == pytest.approx(expected)
    compared = coterie.report.compare(field.transpose("lat", "time", "lon"), target, cv=2)
    assert compared.scores[0].n_columns == coterie.report.compare(X, y, cv=2).scores[0].n_columns


def test_months_of_a_field_are_split_in_time(rng):
    xarray = pytest.importorskip("xarray")
    shared = rng.normal(size=(120, 1, 1))
    values = shared + 0.3 * rng.normal(size=(120, 2, 3))
    months = pd.date_range("2000-01-01", periods=120, freq="MS")
    coords = {"time": months, "lat": [0.0, 1.0], "lon": [0.0, 1.0, 2.0]}
    field = xarray.DataArray(values, coords=coords, dims=("time", "lat", "lon"))
    told = study(field, shared.ravel(), path=False).summary.notes
    assert any("split in time" in note for note in told)


def test_a_mean_that_drifts_does_not_hide_what_predicts():
    # Later rows have another mean each, so the guess from earlier rows is bad in many ways.
    guess = {"R2": [-60.0, -1.0, -40.0, -2.0, -5.0]}
    scores = {"coterie": {"R2": [0.8, 0.9, 0.7, 0.85, 0.8]}, "the mean": guess}
    scores["ridge on all columns"] = {"R2": [0.79, 0.89, 0.7, 0.84, 0.79]}
    shape = {"n_columns": 3, "n_features": 20, "splits": "blocks of later rows"}
    verdict = judge("R2", scores, test_ratio=0.25, **shape)
    assert verdict.code == "use_groups"


def test_one_column_is_told_in_the_singular_and_groups_are_printed(rng):
    shared = rng.normal(size=200)
    X = pd.DataFrame({f"a{k}": shared + 0.3 * rng.normal(size=200) for k in range(3)})
    X["noise"] = rng.normal(size=200)
    result = study(X, shared + 0.3 * rng.normal(size=200), path=False)
    assert result.verdict.sentence.startswith("Use this 1 column instead of 4: it predicts")
    printed = repr(result)
    assert "mean(a0, a1, a2): 3 features, firm" in printed
    assert "left out: 1 feature" in printed
    assert "<li>mean(a0, a1, a2): 3 features, firm</li>" in result._repr_html_()


def better_by(sentence):
    return re.search(r"better by (\S+) \N{PLUS-MINUS SIGN} (\d\S*)", sentence)


def test_nothing_is_better_by_less_than_its_error():
    """Coterie fails on one split, so that it is not surely better than the mean."""
    scores = {
        "coterie": {"R2": [0.5, 0.5, 0.5, 0.5, -1.0]},
        "ridge on all columns": {"R2": [0.55, 0.56, 0.54, 0.55, 0.55]},
        "the mean": {"R2": [0.0, -0.01, 0.0, 0.0, -0.01]},
    }
    told = judge("R2", scores, test_ratio=0.25, n_columns=7, n_features=9, splits="5 folds")
    # Only ridge is surely better than the mean, so the groups are not recommended.
    assert told.code == "use_rival"
    assert better_by(told.sentence) is None
    assert "surely better than the mean, and the groups are not" in told.sentence


@pytest.mark.parametrize("seed", range(40))
def test_what_is_better_is_better_by_more_than_its_error(seed):
    rng = np.random.default_rng(seed)
    means = {name: r2(rng.uniform(-0.2, 1), rng.uniform(0, 0.5)) for name in ("ridge", "lasso")}
    told = verdict_of(coterie=r2(rng.uniform(-0.2, 1), rng.uniform(0, 0.5)), **means, guess=r2(0.0))
    if found := better_by(told.sentence):
        assert float(found[1]) >= float(found[2])
    is_surely_better = "it is surely better than the mean" in told.sentence
    assert (told.code == "use_rival") == (bool(found) or is_surely_better)


def test_a_surely_better_rival_is_recommended_even_if_another_is_better_on_average():
    told = verdict_of(coterie=r2(0.5), ridge=r2(0.6), lasso=r2(0.62, 0.4), guess=r2(0.0))
    assert told.rival == "ridge on all columns"


WORDS = {
    (0.1, 0.02): "better",
    (-0.1, 0.02): "worse",
    (0.003, 0.001): "about the same",
    (0.0, 0.0): "about the same",
    (-0.01, 0.02): "about the same",
    (-0.165, 0.17): "not told apart",
    (0.03, None): "better",
    (0.01, None): "about the same",
    (float("nan"), None): "",
}


@pytest.mark.parametrize("both", WORDS)
def test_words_for_differences(both):
    assert Difference("PCA", "R2", *both).word == WORDS[both]


@pytest.mark.parametrize("seed", range(30))
def test_the_table_agrees_with_the_recommendation(seed):
    rng = np.random.default_rng(seed)

    def classes(low):
        return {"ROC AUC": (rng.uniform(low, 1), 0.02), "log-loss": (rng.uniform(0.1, 0.3), 0.02)}

    told = verdict_of(
        "ROC AUC",
        coterie=classes(0.6),
        ridge=classes(0.6),
        lasso=classes(0.6),
        guess={"ROC AUC": (0.5, 0.0), "log-loss": (0.4, 0.0)},
    )
    words = {
        name: decisive([one for one in told.differences if one.rival == name]).word
        for name in ("ridge on all columns", "lasso on all columns")
    }
    assert (told.code == "use_rival") == ("worse" in words.values())
    assert told.code != "use_rival" or words[told.rival] == "worse"


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_a_class_of_one_row_does_not_stop_a_study(rng):
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] > 0.8, "b", "a")
    y[3] = "rare"
    result = study(X, y, path=False, estimator=Coterie("classes"))
    assert result.verdict.n_splits == 15
    assert {len(one) for one in compare(X, y, cv=3).fold_scores.values()} == {3}


def test_huge_numbers_are_refused_by_name(rng):
    table = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    with pytest.raises(ValueError, match="Column 'b' has values up to"):
        study(table.assign(b=1e300 * table["b"]), table["a"])


def test_encoded_columns_are_counted_as_what_they_were():
    told = judge(
        "R2",
        {name: {"R2": [0.8, 0.81]} for name in ("coterie", "ridge on all columns")}
        | {"the mean": {"R2": [0.0, 0.0]}},
        test_ratio=0.25,
        n_columns=3,
        n_features=38,
        n_sources=20,
        splits="2 folds",
    )
    assert "instead of 38 (made from 20 columns)" in told.sentence
