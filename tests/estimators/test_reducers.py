"""The contract: parameters, fitted attributes, names, frames, pipelines."""

import pickle

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
from conftest import correlated
from sklearn.base import clone
from sklearn.cluster import FeatureAgglomeration
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_global_output_transform_pandas,
    check_global_set_output_transform_polars,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from coterie import GenLinCFA, LinCFA, MutualCFA, NonLinCFA, coordinates_to_graph
from coterie.datasets import make_groups

REDUCERS = [NonLinCFA, GenLinCFA, LinCFA, MutualCFA]
LEFT_OUT = [
    check_dataframe_column_names_consistency,
    check_global_output_transform_pandas,
    check_global_set_output_transform_polars,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
]


# Its targets look like classes.
@pytest.mark.filterwarnings("ignore::coterie.FitWarning")
@parametrize_with_checks(
    [
        NonLinCFA(),
        NonLinCFA(cv=None, search="best", aggregation="median", scale=True),
        NonLinCFA(0.05, cv=None, missing="pairwise"),
        GenLinCFA(),
        GenLinCFA(0.8, bound="bivariate", search="forward", aggregation="principal"),
        GenLinCFA(bound="fitted", missing="pairwise", scale=True),
        GenLinCFA("bic", family="bernoulli", signs=True),
        LinCFA(),
        LinCFA(search="best", aggregation="sum_of_squares"),
        MutualCFA(),
        MutualCFA(0.05, missing="pairwise", search="best"),
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
@pytest.mark.parametrize("reducer", REDUCERS)
@pytest.mark.parametrize("check", LEFT_OUT, ids=lambda check: check.__name__)
def test_scikit_learn_checks_that_the_decorator_leaves_out(reducer, check):
    check(reducer.__name__, reducer())


@pytest.fixture
def grouped():
    return make_groups(400, 12, 3, noise=3.0, random_state=4)


@pytest.mark.parametrize("reducer", [NonLinCFA(0.01), NonLinCFA(0.01, search="best")])
def test_known_groups_are_found(grouped, reducer):
    X, y, labels = grouped
    assert reducer.fit(X, y).labels_.tolist() == labels.tolist()


def test_fitted_attributes_agree_with_each_other(problem):
    X, y = problem
    reducer = NonLinCFA(0.02).fit(X, y)
    assert sorted(np.concatenate(reducer.groups_)) == list(range(7))
    assert reducer.n_groups_ == len(reducer.groups_) == reducer.labels_.max() + 1
    firsts = [group[0] for group in reducer.groups_]
    assert firsts == sorted(firsts)
    for label, group in enumerate(reducer.groups_):
        assert (reducer.labels_[group] == label).all()
    merges = reducer.trace_[reducer.trace_.accepted]
    assert len(merges) == 7 - reducer.n_groups_
    assert (merges.price <= merges.allowance).all()
    assert (reducer.labels_[merges.candidate] == merges.group).all()


def test_trace_is_a_table(problem):
    X, y = problem
    trace = NonLinCFA(0.02).fit(X, y).trace_
    assert list(pd.DataFrame(trace)) == ["group", "candidate", "price", "allowance", "accepted"]
    assert trace.itemsize <= 25


@pytest.mark.parametrize("aggregation", ["mean", "sum", "max", "norm", "principal"])
def test_transform_aggregates_each_group(problem, aggregation):
    X, y = problem
    reducer = NonLinCFA(0.3, aggregation=aggregation, cv=None).fit(X, y)
    Z = reducer.transform(X)
    assert Z.shape == (len(X), reducer.n_groups_)
    for j, group in enumerate(reducer.groups_):
        np.testing.assert_allclose(Z[:, j], oracle.AGGREGATIONS[aggregation](X[:, group]))


def test_transform_uses_what_was_learned_and_not_the_new_rows(problem):
    X, y = problem
    for reducer in (NonLinCFA(0.1, scale=True), NonLinCFA(0.1, aggregation="principal")):
        Z = reducer.fit(X, y).transform(X)
        np.testing.assert_allclose(reducer.transform(X[:1]), Z[:1])


def test_mean_comes_back_as_in_feature_agglomeration(problem):
    X, y = problem
    reducer = NonLinCFA(0.05).fit(X, y)
    peer = FeatureAgglomeration(2).fit(X)
    peer.labels_, peer.n_clusters_ = reducer.labels_, reducer.n_groups_
    Z = reducer.transform(X)
    np.testing.assert_allclose(Z, peer.transform(X))
    np.testing.assert_allclose(reducer.inverse_transform(Z), peer.inverse_transform(Z))


@pytest.mark.parametrize("aggregation", ["mean", "sum", "principal"])
@pytest.mark.parametrize("scale", [False, True])
def test_what_comes_back_has_the_same_aggregates(problem, aggregation, scale):
    X, y = problem
    reducer = NonLinCFA(0.1, aggregation=aggregation, scale=scale).fit(X, y)
    Z = reducer.transform(X)
    np.testing.assert_allclose(reducer.transform(reducer.inverse_transform(Z)), Z, atol=1e-12)


def test_no_inverse_where_it_would_mean_nothing():
    assert hasattr(NonLinCFA(), "inverse_transform")
    assert not hasattr(NonLinCFA(aggregation="norm"), "inverse_transform")
    assert not hasattr(NonLinCFA(inputs=np.square), "inverse_transform")
    with pytest.raises(AttributeError) as error:
        NonLinCFA(aggregation="max").inverse_transform([[1.0]])
    assert "'max' has no inverse; 'mean', 'sum'" in str(error.value.__cause__)


def test_inverse_goes_back_through_the_inputs(problem):
    X, y = problem
    reducer = NonLinCFA(0, cv=None, inputs=StandardScaler()).fit(X, y)
    assert reducer.n_groups_ == 7
    np.testing.assert_allclose(reducer.inverse_transform(reducer.transform(X)), X)


def test_float32_stays_float32(problem):
    X, y = problem
    Z = NonLinCFA(0.05).fit(X.astype(np.float32), y).transform(X.astype(np.float32))
    assert Z.dtype == np.float32


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_frames_out(problem, library):
    X, y = problem
    names = list("abcdefg")
    frame = pd.DataFrame(X, columns=names) if library == "pandas" else pl.DataFrame(X, schema=names)
    reducer = NonLinCFA(0.05).set_output(transform=library).fit(frame, y)
    Z = reducer.transform(frame)
    assert type(Z) is type(frame)
    assert list(Z.columns) == list(reducer.get_feature_names_out())
    assert reducer.feature_names_in_.tolist() == names
    np.testing.assert_allclose(np.asarray(Z), NonLinCFA(0.05).fit(X, y).transform(X))


def test_a_target_may_come_as_a_series(problem):
    X, y = problem
    labels = NonLinCFA(0.05).fit(X, y).labels_
    for series in (pd.Series(y), pl.Series(y), list(y)):
        assert (NonLinCFA(0.05).fit(X, series).labels_ == labels).all()


@pytest.mark.parametrize("y", [["no", "yes"], [False, True], [3, 7], pd.Categorical(["a", "b"])])
def test_two_classes_may_have_any_labels(rng, y):
    X, z = correlated(rng)
    above = z > 0
    classes = np.where(above, *np.asarray(y)[::-1])
    expected = GenLinCFA(family="bernoulli").fit(X, above.astype(int)).labels_
    assert (GenLinCFA(family="bernoulli").fit(X, classes).labels_ == expected).all()


def test_works_in_a_pipeline_and_a_grid(problem):
    X, y = problem
    model = make_pipeline(NonLinCFA(cv=3), LinearRegression())
    grid = GridSearchCV(model, {"nonlincfa__tolerance": [0.001, 0.1]}, cv=3).fit(X, y)
    assert grid.best_params_["nonlincfa__tolerance"] in (0.001, 0.1)
    assert grid.predict(X).shape == y.shape


def test_works_on_some_columns_of_a_table(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    parts = ColumnTransformer([("some", NonLinCFA(0.5), ["a", "b", "c"])], remainder="passthrough")
    parts.fit(frame, y)
    assert set(parts.get_feature_names_out()) >= {"remainder__d", "remainder__g"}


@pytest.mark.parametrize("reducer", REDUCERS)
def test_clones_and_pickles_agree(problem, reducer):
    X, y = problem
    original = reducer().fit(X, y)
    for copy in (clone(original).fit(X, y), pickle.loads(pickle.dumps(original))):
        np.testing.assert_array_equal(copy.transform(X), original.transform(X))
        assert (copy.trace_ == original.trace_).all()


def test_groups_of_rows_reach_the_splitter(problem):
    X, y = problem
    rows = np.arange(len(y)) % 4
    grouped = NonLinCFA(0.02, cv=GroupKFold(4)).fit(X, y, groups=rows)
    explicit = NonLinCFA(0.02, cv=list(GroupKFold(4).split(X, y, rows))).fit(X, y)
    assert (grouped.trace_ == explicit.trace_).all()


def test_a_function_of_the_columns_names_its_output(problem):
    X, y = problem
    reducer = NonLinCFA(1.0, cv=None, inputs=np.square).fit(
        pd.DataFrame(X, columns=list("abcdefg")), y
    )
    assert reducer.get_feature_names_out()[0].startswith("mean(square(a), square(b)")
    np.testing.assert_allclose(
        reducer.transform(pd.DataFrame(X, columns=list("abcdefg")))[:, 0], (X**2).mean(axis=1)
    )


@pytest.mark.parametrize(
    "inputs", [PolynomialFeatures(2, include_bias=False), SplineTransformer(), PowerTransformer()]
)
def test_a_transformer_makes_and_names_the_inputs(problem, inputs):
    X, y = problem
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    reducer = NonLinCFA(0.0, cv=None, inputs=inputs, max_group_size=1).fit(frame, y)
    names = clone(inputs).fit(frame).get_feature_names_out()
    assert reducer.get_feature_names_out().tolist() == names.tolist()
    np.testing.assert_allclose(reducer.transform(frame), clone(inputs).fit_transform(frame))
    assert not hasattr(inputs, "n_features_in_")  # it was cloned, not fitted in place


def test_a_transformer_may_take_text(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    frame["city"] = np.where(X[:, 0] > 0, "Rome", "Oslo")
    encode = ColumnTransformer(
        [("city", OneHotEncoder(), ["city"])], remainder="passthrough", sparse_threshold=1
    )
    reducer = NonLinCFA(0.05, inputs=encode).fit(frame, y)
    assert len(reducer.labels_) == 9
    assert reducer.transform(frame).shape == (len(y), reducer.n_groups_)


def test_neighbours_keep_groups_together():
    X, y, _ = make_groups(300, 10, 2, random_state=0)
    graph = coordinates_to_graph(np.arange(10), 1)
    for search in ("forward", "restart", "best"):
        reducer = NonLinCFA(np.inf, search=search, connectivity=graph, max_group_size=4).fit(X, y)
        for group in reducer.groups_:
            assert (np.diff(group) == 1).all()
            assert len(group) <= 4


def test_a_graph_may_be_dense_and_one_sided():
    X, y, _ = make_groups(300, 6, 2, random_state=0)
    one_sided = np.diag(np.ones(5), 1)
    both = NonLinCFA(0.1, connectivity=one_sided + one_sided.T).fit(X, y)
    for graph in (one_sided, one_sided.T):
        assert (NonLinCFA(0.1, connectivity=graph).fit(X, y).labels_ == both.labels_).all()


def test_parameters_are_left_as_they_were(problem):
    X, y = problem
    reducer = NonLinCFA(0.1, cv=[(np.arange(30), np.arange(30, 60))], search="best")
    before = dict(reducer.get_params())
    reducer.fit(X, y)
    assert reducer.get_params() == before


def test_data_are_left_as_they_were(problem):
    X, y = problem
    kept_X, kept_y = X.copy(), y.copy()
    for aggregation in ("mean", "median", "principal"):
        NonLinCFA(0.1, aggregation=aggregation, scale=True).fit(X, y).transform(X)
    assert (kept_X == X).all()
    assert (y == kept_y).all()


def test_functions_that_work_in_place_do_no_harm(problem):
    X, y = problem
    kept = X.copy()

    def clipped_sum(Z):
        np.clip(Z, 0, None, out=Z)
        return Z.sum(axis=1)

    def clipped(Z):
        return np.clip(Z, 0, None, out=Z)

    NonLinCFA(0.1, aggregation=clipped_sum).fit(X, y).transform(X)
    NonLinCFA(0.1, inputs=clipped).fit(X, y).transform(X)
    assert (kept == X).all()


def test_inputs_without_names_are_numbered(problem):
    X, y = problem
    inputs = make_pipeline(StandardScaler(), FunctionTransformer(np.square))
    names = NonLinCFA(np.inf, inputs=inputs).fit(X, y).get_feature_names_out()
    assert names.tolist() == ["mean(pipeline0 to pipeline6)"]


def test_inputs_may_come_as_frames_of_mixed_types(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=list("abcdefg")).assign(z=X[:, 0] > 0)
    frame["count"] = pd.array(np.arange(len(y)) % 5, dtype="Int64")
    parts = ColumnTransformer([("a", StandardScaler(), ["a"])], remainder="passthrough")
    reducer = NonLinCFA(0.05, inputs=parts.set_output(transform="pandas")).fit(frame, y)
    assert len(reducer.labels_) == 9


def test_what_was_fitted_counts_and_not_what_was_set_later(problem):
    X, y = problem
    reducer = NonLinCFA(np.inf, aggregation="max").fit(X, y)
    names = reducer.get_feature_names_out()
    reducer.set_params(aggregation="mean")
    assert (reducer.get_feature_names_out() == names).all()
    assert not hasattr(reducer, "inverse_transform")


def test_names_may_be_given_as_numbers(problem):
    X, y = problem
    names = NonLinCFA(0, cv=None).fit(X, y).get_feature_names_out(range(7))
    assert names.tolist() == list("0123456")
