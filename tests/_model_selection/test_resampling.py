import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from coterie import Coterie, GenLinCFA, NonLinCFA, stability
from coterie._model_selection.resampling import Stability
from coterie.datasets import make_groups

REDUCER = NonLinCFA(0.02)


@pytest.fixture
def grouped():
    return make_groups(400, 8, 2, noise=0.5, random_state=0)


def partitions(rng, n_resamples, n_inputs):
    """Random partitions, numbered in order of the first member."""
    drawn = rng.integers(0, rng.integers(1, n_inputs + 1), size=(n_resamples, n_inputs))
    return np.array([pd.factorize(row)[0] for row in drawn])


def partitions_with_rest(rng, n_resamples, n_inputs):
    """The same, with inputs that are left out; the first partition has a group."""
    drawn = rng.integers(-1, rng.integers(1, n_inputs + 1), size=(n_resamples, n_inputs))
    drawn[0, 0] = 0
    return np.array([pd.factorize(np.where(row < 0, np.nan, row))[0] for row in drawn])


@given(st.integers(1, 6), st.integers(2, 9), st.integers(0, 2**16))
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_all_shares_are_those_of_slow_counting(n_resamples, n_inputs, seed):
    labels, *resampled = partitions(np.random.default_rng(seed), n_resamples + 1, n_inputs)
    result = Stability(labels, np.array(resampled))
    together = np.mean([np.equal.outer(row, row) for row in resampled], axis=0)
    np.testing.assert_allclose(result.together, together, atol=1e-15)
    for number, score in enumerate(result.group_scores):
        members = np.flatnonzero(labels == number)
        pairs = [together[i, j] for i in members for j in members if i < j]
        alone = np.mean([np.sum(row == row[members[0]]) == 1 for row in resampled])
        assert score == pytest.approx(np.mean(pairs) if pairs else alone)
    assert result.n_groups.tolist() == [len(set(row.tolist())) for row in resampled]
    rand = [adjusted_rand_score(labels, row) for row in resampled]
    np.testing.assert_allclose(result.agreement, rand, atol=1e-12)


@given(st.integers(1, 6), st.integers(2, 9), st.integers(0, 2**16))
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_what_is_left_out_is_in_no_group(n_resamples, n_inputs, seed):
    rng = np.random.default_rng(seed)
    labels, *resampled = partitions_with_rest(rng, n_resamples + 1, n_inputs)
    result = Stability(labels, np.array(resampled))
    shared = [np.equal.outer(row, row) & (row >= 0) & (row >= 0)[:, None] for row in resampled]
    together = np.mean(shared, axis=0)
    np.testing.assert_allclose(result.together, np.where(np.eye(n_inputs), 1, together), atol=1e-15)
    assert len(result.group_scores) == labels.max() + 1
    for number, score in enumerate(result.group_scores):
        members = np.flatnonzero(labels == number)
        pairs = [together[i, j] for i in members for j in members if i < j]
        first = members[0]
        own = np.mean([row[first] >= 0 and np.sum(row == row[first]) == 1 for row in resampled])
        assert score == pytest.approx(np.mean(pairs) if pairs else own)
    assert result.n_groups.tolist() == [len({*row.tolist()} - {-1}) for row in resampled]
    alone = np.arange(n_inputs) - 100
    rand = [
        adjusted_rand_score(np.where(labels < 0, alone, labels), np.where(row < 0, alone, row))
        for row in resampled
    ]
    np.testing.assert_allclose(result.agreement, rand, atol=1e-12)
    is_left_out = np.mean([row < 0 for row in resampled], axis=0) >= 0.5
    assert (result.consensus[is_left_out] == -1).all()
    assert (result.consensus[~is_left_out] >= 0).all()


def test_coterie_is_the_default_and_leaves_out_the_same_noise(rng):
    hidden = rng.normal(size=(2, 300))
    X = np.repeat(hidden, 3, axis=0).T + 0.3 * rng.normal(size=(300, 6))
    X = np.hstack([X, rng.normal(size=(300, 2))])
    y = hidden[0] - hidden[1] + 0.3 * rng.normal(size=300)
    result = stability(X, y, n_resamples=5, random_state=0)
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 1, -1, -1]
    assert result.group_scores.tolist() == [1, 1]
    assert result.together[6, 7] == 0


@given(st.integers(1, 6), st.integers(2, 9), st.integers(0, 2**16))
def test_laws_of_being_together(n_resamples, n_inputs, seed):
    labels, *resampled = partitions(np.random.default_rng(seed), n_resamples + 1, n_inputs)
    together = Stability(labels, np.array(resampled)).together
    assert (together == together.T).all()
    assert (np.diag(together) == 1).all()
    assert together.min() >= 0
    assert together.max() <= 1


