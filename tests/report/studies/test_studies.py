"""Scores are what a pipeline of scikit-learn has on the same held-out rows."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.metrics import d2_tweedie_score, log_loss, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from coterie._model_selection.tuning import penalised_model, stopped_early
from coterie.datasets import make_groups
from coterie.report.studies._splits import Samples, make_folds


@pytest.fixture(scope="module")
def problem():
    X, y, _ = make_groups(160, 12, 3, noise=3.0, random_state=0)
    return X, y


def by_name(summary):
    return {score.name: score for score in summary.scores}


def ridge_pipeline(*steps):
    """Least squares with a penalty that leave-one-out chooses, on standardised columns."""
    return make_pipeline(*steps, StandardScaler(), RidgeCV(np.logspace(-10, 3, 27) * 128))


def test_scores_are_those_of_pipelines_on_the_same_splits(problem):
    X, y = problem
    study = coterie.report.study(X, y, path=False)
    expected = {"coterie": [], "ridge on all columns": [], "the mean": []}
    for repeat in range(3):
        for train, test in KFold(5, shuffle=True, random_state=repeat).split(X):
            parts = X[train], y[train]
            ours = ridge_pipeline(Coterie()).fit(*parts)
            expected["coterie"].append(ours.score(X[test], y[test]))
            ridge = ridge_pipeline().fit(*parts)
            expected["ridge on all columns"].append(ridge.score(X[test], y[test]))
            guess = DummyRegressor().fit(*parts)
            expected["the mean"].append(guess.score(X[test], y[test]))
    scores = by_name(study.summary)
    for name, values in expected.items():
        assert scores[name].score == pytest.approx(np.mean(values))
        corrected = np.sqrt((1 / 15 + 1 / 4) * np.var(values, ddof=1))
        assert scores[name].std_error == pytest.approx(corrected)
    assert (study.reducer.labels_ == Coterie().fit(X, y).labels_).all()
    assert study.verdict.n_splits == 15
    assert study.summary.n_rows == 160


def test_classes_are_judged_by_auc_and_log_loss(problem):
    X, y = problem
    labels = np.where(y > np.quantile(y, 0.8), "high", "low")
    summary = coterie.report.study(X, labels, path=False, test_last=True).summary
    train, test = slice(0, 128), slice(128, None)
    reducer = Coterie("classes").fit(X[train], labels[train])
    model = make_pipeline(
        StandardScaler(),
        GridSearchCV(
            LogisticRegression(max_iter=1000),
            {"C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
            scoring="neg_log_loss",
            cv=StratifiedKFold(3, shuffle=True, random_state=0),
        ),
    ).fit(reducer.transform(X[train]), labels[train])
    chances = model.predict_proba(reducer.transform(X[test]))
    ours = summary.scores[0]
    assert summary.metric == "ROC AUC"
    assert ours.score == pytest.approx(roc_auc_score(labels[test] == "low", chances[:, 1]))
    assert ours.others["log-loss"] == pytest.approx(log_loss(labels[test], chances))
    right = model.predict(reducer.transform(X[test])) == labels[test]
    assert ours.others["accuracy"] == pytest.approx(right.mean())


def test_by_time_rows_are_predicted_from_those_before(problem):
    X, y = problem
    summary = coterie.report.study(X, y, by_time=True, path=False, estimator=NonLinCFA()).summary
    values = []
    for train, test in TimeSeriesSplit(5, test_size=16).split(X):
        penalties = np.logspace(-10, 3, 27) * len(train)
        model = make_pipeline(NonLinCFA(), StandardScaler(), RidgeCV(penalties))
        values.append(model.fit(X[train], y[train]).score(X[test], y[test]))
    assert summary.scores[0].score == pytest.approx(np.mean(values))
    assert "each predicted from the rows before it" in summary.verdict.splits


def test_last_rows_are_held_out_without_an_order_on_the_path(problem):
    X, y = problem
    last = coterie.report.study(
        X, y, test_last=True, test_share=0.25, estimator=NonLinCFA()
    ).summary
    cv = KFold(5, shuffle=True, random_state=0)
    curve = coterie.tolerance_path(X[:120], y[:120], cv=cv)
    assert last.path.cv_scores == pytest.approx(curve.cv_mean)
    assert last.n_test_rows == 40
    assert last.verdict.error is None
    assert "one split" in last.verdict.reason


def test_weights_count_in_fit_model_and_score(problem):
    X, y = problem
    weights = np.random.default_rng(0).integers(1, 4, size=160).astype(float)
    study = coterie.report.study(X, y, test_last=True, sample_weight=weights, path=False)
    train, test = slice(0, 128), slice(128, None)
    reducer = Coterie().fit(X[train], y[train], sample_weight=weights[train])
    scaler = StandardScaler().fit(reducer.transform(X[train]), sample_weight=weights[train])
    columns = [scaler.transform(reducer.transform(X[part])) for part in (train, test)]
    model = RidgeCV(np.logspace(-10, 3, 27) * 128).fit(columns[0], y[train], weights[train])
    expected = model.score(columns[1], y[test], weights[test])
    assert by_name(study.summary)["coterie"].score == pytest.approx(expected)


def test_without_held_out_rows_nothing_is_scored(problem):
    X, y = problem
    study = coterie.report.study(X, y, test_share=0, path=False)
    assert study.summary.scores == []
    assert study.summary.n_rows == 160
    assert study.verdict is None
    assert (study.reducer.labels_ == NonLinCFA().fit(X, y).labels_).all()


def flat(value, place=""):
    """All that is within, by where it is."""
    if isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, inner in items for k, v in flat(inner, f"{place}.{key}").items()}
    return {place: value}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(problem, frame):
    X, y = problem
    names = [f"f{k}" for k in range(12)]
    table = frame({name: X[:, k] for k, name in enumerate(names)})
    study = coterie.report.study(table, y, path=False)
    assert study.summary.features == names
    plain = coterie.report.study(pd.DataFrame(X, columns=names), y, path=False)
    # Columns lie otherwise in memory, and processors add them in another order.
    expected = {
        place: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        for place, value in flat(asdict(plain.summary)).items()
    }
    assert flat(asdict(study.summary)) == expected


def test_path_and_stability_are_computed_where_asked_for(problem):
    X, y = problem
    said = []
    study = coterie.report.study(
        X,
        y,
        estimator=NonLinCFA(),
        n_resamples=3,
        progress=lambda what, done, total: said.append((what, done, total)),
    )
    assert len(study.summary.path.tolerances) == 30
    assert 0 <= study.summary.agreement <= 1
    assert ("fit", 1, 1) in said
    assert ("path", 5, 5) in said
    assert ("stability", 3, 3) in said
    assert ("scores", 15, 15) in said


def test_reducers_without_a_tolerance_have_no_path(problem):
    X, y = problem
    assert coterie.report.study(X, y, estimator=LinCFA()).summary.path is None
    assert coterie.report.study(X, y, estimator=NonLinCFA(n_groups=4)).summary.path is None


def test_a_reducer_that_knows_no_classes_is_scored_as_others_are(problem):
    X, y = problem
    study = coterie.report.study(X, (y > 0).astype(int), estimator=MutualCFA(), path=False)
    assert study.summary.metric == "ROC AUC"
    assert study.summary.outputs == ["target = 1"]


COUNTS = np.random.default_rng(0).poisson(2.0, size=160)
METRICS = {
    "NonLinCFA": (NonLinCFA(), "numbers", r2_score, "R2"),
    "NonLinCFA on counts": (NonLinCFA(), "counts", r2_score, "R2"),
    "LinCFA on 0 and 1": (LinCFA(), "two", r2_score, "R2"),
    "GenLinCFA": (GenLinCFA(), "two", r2_score, "R2"),
    "bernoulli": (GenLinCFA(family="bernoulli"), "two", roc_auc_score, "ROC AUC"),
    "poisson": (
        GenLinCFA(family="poisson"),
        "counts",
        partial(d2_tweedie_score, power=1),
        "share of deviance explained",
    ),
    "gamma": (
        GenLinCFA(family="gamma"),
        "positive",
        partial(d2_tweedie_score, power=2),
        "share of deviance explained",
    ),
}


@pytest.mark.parametrize("name", METRICS)
def test_scores_are_called_what_they_are(problem, name):
    X, y = problem
    reducer, kind, oracle, metric = METRICS[name]
    target = {"numbers": y, "counts": COUNTS, "two": (y > 0) * 1, "positive": np.exp(y / 9)}[kind]
    study = coterie.report.study(
        X, target, estimator=reducer, test_last=True, test_share=0.25, path=False
    )
    assert study.summary.metric == metric
    fitted = study.reducer
    model = penalised_model(fitted, fitted.transform(X[:120]), target[:120])
    model.fit(fitted.transform(X[:120]), target[:120])
    tested = fitted.transform(X[120:])
    told = model.predict_proba(tested)[:, 1] if metric == "ROC AUC" else model.predict(tested)
    if kind in ("counts", "positive"):
        seen, known = model.predict(fitted.transform(X[:120])), target[:120]
        told = told.clip(max(seen.min(), 0.01 * known.mean()), min(seen.max(), known.max()))
    expected = oracle(target[120:], told)
    assert study.summary.scores[0].score == pytest.approx(expected)
    assert coterie.report.compare(X, target, estimator=reducer, cv=2).metric == metric


WRONG = {
    "task": ({"task": "clases"}, ValueError, "task must be one of"),
    "contradiction": (
        {"task": "classes", "estimator": GenLinCFA()},
        ValueError,
        "contradict each other",
    ),
    "a model": ({"estimator": LinearRegression()}, TypeError, "must be a reducer"),
    "a class": ({"estimator": NonLinCFA}, TypeError, r"pass NonLinCFA\(\)"),
    "weights": ({"sample_weight": np.ones(3)}, ValueError, "sample_weight must have shape"),
    "no weight": (
        {"sample_weight": np.zeros(160)},
        ValueError,
        "sample_weight is zero in all rows but 0",
    ),
    "negative": ({"sample_weight": -np.ones(160)}, ValueError, "0 or more"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("function", [coterie.report.study, coterie.report.compare])
def test_what_cannot_be_done_is_said_first(problem, function, name):
    options, kind, sentence = WRONG[name]
    with pytest.raises(kind, match=sentence):
        function(*problem, **options)


@pytest.mark.parametrize("function", [coterie.report.study, coterie.report.compare])
def test_rows_must_have_their_targets(problem, function):
    X, y = problem
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        function(X, y[:150])
    with pytest.raises(ValueError, match="dense table"):
        function(sparse.csr_array(X), y)


@pytest.mark.parametrize("cv", [1, 81, 2.5])
def test_folds_must_have_two_rows(problem, cv):
    with pytest.raises((TypeError, ValueError), match="cv must be"):
        coterie.report.compare(*problem, cv=cv)


@pytest.mark.parametrize(("n_rows", "n_folds"), [(16, 3), (24, 4), (40, 5)])
def test_small_tables_have_fewer_folds(problem, n_rows, n_folds):
    X, y = problem
    rows = X[:n_rows], y[:n_rows]
    path = coterie.report.study(*rows, estimator=NonLinCFA(), test_last=True).summary.path
    train = np.arange(n_rows - round(0.2 * n_rows))
    cv = KFold(n_folds, shuffle=True, random_state=0)
    curve = coterie.tolerance_path(X[train], y[train], cv=cv)
    assert path.tolerances == pytest.approx(curve.tolerances)
    assert path.cv_scores == pytest.approx(curve.cv_mean)
    assert np.isfinite(path.cv_scores).all()


def test_by_time_the_first_fold_has_enough_to_learn_from(problem):
    X, y = problem
    path = coterie.report.study(X[:30], y[:30], by_time=True, estimator=NonLinCFA()).summary.path
    curve = coterie.tolerance_path(X[:30], y[:30], cv=TimeSeriesSplit(4))
    assert path.cv_scores == pytest.approx(curve.cv_mean)


@pytest.mark.parametrize(("n_rows", "by_time"), [(8, False), (9, False), (12, True)])
def test_smaller_tables_have_no_path(problem, n_rows, by_time):
    X, y = problem
    rows = X[:n_rows], y[:n_rows]
    study = coterie.report.study(*rows, by_time=by_time, estimator=NonLinCFA())
    assert study.summary.path is None
    assert study.reducer.n_groups_ >= 1


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_stability_counts_weights(problem):
    X, y = problem
    weights = np.random.default_rng(0).exponential(size=160) ** 3
    study = coterie.report.study(X, y, sample_weight=weights, n_resamples=3, path=False)
    assert study.summary.n_resamples == 3
    whole = coterie.stability(X, y, sample_weight=weights, n_resamples=3, random_state=0)
    assert whole.labels.tolist() == Coterie().fit(X, y, sample_weight=weights).labels_.tolist()


def test_threads_leave_the_warnings_of_others_alone(problem):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: coterie.report.study(*problem, path=False), range(8)))
    with pytest.warns(UserWarning, match="hello"):
        warnings.warn("hello", UserWarning, stacklevel=1)


def test_a_solver_that_stops_early_is_a_remark(problem):
    X, y = problem
    model = LogisticRegression(max_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y > 0)
    assert stopped_early(model)
    assert not stopped_early(LogisticRegression(max_iter=1000).fit(X, y > 0))
    assert not stopped_early(LinearRegression().fit(X, y))


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
def test_guessing_is_told_for_classes(problem):
    X, y = problem
    labels = np.where(np.arange(160) % 4 == 0, "rare", "often")
    notes = coterie.report.study(X, labels, path=False).summary.notes
    assert "Always predicting the largest class would have an accuracy of 0.750." in notes


def test_gaps_are_filled_for_the_others(problem):
    X, y = problem
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    study = coterie.report.study(X, y, estimator=NonLinCFA(missing="pairwise"), path=False)
    assert all(np.isfinite(score.score) for score in study.summary.scores)
    assert study.summary.correlation is not None


@pytest.mark.parametrize("share", [-0.1, 1.0, 0.001])
def test_shares_that_leave_no_rows_are_refused(problem, share):
    X, y = problem
    with pytest.raises(ValueError, match="test_share"):
        coterie.report.study(X, y, test_share=share)


@pytest.mark.parametrize("by_time", [False, True])
@pytest.mark.parametrize("classes", [False, True])
def test_no_row_is_both_learned_from_and_tested(by_time, classes):
    y = np.arange(50) % 3
    options = {"classes": classes, "by_time": by_time, "seed": 0}
    rows = Samples.from_arrays(np.zeros((50, 2)), y)
    for train, test in make_folds(rows, 4, **options):
        assert not {*train} & {*test}
        assert not by_time or train.max() < test.min()


def test_comparisons_score_everyone_on_the_same_folds(problem):
    X, y = problem
    result = coterie.report.compare(X, y, cv=3)
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    expected = []
    for a, b in splits:
        penalties = np.logspace(-10, 3, 27) * len(a)
        ours = make_pipeline(Coterie(), StandardScaler(), RidgeCV(penalties))
        expected.append(ours.fit(X[a], y[a]).score(X[b], y[b]))
    assert result.fold_scores["coterie"] == pytest.approx(expected)
    assert result.scores[0].score == pytest.approx(np.mean(expected))
    ratio = np.mean([len(b) / len(a) for a, b in splits])
    corrected = np.sqrt((1 / 3 + ratio) * np.var(expected, ddof=1))
    assert result.scores[0].std_error == pytest.approx(corrected)
    names = {"coterie", "ridge on all columns", "lasso on all columns", "the mean"}
    names |= {"PCA", "PLS", "FeatureAgglomeration", "SelectKBest"}
    assert {score.name for score in result.scores} == names
    rest = [score.score for score in result.scores[1:]]
    assert rest == sorted(rest, reverse=True)
    beside = result.beside("PCA")
    gains = np.subtract(result.fold_scores["coterie"], result.fold_scores["PCA"])
    assert beside.gain == pytest.approx(gains.mean())
    corrected = np.sqrt((1 / 3 + ratio) * gains.var(ddof=1))
    assert beside.error == pytest.approx(stats.t.ppf(0.975, 2) * corrected)


def test_rivals_choose_their_size_on_training_rows_alone(problem):
    """Targets of tested rows change the scores, and nothing that was chosen."""
    X, y = problem
    other = y.copy()
    last = list(TimeSeriesSplit(3, test_size=26).split(X))[-1][1]
    other[last] = np.random.default_rng(0).permutation(other[last])
    sizes = {s.name: s.n_columns for s in coterie.report.compare(X, y, cv=3, by_time=True).scores}
    again = {
        s.name: s.n_columns for s in coterie.report.compare(X, other, cv=3, by_time=True).scores
    }
    assert sizes == again


@pytest.mark.filterwarnings("ignore:Nothing in X predicts")
@pytest.mark.parametrize("task", ["classes", "counts"])
def test_other_tasks_are_compared_too(problem, task):
    X, y = problem
    target = (y > 0) if task == "classes" else np.random.default_rng(0).poisson(np.exp(y / 9))
    result = coterie.report.compare(X, target, cv=3)
    assert result.task == task
    assert {"PCA", "SelectKBest", "ridge on all columns"} <= {score.name for score in result.scores}
    assert "PLS" not in result.fold_scores


def test_rows_in_time_are_split_in_time_inside_the_fit_too(problem):
    X, y = problem
    study = coterie.report.study(X, y, by_time=True)
    assert isinstance(study.reducer.cv, TimeSeriesSplit)
    assert study.reducer.cv.n_splits == 5
