from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list

from coterie import Coterie, NonLinCFA
from coterie.datasets import load_tecator, make_groups
from coterie.plot import CorrelationDisplay, plot_correlation
from coterie.report.inspection import (
    StandardisedColumns,
    block_correlations,
    ordered_groups,
)


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


def test_a_tree_orders_groups_and_members_and_what_is_left_out_is_last():
    rng = np.random.default_rng(0)
    X, y, _ = make_groups(200, 12, 3, noise=1.0, random_state=0)
    X = np.hstack([rng.normal(size=(200, 3)), X])
    reducer = Coterie().fit(X, y)
    shown = CorrelationDisplay.from_estimator(reducer, X).plot()
    order = np.concatenate(shown.blocks)
    along = reducer.labels_[order]
    n_left_out = len(reducer.rest_)
    assert n_left_out > 0
    assert (along[-n_left_out:] == -1).all()
    kept = along[:-n_left_out]
    assert len(np.flatnonzero(np.diff(kept))) == reducer.n_groups_ - 1
    leaves = leaves_list(reducer.tree_).tolist()
    places = [leaves.index(feature) for feature in order[:-n_left_out]]
    assert places == sorted(places)


def test_what_is_left_out_has_at_most_a_third_of_the_width(rng):
    labels = np.append(np.repeat(np.arange(4), 10), np.full(960, -1))
    columns = StandardisedColumns.of(rng.normal(size=(20, 1000)))
    groups, rest = ordered_groups(labels)
    blocks, means = block_correlations(columns, groups, rest, np.ones(1000), 90)
    assert sum(labels[block[0]] < 0 for block in blocks) == 50
    assert [block.tolist() for block in blocks[:40]] == [[k] for k in range(40)]
    shown = CorrelationDisplay(means, blocks, labels).plot()
    assert shown.ax_.get_xlim() == pytest.approx((0, 60))
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == [*"0123", "left out"]


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


def test_five_thousand_features_need_no_matrix_of_all_pairs(rng):
    X = rng.normal(size=(30, 5000))
    reducer = NonLinCFA(1.0, cv=None).fit(X, X[:, 0])
    shown = CorrelationDisplay.from_estimator(reducer, X).plot()
    shown.figure_.canvas.draw()
    assert len(shown.blocks) == len(shown.correlation) <= 400
    title = f"Correlation of 5,000 features\n{len(shown.blocks)} blocks"
    assert shown.ax_.get_title() == title


@pytest.mark.filterwarnings("ignore:X is constant:coterie.FitWarning")
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
    pair = X[:, [0, 3]]
    z = (pair - np.nanmean(pair, axis=0)) / np.nanstd(pair, axis=0)
    both = np.delete(z.prod(axis=1), 3)
    assert shown.correlation[at[0], at[3]] == pytest.approx(both.mean())


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