@given(st.integers(1, 5), st.integers(2, 9), st.integers(0, 2**16))
def test_partitions_that_never_change_are_their_own_consensus(n_resamples, n_inputs, seed):
    [labels] = partitions(np.random.default_rng(seed), 1, n_inputs)
    result = Stability(labels, np.tile(labels, (n_resamples, 1)))
    assert result.consensus.tolist() == labels.tolist()
    assert (result.group_scores == 1).all()
    assert (result.agreement == 1).all()


def test_just_half_is_no_consensus_and_more_than_half_is():
    labels = np.array([0, 0])
    resampled = np.array([[0, 0], [0, 1], [0, 0], [0, 1]])
    assert Stability(labels, resampled).consensus.tolist() == [0, 1]
    assert Stability(labels, resampled[:3]).consensus.tolist() == [0, 0]


def test_the_groups_become_a_frame():
    resampled = np.array([[0, 0, 0, -1], [0, 0, 1, 0], [0, 0, 1, -1], [0, 1, 2, -1]])
    frame = Stability(np.array([0, 0, 1, -1]), resampled).to_frame()
    assert frame["group"].tolist() == [0, 1]
    assert frame["n_members"].tolist() == [2, 1]
    # Together in three of four; alone in three of four.
    assert frame["stability"].tolist() == [0.75, 0.75]


def test_consensus_asks_for_the_average_over_pairs():
    # 1 and 2 are always together; 0 is with both in 2 of 3 resamples, 3 with none.
    resampled = np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 1, 1, 2]])
    assert Stability(resampled[0], resampled).consensus.tolist() == [0, 0, 0, 1]
    # Here 0 is with both in 1 of 3.
    assert Stability(resampled[0], resampled[[0, 2, 2]]).consensus.tolist() == [0, 1, 1, 2]


def test_very_many_inputs_have_scores_but_no_pairs():
    labels = np.arange(20_000) // 2
    result = Stability(labels, np.tile(labels, (2, 1)))
    assert (result.group_scores == 1).all()
    assert result.agreement.tolist() == [1, 1]
    for name in ("together", "consensus"):
        with pytest.raises(ValueError, match=r"pairs of 20,000 inputs take 3,200,000,000 bytes"):
            getattr(result, name)


@pytest.mark.parametrize("resampling", ["subsample", "bootstrap"])
def test_known_groups_are_stable(grouped, resampling):
    X, y, labels = grouped
    result = stability(
        X, y, estimator=REDUCER, n_resamples=20, resampling=resampling, random_state=0
    )
    assert result.labels.tolist() == labels.tolist()
    assert result.consensus.tolist() == labels.tolist()
    assert result.resampled.shape == (20, 8)
    assert result.group_scores.min() > 0.9
    assert result.agreement.mean() > 0.9


def test_columns_without_any_relation_are_not_stable(rng):
    # Out of sample and with no tolerance, the sign of nothing decides.
    X, y = rng.normal(size=(200, 10)), rng.normal(size=200)
    result = stability(X, y, estimator=NonLinCFA(0.0, cv=5), n_resamples=20, random_state=0)
    assert result.group_scores.min() < 0.7
    assert result.agreement.mean() < 0.7


def test_the_default_reducer_takes_numbers(grouped):
    result = stability(grouped.X, grouped.y, n_resamples=3, random_state=0)
    assert result.labels.tolist() == Coterie().fit(grouped.X, grouped.y).labels_.tolist()


def test_the_seed_decides_and_not_the_number_of_jobs(grouped):
    one, two, other = (
        stability(
            *grouped[:2],
            estimator=NonLinCFA(0.0, cv=5),
            n_resamples=6,
            random_state=seed,
            n_jobs=n_jobs,
        ).resampled
        for seed, n_jobs in [(0, 1), (0, 2), (1, 1)]
    )
    assert (one == two).all()
    assert (one != other).any()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, np.ndarray.tolist])
def test_frames_and_lists_give_what_arrays_give(grouped, frame):
    X, y, _ = grouped
    options = {"estimator": REDUCER, "n_resamples": 3, "random_state": 0}
    expected = stability(X, y, **options).resampled
    if frame is pd.DataFrame:
        given = pd.DataFrame(X).add_prefix("x"), pd.Series(y, index=range(7, 407))
    elif frame is pl.DataFrame:
        given = pl.DataFrame(X), pl.Series(y)
    else:
        given = X.tolist(), y.tolist()
    assert (stability(*given, **options).resampled == expected).all()


class Recorder(BaseEstimator):
    """Keeps the rows and the target that each fit saw, and has each input alone."""

    def __init__(self, seen):
        self.seen = seen

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.seen.append((X[:, 0], np.asarray(y)))
        self.labels_ = np.arange(X.shape[1])
        return self


def seen_rows(y, **options):
    recorder = Recorder([])
    X = np.column_stack([np.arange(len(y)), np.zeros(len(y))])
    stability(X, y, estimator=recorder, n_resamples=10, random_state=0, **options)
    return recorder.seen[1:]


