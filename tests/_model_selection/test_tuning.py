"""Which tolerance: the path is that of separate fits, folds do not leak, rules choose well."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import correlated
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)
from threadpoolctl import threadpool_limits

from coterie import GenLinCFA, LinCFA, NonLinCFA, ToleranceCV, tolerance_path
from coterie._model_selection.tuning import TolerancePath
from coterie.datasets import make_groups
from coterie.estimators import problem_of

LEFT_OUT = [
    check_dataframe_column_names_consistency,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
]
TUNED = [NonLinCFA(cv=None), GenLinCFA()]
ESTIMATORS = [
    NonLinCFA(),
    NonLinCFA(cv=None),
    NonLinCFA("bic", search="forward"),
    NonLinCFA(cv=3, search="best", scale=True),
    NonLinCFA(cv=None, search="best", aggregation="max", max_group_size=4),
    NonLinCFA(cv=None, inputs=StandardScaler(), covariance="columns"),
    GenLinCFA(),
    GenLinCFA(search="forward", bound="bivariate"),
    GenLinCFA(search="best", aggregation="principal"),
    NonLinCFA(cv=None, signs=True),
    NonLinCFA(cv=2, initial_groups=[[0, 4]], keep=[1], separate=[[2, 3], [5]]),
    GenLinCFA(family="bernoulli"),
    GenLinCFA(family="poisson", curvature="null"),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Several take longer for models as small as these."""
    with threadpool_limits(1):
        yield


def target_for(estimator, y):
    """The target, or the classes or counts that its signs and sizes make."""
    family = getattr(estimator, "family", "gaussian")
    if family == "bernoulli":
        return np.where(y > 0, "up", "down")
    return np.floor(np.abs(y)) if family == "poisson" else y


def model_for(estimator):
    family = getattr(estimator, "family", "gaussian")
    if family == "bernoulli":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    if family == "poisson":
        counts = PoissonRegressor(alpha=1e-3, solver="newton-cholesky")
        return make_pipeline(StandardScaler(), counts)
    return LinearRegression()


