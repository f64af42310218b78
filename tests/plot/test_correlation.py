from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coterie import NonLinCFA
from coterie.datasets import load_tecator, make_groups
from coterie.plot import CorrelationDisplay, plot_correlation
from coterie.plot._correlation import _blocks, _correlations


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_groups(150, 15, 4, noise=2.0, random_state=1)
    X = X[:, np.random.default_rng(0).permutation(15)]
    return X, y, NonLinCFA(0.01).fit(X, y)


def test_cells_are_correlations_in_the_order_of_groups(data):
    X, _, reducer = data
    shown = CorrelationDisplay.from_estimator(reducer, X).plot()
    order = np.concatenate(reducer.groups_)
    expected = np.corrcoef(X[:, order], rowvar=False)
    np.testing.assert_allclose(shown.mesh_.get_array(), expected, atol=1e-12)
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == [f"x{j}" for j in order]


def test_squares_enclose_the_groups_of_more_than_one(data):
    X, _, reducer = data
    shown = CorrelationDisplay.from_estimator(reducer, X).plot(colorbar=False)
    ends = np.cumsum([0, *map(len, reducer.groups_)])
    expected = [(a, b) for a, b in pairwise(ends) if b - a > 1]
    squares = [path.vertices for path in shown.outlines_.get_paths()]
    assert [(box.min(), box.max()) for box in squares] == expected
    assert shown.colorbar_ is None


def test_turned_features_are_turned_back(rng):
    factor = rng.normal(size=(200, 1))
    X = factor * [1, -1, 1] + 0.2 * rng.normal(size=(200, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    reducer = NonLinCFA(0.1, signs=True).fit(frame, factor.ravel())
    shown = CorrelationDisplay.from_estimator(reducer, frame).plot()
    expected = np.corrcoef(X * [1, -1, 1], rowvar=False)
    np.testing.assert_allclose(shown.correlation, expected, atol=1e-12)
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["a", "-b", "c"]


def test_blocks_have_mean_correlations(rng):
    columns = rng.normal(size=(50, 12)) + rng.normal(size=(50, 1))
    blocks = [np.array([0, 3, 5]), np.array([1]), np.array([2, 4, 6, 7, 8, 9, 10, 11])]
    all_pairs = np.corrcoef(columns, rowvar=False)
    expected = [[all_pairs[np.ix_(a, b)].mean() for b in blocks] for a in blocks]
    np.testing.assert_allclose(_correlations(columns, np.ones(12), blocks), expected)


@pytest.mark.parametrize(("n_features", "n_groups"), [(50, 3), (401, 2), (5000, 7), (5000, 390)])
def test_blocks_are_few_and_do_not_cross_groups(rng, n_features, n_groups):
    labels = np.append(np.arange(n_groups), rng.integers(0, n_groups, n_features - n_groups))
    blocks = _blocks(labels, 400)
    assert len(blocks) <= 400
    assert (np.sort(np.concatenate(blocks)) == np.arange(n_features)).all()
    assert all(len({*labels[block].tolist()}) == 1 for block in blocks)
    first = [labels[block[0]] for block in blocks]
    assert first == sorted(first)


def test_more_groups_than_blocks_share_them():
    blocks = _blocks(np.arange(5000), 400)
    assert len(blocks) == 400
    assert (np.concatenate(blocks) == np.arange(5000)).all()


def test_five_thousand_features_need_no_matrix_of_all_pairs(rng):
    X = rng.normal(size=(30, 5000))
    reducer = NonLinCFA(1.0, cv=None).fit(X, X[:, 0])
    shown = CorrelationDisplay.from_estimator(reducer, X).plot()
    shown.figure_.canvas.draw()
    assert shown.correlation.shape == (385, 385)  # pieces of 13 features
    assert shown.ax_.get_title() == "Correlation of 5,000 features, 385 blocks"


def test_constant_columns_gaps_and_huge_numbers_do_no_harm(rng):
    X = rng.normal(size=(40, 5))
    X[:, 1] = 0.1
    X[:, 2] *= 1e200
    X[3, 3] = np.nan
    reducer = NonLinCFA(0.1, missing="pairwise").fit(
        np.where(np.abs(X) > 1e9, X / 1e200, X), X[:, 0]
    )
    shown = CorrelationDisplay.from_estimator(reducer, X)
    order = [int(block[0]) for block in shown.blocks]
    at = {feature: place for place, feature in enumerate(order)}
    assert np.isfinite(shown.correlation).all()
    assert (shown.correlation[at[1]] == 0).all()
    expected = np.corrcoef(X[:, 0], X[:, 2] / 1e200)[0, 1]
    assert shown.correlation[at[0], at[2]] == pytest.approx(expected)
    filled = np.where(np.isnan(X[:, 3]), np.nanmean(X[:, 3]), X[:, 3])
    assert shown.correlation[at[0], at[3]] == pytest.approx(np.corrcoef(X[:, 0], filled)[0, 1])


def test_sparse_columns_are_correlated_like_dense_ones(rng):
    dense = rng.poisson(0.5, size=(60, 6)).astype(float)
    y = dense[:, 0] + rng.normal(size=60)
    reducer = NonLinCFA(0.01).fit(dense, y)
    ours = CorrelationDisplay.from_estimator(reducer, sparse.csr_matrix(dense)).correlation
    theirs = CorrelationDisplay.from_estimator(reducer, dense).correlation
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_spectra_have_shades_of_their_own(data):
    X, y = load_tecator(return_X_y=True)
    shown = CorrelationDisplay.from_estimator(NonLinCFA().fit(X, y), X).plot()
    assert shown.mesh_.get_clim() == (shown.correlation.min(), 1)
    X, _, reducer = data
    assert CorrelationDisplay.from_estimator(reducer, X).plot().mesh_.get_clim() == (-1, 1)


def test_one_row_has_no_correlation(data):
    X, _, reducer = data
    with pytest.raises(ValueError, match=r"^X must have 2 rows or more to correlate features"):
        plot_correlation(reducer, X[:1])
    assert not plt.get_fignums()