def test_subsamples_are_different_halves_in_their_order():
    y = np.linspace(0, 1, 21)
    drawn = [rows.tolist() for rows, _ in seen_rows(y)]
    assert all(rows == sorted(set(rows)) and len(rows) == 10 for rows in drawn)
    assert len(set(map(tuple, drawn))) > 1


def test_bootstraps_are_as_many_rows_with_repetition_in_their_order():
    y = np.linspace(0, 1, 21)
    for rows, target in seen_rows(y, resampling="bootstrap"):
        assert len(rows) == 21 > len(set(rows.tolist()))
        assert (np.diff(rows) >= 0).all()
        assert (target == y[rows.astype(int)]).all()


@pytest.mark.parametrize("resampling", ["subsample", "bootstrap"])
@pytest.mark.parametrize("kinds", [("yes", "no"), (0, 1), (0.5, 1.5), ("a", "b", "c")], ids=str)
def test_no_class_vanishes(resampling, kinds):
    # One or two rows of the last class, and the same share of each class in every resample.
    y = np.array([*kinds[:-1]] * 20 + [kinds[-1]] * 2)
    for _, target in seen_rows(y, resampling=resampling):
        size = 1 if resampling == "subsample" else 2
        assert np.sum(target == kinds[-1]) == size
        assert np.sum(target == kinds[0]) == 10 * size


def test_counts_are_numbers_and_not_classes():
    y = np.arange(20)
    assert len({tuple(rows) for rows, _ in seen_rows(y)}) > 1


def test_rare_classes_can_be_fitted_every_time(rng):
    X = rng.normal(size=(60, 4))
    y = np.where(np.arange(60) < 2, "ill", "well")
    result = stability(
        X, y, estimator=GenLinCFA(0.5, family="bernoulli"), n_resamples=10, random_state=0
    )
    assert result.resampled.shape == (10, 4)


def test_errors_of_a_resample_come_out(rng):
    # Two rows make the target vary, and about one resample in four has neither.
    X = rng.normal(size=(20, 3))
    y = np.array([1.0, 2.0] + [3.0] * 18)
    with pytest.raises(ValueError, match="y is constant"):
        stability(X, y, estimator=REDUCER, random_state=0)


def test_other_estimators_with_labels_may_be_compared(grouped):
    X, y, labels = grouped
    result = stability(X, y, estimator=FeatureAgglomeration(2), n_resamples=3, random_state=0)
    assert result.labels.tolist() == labels.tolist()
    assert result.resampled.tolist() == [labels.tolist()] * 3


def test_the_estimator_stays_as_it_is(grouped):
    reducer = NonLinCFA(0.02)
    stability(*grouped[:2], estimator=reducer, n_resamples=1)
    assert not hasattr(reducer, "labels_")


def test_a_result_can_be_stored(grouped):
    result = stability(*grouped[:2], estimator=REDUCER, n_resamples=2)
    assert (pickle.loads(pickle.dumps(result)).together == result.together).all()


def inputs_of_few(X):
    return X[:, : 2 + len(X) % 7]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_resamples": 0}, r"n_resamples must be 1 or more, got 0\."),
        ({"n_resamples": 2.5}, r"n_resamples must be an int, got 2\.5\."),
        ({"n_resamples": True}, r"n_resamples must be an int, got True\."),
        ({"resampling": "boostrap"}, r"got 'boostrap'\. Did you mean 'bootstrap'\?"),
        ({"resampling": 1}, r"resampling must be one of 'subsample', 'bootstrap', got 1\."),
        ({"estimator": NonLinCFA}, r"got the class NonLinCFA: write NonLinCFA\(\)\."),
        ({"estimator": "nonlin"}, r"must be a reducer such as Coterie\(\), got 'nonlin'\."),
        ({"estimator": PCA()}, r"must have labels_ after fit, .* PCA has none\. Use"),
        (
            {"estimator": NonLinCFA(0.02, inputs=inputs_of_few)},
            r"labels_ has 3 entries for all rows and 6 for a resample\.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(grouped, options, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        stability(*grouped[:2], **options)


def test_bad_data_are_refused_by_the_reducer(grouped):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[400, 399\]"):
        stability(grouped.X, grouped.y[:-1])


@pytest.mark.parametrize("progress", [True, False])
def test_a_bar_is_shown_only_where_asked_for(grouped, capsys, progress):
    options = {"estimator": REDUCER, "n_resamples": 3, "random_state": 0}
    result = stability(*grouped[:2], progress=progress, **options)
    printed = capsys.readouterr()
    assert ("3/3" in printed.err) is progress
    assert printed.out == ""
    assert (result.resampled == stability(*grouped[:2], **options).resampled).all()


def test_a_bar_without_tqdm_says_what_to_install(grouped, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"pip install 'coterie\[progress\]'\."):
        stability(*grouped[:2], progress=True)
