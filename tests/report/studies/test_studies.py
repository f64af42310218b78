"""Scores are what a pipeline of scikit-learn has on the same held-out rows."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, d2_tweedie_score, r2_score
from sklearn.model_selection import KFold, TimeSeriesSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from coterie._model_selection.tuning import plain_model, stopped_early
from coterie.datasets import make_groups
from coterie.report.studies._splits import make_folds, train_test_rows


@pytest.fixture(scope="module")
def problem():
    X, y, _ = make_groups(160, 12, 3, noise=3.0, random_state=0)
    return X, y


def by_name(summary):
    return {score.name: score for score in summary.scores}


def test_scores_are_those_of_pipelines_on_the_same_rows(problem):
    X, y = problem
    study = coterie.report.study(X, y, path=False)
    train, test = (np.sort(rows) for rows in train_test_split(range(160), random_state=0))
    n_groups = study.reducer.n_groups_
    pipelines = {
        "coterie": make_pipeline(NonLinCFA(), LinearRegression()),
        "all columns": LinearRegression(),
        "PCA": make_pipeline(StandardScaler(), PCA(n_groups, random_state=0), LinearRegression()),
    }
    for name, score in by_name(study.summary).items():
        expected = pipelines[name].fit(X[train], y[train]).score(X[test], y[test])
        assert score.score == pytest.approx(expected)
    assert (study.reducer.labels_ == NonLinCFA().fit(X[train], y[train]).labels_).all()
    assert study.summary.n_test_rows == 40
    assert study.summary.n_rows == 120


def test_classes_keep_their_shares_and_are_scored_by_accuracy(problem):
    X, y = problem
    labels = np.where(y > np.quantile(y, 0.8), "high", "low")
    study = coterie.report.study(X, labels, path=False)
    train, test = train_test_split(range(160), random_state=0, stratify=labels)
    model = make_pipeline(
        GenLinCFA(family="bernoulli"), StandardScaler(), LogisticRegression(max_iter=1000)
    )
    expected = model.fit(X[np.sort(train)], labels[np.sort(train)]).score(X[test], labels[test])
    assert by_name(study.summary)["coterie"].score == pytest.approx(expected)
    assert study.summary.metric == "accuracy"
    assert study.summary.task == "classes"


def test_by_time_the_last_rows_are_held_out(problem):
    X, y = problem
    study = coterie.report.study(X, y, by_time=True, test_share=0.2, path=False)
    expected = make_pipeline(NonLinCFA(), LinearRegression()).fit(X[:128], y[:128])
    assert by_name(study.summary)["coterie"].score == pytest.approx(
        expected.score(X[128:], y[128:])
    )


def test_last_rows_are_held_out_without_an_order_on_the_path(problem):
    X, y = problem
    by_rule = {"estimator": NonLinCFA()}
    last = coterie.report.study(X, y, test_last=True, **by_rule).summary
    in_time = coterie.report.study(X, y, by_time=True, path=False, **by_rule).summary
    assert last.scores == in_time.scores
    cv = KFold(5, shuffle=True, random_state=0)
    curve = coterie.tolerance_path(X[:120], y[:120], cv=cv)
    assert last.path.cv_scores == pytest.approx(curve.cv_mean)


def test_weights_count_in_fit_model_and_score(problem):
    X, y = problem
    weights = np.random.default_rng(0).integers(1, 4, size=160).astype(float)
    study = coterie.report.study(X, y, by_time=True, sample_weight=weights, path=False)
    train, test = slice(0, 120), slice(120, None)
    reducer = NonLinCFA().fit(X[train], y[train], sample_weight=weights[train])
    model = LinearRegression().fit(reducer.transform(X[train]), y[train], weights[train])
    expected = model.score(reducer.transform(X[test]), y[test], weights[test])
    assert by_name(study.summary)["coterie"].score == pytest.approx(expected)


def test_without_held_out_rows_nothing_is_scored(problem):
    X, y = problem
    study = coterie.report.study(X, y, test_share=0, path=False)
    assert study.summary.scores == []
    assert study.summary.n_rows == 160
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
    assert ("scores", 3, 3) in said


def test_reducers_without_a_tolerance_have_no_path(problem):
    X, y = problem
    assert coterie.report.study(X, y, estimator=LinCFA()).summary.path is None
    assert coterie.report.study(X, y, estimator=NonLinCFA(n_groups=4)).summary.path is None


def test_a_reducer_that_knows_no_classes_is_scored_by_accuracy(problem):
    X, y = problem
    study = coterie.report.study(X, (y > 0).astype(int), estimator=MutualCFA(), path=False)
    assert study.summary.metric == "accuracy"
    assert study.summary.outputs == ["target = 1"]


COUNTS = np.random.default_rng(0).poisson(2.0, size=160)
METRICS = {
    "NonLinCFA": (NonLinCFA(), "numbers", r2_score, "R2"),
    "NonLinCFA on counts": (NonLinCFA(), "counts", r2_score, "R2"),
    "LinCFA on 0 and 1": (LinCFA(), "two", r2_score, "R2"),
    "GenLinCFA": (GenLinCFA(), "two", r2_score, "R2"),
    "bernoulli": (GenLinCFA(family="bernoulli"), "two", accuracy_score, "accuracy"),
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
    study = coterie.report.study(X, target, estimator=reducer, test_last=True, path=False)
    assert study.summary.metric == metric
    fitted = study.reducer
    model = plain_model(fitted, fitted.transform(X[:120]), target[:120])
    model.fit(fitted.transform(X[:120]), target[:120])
    expected = oracle(target[120:], model.predict(fitted.transform(X[120:])))
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
    path = coterie.report.study(X[:n_rows], y[:n_rows], estimator=NonLinCFA()).summary.path
    train = np.sort(train_test_split(range(n_rows), random_state=0)[0])
    cv = KFold(n_folds, shuffle=True, random_state=0)
    curve = coterie.tolerance_path(X[train], y[train], cv=cv)
    assert path.tolerances == pytest.approx(curve.tolerances)
    assert path.cv_scores == pytest.approx(curve.cv_mean)
    assert np.isfinite(path.cv_scores).all()


def test_by_time_the_first_fold_has_enough_to_learn_from(problem):
    X, y = problem
    path = coterie.report.study(X[:40], y[:40], by_time=True, estimator=NonLinCFA()).summary.path
    curve = coterie.tolerance_path(X[:30], y[:30], cv=TimeSeriesSplit(4))
    assert path.cv_scores == pytest.approx(curve.cv_mean)


@pytest.mark.parametrize(("n_rows", "by_time"), [(10, False), (12, False), (16, True)])
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
    train, test = train_test_rows(y, 0.3, classes=classes, last=by_time, seed=0)
    assert sorted([*train, *test]) == list(range(50))
    for train, test in make_folds(y, 4, **options):
        assert not {*train} & {*test}
        assert not by_time or train.max() < test.min()


def test_comparisons_score_everyone_on_the_same_folds(problem):
    X, y = problem
    result = coterie.report.compare(X, y, cv=3)
    splits = make_folds(y, 3, classes=False, by_time=False, seed=0)
    ours = make_pipeline(Coterie(), LinearRegression())
    expected = [ours.fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits]
    assert result.fold_scores["coterie"] == pytest.approx(expected)
    assert result.scores[0].score == pytest.approx(np.mean(expected))
    assert result.scores[0].std_error == pytest.approx(np.std(expected, ddof=1) / np.sqrt(3))
    names = {"coterie", "all columns", "PCA", "PLS", "FeatureAgglomeration", "SelectKBest"}
    assert {score.name for score in result.scores} == names
    rest = [score.score for score in result.scores[1:]]
    assert rest == sorted(rest, reverse=True)
    gain, error = result.beside("PCA")
    gains = np.subtract(result.fold_scores["coterie"], result.fold_scores["PCA"])
    assert gain == pytest.approx(gains.mean())
    assert error == pytest.approx(gains.std(ddof=1) / np.sqrt(3))


def test_rivals_choose_their_size_on_training_rows_alone(problem):
    """Targets of tested rows change the scores, and nothing that was chosen."""
    X, y = problem
    other = y.copy()
    last = make_folds(y, 3, classes=False, by_time=True, seed=0)[-1][1]
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
    assert {"PCA", "SelectKBest"} <= {score.name for score in result.scores}
    assert "PLS" not in result.fold_scores


def test_rows_in_time_are_split_in_time_inside_the_fit_too(problem):
    X, y = problem
    study = coterie.report.study(X, y, by_time=True)
    assert isinstance(study.reducer.cv, TimeSeriesSplit)
    assert study.reducer.cv.n_splits == 5
