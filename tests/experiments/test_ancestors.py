import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from experiments.methods import Unavailable
from experiments.methods._ancestors import (
    ANCESTORS,
    Quality,
    clv,
    concordance,
    one_round,
    overlapping_means,
    penalised_fit,
    redundancy,
)

BLOCKS = np.repeat(np.arange(4), 5)


@pytest.fixture
def blocks(rng):
    factors = rng.normal(size=(200, 4))
    X = factors[:, BLOCKS] + 0.4 * rng.normal(size=(200, 20))
    X[:, 2] *= -1
    return (X - X.mean(0)) / X.std(0), factors


@pytest.mark.parametrize("name", ["CLV", "hclust"])
def test_blocks_are_found_whatever_their_signs(name, blocks):
    X, factors = blocks
    (found,) = ANCESTORS[name].reductions(
        X, factors @ [1.0, 2.0, 3.0, 4.0], "regression", [{"size": 4}]
    )
    if name == "CLV":
        assert adjusted_rand_score(found.labels, BLOCKS) == 1
    first = found.columns(X)[:, found.labels[0]]
    assert abs(np.corrcoef(first, factors[:, 0])[0, 1]) > 0.9


def test_rena_finds_blocks_without_signs(blocks):
    X, factors = blocks
    X = np.delete(X, 2, axis=1)
    (found,) = ANCESTORS["ReNA"].reductions(X, factors[:, 0], "regression", [{"size": 4}])
    assert adjusted_rand_score(found.labels, np.delete(BLOCKS, 2)) == 1
    np.testing.assert_allclose(
        found.columns(X)[:, found.labels[0]], X[:, found.labels == found.labels[0]].mean(1)
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_sizes_are_those_asked_for(size, blocks):
    X, factors = blocks
    for name in ("CLV", "ReNA", "hclust"):
        (found,) = ANCESTORS[name].reductions(X, factors[:, 0], "regression", [{"size": size}])
        assert found.n_columns <= size
        if name != "CLV":
            assert found.n_columns == size
        assert found.columns(X).shape == (200, found.n_columns)


def test_a_round_of_rena_joins_each_cluster_with_its_nearest():
    X = np.array([[0.0, 1.0, 10.0, 11.0, 30.0]])
    assert len(set(one_round(X, np.arange(5), 1))) == 2
    labels = one_round(X, np.arange(5), 4)
    assert labels[0] == labels[1]
    assert len(set(labels)) == 4


def test_twins_do_not_keep_rena_from_ending(rng):
    X = np.repeat(rng.normal(size=(30, 2)), 6, axis=1)
    (found,) = ANCESTORS["ReNA"].reductions(X, X[:, 0], "regression", [{"size": 1}])
    assert found.n_columns == 1


def test_latent_variables_are_first_components(blocks):
    X, _ = blocks
    ((labels, signs),) = clv(X, X[:, 0], "regression", [4])
    for label in range(4):
        members = X[:, labels == label]
        component = members @ np.linalg.svd(members, full_matrices=False)[2][0]
        toward = np.sign([np.corrcoef(column, component)[0, 1] for column in members.T])
        assert abs(toward @ signs[labels == label]) == len(toward)


def test_redundancy_is_what_bins_of_one_say_of_the_means_of_another(rng):
    X = rng.normal(size=(64, 3))
    X[:, 1] += X[:, 0]
    y = X[:, 0] + 0.1 * rng.normal(size=64)
    found = redundancy(X, y, "regression", n_bins=4)

    def means_in_bins(values, by):
        bins = np.argsort(np.argsort(by)) // 16
        return np.array([values[bins == b].mean() for b in bins])

    t = y - y.mean()
    said = [means_in_bins(t, x) for x in X.T]
    for i in range(3):
        for j in range(i):
            shares = [
                np.sum(means_in_bins(said[a], X[:, b]) ** 2) / np.sum(said[a] ** 2)
                for a, b in ((i, j), (j, i))
            ]
            assert found[i, j] == pytest.approx(1 - max(shares))


def test_redundancy_does_not_depend_on_units(rng):
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    np.testing.assert_array_equal(
        redundancy(X, y, "regression"), redundancy(np.exp(X), y, "regression")
    )


def test_the_lasso_leaves_out_clusters_of_noise(blocks):
    X, factors = blocks
    found = ANCESTORS["Ward then lasso"].reductions(
        np.abs(X) * np.sign(factors[:, BLOCKS]), 5 * factors[:, 1], "regression",
        [{"size": 8, "share": 0.5}, {"size": 8, "share": 0.02}],
    )  # fmt: skip
    few, many = found
    assert few.n_columns < many.n_columns <= 8
    assert set(BLOCKS[few.labels >= 0]) == {1}
    assert few.n_measured == (few.labels >= 0).sum()


def test_pelora_groups_what_acts_alike_and_turns_what_acts_against(blocks):
    X, factors = blocks
    y = factors[:, 0] - factors[:, 1]
    one, two = ANCESTORS["pelora"].reductions(X, y, "regression", [{"size": 1}, {"size": 2}])
    assert abs(np.corrcoef(one.columns(X)[:, 0], y)[0, 1]) > 0.9
    np.testing.assert_array_equal(one.columns(X)[:, 0], two.columns(X)[:, 0])


def test_pelora_of_classes(blocks):
    X, factors = blocks
    y = (factors[:, 3] > 0).astype(float)
    (found,) = ANCESTORS["pelora"].reductions(X, y, "classification", [{"size": 1}])
    assert set(BLOCKS[found.labels == 0]) == {3}
    assert roc_auc_score(y, found.columns(X)[:, 0]) > 0.9


def test_the_gain_of_pelora_is_that_of_a_newton_step(rng):
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(float)
    columns = np.ones((60, 1))
    quality = Quality.of(X, y, columns, 2.0, "classification")
    own = np.einsum("ij,ij->j", quality.left, quality.left)
    fitted, weights = penalised_fit(columns, y, 2.0, "classification")
    for j in range(3):
        design = np.column_stack([columns, X[:, j]])
        hessian = design.T @ (weights[:, None] * design) + np.diag([0.0, 2.0])
        score = design.T @ (y - fitted)
        step = score @ np.linalg.solve(hessian, score)
        gain = quality.gains(quality.scores[[j]], own[[j]], np.array(1.0))
        # Scores of pelora are for turned features: those that fall with y gain nothing.
        expected = step if quality.scores[j] > 0 else 0.0
        assert gain[0] == pytest.approx(expected, abs=1e-8)


def test_wilma_orders_two_classes(blocks):
    X, factors = blocks
    y = (factors[:, 0] + 0.3 * factors[:, 2] > 0).astype(float)
    one, two = ANCESTORS["wilma"].reductions(X, y, "classification", [{"size": 1}, {"size": 2}])
    reached = roc_auc_score(y, one.columns(X)[:, 0])
    assert reached >= max(max(auc, 1 - auc) for auc in (roc_auc_score(y, x) for x in X.T))
    assert not set(np.flatnonzero(two.labels == 0)) & set(np.flatnonzero(two.labels == 1))


def test_concordance_is_the_area_under_the_curve(rng):
    X, y = rng.integers(0, 5, (40, 3)).astype(float), (np.arange(40) % 3 == 0).astype(float)
    np.testing.assert_allclose(concordance(X, y), [roc_auc_score(y, x) for x in X.T])


def test_wilma_needs_classes(blocks):
    X, factors = blocks
    with pytest.raises(Unavailable, match="needs classes"):
        ANCESTORS["wilma"].reductions(X, factors[:, 0], "regression", [{"size": 1}])


@pytest.mark.parametrize("name", ["pelora", "wilma"])
def test_several_classes_have_clusters_in_turn(name, blocks):
    X, factors = blocks
    y = np.argmax(factors[:, :3], axis=1).astype(float)
    (found,) = ANCESTORS[name].reductions(X, y, "classification", [{"size": 3}])
    columns = found.columns(X)
    assert columns.shape == (200, 3)
    for c in range(3):
        assert roc_auc_score(y == c, columns[:, c]) > 0.8


def test_means_of_clusters_that_overlap():
    clusters = [(np.array([0, 2]), np.array([1.0, -1.0])), (np.array([2]), np.array([1.0]))]
    found = overlapping_means(clusters, 3)
    np.testing.assert_allclose(found.columns(np.array([[1.0, 5.0, 3.0]])), [[-1.0, 3.0]])
    assert found.labels.tolist() == [0, -1, 0]
