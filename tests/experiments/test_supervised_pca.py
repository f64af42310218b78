import numpy as np
import pytest
from sklearn.decomposition import PCA

from experiments.methods._supervised_pca import BairPCA, BarshanPCA

KERNELS = ["linear", "rbf", "delta"]


def wide_and_tall(rng):
    return [rng.normal(size=shape) * rng.uniform(0.5, 2, shape[1]) for shape in [(25, 60), (60, 7)]]


def target_for(kernel, X, rng):
    signal = X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=len(X))
    return np.digitize(signal, [-1, 1]).astype(float) if kernel == "delta" else signal


def target_kernel(kernel, y):
    """The kernel matrix of the target, pair by pair."""
    apart = np.abs(y[:, None] - y[None])
    if kernel == "linear":
        return np.outer(y, y)
    if kernel == "delta":
        return (apart == 0).astype(float)
    width = np.median(apart[np.triu_indices(len(y), 1)])
    return np.exp(-(apart**2) / (2 * width**2))


def dependence(kernel, X, y):
    """X' H L H X, as written."""
    centring = np.eye(len(X)) - 1 / len(X)
    return X.T @ centring @ target_kernel(kernel, y) @ centring @ X


def same_up_to_sign(first, second, atol=1e-8):
    signs = np.sign(np.sum(first * second, axis=0))
    np.testing.assert_allclose(first, second * signs, atol=atol)


