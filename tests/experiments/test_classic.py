import pickle

import numpy as np
import pytest
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from experiments.methods import _classic
from experiments.methods._classic import CLASSIC, Explaining, Remembered
from experiments.methods._reduction import Unavailable

FOR_CLASSES = {"LDA", "NCA"}
CASES = [(name, "classification") for name in CLASSIC]
CASES += [(name, "regression") for name in CLASSIC if name not in FOR_CLASSES]
SHAPES = [(60, 12), (20, 45)]


def problem(rng, task, shape=(60, 12), n_classes=3):
    factors = rng.normal(size=(shape[0], 4))
    X = factors @ rng.normal(size=(4, shape[1])) + rng.normal(size=shape)
    signal = factors[:, 0] + 0.3 * rng.normal(size=shape[0])
    ranks = np.argsort(np.argsort(signal))
    return X, signal if task == "regression" else ranks * n_classes // shape[0] * 1.0


def reductions(name, X, y, task):
    settings = CLASSIC[name].settings(task, *X.shape)
    return settings, CLASSIC[name].reductions(X, y, task, settings)


def same_up_to_sign(first, second, atol=1e-8):
    signs = np.sign(np.sum(first * second, axis=0))
    np.testing.assert_allclose(first, second * signs, atol=atol)


def test_the_names_are_those_of_the_tables():
    assert list(CLASSIC) == [
        "PCA",
        "LDA",
        "kernel PCA",
        "Isomap",
        "LLE",
        "supervised PCA (Bair)",
        "supervised PCA (Barshan)",
        "NCA",
    ]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "task"), CASES)
def test_columns_have_the_promised_shape_for_any_rows(rng, name, task, shape):
    X, y = problem(rng, task, shape)
    new = rng.normal(size=(5, shape[1]))
    for setting, reduction in zip(*reductions(name, X, y, task), strict=True):
        assert 1 <= reduction.n_columns <= setting["size"]
        assert 1 <= reduction.n_measured <= shape[1]
        assert reduction.labels is None
        for rows in (X, new, new[:1]):
            columns = reduction.columns(rows)
            assert columns.shape == (len(rows), reduction.n_columns)
            assert np.isfinite(columns).all()


@pytest.mark.parametrize("name", ["PCA", "LLE", "NCA"])
def test_as_many_columns_as_wanted_where_they_exist(rng, name):
    X, y = problem(rng, "classification")
    settings, found = reductions(name, X, y, "classification")
    assert [one.n_columns for one in found] == [setting["size"] for setting in settings]


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_kernels_give_as_many_columns_as_wanted(rng, kernel):
    X, y = problem(rng, "regression")
    settings = [{"size": size, "kernel": kernel} for size in (3, 30)]
    found = CLASSIC["kernel PCA"].reductions(X, y, "regression", settings)
    assert [one.n_columns for one in found] == [3, 30]