@pytest.mark.filterwarnings("ignore::coterie.FitWarning")
@parametrize_with_checks(
    [
        ToleranceCV(n_tolerances=4, cv=3),
        ToleranceCV(
            NonLinCFA(cv=None, aggregation="max", scale=True),
            tolerances=[0.01, 0.1],
            cv=3,
            one_standard_error=True,
        ),
        ToleranceCV(GenLinCFA(search="best"), n_tolerances=4, cv=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    # Since 1.7, scikit-learn asks only those for sparse columns who say that they take them.
    is_for_sparse = check.func.__name__.endswith("_on_sparse_data")
    if is_for_sparse and not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes no sparse columns")
    check(estimator)


@pytest.mark.filterwarnings("ignore::coterie.FitWarning")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature")
@pytest.mark.parametrize("reducer", TUNED)
@pytest.mark.parametrize("check", LEFT_OUT, ids=lambda check: check.__name__)
def test_scikit_learn_checks_that_the_decorator_leaves_out(reducer, check):
    check("ToleranceCV", ToleranceCV(reducer, n_tolerances=3, cv=2))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_each_partition_is_that_of_a_fit_with_this_tolerance(problem, estimator):
    X, y = problem
    y = target_for(estimator, y)
    path = tolerance_path(X, y, estimator=estimator, n_tolerances=12, cv=2)
    assert len(path.tolerances) == 12
    assert (np.diff(path.tolerances) > 0).all()
    for tolerance, labels, n_groups in zip(path.tolerances, path.labels, path.n_groups):
        alone = clone(estimator).set_params(tolerance=tolerance).fit(X, y)
        assert alone.labels_.tolist() == labels.tolist()
        assert alone.n_groups_ == n_groups


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_each_score_is_that_of_a_pipeline(problem, estimator):
    X, y = problem
    y = target_for(estimator, y)
    tolerances = [0.7, 0.02, 0.3]
    path = tolerance_path(X, y, estimator=estimator, tolerances=tolerances, cv=3)
    assert path.tolerances.tolist() == tolerances
    for t, train_score, cv_scores in zip(tolerances, path.train_scores, path.cv_scores):
        reducer = clone(estimator).set_params(tolerance=t)
        pipeline = make_pipeline(reducer, model_for(estimator))
        expected = cross_val_score(pipeline, X, y, cv=3)
        np.testing.assert_allclose(cv_scores, expected, rtol=0, atol=1e-9)
        expected = pipeline.fit(X, y).score(X, y)
        np.testing.assert_allclose(train_score, expected, rtol=0, atol=1e-9)


def unexplained(pipeline, X, y):
    """A scorer that asks the whole pipeline, and all its steps."""
    assert pipeline[0].n_groups_ == pipeline[0].transform(X).shape[1]
    return -np.abs(y - pipeline.predict(X)).max()


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "explained_variance", unexplained])
@pytest.mark.parametrize(
    "cv", [KFold(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)]
)
def test_any_scorer_and_any_splitter_will_do(problem, scoring, cv):
    X, y = problem
    path = tolerance_path(X, y, tolerances=[0.05], scoring=scoring, cv=cv)
    pipeline = make_pipeline(NonLinCFA(0.05), LinearRegression())
    expected = cross_val_score(pipeline, X, y, scoring=scoring, cv=cv)
    np.testing.assert_allclose(path.cv_scores[0], expected, rtol=0, atol=1e-9)


def test_classes_are_scored_by_probabilities_if_one_wants(problem):
    X, y = problem
    reducer = GenLinCFA(0.8, family="bernoulli")
    path = tolerance_path(X, y > 0, estimator=reducer, tolerances=[0.8], scoring="neg_log_loss")
    pipeline = make_pipeline(reducer, model_for(reducer))
    expected = cross_val_score(pipeline, X, y > 0, scoring="neg_log_loss")
    np.testing.assert_allclose(path.cv_scores[0], expected, rtol=0, atol=1e-9)


def test_evidence_is_gathered_once_per_training_set_and_from_its_rows_alone(problem, monkeypatch):
    X, y = problem
    seen = []

    def spy(reducer, X, y, given):
        seen.append((X.copy(), y.copy()))
        return problem_of(reducer, X, y, given)

    monkeypatch.setattr("coterie._model_selection.tuning._path.problem_of", spy)
    tolerance_path(X, y, n_tolerances=9, cv=4)
    assert len(seen) == 1 + 4
    assert (seen[0][0] == X).all()
    for (rows, targets), (train, _) in zip(seen[1:], KFold(4).split(X)):
        assert (rows == X[train]).all()
        assert (targets == y[train]).all()


def test_held_out_rows_do_not_change_what_is_chosen_for_them(problem):
    X, y = problem
    train, test = np.arange(40), np.arange(40, 60)
    other = X.copy()
    other[test[:-1]] += 100 * np.cos(np.arange(19 * 7)).reshape(19, 7)
    last_row = [(train, test[-1:])]
    scores = [
        tolerance_path(
            x, y, tolerances=[0.01, 0.1], cv=last_row, scoring="neg_mean_squared_error"
        ).cv_scores
        for x in (X, other)
    ]
    assert (scores[0] == scores[1]).all()


def test_folds_may_run_at_the_same_time(problem):
    X, y = problem
    with joblib.parallel_config(backend="threading"):
        together = tolerance_path(X, y, n_tolerances=6, n_jobs=2)
    in_turn = tolerance_path(X, y, n_tolerances=6)
    assert (together.cv_scores == in_turn.cv_scores).all()


def orthogonal(n_samples=40, n_features=2):
    """Columns of mean 0 and length 1 at right angles to each other."""
    waves = np.cos(
        np.pi * np.outer(np.arange(n_samples) + 0.5, np.arange(1, n_features + 1)) / n_samples
    )
    return waves / np.linalg.norm(waves, axis=0)


def test_the_place_where_groups_merge_is_found():
    # Of y = u, the mean of u and of v at right angles explains one half: a price of 0.5.
    X = orthogonal()
    path = tolerance_path(X, X[:, 0], estimator=NonLinCFA(cv=None))
    assert path.n_groups.tolist() == np.where(path.tolerances < 0.5, 2, 1).tolist()
    below, above = path.tolerances[path.n_groups == 2][-1], path.tolerances[path.n_groups == 1][0]
    assert above / below < 1.011


def test_where_nothing_changes_tolerances_are_a_geometric_sequence():
    X = orthogonal()
    path = tolerance_path(
        X, X[:, 0], estimator=NonLinCFA(cv=None, max_group_size=1), n_tolerances=5
    )
    np.testing.assert_allclose(path.tolerances, [1e-6, 10**-4.5, 1e-3, 10**-1.5, 1])
    assert path.n_groups.tolist() == [2] * 5


def test_from_next_to_nothing_to_everything(problem):
    X, y = problem
    for estimator in (NonLinCFA(cv=None), GenLinCFA(bound="bivariate")):
        ends = tolerance_path(X, y, estimator=estimator, n_tolerances=2, cv=2)
        assert ends.n_groups[0] >= 6
    assert tolerance_path(X, y, estimator=NonLinCFA(cv=None), cv=2).n_groups[-1] == 1


def hand_made():
    return TolerancePath(
        tolerances=np.array([0.1, 0.2, 0.3, 0.4, 0.5]),
        n_groups=np.array([8, 5, 3, 3, 1]),
        labels=np.zeros((5, 8), dtype=np.intp),
        train_scores=np.array([0.9, 0.9, 0.8, 0.8, 0.1]),
        cv_scores=np.array(
            [
                [0.6, 0.6, 0.6],
                [0.6, 0.7, 0.8],
                [0.5, 0.7, 0.75],
                [0.65, 0.65, 0.65],
                [0.1, 0.2, 0.0],
            ]
        ),
    )


def test_the_rules_on_a_path_made_by_hand():
    path = hand_made()
    np.testing.assert_allclose(path.cv_mean, [0.6, 0.7, 0.65, 0.65, 0.1])
    # Deviations -0.1, 0, 0.1: variance 0.02 / 2, so a standard error of 0.1 / sqrt(3) = 0.0577.
    np.testing.assert_allclose(
        path.cv_std_error[[0, 1, 4]], [0, 0.1 / 3**0.5, 0.1 / 3**0.5], atol=1e-9
    )
    assert path.best == 1
    assert path.simplest == 3
    assert [path.of_size(n) for n in (0, 1, 2, 3, 4, 6, 7, 100)] == [4, 4, 4, 3, 3, 1, 0, 0]


def test_a_path_becomes_a_frame():
    frame = hand_made().to_frame()
    assert frame["tolerance"].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert frame["n_groups"].tolist() == [8, 5, 3, 3, 1]
    np.testing.assert_allclose(frame["cv_score"], [0.6, 0.7, 0.65, 0.65, 0.1])
    assert frame["is_best"].tolist() == [False, True, False, False, False]
    assert frame["is_simplest"].tolist() == [False, False, False, True, False]


def test_the_simplest_is_the_best_where_scores_do_not_vary():
    path = hand_made()
    steady = TolerancePath(
        path.tolerances, path.n_groups, path.labels, path.train_scores, path.cv_mean[:, None]
    )
    assert steady.cv_std_error.tolist() == [0] * 5
    assert steady.simplest == steady.best == 1


def test_the_first_of_equals_is_best():
    path = hand_made()
    equal = TolerancePath(
        path.tolerances, path.n_groups, path.labels, path.train_scores, np.ones((5, 3))
    )
    assert equal.best == 0
    assert equal.simplest == 4


@pytest.mark.parametrize(
    ("tuned", "plain", "tolerances"),
    [
        (ToleranceCV(), NonLinCFA(cv=None), [0.5, 1e-4, 0.01, 0.1]),
        (
            ToleranceCV(NonLinCFA(cv=3, search="best")),
            NonLinCFA(cv=3, search="best"),
            [0.1, 0.01, 0],
        ),
        (ToleranceCV(GenLinCFA()), GenLinCFA(), [0.5, 0.7, 0.9, 1.2]),
        (
            ToleranceCV(GenLinCFA(family="poisson")),
            GenLinCFA(family="poisson"),
            [0.3, 0.5, 0.7, 0.9],
        ),
        (
            ToleranceCV(GenLinCFA(family="bernoulli")),
            GenLinCFA(family="bernoulli"),
            [0.5, 0.8, 1.1],
        ),
    ],
    ids=str,
)
def test_the_choice_is_that_of_a_grid_search(rng, tuned, plain, tolerances):
    X, y = correlated(rng, n_samples=90, noise=4.0)
    y = target_for(plain, y)
    pipeline = make_pipeline(plain, model_for(plain))
    name = f"{type(plain).__name__.lower()}__tolerance"
    grid = GridSearchCV(pipeline, {name: tolerances}, cv=4).fit(X, y)
    tuned.set_params(tolerances=tolerances, cv=4).fit(X, y)
    assert tuned.tolerance_ == grid.best_params_[name]
    for key in ("mean_test_score", "std_test_score", "split0_test_score", "split3_test_score"):
        np.testing.assert_allclose(tuned.cv_results_[key], grid.cv_results_[key], atol=1e-9)
    assert tuned.cv_results_["tolerance"].tolist() == tolerances
    best = grid.best_estimator_[0]
    assert (tuned.labels_ == best.labels_).all()
    assert (tuned.trace_ == best.trace_).all()
    np.testing.assert_array_equal(tuned.transform(X), best.transform(X))


OTHERS = {
    "inputs": StandardScaler(),
    "aggregation": "sum",
    "search": "best",
    "connectivity": np.diag(np.ones(6), 1),
    "max_group_size": 3,
    "scale": True,
    "signs": True,
    "initial_groups": [[0, 1]],
    "keep": [6],
    "separate": [[2], [3]],
    "covariance": "gram",
    "max_bytes": 1e6,
}


@pytest.mark.parametrize(
    "plain", [NonLinCFA(0.0, cv=3), GenLinCFA(0.0, curvature=0.5, bound="bivariate")]
)
def test_parameters_of_the_reducer_reach_it(problem, plain):
    X, y = problem
    inside = {f"estimator__{name}": value for name, value in OTHERS.items()}
    tuned = ToleranceCV(clone(plain), n_tolerances=6).set_params(**inside).fit(X, y)
    plain.set_params(**OTHERS, tolerance=tuned.tolerance_).fit(X, y)
    assert (tuned.trace_ == plain.trace_).all()
    np.testing.assert_array_equal(tuned.transform(X), plain.transform(X))
    Z = tuned.transform(X)
    np.testing.assert_array_equal(tuned.inverse_transform(Z), plain.inverse_transform(Z))
    assert (tuned.get_feature_names_out() == plain.get_feature_names_out()).all()


def test_one_standard_error_takes_the_simplest():
    X, y, labels = make_groups(400, 12, 3, noise=3.0, random_state=4)
    reducer = ToleranceCV(one_standard_error=True).fit(X, y)
    assert reducer.tolerance_ == reducer.path_.tolerances[reducer.path_.simplest]
    assert reducer.labels_.tolist() == labels.tolist()
    best = ToleranceCV().fit(X, y)
    assert best.tolerance_ == best.path_.tolerances[best.path_.best]


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_in_frames_out(problem, library):
    X, y = problem
    names = list("abcdefg")
    frame = pd.DataFrame(X, columns=names) if library is pd else pl.DataFrame(X, schema=names)
    reducer = ToleranceCV(n_tolerances=5).set_output(transform=library.__name__)
    Z = reducer.fit(frame, library.Series(y)).transform(frame)
    assert type(Z) is type(frame)
    assert list(Z.columns) == list(reducer.get_feature_names_out())
    expected = ToleranceCV(n_tolerances=5).fit(X, y)
    np.testing.assert_allclose(reducer.path_.cv_scores, expected.path_.cv_scores)
    np.testing.assert_allclose(np.asarray(Z), expected.transform(X))


def test_lists_will_do(problem):
    X, y = problem
    path = tolerance_path(X.tolist(), y.tolist(), tolerances=(0.01,))
    assert (path.cv_scores == tolerance_path(X, y, tolerances=np.array([0.01])).cv_scores).all()


def test_works_in_a_pipeline_that_is_scored_itself(problem):
    X, y = problem
    model = make_pipeline(StandardScaler(), ToleranceCV(n_tolerances=6, cv=3), LinearRegression())
    scores = cross_val_score(model, X, y, cv=3)
    assert scores.shape == (3,)
    assert model.fit(X, y).predict(X).shape == y.shape


@pytest.mark.parametrize("reducer", TUNED)
def test_clones_and_pickles_agree_and_parameters_stay(problem, reducer):
    X, y = problem
    original = ToleranceCV(reducer, tolerances=[0.01, 0.8])
    before = dict(original.get_params())
    original.fit(X, y)
    assert original.get_params() == before
    assert not hasattr(reducer, "labels_")
    for copy in (clone(original).fit(X, y), pickle.loads(pickle.dumps(original))):
        assert copy.tolerance_ == original.tolerance_
        np.testing.assert_array_equal(copy.transform(X), original.transform(X))


def test_what_is_copied_from_the_reducer_inside_is_pickled_once(problem):
    tuned = ToleranceCV(n_tolerances=4).fit(*problem)
    again = pickle.loads(pickle.dumps(tuned))
    assert again.fit_ is again.estimator_.fit_
    assert again.fit_.tolerance is None
    assert again.tolerance_ == tuned.tolerance_
    assert len(pickle.dumps(tuned)) < 2 * len(pickle.dumps(tuned.estimator_))
    assert sorted(vars(again)) == sorted(vars(tuned))


def test_an_estimator_is_left_as_it_was(problem):
    X, y = problem
    estimator = NonLinCFA("bic")
    tolerance_path(X, y, estimator=estimator, tolerances=[0.1])
    assert estimator.tolerance == "bic"
    assert not hasattr(estimator, "labels_")


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"tolerances": []}, ValueError, "one number or more, got none"),
        ({"tolerances": [0.1, -0.1]}, ValueError, "every tolerance must be 0 or more, got -0.1"),
        ({"tolerances": [np.nan]}, ValueError, "every tolerance must be 0 or more, got nan"),
        ({"tolerances": ["small"]}, TypeError, "every tolerance must be a number, got 'small'"),
        ({"tolerances": "auto"}, TypeError, "None or a list of numbers, got 'auto'"),
        ({"tolerances": 0.1}, TypeError, r"got 0.1. Write \[0.01\] for a single one"),
        ({"tolerances": [[0.1]]}, TypeError, r"every tolerance must be a number, got \[0.1\]"),
        ({"n_tolerances": 1}, ValueError, "2 or more, got 1. To look at a single"),
        ({"n_tolerances": 2.5}, TypeError, "n_tolerances must be an int, got 2.5"),
        ({"n_tolerances": True}, TypeError, "n_tolerances must be an int, got True"),
        ({"cv": []}, ValueError, "at least one pair"),
        ({"cv": KFold}, TypeError, r"write KFold\(\)"),
        ({"cv": "auto"}, ValueError, "cv"),
        ({"scoring": ["r2", "neg_log_loss"]}, TypeError, "the name of one scorer or a function"),
        ({"scoring": "r3"}, ValueError, "r3"),
        ({"cv": [(np.arange(59), [59])]}, ValueError, "NaN on fold 0 of cv"),
    ],
)
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_bad_choices_are_refused_in_a_sentence(problem, parameters, error, words):
    X, y = problem
    with pytest.raises(error, match=words):
        tolerance_path(X, y, **parameters)
    with pytest.raises(error, match=words):
        ToleranceCV(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (LinCFA(), r"NonLinCFA\(\) or GenLinCFA\(\), got LinCFA\(\)"),
        (ToleranceCV(), r"got ToleranceCV\(\)"),
        (NonLinCFA, r"write NonLinCFA\(\)"),
        ("nonlin", "got 'nonlin'"),
    ],
)
def test_only_a_reducer_with_a_tolerance_has_a_path(problem, estimator, words):
    with pytest.raises(TypeError, match=words):
        tolerance_path(*problem, estimator=estimator)


