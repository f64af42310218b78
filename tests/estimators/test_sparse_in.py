"""Sparse columns give what dense ones give, and are never made dense."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from complete import GenLinCFA, LinCFA, NonLinCFA
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder

import coterie
from coterie import ToleranceCV

KINDS = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array]


def a_problem(seed=0, n_samples=120, n_features=12):
    rng = np.random.default_rng(seed)
    factors = rng.poisson(0.7, size=(n_samples, 4)).astype(float)
    X = np.repeat(factors, n_features // 4, axis=1) * rng.uniform(0.5, 2, size=n_features)
    X = np.where(rng.random(X.shape) < 0.7, X, 0.0)
    return X, factors @ [1, -1, 2, 0] + rng.normal(size=n_samples)


REDUCERS = [
    NonLinCFA(),
    NonLinCFA(0.02),
    NonLinCFA(0.02, search="best"),
    NonLinCFA(0.02, search="forward", signs=True, covariance="columns"),
    NonLinCFA("bic", covariance="columns", scale=True),
    NonLinCFA(0.02, cv=None, initial_groups=[[0, 1], [5, 7, 2]], keep=[3]),
    NonLinCFA(n_groups=3, signs=True),
    NonLinCFA(aggregation="sum", scale=True),
    GenLinCFA(0.9),
    GenLinCFA(family="bernoulli"),
    LinCFA(),
    ToleranceCV(tolerances=[0.01, 0.1]),
]


@pytest.mark.parametrize("reducer", REDUCERS, ids=str)
def test_groups_and_aggregates_are_those_of_dense_columns(reducer):
    X, y = a_problem()
    y = y > 0 if isinstance(reducer, coterie.GenLinCFA) and reducer.family == "bernoulli" else y
    dense = reducer.fit(X, y)
    labels, trace, Z = dense.labels_, dense.trace_, dense.transform(X)
    names, back = dense.get_feature_names_out(), dense.inverse_transform(Z)
    thin = sparse.csr_array(X)
    reducer.fit(thin, y)
    np.testing.assert_array_equal(reducer.labels_, labels)
    if getattr(reducer, "search", None) != "best":  # which has an order of its own
        np.testing.assert_array_equal(reducer.trace_.candidate, trace.candidate)
        np.testing.assert_allclose(reducer.trace_.price, trace.price, rtol=1e-7, atol=1e-10)
    got = reducer.transform(thin)
    assert sparse.issparse(got) != bool(getattr(reducer, "scale", False))
    np.testing.assert_allclose(got.toarray() if sparse.issparse(got) else got, Z, atol=1e-12)
    np.testing.assert_allclose(reducer.transform(X), Z, atol=1e-12)
    assert reducer.get_feature_names_out().tolist() == names.tolist()
    again = reducer.inverse_transform(sparse.csr_array(Z))
    again = again.toarray() if sparse.issparse(again) else again
    np.testing.assert_allclose(again, back, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_kind_goes_in_and_matrix_or_array_comes_out(kind, dtype):
    X, y = a_problem()
    X = np.round(X).astype(dtype)
    reducer = NonLinCFA(0.02).fit(kind(X), y)
    np.testing.assert_array_equal(reducer.labels_, NonLinCFA(0.02).fit(X, y).labels_)
    Z = reducer.transform(kind(X))
    assert isinstance(Z, sparse.spmatrix) == issubclass(kind, sparse.spmatrix)
    assert Z.dtype == (np.float32 if dtype == np.float32 else np.float64)


@pytest.mark.parametrize("engine", ["gram", "columns"])
def test_weights_and_several_targets(engine):
    X, y = a_problem()
    Y = np.column_stack([y, X[:, 0] + np.random.default_rng(0).normal(size=len(y))])
    weights = np.random.default_rng(1).integers(0, 4, size=len(y))
    reducer = NonLinCFA(0.02, cv=None, covariance=engine)
    expected = reducer.fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)).trace_
    got = reducer.fit(sparse.csr_array(X), Y, sample_weight=weights).trace_
    np.testing.assert_array_equal(got.candidate, expected.candidate)
    np.testing.assert_allclose(got.price, expected.price, atol=1e-10)


@given(st.integers(0, 50), st.sampled_from(["gram", "columns"]))
def test_explicit_zeros_and_the_order_of_entries_do_not_matter(seed, engine):
    X, y = a_problem(seed, 60, 8)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(np.argwhere(np.ones(X.shape))).T
    full = sparse.coo_array((X[rows, columns], (rows, columns)), shape=X.shape)
    for search in ("restart", "best"):
        reducer = NonLinCFA(0.02, cv=None, search=search, covariance=engine)
        one = reducer.fit(sparse.csr_array(X), y).trace_
        other = reducer.fit(full, y).trace_
        np.testing.assert_array_equal(one.candidate, other.candidate)
        np.testing.assert_allclose(one.price, other.price, atol=1e-10)


@pytest.mark.parametrize("search", ["forward", "restart", "best"])
def test_many_columns_are_searched_like_dense_ones(search):
    X, y = a_problem(3, 200, 160)
    dense = NonLinCFA(search=search).fit(X, y).labels_
    for engine in ("gram", "columns"):
        reducer = NonLinCFA(search=search, covariance=engine).fit(sparse.csc_array(X), y)
        np.testing.assert_array_equal(reducer.labels_, dense)


@pytest.mark.filterwarnings("ignore::coterie.FitWarning")
def test_wide_columns_are_never_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 30_000), density=0.001, random_state=rng, format="csr")
    y = X[:, :100].sum(axis=1) + 0.1 * rng.normal(size=2000)
    dense_bytes = 8 * 2000 * 30_000
    tracemalloc.start()
    reducer = NonLinCFA(0.02, cv=None, search="forward", covariance="columns").fit(X, y)
    assert reducer.n_groups_ < 20  # or the trace alone would be large
    reducer.transform(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < dense_bytes / 3


def test_words_in_a_pipeline(rng):
    topics = {"ship": "sea sail wave harbour", "farm": "cow field milk barn"}
    labels = np.array(["ship", "farm"])[rng.integers(0, 2, size=200)]
    texts = [" ".join(rng.choice(topics[label].split(), size=3)) for label in labels]
    model = make_pipeline(CountVectorizer(), NonLinCFA(n_groups=2), LogisticRegression())
    model.fit(texts, labels)
    assert cross_val_score(model, texts, labels).mean() > 0.95
    assert model[1].n_groups_ == 2


def test_inputs_that_make_dense_columns_sparse_are_made_dense(rng):
    city = rng.integers(0, 8, size=300)
    frame = pd.DataFrame({"city": np.array(list("abcdefgh"))[city]})
    y = np.where(city < 4, 1.0, -1.0) + 0.1 * rng.normal(size=300)
    reducer = NonLinCFA(0.05, cv=None, inputs=OneHotEncoder()).set_output(transform="pandas")
    Z = reducer.fit(frame, y).transform(frame)
    assert isinstance(Z, pd.DataFrame)
    assert LinearRegression().fit(Z, y).score(Z, y) > 0.8


@pytest.mark.parametrize("aggregation", ["mean", "max"])
def test_sparse_columns_may_go_through_a_transformer(aggregation):
    X, y = a_problem()
    reducer = NonLinCFA(0.05, cv=None, inputs=MaxAbsScaler(), aggregation=aggregation)
    dense = reducer.fit(X, y).labels_
    np.testing.assert_array_equal(reducer.fit(sparse.csr_array(X), y).labels_, dense)
    assert sparse.issparse(reducer.transform(sparse.csr_array(X))) == (aggregation == "mean")


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_tolerances_are_chosen_for_sparse_columns_too(family):
    X, y = a_problem()
    y = y > 0 if family == "bernoulli" else np.round(np.exp(y / 4))
    tuned = ToleranceCV(GenLinCFA(family=family), tolerances=[0.5, 0.9], cv=3).fit(
        sparse.csr_array(X), y
    )
    assert np.isfinite(tuned.path_.cv_scores).all()


def test_a_frame_of_sparse_columns_is_sparse():
    X, y = a_problem()
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)).rename(columns=str)
    expected = NonLinCFA(0.02).fit(X, y).labels_
    np.testing.assert_array_equal(NonLinCFA(0.02).fit(frame, y).labels_, expected)


BAD = [
    (NonLinCFA(aggregation="max"), "X is sparse, and aggregation='max' needs dense columns"),
    (NonLinCFA(aggregation="sum_of_squares"), "use 'mean' or 'sum', or pass X.toarray()."),
    (GenLinCFA(bound="fitted"), "X is sparse, and a criterion that looks at rows needs dense"),
    (NonLinCFA(missing="pairwise"), "X is sparse, and missing='pairwise' needs dense columns"),
]


@pytest.mark.parametrize(("reducer", "sentence"), BAD, ids=[b[1] for b in BAD])
def test_what_needs_dense_columns_says_so(reducer, sentence):
    X, y = a_problem()
    with pytest.raises(ValueError) as error:
        reducer.fit(sparse.csr_array(X), y)
    assert sentence in str(error.value)
    assert not reducer.__sklearn_tags__().input_tags.sparse


def test_gaps_are_named():
    X, y = a_problem()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"X has NaN in column 2\."):
        NonLinCFA().fit(sparse.csr_array(X), y)
