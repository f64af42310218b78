import sys

import numpy as np
import pytest
from scipy.cluster.hierarchy import ward
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import Lasso
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold

from experiments.methods import _peers_groups
from experiments.methods._peers import PEERS
from experiments.methods._peers_common import cut
from experiments.methods._peers_groups import VarClus, equal_magnitudes, slope_path
from experiments.methods._peers_selection import Uncorrelated, linear_path
from experiments.methods._reduction import Unavailable

KINDS = ("regression", "two classes", "three classes")
PENALISED = ("lasso", "SLOPE", "OSCAR")
PACKAGES = {
    "SLOPE": ("sortedl1", "sortedl1"),
    "OSCAR": ("sortedl1", "sortedl1"),
    "SmartCorrelatedSelection": ("feature_engine.selection", "feature-engine"),
    "VarClusHi": ("varclushi", "varclushi"),
    "fastcan": ("fastcan", "fastcan"),
    "UMAP": ("umap", "umap-learn"),
}
# Compiling UMAP takes long.
SLOW = {"UMAP": [pytest.mark.slow]}
NAMES = [pytest.param(name, marks=SLOW.get(name, [])) for name in PEERS]


def problem(rng, kind, n_samples=60):
    """Fourteen features of four factors, two of them twins and one constant, and new rows."""
    factors = rng.normal(size=(n_samples + 15, 4))
    X = factors[:, np.arange(14) % 4] + 0.5 * rng.normal(size=(n_samples + 15, 14))
    X[:, 13] = X[:, 12]
    X = (X - X[:n_samples].mean(axis=0)) / X[:n_samples].std(axis=0)
    X[:, 5] = 0.0
    y = factors @ [3.0, -2.0, 1.0, 0.0] + rng.normal(size=n_samples + 15)
    if kind != "regression":
        limits = (0.0,) if kind == "two classes" else (-1.5, 1.5)
        y = np.digitize(y, limits).astype(float)
    task = "regression" if kind == "regression" else "classification"
    return X[:n_samples], y[:n_samples], task, X[n_samples:]


def reductions(name, X, y, task, settings=None):
    peer = PEERS[name]
    settings = peer.settings(task, *X.shape) if settings is None else settings
    try:
        return peer.reductions(X, y, task, settings)
    except Unavailable as reason:
        if "is not installed" in str(reason):
            pytest.skip(str(reason))
        raise


def same_partition(one, other):
    return len(set(zip(one, other))) == len(set(one)) == len(set(other))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_every_setting_gives_columns_of_new_rows(name, kind, rng):
    X, y, task, new = problem(rng, kind)
    settings = PEERS[name].settings(task, *X.shape)
    found = reductions(name, X, y, task, settings)
    assert len(found) == len(settings) > 0
    for reduction in found:
        for rows in (X, new):
            columns = reduction.columns(rows)
            assert columns.shape == (len(rows), reduction.n_columns)
            assert columns.dtype == float
            assert np.isfinite(columns).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_labels_say_which_features_are_measured(name, kind, rng):
    X, y, task, _ = problem(rng, kind)
    for reduction in reductions(name, X, y, task):
        if reduction.labels is None:
            assert reduction.n_measured == X.shape[1]
        else:
            used = reduction.labels[reduction.labels >= 0]
            assert reduction.labels.shape == (X.shape[1],)
            assert len(used) == reduction.n_measured
            assert np.array_equal(np.unique(used), np.arange(reduction.n_columns))


