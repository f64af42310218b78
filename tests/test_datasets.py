import numpy as np
import pytest

from coterie.datasets import load_tecator, make_groups, make_paper_data, paper_trial


def test_tecator_is_complete_and_keeps_its_note():
    bunch = load_tecator()
    assert bunch.data.shape == (215, 100)
    assert bunch.target.shape == (215,)
    assert np.isfinite(bunch.data).all()
    assert "as long as this permission note is" in bunch.DESCR
    # The ranges that the source gives: absorbance is positive, fat is a share in percent.
    assert bunch.data.min() > 0
    assert 0 < bunch.target.min() < bunch.target.max() < 100


def test_tecator_comes_as_frames():
    X, y = load_tecator(return_X_y=True, as_frame=True)
    assert list(X.columns) == load_tecator().feature_names
    assert y.name == "fat"


def test_paper_data_are_what_the_paper_says():
    X, y = make_paper_data(30, n_samples=4000)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    # A child is 0.7 of its parent and 0.3 of fresh uniform noise: corr(x1, x0) = 0.7/sqrt(.58).
    np.testing.assert_allclose(np.corrcoef(X[:, 0], X[:, 1])[0, 1], 0.7 / np.sqrt(0.58), atol=0.02)


def test_classes_are_balanced_by_their_threshold():
    _, linear = make_paper_data(20, task="classification", n_samples=2000)
    _, quadratic = make_paper_data(20, relation="quadratic", task="classification", n_samples=2000)
    for y in (linear, quadratic):
        assert set(y) == {0.0, 1.0}
        assert 0.3 < y.mean() < 0.7


def test_trials_do_not_overlap():
    X = np.arange(30_000.0)[:, None]
    rows = [np.concatenate([*paper_trial(X, X, t)[:2]]).ravel() for t in range(10)]
    assert len(np.unique(np.concatenate(rows))) == 30_000
    with pytest.raises(ValueError, match="trial must be 0 to 9, got 10"):
        paper_trial(X, X, 10)


def test_groups_have_the_correlation_asked_for():
    X, y, labels = make_groups(20_000, 8, 2, correlation=0.7, random_state=0)
    same = labels[:, None] == labels[None]
    r = np.corrcoef(X.T)
    np.testing.assert_allclose(r[same & ~np.eye(8, dtype=bool)], 0.7, atol=0.02)
    np.testing.assert_allclose(r[~same], 0, atol=0.03)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: make_paper_data(5, relation="quadric"), "relation must be 'linear' or"),
        (lambda: make_paper_data(5, task="class"), "task must be 'regression' or"),
        (lambda: make_groups(50, 3, 6), "n_groups must be 1 to n_features"),
        (lambda: make_groups(correlation=2), "correlation must be above 0"),
        (
            lambda: paper_trial(np.ones((5, 2)), np.ones(5), 0),
            "X must have 3000 rows or more, got 5",
        ),
    ],
)
def test_bad_input_gets_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
