"""What comes into and out of a fitted Coterie: frames, names, batches, and one sentence if bad."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import LeaveOneOut, PredefinedSplit

from coterie import Coterie, GenLinCFA, Moments, NonLinCFA, moments_from

NAMES = [*"abcxyz"]


@pytest.fixture
def rows(rng):
    """Three features of one thing, one of another, and two of noise."""
    hidden = rng.normal(size=(2, 200))
    X = np.vstack(
        [hidden[[0, 0, 0, 1]] + 0.2 * rng.normal(size=(4, 200)), rng.normal(size=(2, 200))]
    )
    return pd.DataFrame(X.T, columns=NAMES), hidden[0] - hidden[1] + 0.2 * rng.normal(size=200)


def test_names_and_frames_leave_out_the_rest(rows):
    X, y = rows
    reducer = Coterie().fit(X, y).set_output(transform="pandas")
    assert reducer.get_feature_names_out().tolist() == ["mean(a, b, c)", "x"]
    made = reducer.transform(X)
    assert made.columns.tolist() == ["mean(a, b, c)", "x"]
    assert made.index.equals(X.index)
    back = reducer.inverse_transform(made)
    np.testing.assert_allclose(back[:, 4:], np.tile(X[["y", "z"]].mean(), (200, 1)))
    np.testing.assert_allclose(back[:, 3], X["x"])


def test_batches_give_the_groups_of_all_rows(rows):
    X, y = rows
    reducer = Coterie(cv=4)
    # Each batch is cut into contiguous folds.
    fold = np.concatenate([np.repeat(np.arange(4), 20), np.repeat(np.arange(4), 30)])
    for part in (slice(0, 80), slice(80, 200)):
        reducer.partial_fit(X[part], y[part])
    whole = Coterie(inputs=None, cv=PredefinedSplit(fold)).fit(X, y)
    np.testing.assert_array_equal(reducer.labels_, whole.labels_)
    np.testing.assert_allclose(reducer.path_["score"], whole.path_["score"], rtol=1e-6)
    np.testing.assert_allclose(reducer.transform(X), whole.transform(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X[["a", "b"]], "feature names should match"),
        (lambda X: X.rename(columns={"a": "q"}), "feature names should match"),
        (lambda X: X.to_numpy()[:, :3], "X has 3 features, but Coterie is expecting 6"),
        (lambda X: X.assign(a="tall"), "X has text in column 'a'. Encode or drop it"),
        (lambda X: X.assign(a=np.inf), r"X has infinity \(inf\) in column 'a'"),
        (lambda X: X["a"], "Expected a 2-dimensional container|2D array"),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_bad_rows_are_one_sentence(rows, change, message):
    X, y = rows
    with pytest.raises(ValueError, match=message):
        Coterie().fit(X, y).transform(change(X))


def test_a_value_that_is_missing_only_in_new_rows_is_filled(rows):
    X, y = rows
    reducer = Coterie(inputs=None).fit(X, y)
    made = reducer.transform(X.assign(a=np.nan, y=np.nan))
    assert np.isfinite(made).all()
    # What is left out may be missing, and a missing member is told by the others.
    assert np.corrcoef(made[:, 0], reducer.transform(X)[:, 0])[0, 1] > 0.95
    np.testing.assert_array_equal(made[:, 1], reducer.transform(X)[:, 1])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones((3, 5)), "X must have one column per group, 2, got 5"),
        (np.array([["a", "b"]]), "could not convert string to float"),
        (np.ones(2), "Expected 2D array"),
    ],
)
def test_bad_aggregates_are_one_sentence(rows, values, message):
    with pytest.raises(ValueError, match=message):
        Coterie().fit(*rows).inverse_transform(values)


def test_names_that_are_not_those_of_the_fit_are_one_sentence(rows):
    reducer = Coterie().fit(*rows)
    with pytest.raises(ValueError, match="input_features"):
        reducer.get_feature_names_out(["a", "b"])


def test_a_new_number_of_groups_as_parameter_waits_for_the_next_fit(rows):
    X, y = rows
    reducer = Coterie().fit(X, y)
    assert reducer.set_params(n_groups=1).transform(X).shape == (200, 2)
    assert reducer.with_n_groups(1).transform(X).shape == (200, 1)
    assert reducer.fit(X, y).transform(X).shape == (200, 1)


def test_sparse_columns_that_stay_sparse_are_grouped_as_dense_ones(rng, monkeypatch):
    base = rng.normal(size=(300, 4)) * (rng.random((300, 4)) < 0.2)
    X = np.repeat(base, 3, axis=1) * (1 + 0.1 * rng.normal(size=(300, 12)))
    X = np.column_stack([X, np.zeros(300)])
    y = base @ [1.0, -1.0, 2.0, 0.0] + 0.1 * rng.normal(size=300)
    weights = rng.integers(1, 3, 300)
    dense = Coterie(inputs=None).fit(X, y, sample_weight=weights)
    monkeypatch.setattr("coterie.estimators._joint_solve.SMALL_SPARSE", 0)
    kept = Coterie().fit(sparse.csr_array(X), y, sample_weight=weights)
    np.testing.assert_array_equal(kept.labels_, dense.labels_)
    np.testing.assert_allclose(kept.path_["score"], dense.path_["score"])
    np.testing.assert_allclose(kept.transform(sparse.csr_array(X)).toarray(), dense.transform(X))
    # The same values, each as two halves in the same place.
    table = sparse.csr_array(X)
    halves = np.repeat(table.data / 2, 2), np.repeat(table.indices, 2), 2 * table.indptr
    twice = Coterie().fit(sparse.csr_array(halves, shape=X.shape), y, sample_weight=weights)
    np.testing.assert_array_equal(twice.path_["score"], kept.path_["score"])
    tied = Coterie(initial_groups=[[0, 3]]).fit(sparse.csr_array(X), y)
    assert tied.labels_[0] == tied.labels_[3]
    with pytest.raises(ValueError, match="needs dense columns"):
        Coterie(inputs="clip").fit(sparse.csr_array(X), y)


def test_folds_are_needed_and_errors_say_how_to_have_them(rows):
    X, y = rows
    with pytest.raises(ValueError, match=r"cv must be a number of folds or a splitter, got None"):
        Coterie(cv=None).fit(X, y)
    with pytest.raises(ValueError, match=r"the moments have 0: .* by moments_from\(X, y, cv=5\)"):
        Coterie().fit_moments(Moments().update(X, y))
    in_folds = moments_from(X.to_numpy(), np.repeat(np.arange(5.0), 40), cv=5)
    for fit in (
        lambda: Coterie(cv=LeaveOneOut()).fit(X, y),
        lambda: Coterie().fit_moments(in_folds),
    ):
        with pytest.raises(ValueError, match=r"Use fewer or shuffled folds\.$"):
            fit()


@pytest.mark.parametrize("reducer", [Coterie(), NonLinCFA(cv=5)], ids=str)
def test_a_batch_with_fewer_rows_than_folds_is_one_sentence(rows, reducer):
    X, y = rows
    with pytest.raises(ValueError, match="cv=5, and this batch has n_samples = 3: give batches"):
        reducer.partial_fit(X[:3], y[:3])


@pytest.mark.parametrize(
    ("reducer", "target", "message"),
    [
        (
            Coterie("regression"),
            "text",
            r"task='regression' needs .* For classes use task='classes'",
        ),
        (Coterie("counts"), "text", "For classes use task='classes'"),
        (Coterie(), "unlike", r"200 different labels.* Then give y as numbers, not as text\.$"),
        (Coterie("classes"), "numbers", r"200 different labels.* Then use task='regression'\.$"),
        (Coterie(), "ones", "y is constant, 1 in every row: there is nothing to learn"),
        (Coterie(), "zeros", "y is constant, 0 in every row: there is nothing to learn"),
        (Coterie("classes"), "ones", "y is constant, 1 in every row"),
        (Coterie(), "one label", "y is constant, 'a' in every row"),
        (Coterie(), "true", "y is constant, True in every row"),
        (Coterie("classes"), "constant column", "y is constant in column 1"),
        *(
            (reducer, "text and numbers", "text in column 1 and numbers in column 0: its columns")
            for reducer in (Coterie(), Coterie("classes"), Coterie("regression"))
        ),
        (Coterie(), "truth and numbers", "y has booleans in column 1 and numbers in column 0"),
        (Coterie(), "polars", "y has booleans in column 1 and numbers in column 0"),
    ],
)
def test_bad_targets_are_one_sentence(rows, reducer, target, message):
    X, y = rows
    text = np.where(y > 0, "a", "b")
    targets = {
        "text": text,
        "unlike": [f"row {i}" for i in range(200)],
        "numbers": y,
        "ones": np.ones(200),
        "zeros": np.zeros(200, dtype=int),
        "one label": ["a"] * 200,
        "true": [True] * 200,
        "constant column": np.column_stack([y > 0, np.ones(200, dtype=bool)]),
        "text and numbers": pd.DataFrame({"n": y, "t": text}),
        "truth and numbers": pd.DataFrame({"n": y, "t": pd.Series(y > 0, dtype="boolean")}),
        "polars": pl.DataFrame({"n": y, "t": y > 0}),
    }
    with pytest.raises(ValueError, match=message) as error:
        reducer.fit(X, targets[target])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("task", "target", "message"),
    [
        ("auto", "text and numbers", "text in column 'y1' and numbers in column 'y0'"),
        ("regression", "text and numbers", "text in column 'y1' and numbers in column 'y0'"),
        ("classes", "text and numbers", "text in column 'y1' and numbers in column 'y0'"),
        ("auto", "truth and numbers", "booleans in column 'y1' and numbers in column 'y0'"),
        ("regression", "text", "For classes use task='classes'"),
        ("auto", "one label", "y is constant, 'a' in every row"),
    ],
)
def test_bad_targets_of_moments_are_one_sentence(rows, task, target, message):
    X, y = rows
    text = np.where(y > 0, "a", "b").astype(object)
    targets = {
        "text": text,
        "one label": np.full(200, "a", dtype=object),
        "text and numbers": np.column_stack([y.astype(object), text]),
        "truth and numbers": np.column_stack([y.astype(object), y > 0]),
    }
    moments = Moments().update(X.to_numpy(), targets[target], fold=np.arange(200) % 5)
    with pytest.raises(ValueError, match=message):
        Coterie(task).fit_moments(moments)


def test_targets_of_one_kind_go_in_together(rows):
    X, y = rows
    text, truth = np.where(y > 0, "a", "b"), pd.Series(y > 1, dtype="boolean")
    classes = Coterie().fit(X, pd.DataFrame({"t": text, "b": truth, "n": (y > 0) * 1.0}))
    assert classes.task_ == "classes"
    assert [each.tolist() for each in classes.classes_] == [["a", "b"], [False, True], [0, 1]]
    # With a task, booleans are the numbers 0 and 1.
    numbers = Coterie("regression").fit(X, pd.DataFrame({"n": y, "b": truth}))
    plain = Coterie().fit(X, np.column_stack([y, y > 1]).astype(float))
    assert numbers.task_ == plain.task_ == "regression"
    np.testing.assert_array_equal(numbers.labels_, plain.labels_)


@pytest.mark.parametrize(
    "made",
    [
        lambda truth: pd.Series(truth, dtype="boolean"),
        lambda truth: pd.Series(truth, dtype="category"),
        lambda truth: pd.Series(truth).astype("bool[pyarrow]"),
        lambda truth: pd.DataFrame({"t": pd.Series(truth, dtype="boolean")}),
        pl.Series,
    ],
)
@pytest.mark.parametrize("reducer", [Coterie(), GenLinCFA(family="bernoulli")], ids=str)
def test_booleans_stay_booleans(rows, reducer, made):
    X, y = rows
    classes = reducer.fit(X, made(y > 0)).classes_
    assert classes.dtype == bool
    assert classes.tolist() == [False, True]


def test_no_advice_names_parameters_that_it_lacks(rows):
    X, y = rows
    hole = X.assign(c=X["c"].where(X.index != 3))
    of_moments = Coterie().fit_moments(moments_from(X.to_numpy(), y, cv=5))
    device = pytest.importorskip("array_api_strict")
    for fit in (
        lambda: Coterie().fit(sparse.csr_array(hole.to_numpy()), y),
        lambda: Coterie().fit(device.asarray(hole.to_numpy()), device.asarray(y)),
        lambda: of_moments.transform(hole.to_numpy()),
    ):
        with pytest.raises(
            ValueError, match=r"NaN in column 2\. Fill .*, or drop those columns\.$"
        ):
            fit()


def test_a_table_without_columns_is_one_sentence():
    for X, y in ((pd.DataFrame(), []), (pd.DataFrame(index=range(3)), [1, 2, 3])):
        with pytest.raises(ValueError, match=r"^X has no columns: give a table with 2 or more\.$"):
            Coterie().fit(X, y)


def test_whole_numbers_are_classes_or_counts_for_rows_and_numbers_for_moments(rows, caplog):
    X, y = rows
    grades = np.clip(np.round(2 * y), -2, 2)
    with caplog.at_level("INFO", logger="coterie"):
        assert Coterie().fit(X, grades).task_ == "classes"
    assert "task classes" in caplog.text
    assert Coterie("regression").fit(X, grades).task_ == "regression"
    assert Coterie().fit_moments(moments_from(X.to_numpy(), grades, cv=5)).task_ == "regression"
    assert Coterie().partial_fit(X, grades).task_ == "regression"


def test_what_is_kept_is_left_out_if_it_is_constant(rows):
    X, y = rows
    reducer = Coterie(keep=["y", "z"]).fit(X.assign(z=1.0), y)
    assert reducer.labels_[4] >= 0
    assert reducer.labels_[5] == -1


def test_sparse_columns_and_moments_stay_as_they_are(rows):
    X, y = rows
    heavy = np.sign(X) * np.expm1(1.5 * np.abs(X))
    assert Coterie().fit(heavy, y).inputs_ != "raw"
    for reducer in (
        Coterie().fit(sparse.csr_array(heavy.to_numpy()), y),
        Coterie().fit_moments(moments_from(heavy.to_numpy(), y, cv=5)),
    ):
        assert reducer.inputs_ == "raw"