@pytest.mark.parametrize("name", NAMES)
def test_unused_features_change_nothing(name, rng):
    X, y, task, new = problem(rng, "regression")
    for reduction in reductions(name, X, y, task):
        if reduction.labels is not None:
            other = np.where(reduction.labels >= 0, new, 1e3)
            assert np.array_equal(reduction.columns(new), reduction.columns(other))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_results_follow_the_settings_and_repeat_themselves(name, kind, rng):
    X, y, task, new = problem(rng, kind)
    before = X.copy(), y.copy()
    settings = PEERS[name].settings(task, *X.shape)
    forward = reductions(name, X, y, task, settings)
    backward = reductions(name, X, y, task, settings[::-1])[::-1]
    for one, other in zip(forward, backward):
        assert np.array_equal(one.columns(new), other.columns(new))
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_setting_alone_gives_what_it_gives_among_others(name, kind, rng):
    X, y, task, new = problem(rng, kind)
    settings = PEERS[name].settings(task, *X.shape)
    among = reductions(name, X, y, task, settings)
    # The first, one amid the others, and the last.
    for number in {0, len(settings) // 2, len(settings) - 1}:
        (alone,) = reductions(name, X, y, task, [settings[number]])
        assert np.allclose(alone.columns(new), among[number].columns(new))


@pytest.mark.parametrize("name", NAMES)
def test_settings_for_many_rows_serve_the_few_of_a_fold(name, rng):
    X, y, task, new = problem(rng, "two classes", n_samples=12)
    for reduction in reductions(name, X, y, task, PEERS[name].settings(task, 60, X.shape[1])):
        assert reduction.columns(new).shape == (len(new), reduction.n_columns)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_is_named(name, rng, monkeypatch):
    module, package = PACKAGES[name]
    monkeypatch.setitem(sys.modules, module, None)
    X, y, task, _ = problem(rng, "regression")
    with pytest.raises(Unavailable, match=f"^{package} is not installed: pip install 'coterie"):
        PEERS[name].reductions(X, y, task, PEERS[name].settings(task, *X.shape))


@pytest.mark.parametrize("peer", [VarClus(most_features=13), Uncorrelated(most_features=13)])
def test_more_features_than_a_slow_peer_can_take_are_refused(peer, rng):
    X, y, task, _ = problem(rng, "regression")
    with pytest.raises(Unavailable, match="tried with up to 13 features, not 14"):
        peer.reductions(X, y, task, peer.settings(task, *X.shape))


def test_one_tree_is_cut_as_feature_agglomeration_cuts_it(rng):
    X, y, task, new = problem(rng, "regression")
    for reduction in reductions("FeatureAgglomeration", X, y, task):
        theirs = FeatureAgglomeration(reduction.n_columns).fit(X)
        assert same_partition(reduction.labels, theirs.labels_)
        order = [theirs.labels_[np.argmax(reduction.labels == g)] for g in range(theirs.n_clusters)]
        assert np.allclose(reduction.columns(new), theirs.transform(new)[:, order])


@pytest.mark.parametrize("kind", KINDS)
def test_components_of_one_fit_are_those_of_separate_fits(kind, rng):
    X, y, task, new = problem(rng, kind)
    target = np.eye(3)[y.astype(int)] if kind == "three classes" else y
    for reduction in reductions("PLS", X, y, task):
        if reduction.n_columns <= 8:
            theirs = PLSRegression(reduction.n_columns).fit(X, target)
            assert np.allclose(reduction.columns(new), theirs.transform(new), atol=1e-6)


@pytest.mark.filterwarnings("ignore:Features:UserWarning", "ignore:invalid:RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_first_by_f_test_are_those_of_select_k_best(kind, rng):
    X, y, task, _ = problem(rng, kind)
    # Either of two twins may come first.
    X = X[:, :13]
    test = f_regression if task == "regression" else f_classif
    for reduction in reductions("SelectKBest", X, y, task):
        theirs = SelectKBest(test, k=reduction.n_columns).fit(X, y)
        assert np.array_equal(reduction.labels >= 0, theirs.get_support())


def test_lasso_keeps_what_a_separate_lasso_keeps(rng):
    X, y, task, _ = problem(rng, "regression")
    X = X[:, :13]
    largest = np.abs(X.T @ (y - y.mean())).max() / len(y)
    settings = PEERS["lasso"].settings(task, *X.shape)
    for setting, reduction in zip(settings, reductions("lasso", X, y, task, settings)):
        theirs = Lasso(alpha=setting["penalty"] * largest).fit(X, y)
        assert np.array_equal(reduction.labels >= 0, theirs.coef_ != 0)


def test_lasso_path_does_not_depend_on_the_order_of_penalties(rng):
    X, y, _, _ = problem(rng, "regression")
    rising = linear_path(X, y, np.array([0.1, 0.3, 0.6]))
    assert np.array_equal(rising[::-1], linear_path(X, y, np.array([0.6, 0.3, 0.1])))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PENALISED)
def test_a_penalty_that_leaves_nothing_leaves_the_best_feature(name, kind, rng):
    X, y, task, new = problem(rng, kind)
    test = f_regression if task == "regression" else f_classif
    (reduction,) = reductions(name, X, y, task, [{"penalty": 2.0}])
    varying = np.delete(np.arange(14), 5)
    best = varying[np.argmax(test(X[:, varying], y)[0])]
    assert np.array_equal(reduction.columns(new), new[:, [best]])


@pytest.mark.parametrize("name", ["SLOPE", "OSCAR"])
def test_groups_of_slope_are_equal_coefficients_added_up(name, rng):
    X, y, task, new = problem(rng, "regression")
    settings = PEERS[name].settings(task, *X.shape)
    found = reductions(name, X, y, task, settings)
    penalties = np.array([s["penalty"] for s in settings])
    paths = slope_path(X, y / y.std(), "quadratic", PEERS[name].kind, penalties)
    for reduction, coefficients in zip(found, paths):
        assert np.array_equal(reduction.labels >= 0, coefficients != 0)
        sizes = [
            np.unique(np.abs(coefficients[reduction.labels == g]).round(9))
            for g in range(reduction.n_columns)
        ]
        assert all(len(size) == 1 for size in sizes)
        assert len(np.unique(sizes)) == reduction.n_columns
        assert np.allclose(reduction.columns(new) @ np.ravel(sizes), new @ coefficients, atol=1e-6)


def test_slope_puts_twins_together(rng):
    X, y, task, _ = problem(rng, "regression")
    for reduction in reductions("SLOPE", X, y, task):
        assert reduction.labels[12] == reduction.labels[13]


def test_classes_share_a_group_where_no_model_tells_features_apart():
    coefficients = np.array(
        [
            [2.0, -2.0, 2.0, 0.0, 0.0, 2.0],
            [1.0, -1.0, -1.0, 0.0, 3.0, 0.0],
        ]
    )
    reduction = equal_magnitudes(coefficients, 0)
    assert same_partition(reduction.labels, [0, 0, 1, -1, 2, 3])
    weights = reduction.columns(np.eye(6))
    assert np.array_equal(weights.sum(axis=1), [1, -1, 1, 0, 1, 1])


def test_both_solvers_of_slope_agree(rng, monkeypatch):
    pytest.importorskip("sortedl1")
    X, y, _, _ = problem(rng, "two classes")
    penalties = np.array([0.8, 0.4, 0.2])
    usual = slope_path(X, y, "logistic", "bh", penalties)
    monkeypatch.setattr(_peers_groups, "RUNAWAY", 0.0)
    assert np.allclose(usual, slope_path(X, y, "logistic", "bh", penalties), atol=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_fastcan_of_a_smaller_size_is_a_prefix(kind, rng):
    fastcan = pytest.importorskip("fastcan")
    X, y, task, new = problem(rng, kind)
    target = np.eye(3)[y.astype(int)] if kind == "three classes" else y
    for reduction in reductions("fastcan", X, y, task):
        if reduction.n_columns <= 8:
            theirs = fastcan.FastCan(reduction.n_columns, verbose=0).fit(X, target)
            assert np.array_equal(reduction.columns(new), new[:, theirs.indices_])


def test_fastcan_stops_where_independent_features_end(rng):
    X, y, task, _ = problem(rng, "regression")
    X = X[:, [0, 1, 2, 0, 1, 2]]
    found = reductions("fastcan", X, y, task)
    assert [reduction.n_columns for reduction in found] == [1, 2, 3, 3]


@pytest.mark.parametrize("kind", ["regression", "two classes"])
def test_correlated_features_leave_the_one_nearest_the_target(kind, rng):
    selectors = pytest.importorskip("feature_engine.selection")
    pandas = pytest.importorskip("pandas")
    X, y, task, _ = problem(rng, kind)
    X = np.delete(X, (5, 13), axis=1)
    settings = PEERS["SmartCorrelatedSelection"].settings(task, *X.shape)
    found = reductions("SmartCorrelatedSelection", X, y, task, settings)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    for setting, reduction in zip(settings, found):
        theirs = selectors.SmartCorrelatedSelection(
            threshold=setting["threshold"], selection_method="corr_with_target"
        ).fit(frame, pandas.Series(y))
        assert np.array_equal(reduction.labels >= 0, theirs.get_support())


def test_clusters_split_further_are_those_of_a_separate_search(rng):
    varclushi = pytest.importorskip("varclushi")
    pandas = pytest.importorskip("pandas")
    X, y, task, new = problem(rng, "regression")
    settings = [{"second_eigenvalue": limit} for limit in (2.0, 0.5, 0.2)]
    found = reductions("VarClusHi", X, y, task, settings)
    frame = pandas.DataFrame(np.delete(X, 5, axis=1), columns=np.delete(np.arange(14), 5))
    assert found[0].n_columns < found[-1].n_columns
    for setting, reduction in zip(settings, found):
        search = varclushi.VarClusHi(frame, maxeigval2=setting["second_eigenvalue"]).varclus()
        theirs = np.full(14, -1)
        for number, cluster in search.clusters.items():
            theirs[cluster.clus] = number
        assert same_partition(reduction.labels, theirs)


def test_a_cluster_becomes_its_first_component(rng):
    X, y, task, _ = problem(rng, "regression")
    # The rows of a fold are no longer standardised.
    scale = np.linspace(0.8, 1.2, 14)
    X = X * scale
    for reduction in reductions("VarClusHi", X, y, task):
        for group in range(reduction.n_columns):
            members = X[:, reduction.labels == group] / scale[reduction.labels == group]
            largest = np.linalg.svd(members, compute_uv=False)[0]
            assert np.isclose(np.linalg.norm(reduction.columns(X)[:, group]), largest)


def test_only_ridge_brings_its_own_model(rng):
    assert [name for name, peer in PEERS.items() if peer.model] == ["ridge on all columns"]
    for kind in KINDS:
        X, y, task, _ = problem(rng, kind)
        model = PEERS["ridge on all columns"].model(task, KFold(5)).fit(X, y)
        metric = r2_score if task == "regression" else accuracy_score
        assert model.score(X, y) == metric(y, model.predict(X)) > 0.5


def test_a_tree_is_cut_into_each_number_of_clusters(rng):
    X = rng.normal(size=(30, 8))
    for sizes in ([1, 3, 8], [8, 3, 1], [8], [3, 8, 3]):
        found = cut(ward(X.T), sizes)
        assert [len(set(labels)) for labels in found] == sizes