@pytest.mark.parametrize("name", ["LDA", "supervised PCA (Barshan)"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_bound_the_columns(rng, name, n_classes):
    X, y = problem(rng, "classification", n_classes=n_classes)
    settings, found = reductions(name, X, y, "classification")
    expected = [min(setting["size"], n_classes - 1) for setting in settings]
    assert [one.n_columns for one in found] == expected
    assert len({id(one) for one in found}) == n_classes - 1


@pytest.mark.parametrize("name", ["PCA", "kernel PCA", "supervised PCA (Bair)"])
def test_rank_bounds_the_columns(rng, name):
    X = np.repeat(rng.normal(size=(30, 3)), 5, axis=1)
    rest = {"PCA": {}, "kernel PCA": {"kernel": "linear"}, "supervised PCA (Bair)": {"keep": 1.0}}
    settings = [{"size": size, **rest[name]} for size in (1, 2, 3, 4, 15)]
    found = CLASSIC[name].reductions(X, X[:, 0], "regression", settings)
    assert [one.n_columns for one in found] == [1, 2, 3, 3, 3]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_second_fit_gives_the_same_columns(rng, name, task):
    X, y = problem(rng, task)
    new = rng.normal(size=(5, X.shape[1]))
    first, second = reductions(name, X, y, task)[1], reductions(name, X.copy(), y, task)[1]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.columns(new), other.columns(new))


@pytest.mark.parametrize(("name", "task"), CASES)
def test_training_data_are_left_as_they_are(rng, name, task):
    X, y = problem(rng, task)
    before = X.copy(), y.copy()
    reductions(name, X, y, task)[1][-1].columns(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize(("name", "task"), CASES)
def test_settings_may_be_asked_one_by_one_in_any_order(rng, name, task):
    X, y = problem(rng, task)
    new = rng.normal(size=(5, X.shape[1]))
    method = CLASSIC[name]
    settings = method.settings(task, *X.shape)[::-7]
    for setting, together in zip(settings, method.reductions(X, y, task, settings), strict=True):
        (alone,) = method.reductions(X, y, task, [setting])
        assert alone.n_columns == together.n_columns
        same_up_to_sign(alone.columns(new), together.columns(new), atol=1e-6)


@pytest.mark.parametrize("name", sorted(FOR_CLASSES))
def test_methods_for_classes_say_so(rng, name):
    with pytest.raises(Unavailable, match="needs classes"):
        reductions(name, *problem(rng, "regression"), "regression")


@pytest.mark.parametrize("name", sorted(FOR_CLASSES))
@pytest.mark.parametrize(
    ("X", "y", "reason"),
    [
        (np.eye(6), np.zeros(6), "needs two classes"),
        (np.eye(6), np.arange(6.0), "degenerate"),
        (np.eye(2)[[0, 0, 0, 1, 1, 1]], np.array([0.0, 0, 0, 1, 1, 1]), "degenerate"),
    ],
)
def test_classes_that_cannot_be_told_apart_are_a_reason(name, X, y, reason):
    with pytest.raises(Unavailable, match=reason):
        reductions(name, X, y, "classification")


@pytest.mark.parametrize(("name", "task"), CASES)
def test_features_that_do_not_vary_are_a_reason(rng, name, task):
    with pytest.raises(Unavailable, match="no feature varies"):
        reductions(name, np.ones((60, 12)), problem(rng, task)[1], task)


def test_a_target_that_does_not_vary_is_a_reason(rng):
    with pytest.raises(Unavailable, match="no column"):
        reductions("supervised PCA (Barshan)", rng.normal(size=(20, 4)), np.ones(20), "regression")


def test_neighbourhood_components_of_much_data_are_not_tried(rng, monkeypatch):
    monkeypatch.setattr(_classic, "MOST_WORK", 60 * (60 + 12) - 1)
    with pytest.raises(Unavailable, match="60 rows of 12 features"):
        reductions("NCA", *problem(rng, "classification"), "classification")


@pytest.mark.parametrize("name", CLASSIC)
@pytest.mark.parametrize(("n_samples", "n_features"), [(28, 6000), (1600, 64), (60, 5), (3, 4)])
def test_sizes_go_up_to_what_can_exist(name, n_samples, n_features):
    settings = CLASSIC[name].settings("classification", n_samples, n_features)
    sizes = [setting["size"] for setting in settings]
    most = min(50, n_features, n_samples - 2)
    assert sizes == sorted(sizes)
    some = {1, 2, 3, 5, 8, 12, 20, 30, 50} if name == "NCA" else set(range(1, 51))
    assert set(sizes) == {size for size in some if size <= most}


def test_only_bair_measures_fewer_features(rng):
    X, y = problem(rng, "classification", (30, 40))
    for name in CLASSIC:
        for setting, one in zip(*reductions(name, X, y, "classification"), strict=True):
            assert one.n_measured == round(40 * setting.get("keep", 1))


def test_fewer_components_of_pca_are_the_first_of_more(rng):
    for shape in SHAPES:
        X, y = problem(rng, "regression", shape)
        new = rng.normal(size=(5, shape[1]))
        for setting, one in zip(*reductions("PCA", X, y, "regression"), strict=True):
            alone = PCA(setting["size"], svd_solver="full").fit(X)
            same_up_to_sign(one.columns(new), alone.transform(new))


def test_fewer_components_of_kernel_pca_are_the_first_of_more(rng):
    for shape in SHAPES:
        X, y = problem(rng, "regression", shape)
        new = rng.normal(size=(5, shape[1]))
        for setting, one in zip(*reductions("kernel PCA", X, y, "regression"), strict=True):
            alone = KernelPCA(one.n_columns, kernel=setting["kernel"], eigen_solver="dense").fit(X)
            same_up_to_sign(one.columns(new), alone.transform(new), atol=1e-5)


def test_fewer_components_of_isomap_are_the_first_of_more(rng):
    for shape in SHAPES:
        X, y = problem(rng, "regression", shape)
        new = rng.normal(size=(5, shape[1]))
        for one in reductions("Isomap", X, y, "regression")[1]:
            alone = Isomap(n_components=one.n_columns, eigen_solver="dense").fit(X)
            same_up_to_sign(one.columns(new), alone.transform(new), atol=1e-6)


def test_fewer_components_of_lle_are_the_first_of_more(rng):
    for shape in SHAPES:
        X, y = problem(rng, "regression", shape)
        new = rng.normal(size=(5, shape[1]))
        for setting, one in zip(*reductions("LLE", X, y, "regression"), strict=True):
            alone = LocallyLinearEmbedding(n_components=setting["size"], eigen_solver="dense")
            same_up_to_sign(one.columns(new), alone.fit(X).transform(new), atol=1e-6)


def test_fewer_components_of_lda_are_the_first_of_more(rng):
    X, y = problem(rng, "classification", n_classes=5)
    new = rng.normal(size=(5, X.shape[1]))
    for one in reductions("LDA", X, y, "classification")[1]:
        alone = LinearDiscriminantAnalysis(n_components=one.n_columns).fit(X, y)
        same_up_to_sign(one.columns(new), alone.transform(new))


@pytest.mark.parametrize("name", ["Isomap", "LLE"])
def test_a_graph_that_falls_apart_is_no_obstacle(rng, name):
    X = rng.normal(size=(40, 3)) + 1000 * (np.arange(40) % 2)[:, None]
    for one in reductions(name, X, X[:, 0], "regression")[1]:
        assert np.isfinite(one.columns(X)).all()


def test_isomap_puts_far_parts_far_apart(rng):
    side = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + 1000 * side[:, None]
    first = reductions("Isomap", X, X[:, 0], "regression")[1][0].columns(X)[:, 0]
    assert np.abs(np.corrcoef(first, side)[0, 1]) > 0.99


def test_isomap_has_a_column_per_positive_eigenvalue(rng):
    X, y = problem(rng, "regression", (20, 45))
    distances = Isomap(n_components=1).fit(X).dist_matrix_
    centring = np.eye(20) - 1 / 20
    values = np.linalg.eigvalsh(-0.5 * centring @ distances**2 @ centring)
    assert np.abs(values).min() < 1e-8 < np.sort(np.abs(values))[1]
    assert reductions("Isomap", X, y, "regression")[1][-1].n_columns == np.sum(values > 1e-8)


def test_rows_are_transformed_once_for_all_sizes(rng):
    calls = []
    remembered = Remembered(lambda X: calls.append(len(X)) or 2 * X)
    train, test = rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    for _ in range(4):
        np.testing.assert_array_equal(remembered(train), 2 * train)
        np.testing.assert_array_equal(remembered(test), 2 * test)
    assert calls == [6, 3]


def test_equal_rows_in_another_array_are_transformed_anew(rng):
    remembered = Remembered(lambda X: 2 * X)
    for _ in range(20):
        rows = rng.normal(size=(3, 2))
        np.testing.assert_array_equal(remembered(rows), 2 * rows)
    assert len(remembered.seen) == remembered.n_arrays


def test_changing_columns_changes_no_later_columns(rng):
    X, y = problem(rng, "regression")
    first, second = reductions("PCA", X, y, "regression")[1][:2]
    expected = first.columns(X)
    second.columns(X)[:] = 0
    np.testing.assert_array_equal(first.columns(X), expected)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_reductions_can_be_sent_to_another_process(rng, name, task):
    X, y = problem(rng, task)
    one = reductions(name, X, y, task)[1][-1]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).columns(X), one.columns(X))


@pytest.mark.parametrize(("share", "n_columns"), [(0.5, 1), (0.95, 3)])
def test_components_hold_a_share_of_the_variance(rng, share, n_columns):
    X = rng.normal(size=(400, 5)) * [10, 8, 6, 0.1, 0.1]
    (reduction,) = Explaining(share).reductions(X, X[:, 0], "regression", [{}])
    assert reduction.n_columns == n_columns
    np.testing.assert_allclose(reduction.columns(X), PCA(n_columns).fit(X).transform(X))


@pytest.mark.parametrize("name", ["Isomap", "LLE"])
def test_more_neighbours_give_other_columns(rng, name):
    X, y = problem(rng, "regression")
    few, many = (
        CLASSIC[name].reductions(X, y, "regression", [{"size": 2, "n_neighbors": n}])[0].columns(X)
        for n in (5, 10)
    )
    assert not np.allclose(np.abs(few), np.abs(many))
