"""Moments of rows that come in batches."""

import copy
import pickle
import signal
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from coterie import GenLinCFA, Moments, NonLinCFA
from coterie._core.evidence import Accumulated
from coterie.datasets import make_groups

NAMES = ["a", "b", "c"]


def moments_in_batches(X, y, weights=None, fold=None, cuts=4):
    moments = Moments()
    for rows in np.array_split(np.arange(len(X)), cuts):
        moments.update(
            X[rows],
            y[rows],
            None if weights is None else weights[rows],
            None if fold is None else fold[rows],
        )
    return moments


def assert_same(one, other, digits=1e-10):
    assert one.n_samples_ == other.n_samples_
    assert one.count == pytest.approx(other.count)
    assert one.targets == other.targets
    assert one.fold_numbers == other.fold_numbers
    for left, right in zip(one.accumulated, other.accumulated, strict=True):
        left, right = left.copy(), right.copy()
        left.centre(), right.centre()
        for name in ("mean", "cross", "targets"):
            here, there = getattr(left, name), getattr(right, name)
            np.testing.assert_allclose(here, there, atol=digits * (1 + np.abs(there).max()))
        here, there = np.tril(left.features), np.tril(right.features)
        np.testing.assert_allclose(here, there, atol=digits * (1 + np.abs(there).max()))


@pytest.fixture
def data(rng):
    return rng.normal(size=(200, 3)), rng.normal(size=200)


def test_means_and_scatter_are_those_of_all_rows(data):
    X, y = data
    moments = moments_in_batches(X + 100, y)
    np.testing.assert_allclose(moments.mean, X.mean(axis=0) + 100)
    np.testing.assert_allclose(moments.scatter(), 200 * np.cov(X.T, ddof=0), atol=1e-9)
    assert (moments.n_samples_, moments.count, moments.n_features_in_) == (200, 200.0, 3)
    assert moments.n_folds == 0


@pytest.mark.filterwarnings("ignore:Columns .* share a group:coterie.FitWarning")
@given(st.permutations(range(4)), st.integers(0, 2**31), st.booleans())
def test_any_order_of_merging_gives_the_same(order, seed, has_folds):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-3, 4, 3), rng.integers(0, 5, 40)
    fold = rng.integers(0, 3, 40) if has_folds else None
    chunks = np.split(np.arange(40), [1, 7, 20])
    each = [
        moments_in_batches(X[p], y[p], None, None if fold is None else fold[p], cuts=1)
        for p in chunks
    ]
    merged = reduce(add, [each[place] for place in order])
    whole = moments_in_batches(X, y, None, fold)
    # The values of y are told apart in another order, so ask a reducer.
    labels = [NonLinCFA(0.01, cv=None).fit_moments(each).labels_ for each in (merged, whole)]
    assert (labels[0] == labels[1]).all()
    np.testing.assert_allclose(merged.mean, whole.mean)
    np.testing.assert_allclose(merged.scatter(), whole.scatter(), rtol=1e-9, atol=1e-9)


def test_a_weight_is_a_number_of_repeats(data, rng):
    X, y = data
    weights = rng.integers(0, 4, 200)
    repeated = np.repeat(np.arange(200), weights)
    weighted = moments_in_batches(X, y, weights)
    assert weighted.count == len(repeated)
    assert weighted.n_samples_ == np.count_nonzero(weights)
    plain = moments_in_batches(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.scatter(), plain.scatter(), rtol=1e-10)