def test_a_number_of_groups_is_asked_of_the_path(problem):
    with pytest.raises(ValueError, match=r"n_groups=None.*got 3. Ask the path for of_size\(3\)"):
        tolerance_path(*problem, estimator=NonLinCFA(n_groups=3))


def test_bad_data_are_refused_as_by_the_reducer(problem):
    X, y = problem
    gaps = pd.DataFrame(X, columns=list("abcdefg"))
    gaps.loc[3, "c"] = np.nan
    for X_bad, y_bad in ((gaps, y), (X, np.ones(60)), (X, y > 0), (X[:, :1], y), (X, y[:-1])):
        family = {"family": "poisson"} if y_bad.dtype == bool else {}
        reducer = GenLinCFA(0.1, **family) if family else NonLinCFA(0.1)
        y_bad = -y_bad.astype(float) if family else y_bad
        with pytest.raises(ValueError) as expected:
            reducer.fit(X_bad, y_bad)
        with pytest.raises(ValueError) as error:
            ToleranceCV(reducer).fit(X_bad, y_bad)
        assert str(error.value) == str(expected.value)


def test_one_standard_error_must_be_a_yes_or_no(problem):
    with pytest.raises(TypeError, match="one_standard_error must be True or False, got 'yes'"):
        ToleranceCV(one_standard_error="yes").fit(*problem)