@pytest.mark.parametrize("kernel", KERNELS)
def test_barshan_directions_are_orthonormal(rng, kernel):
    for X in wide_and_tall(rng):
        found = BarshanPCA(5, kernel=kernel).fit(X, target_for(kernel, X, rng)).components_
        np.testing.assert_allclose(found @ found.T, np.eye(len(found)), atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_barshan_reaches_the_sum_of_the_largest_eigenvalues(rng, kernel):
    for X in wide_and_tall(rng):
        y = target_for(kernel, X, rng)
        found = BarshanPCA(4, kernel=kernel).fit(X, y).components_.T
        matrix = dependence(kernel, X, y)
        largest = np.linalg.eigvalsh(matrix)[::-1][: found.shape[1]]
        np.testing.assert_allclose(np.trace(found.T @ matrix @ found), largest.sum(), rtol=1e-10)
        for _ in range(50):
            rival = np.linalg.qr(rng.normal(size=found.shape))[0]
            assert np.trace(rival.T @ matrix @ rival) < largest.sum()


@pytest.mark.parametrize("kernel", KERNELS)
def test_barshan_directions_are_the_leading_eigenvectors(rng, kernel):
    for X in wide_and_tall(rng):
        y = target_for(kernel, X, rng)
        model = BarshanPCA(3, kernel=kernel).fit(X, y)
        vectors = np.linalg.eigh(dependence(kernel, X, y))[1][:, ::-1]
        same_up_to_sign(model.components_.T, vectors[:, : len(model.components_)])
        np.testing.assert_allclose(model.transform(X), (X - X.mean(axis=0)) @ model.components_.T)


def test_features_that_are_nothing_do_not_change_barshan(rng):
    tall = rng.normal(size=(30, 6))
    y = target_for("rbf", tall, rng)
    wide = np.hstack([tall, np.zeros((30, 50))])
    expected = BarshanPCA(4).fit(tall, y).transform(tall)
    same_up_to_sign(BarshanPCA(4).fit(wide, y).transform(wide), expected)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_barshan_has_one_direction_less_than_classes(rng, n_classes):
    X = rng.normal(size=(40, 12))
    y = np.arange(40.0) % n_classes
    assert len(BarshanPCA(10, kernel="delta").fit(X, y).components_) == n_classes - 1


def test_barshan_has_one_direction_for_a_linear_kernel(rng):
    X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
    (direction,) = BarshanPCA(10, kernel="linear").fit(X, y).components_
    covariances = (X - X.mean(axis=0)).T @ y
    cosine = direction @ covariances / np.linalg.norm(covariances)
    assert np.abs(cosine) == pytest.approx(1)


def test_names_of_classes_do_not_change_barshan(rng):
    X = rng.normal(size=(40, 12))
    y = rng.integers(0, 3, size=40)
    renamed = np.array([7.0, -1.0, 2.0])[y]
    expected = BarshanPCA(2, kernel="delta").fit(X, y).transform(X)
    same_up_to_sign(BarshanPCA(2, kernel="delta").fit(X, renamed).transform(X), expected)


def test_shift_and_scale_of_the_target_do_not_change_barshan(rng):
    X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
    expected = BarshanPCA(3).fit(X, y).transform(X)
    same_up_to_sign(BarshanPCA(3).fit(X, 5 - 100 * y).transform(X), expected, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_depends_on_a_target_that_does_not_vary(rng, kernel):
    X = rng.normal(size=(40, 12))
    assert BarshanPCA(3, kernel=kernel).fit(X, np.full(40, 0.3)).transform(X).shape == (40, 0)


def test_ties_of_the_target_leave_the_width_above_zero(rng):
    X = rng.normal(size=(40, 5))
    y = np.r_[np.zeros(35), np.arange(1.0, 6.0)]
    assert np.isfinite(BarshanPCA(2).fit(X, y).transform(X)).all()


def test_bair_with_all_features_is_pca(rng):
    for X in wide_and_tall(rng):
        model = BairPCA(4, keep=1.0).fit(X, target_for("rbf", X, rng))
        new = rng.normal(size=(9, X.shape[1]))
        same_up_to_sign(model.transform(new), PCA(4, svd_solver="full").fit(X).transform(new))


@pytest.mark.parametrize(("keep", "n_kept"), [(0.01, 1), (0.25, 5), (0.5, 10)])
def test_bair_is_pca_of_the_features_most_correlated_with_the_target(rng, keep, n_kept):
    X = rng.normal(size=(50, 20)) * rng.uniform(0.1, 10, 20)
    y = X @ (rng.normal(size=20) / X.std(axis=0)) + rng.normal(size=50)
    correlations = [abs(np.corrcoef(column, y)[0, 1]) for column in X.T]
    best = np.sort(np.argsort(correlations)[-n_kept:])
    model = BairPCA(3, keep=keep).fit(X, y)
    np.testing.assert_array_equal(model.kept_, best)
    size = min(3, n_kept)
    expected = PCA(size, svd_solver="full").fit_transform(X[:, best])
    same_up_to_sign(model.transform(X), expected)


def test_bair_takes_the_class_that_a_feature_tells_most_about(rng):
    X = rng.normal(size=(60, 10))
    y = rng.integers(0, 3, size=60).astype(float)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = [[abs(np.mean(x * (y == code))) for code in range(3)] for x in standard.T]
    best = np.sort(np.argsort(np.max(scores, axis=1))[-4:])
    model = BairPCA(2, keep=0.4, task="classification").fit(X, y)
    np.testing.assert_array_equal(model.kept_, best)


def test_for_two_classes_bair_needs_no_indicators(rng):
    X = rng.normal(size=(60, 10))
    y = rng.integers(0, 2, size=60).astype(float)
    as_classes = BairPCA(2, keep=0.3, task="classification").fit(X, y)
    np.testing.assert_array_equal(as_classes.kept_, BairPCA(2, keep=0.3).fit(X, y).kept_)


def test_units_do_not_change_which_features_bair_keeps(rng):
    X, y = rng.normal(size=(60, 10)), rng.normal(size=60)
    changed = X * rng.uniform(-100, 100, 10) + rng.normal(size=10)
    expected = BairPCA(2, keep=0.3).fit(X, y).kept_
    np.testing.assert_array_equal(BairPCA(2, keep=0.3).fit(changed, 3 - 7 * y).kept_, expected)


def test_a_feature_that_does_not_vary_is_kept_last(rng):
    X, y = rng.normal(size=(60, 10)), rng.normal(size=60)
    X[:, 4] = 1.0
    assert 4 not in BairPCA(2, keep=0.9).fit(X, y).kept_


def test_bair_has_no_more_components_than_the_rank(rng):
    X = np.repeat(rng.normal(size=(30, 3)), 4, axis=1)
    assert len(BairPCA(10, keep=1.0).fit(X, X[:, 0]).components_) == 3