@given(st.floats(-1e6, 1e6), st.integers(0, 2**31))
def test_a_shift_changes_the_means_and_nothing_else(shift, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    here, there = moments_in_batches(X, y), moments_in_batches(X + shift, y)
    np.testing.assert_allclose(there.mean - shift, here.mean, atol=1e-9)
    np.testing.assert_allclose(there.scatter(), here.scatter(), atol=1e-7)


def test_merging_changes_neither(data):
    X, y = data
    one, other = moments_in_batches(X[:50], y[:50]), moments_in_batches(X[50:], y[50:])
    before = copy.deepcopy((one, other))
    both = one + other
    assert_same(one, before[0], 0)
    assert_same(other, before[1], 0)
    assert_same(both, moments_in_batches(X, y))
    one += other
    assert_same(one, both)
    assert_same(one.merge(Moments()), Moments() + one, 0)


def test_folds_are_kept_apart(data):
    X, y = data
    fold = np.arange(200) % 5
    moments = moments_in_batches(X, y, fold=fold)
    assert moments.n_folds == 5
    assert_same(
        moments,
        moments_in_batches(X[:90], y[:90], None, fold[:90])
        + moments_in_batches(X[90:], y[90:], None, fold[90:]),
    )
    by_number = Moments()
    for number in (3, 1, 0, 4, 2):
        by_number.update(X[fold == number], y[fold == number], fold=number)
    assert_same(moments, by_number)


def test_new_classes_may_appear_in_any_batch(data, rng):
    X, _ = data
    y = np.array(["red", "blue", "green", "grey"])[rng.integers(0, 4, 200)]
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    moments = moments_in_batches(X, y, cuts=9)
    everything = moments_in_batches(X, y, cuts=1)
    assert {*moments.target_columns[0].values} == {"red", "blue", "green", "grey"}
    assert_same(moments, everything)
    two, one = moments_in_batches(X[150:], y[150:]), moments_in_batches(X[:150], y[:150])
    reducer = GenLinCFA(family="bernoulli")
    expected = reducer.fit(X, y)
    labels, classes = expected.labels_, expected.classes_
    again = GenLinCFA(family="bernoulli").fit_moments(two + one)
    assert (again.labels_ == labels).all()
    assert (again.classes_ == classes).all()


def test_integers_may_be_classes_until_there_are_too_many(data):
    X, _ = data
    few = moments_in_batches(X, np.arange(200) % 7)
    assert few.target_columns[0].n_columns == 7
    many = moments_in_batches(X, np.arange(200))
    assert many.target_columns[0].n_columns == 1
    merged = few + many
    y = np.concatenate([np.arange(200) % 7, np.arange(200)])
    assert_same(merged, moments_in_batches(np.vstack([X, X]), y + 0.0))
    broken = moments_in_batches(X, np.arange(200) % 3 + np.where(np.arange(200) > 150, 0.5, 0.0))
    assert broken.target_columns[0].values is None
    assert broken.target_columns[0].fraction == 1.5


def test_single_precision_is_summed_in_double(rng):
    X, y = rng.normal(size=(5000, 3)).astype(np.float32) + np.float32(100), rng.normal(size=5000)
    expected = 5000 * np.cov(X.astype(float).T, ddof=0)
    np.testing.assert_allclose(moments_in_batches(X, y).scatter(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_data_frames_are_matched_by_name(data, frame):
    X, y = data
    batches = pd.DataFrame(X, columns=NAMES), pd.DataFrame(X[:, ::-1], columns=NAMES[::-1])
    frames = [frame(batch.to_dict("list")) for batch in batches]
    moments = Moments().update(frames[0], y).update(frames[1], pd.Series(y, name="rain"))
    assert moments.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(moments.mean, X.mean(axis=0))


def test_targets_have_names(data):
    X, y = data
    both = pd.DataFrame({"rain": y, "sun": -y})
    assert Moments().update(X, both).targets == ["rain", "sun"]
    assert Moments().update(X, both["sun"]).targets == ["sun"]
    assert Moments().update(X, both.to_numpy()).targets == ["y0", "y1"]
    assert Moments().update(X, y).targets == ["y"]


def test_sparse_batches_are_counted(data):
    X, y = data
    assert_same(Moments().update(sparse.csr_array(X), y), moments_in_batches(X, y))


def test_moments_can_be_pickled(data):
    X, y = data
    moments = moments_in_batches(X, y, fold=np.arange(200) % 3)
    again = pickle.loads(pickle.dumps(moments))
    assert_same(again, moments, 0)
    assert_same(again.update(X, y, fold=0), moments.update(X, y, fold=0), 0)


def test_a_short_description():
    assert repr(Moments()) == "Moments of no rows"
    X, y, _ = make_groups(1000, 50, 3, random_state=0)
    moments = moments_in_batches(X, np.column_stack([y, y]), fold=np.arange(1000) % 2)
    assert repr(moments) == "Moments of 1,000 rows: 50 features, 2 targets, 2 folds, 43 kB"
    assert 2 * 50 * 50 * 8 <= moments.nbytes < 2.5 * 50 * 50 * 8


GOOD = np.ones((4, 3)) * np.arange(4)[:, None]
Y = np.arange(4.0)


def frame(**columns):
    return pd.DataFrame(GOOD, columns=NAMES).assign(**columns)


@pytest.mark.parametrize(
    ("first", "then", "says"),
    [
        ((GOOD, Y), (GOOD[:, :2], Y), "X has 2 columns in batch 1, and 3 before"),
        ((frame(), Y), (frame(b=np.nan), Y), "NaN in column 'b' of batch 1"),
        ((frame(), Y), (frame(c=[1, 2, np.inf, 0]), Y), "infinity .* in column 'c' of batch 1"),
        ((GOOD, Y), (GOOD * 1e160, Y), "beyond 1e.150 in columns 0, 1, 2 of batch 1"),
        ((frame(), Y), (frame().rename(columns={"a": "z"}), Y), "no column 'a' and column 'z'"),
        ((frame(), Y), (frame(d=1.0), Y), "column 'd', which earlier batches lack, in batch 1"),
        ((frame(), Y), (frame(a="x"), Y), "X has text in column 'a'"),
        ((frame(), Y), (GOOD, Y), "no column names in batch 1"),
        ((GOOD, Y), (GOOD, Y[:3]), "X has 4 rows in batch 1, and y has 3"),
        (
            (GOOD, Y),
            (GOOD, [1, np.nan, 2, None]),
            "y has NaN, None or infinity in batch 1, rows 1, 3",
        ),
        ((GOOD, Y), (GOOD, list("abcd")), "y has text in batch 1, and numbers before"),
        ((GOOD, Y), (GOOD, np.column_stack([Y, Y])), "2 targets in batch 1, and 1 target before"),
        ((GOOD, Y), (GOOD, None), "y is missing in batch 1"),
        ((GOOD, Y), (GOOD, np.array(["a", 1, 2, 3], dtype=object)), "got int, str in one column"),
        (
            (GOOD, Y),
            (GOOD, Y, [1, 1, -1, 1]),
            "sample_weight must be 0 or more, got -1 in batch 1, row 2",
        ),
        ((GOOD, Y), (GOOD, Y, [1, 1, 1]), "sample_weight must have shape"),
        ((GOOD, Y), (GOOD, Y, None, 1), "A fold is given for batch 1"),
        ((GOOD, Y, None, 0), (GOOD, Y), "No fold is given for batch 1"),
        ((GOOD, Y, None, 0), (GOOD, Y, None, -1), "fold must be a number of 0 or more"),
        ((GOOD, Y, None, 0), (GOOD, Y, None, [0, 1]), "X has 4 rows in batch 1, and fold has 2"),
        ((GOOD, Y, None, 0), (GOOD, Y, None, [0, 1, 0.5, 1]), "got 0.5 in batch 1, row 2"),
        ((GOOD, Y), (GOOD, np.arange(4).astype("M8[D]")), "y must hold numbers or text"),
    ],
)
def test_an_invalid_batch_raises_and_changes_nothing(first, then, says):
    moments = Moments().update(*first)
    before = copy.deepcopy(moments)
    with pytest.raises((ValueError, TypeError), match=says):
        moments.update(*then)
    assert_same(moments, before, 0)
    assert moments.update(*first).n_samples_ == 8


def test_moments_of_other_features_do_not_add(data):
    X, y = data
    with pytest.raises(ValueError, match="have the same features"):
        moments_in_batches(X, y) + moments_in_batches(X[:, :2], y)
    with pytest.raises(ValueError, match="have the same features"):
        Moments().update(frame(), Y) + Moments().update(frame()[NAMES[::-1]], Y)
    with pytest.raises(ValueError, match="both have folds, or neither"):
        moments_in_batches(X, y) + moments_in_batches(X, y, fold=np.zeros(200, dtype=int))
    with pytest.raises(TypeError):
        moments_in_batches(X, y) + 1


def test_too_many_labels_are_refused(rng):
    X, names = rng.normal(size=(1500, 2)), np.array([f"row {i}" for i in range(1500)])
    with pytest.raises(ValueError, match="more than 1,000 different labels"):
        moments_in_batches(X, names)


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C is pressed while a batch is counted."""
    counting = Accumulated.add

    def add(self, *given):
        signal.raise_signal(signal.SIGINT)
        counting(self, *given)

    def press():
        monkeypatch.setattr(Accumulated, "add", add)

    return press


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_waits_until_a_batch_is_counted(data, interrupted, monkeypatch):
    X, y = data
    moments = moments_in_batches(X, y)
    interrupted()
    with pytest.raises(KeyboardInterrupt):
        moments.update(X, y)
    monkeypatch.undo()
    assert moments.count == 400
    assert_same(moments, moments_in_batches(np.vstack([X, X]), np.append(y, y), cuts=2))


@pytest.mark.usefixtures("ctrl_c_is_ignored")
def test_ctrl_c_stays_ignored(data, interrupted):
    X, y = data
    moments = moments_in_batches(X, y)
    interrupted()
    moments.update(X, y)
    assert moments.count == 400
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_empty_batch_adds_no_rows(data):
    X, y = data
    moments = moments_in_batches(X, y)
    assert_same(copy.deepcopy(moments).update(X[:0], y[:0]), moments, 0)
    assert_same(copy.deepcopy(moments).update(X, y, np.zeros(200)), moments, 0)


@pytest.mark.parametrize("wrong", ["many", -1, 0])
def test_n_expected_must_be_a_positive_number(wrong):
    with pytest.raises((TypeError, ValueError), match="n_expected must be"):
        Moments(wrong)


def test_n_expected_may_be_a_rounded_sum_of_weights(rng):
    X, y = rng.normal(size=(3000, 4)), rng.normal(size=3000)
    weights = rng.uniform(0.5, 1.5, 3000)
    moments = Moments(np.nextafter(weights.sum(), np.inf))
    for rows in np.array_split(np.arange(3000), 7):
        moments.update(X[rows], y[rows], weights[rows])
    assert moments.kept.looked_at(moments.count) is not None
    expected = NonLinCFA().fit(X, y, weights).penalty_
    assert NonLinCFA().fit_moments(moments).penalty_ == pytest.approx(expected)
    few = Moments(weights.sum()).update(X[:2990], y[:2990], weights[:2990])
    assert few.kept.looked_at(few.count) is None
