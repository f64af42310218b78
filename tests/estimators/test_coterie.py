import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import coterie
from coterie import Coterie, FitWarning, Moments, NonLinCFA
from coterie.datasets import load_tecator, make_groups


@parametrize_with_checks(
    [
        Coterie(),
        Coterie("classes", min_correlation=0, inputs=None),
        Coterie(aggregation="sum", rest="keep"),
        Coterie(n_groups=1, inputs="clip", signs=False),
    ]
)
def test_scikit_learn_agrees(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        check(estimator)


@pytest.fixture
def blocks(rng):
    """Size, wealth and age in different units, columns of noise and a constant."""
    n = 300
    size, wealth, age = rng.normal(size=(3, n))
    parts = [
        size[:, None] + 0.3 * rng.normal(size=(n, 4)),
        1000 * (wealth[:, None] + 0.3 * rng.normal(size=(n, 4))),
        10 * (age[:, None] + 0.3 * rng.normal(size=(n, 3))),
        rng.normal(size=(n, 3)),
        np.ones((n, 1)),
    ]
    names = [*"abcd", *"efgh", *"ijk", *"xyz", "const"]
    target = size + 0.5 * wealth - age + 0.3 * rng.normal(size=n)
    return pd.DataFrame(np.hstack(parts), columns=names), target


def test_blocks_come_out_clean_and_the_rest_is_left_out(blocks):
    X, y = blocks
    reducer = Coterie().fit(X, y)
    names = ["mean(a, b, c, d)", "mean(e, f, g, h)", "mean(i, j, k)"]
    assert reducer.get_feature_names_out().tolist() == names
    assert [X.columns[one] for one in reducer.rest_] == ["x", "y", "z", "const"]
    assert (reducer.labels_[reducer.rest_] == -1).all()
    assert reducer.stability_.min() > 0.8
    Z = reducer.transform(X)
    np.testing.assert_allclose(Z[:, 0], X[[*"abcd"]].mean(axis=1))
    back = pd.DataFrame(reducer.inverse_transform(Z), columns=X.columns)
    np.testing.assert_allclose(back["x"], X["x"].mean())
    np.testing.assert_allclose(back["a"], Z[:, 0])


def test_nothing_depends_on_the_order_of_rows_and_columns(blocks, rng):
    X, y = blocks
    for signed in (y, np.where(y > 0, "high", "low"), np.column_stack([y, X["a"]])):
        rows, order = rng.permutation(len(X)), rng.permutation(X.shape[1])
        first = Coterie().fit(X, signed)
        second = Coterie().fit(X.iloc[rows, order], signed[rows])
        labels = np.empty(X.shape[1], dtype=int)
        labels[order] = second.labels_
        ours = [{*np.flatnonzero(first.labels_ == one)} for one in range(first.n_groups_)]
        theirs = [{*np.flatnonzero(labels == one)} for one in range(second.n_groups_)]
        assert all(group in theirs for group in ours)
        assert len(ours) == len(theirs)
        for name, values in first.path_.items():
            np.testing.assert_array_equal(values, second.path_[name])
        np.testing.assert_array_equal(first.distances_, second.distances_)


def test_units_do_not_matter(blocks, rng):
    X, y = blocks
    factor = 10.0 ** rng.integers(-3, 4, X.shape[1])
    first, second = Coterie(inputs=None).fit(X, y), Coterie(inputs=None).fit(X * factor + 5, y)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_allclose(first.path_["score"], second.path_["score"], rtol=1e-6)


def test_means_of_different_units_are_in_standard_deviations(blocks):
    X, y = blocks
    mixed = X.assign(a=1000 * X["a"])
    reducer = Coterie().fit(mixed, y)
    assert reducer.get_feature_names_out()[0] == "zmean(a, b, c, d)"
    z = (mixed[[*"abcd"]] - mixed[[*"abcd"]].mean()) / mixed[[*"abcd"]].std(ddof=0)
    np.testing.assert_allclose(reducer.transform(mixed)[:, 0], z.mean(axis=1), atol=1e-12)
    back = reducer.inverse_transform(reducer.transform(mixed))
    assert np.corrcoef(back[:, 0], mixed["a"])[0, 1] > 0.9
    assert back[:, 0].std() == pytest.approx(mixed["a"].std(), rel=0.2)


@pytest.mark.parametrize("floor", [0.4, 0.7, 0.95])
@pytest.mark.parametrize("aggregation", ["mean", "sum", "median", "max", "min"])
def test_each_member_meets_the_floor_for_any_aggregation(rng, floor, aggregation):
    hidden = rng.normal(size=(80, 3))
    X = hidden @ rng.normal(size=(3, 15)) + rng.normal(size=(80, 15))
    X[:, ::2] *= 50
    y = hidden.sum(axis=1)
    reducer = Coterie(min_correlation=floor, aggregation=aggregation, rest="keep").fit(X, y)
    Z = reducer.transform(X)
    sizes = []
    for members, aggregate in zip(reducer.groups_, Z.T):
        sizes.append(len(members))
        if len(members) > 1:
            own = [reducer.signs_[m] * np.corrcoef(X[:, m], aggregate)[0, 1] for m in members]
            assert min(own) >= floor - 1e-6
    assert floor > 0.9 or max(sizes) > 1


def test_without_a_floor_unlike_features_may_share_a_group(rng):
    X = rng.normal(size=(60, 6))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=60)
    assert Coterie(rest="keep").fit(X, y).n_groups_ == 6
    assert Coterie(min_correlation=0, rest="keep", n_groups=2).fit(X, y).n_groups_ == 2


def test_constraints_are_honoured(blocks):
    X, y = blocks
    reducer = Coterie(
        keep=["x", "a"],
        separate=[["e", "f"], ["g"]],
        initial_groups=[["i", "y"]],
        max_group_size=3,
    ).fit(X, y)
    groups = [{*X.columns[members]} for members in reducer.groups_]
    assert {"x"} in groups
    assert {"a"} in groups
    assert all(len(group) <= 3 for group in groups)
    assert not any({"e", "g"} <= group or {"f", "g"} <= group for group in groups)
    assert all({"i", "y"} <= group or not {"i", "y"} & group for group in groups)
    for number in (3, 8):
        again = reducer.with_n_groups(number)
        assert {"x"} in [{*X.columns[members]} for members in again.groups_]


def test_bands_of_spectra_are_contiguous():
    X, y = load_tecator(return_X_y=True)
    chain = sparse.diags_array([np.ones(99), np.ones(99)], offsets=[-1, 1], shape=(100, 100))
    for number in (None, 10, 40):
        reducer = Coterie(connectivity=chain, n_groups=number).fit(X, y)
        assert all((np.diff(members) == 1).all() for members in reducer.groups_)


def test_every_number_of_groups_comes_from_one_fit(blocks):
    X, y = blocks
    reducer = Coterie().fit(X, y)
    for number in range(1, 15):
        other = reducer.with_n_groups(number)
        fitted = Coterie(n_groups=number).fit(X, y)
        assert other.n_groups_ == fitted.n_groups_ == number
        np.testing.assert_array_equal(other.labels_, fitted.labels_)
        np.testing.assert_array_equal(other.transform(X), fitted.transform(X))
        np.testing.assert_array_equal(other.stability_, fitted.stability_)
        assert other.choice_ == fitted.choice_
        assert other.get_params() == fitted.get_params()
    assert reducer.n_groups_ == 3
    with pytest.raises(ValueError, match="n_groups must be 14 or less"):
        reducer.with_n_groups(15)


def test_wide_tables_have_every_number_of_groups(rng):
    hidden = rng.normal(size=(40, 20))
    X = np.repeat(hidden, 15, axis=1) + 0.3 * rng.normal(size=(40, 300))
    y = hidden[:, 0] + 0.1 * rng.normal(size=40)
    reducer = Coterie(inputs=None).fit(X, y)
    assert 0 in reducer.groups_[0]
    for number in (1, 20, 60, 150, 299, 300):
        assert reducer.with_n_groups(number).n_groups_ == number


def test_the_tree_is_a_linkage_of_all_features(blocks):
    X, y = blocks
    reducer = Coterie(initial_groups=[["a", "e"]]).fit(X, y)
    assert is_valid_linkage(reducer.tree_)
    assert reducer.children_.shape == (14, 2)
    assert (np.diff(reducer.distances_) >= 0).all()
    # Features that must stay together are together from the start, and constants join last.
    assert {*reducer.children_[0]} == {0, 4}
    assert reducer.distances_[-1] == 2
    within = np.corrcoef(X[["i", "j", "k"]].T)[np.triu_indices(3, 1)]
    assert np.isclose(1 - reducer.distances_, within.max()).any()


def test_rest_can_be_kept(blocks):
    X, y = blocks
    reducer = Coterie(rest="keep").fit(X, y)
    assert [X.columns[one] for one in reducer.rest_] == ["const"]


def test_noise_is_told_as_such(rng):
    X, y = rng.normal(size=(100, 8)), rng.normal(size=100)
    with pytest.warns(FitWarning, match="Nothing in X predicts y"):
        Coterie().fit(X, y)


def test_the_choice_is_explained(blocks):
    X, y = blocks
    reducer = Coterie().fit(X, y)
    assert reducer.choice_.startswith("3 groups: fewer would cost")
    assert reducer.path_["n_groups"].tolist() == [1, 2, 3, 5, 8, 13]
    assert "as asked" in Coterie(n_groups=2).fit(X, y).choice_


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (lambda y, rng: y, "regression"),
        (lambda y, rng: np.column_stack([y, -2 * y + rng.normal(size=len(y))]), "regression"),
        (lambda y, rng: y > 0, "classes"),
        (lambda y, rng: np.where(y > 2, 7, -1), "classes"),
        (lambda y, rng: np.digitize(y, [-1, 1]) * 10, "classes"),
        (lambda y, rng: np.array(["low", "mid", "high"])[np.digitize(y, [-1, 1])], "classes"),
        (lambda y, rng: rng.poisson(np.exp(y)), "counts"),
    ],
)
def test_any_target_goes_in(blocks, rng, target, task):
    X, y = blocks
    reducer = Coterie().fit(X, target(y, rng))
    assert reducer.task_ == task
    assert {tuple(X.columns[members]) for members in reducer.groups_} == {
        tuple("abcd"),
        tuple("efgh"),
        tuple("ijk"),
    }
    assert hasattr(reducer, "classes_") == (task == "classes")


def test_weights_count_rows(blocks, rng):
    X, y = blocks
    counts = rng.integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    weighted, repeated = Coterie().fit(X, y, counts), Coterie().fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(weighted.labels_, repeated.labels_)
    np.testing.assert_allclose(weighted.path_["score"], repeated.path_["score"])
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X))


def test_targets_of_weight_zero_have_no_say(blocks, rng):
    X, y = blocks
    both = np.column_stack([y, X["x"] + 0.1 * rng.normal(size=len(y))])
    first = Coterie(target_weights=[1, 0]).fit(X, both)
    np.testing.assert_array_equal(first.labels_, Coterie().fit(X, y).labels_)
    assert Coterie().fit(X, both).labels_[11] >= 0


def test_missing_values_are_filled_from_the_others(blocks, rng):
    X, y = blocks
    holes = X.mask(rng.random(X.shape) < 0.1)
    holes["const"] = 1.0
    reducer = Coterie(inputs=None).fit(holes, y)
    np.testing.assert_array_equal(reducer.labels_, Coterie().fit(X, y).labels_)
    row = X.iloc[[0]].copy()
    row["a"] = np.nan
    mean = holes[[*"abcd"]].mean()
    deviation = (row[[*"bcd"]] - mean[[*"bcd"]]) / holes[[*"bcd"]].std(ddof=0)
    filled = mean["a"] + deviation.mean(axis=1) * holes["a"].std(ddof=0)
    expected = (row[[*"bcd"]].sum(axis=1) + filled) / 4
    assert reducer.transform(row)[0, 0] == pytest.approx(expected.item(), rel=1e-6)
    row[[*"abcd"]] = np.nan
    assert reducer.transform(row)[0, 0] == pytest.approx(mean.mean(), rel=1e-6)


def test_moments_lead_to_the_same_groups(blocks):
    X, y = blocks
    fold = np.arange(len(y)) % 4
    moments = Moments().update(X.to_numpy(), y, fold=fold)
    by_fold = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(4)]
    of_rows = Coterie(inputs=None, cv=by_fold).fit(X.to_numpy(), y)
    of_moments = Coterie().fit_moments(moments)
    np.testing.assert_array_equal(of_moments.labels_, of_rows.labels_)
    np.testing.assert_allclose(of_moments.path_["score"], of_rows.path_["score"], rtol=1e-6)
    np.testing.assert_allclose(of_moments.transform(X.to_numpy()), of_rows.transform(X.to_numpy()))


def test_sparse_columns_go_in(blocks):
    X, y = blocks
    reducer = Coterie(inputs=None).fit(X, y)
    spare = Coterie(inputs=None).fit(sparse.csr_array(X.to_numpy()), y)
    np.testing.assert_array_equal(reducer.labels_, spare.labels_)
    np.testing.assert_allclose(
        spare.transform(sparse.csr_array(X.to_numpy())).toarray(), reducer.transform(X)
    )


@pytest.mark.parametrize("kind", ["numbers", "classes", "counts"])
def test_large_sparse_columns_are_summed_by_fold(blocks, rng, monkeypatch, kind):
    X, y = blocks
    X = sparse.csr_array(np.where(np.abs(X) < 0.5 * X.std(), 0, X))
    if kind != "numbers":
        y = np.digitize(y, [-1, 1]) if kind == "classes" else rng.poisson(np.exp(y))
    weights = rng.integers(1, 3, len(y))
    dense = Coterie(inputs=None).fit(X, y, weights)
    monkeypatch.setattr("coterie.estimators._joint_solve.MAX_DENSE", 5 * 15**2)
    monkeypatch.setattr("coterie.estimators._sparse_moments.DENSE_AT_A_TIME", 40 * 15)
    summed = Coterie().fit(X, y, weights)
    assert summed.task_ == dense.task_
    np.testing.assert_array_equal(summed.labels_, dense.labels_)
    np.testing.assert_allclose(summed.path_["score"], dense.path_["score"], rtol=1e-6)
    np.testing.assert_allclose(summed.transform(X).toarray(), dense.transform(X).toarray())
    with pytest.raises(ValueError, match="since `cv` is no number: use NonLinCFA"):
        Coterie(cv=KFold(5)).fit(X, y)
    monkeypatch.setattr("coterie.estimators._joint_solve.MAX_DENSE", 5 * 15**2 - 1)
    with pytest.raises(ValueError, match="since there are 15 columns: use NonLinCFA"):
        Coterie().fit(X, y)


def test_rows_in_time_and_splitters(blocks):
    X, y = blocks
    for cv in (TimeSeriesSplit(4), KFold(3, shuffle=True, random_state=0), 3):
        assert Coterie(cv=cv).fit(X, y).n_groups_ == 3


def test_inputs_of_heavy_tails(blocks):
    X, y = blocks
    heavy = np.sign(X) * np.expm1(np.abs((X - X.mean()) / X.std().replace(0, 1)) * 3)
    reducer = Coterie().fit(heavy, y)
    assert reducer.inputs_ == "rank"
    assert reducer.get_feature_names_out()[0].startswith("mean(rank(a), rank(b)")
    assert reducer.transform(heavy).max() <= 1
    back = reducer.inverse_transform(reducer.transform(heavy))
    assert back.shape == heavy.shape
    assert Coterie(inputs="clip").fit(heavy, y).inputs_ == "clip"


def test_saved_and_pickled_reducers_transform_the_same(blocks, tmp_path):
    X, y = blocks
    heavy = X.assign(a=np.expm1(3 * X["a"]))
    for inputs in (None, "clip", "rank"):
        reducer = Coterie(inputs=inputs).fit(heavy, y)
        reducer.save(tmp_path / "model.json")
        loaded = coterie.load(tmp_path / "model.json")
        pickled = pickle.loads(pickle.dumps(reducer))
        for other in (loaded, pickled):
            np.testing.assert_array_equal(other.transform(heavy), reducer.transform(heavy))
            np.testing.assert_array_equal(other.rest_, reducer.rest_)
            np.testing.assert_array_equal(other.tree_, reducer.tree_)
            np.testing.assert_array_equal(other.stability_, reducer.stability_)
            for name, values in reducer.path_.items():
                np.testing.assert_array_equal(other.path_[name], values)
            assert (other.task_, other.inputs_) == (reducer.task_, reducer.inputs_)
            assert other.choice_ == reducer.choice_
            for number in (1, 2, 7, 14):
                these, those = other.with_n_groups(number), reducer.with_n_groups(number)
                np.testing.assert_array_equal(these.transform(heavy), those.transform(heavy))
                np.testing.assert_array_equal(these.stability_, those.stability_)
                assert these.choice_ == those.choice_


def test_the_papers_problems_are_predicted_as_well_as_by_the_papers_rule():
    gaps = []
    for seed in range(5):
        X, y, _ = make_groups(300, 40, 5, noise=3.0, random_state=seed)
        scores = [
            cross_val_score(make_pipeline(reducer, LinearRegression()), X, y, cv=5).mean()
            for reducer in (Coterie(), NonLinCFA())
        ]
        gaps.append(scores[0] - scores[1])
    assert np.mean(gaps) > -0.005


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"task": "ranking"}, "task must be one of 'auto', 'regression'"),
        ({"min_correlation": 1.5}, "min_correlation must be from 0 to 1, got 1.5"),
        ({"min_correlation": -1}, "min_correlation must be 0 or more"),
        ({"signs": "yes"}, "signs must be 'auto', True or False"),
        ({"signs": True, "aggregation": "max"}, "signs=True needs aggregation='mean' or 'sum'"),
        ({"inputs": "clipped"}, "inputs must be one of 'auto', 'clip', 'rank'.*mean 'clip'"),
        ({"aggregation": "principal"}, "Coterie has no aggregation='principal'"),
        ({"rest": "leave"}, "rest must be one of 'drop', 'keep'"),
        ({"n_groups": 0}, "n_groups must be 1 or more"),
        ({"cv": 1}, "cv must be 2 or more"),
        ({"keep": ["q"]}, "keep names 'q', which is no column"),
        ({"n_groups": 1, "rest": "keep"}, "n_groups=1 cannot be reached"),
        ({"task": "counts"}, "task='counts' needs y to be 0 or more"),
    ],
)
def test_bad_parameters_are_one_sentence(blocks, parameters, message):
    X, y = blocks
    with pytest.raises((ValueError, TypeError), match=message):
        Coterie(**parameters).fit(X, y)


def test_bad_data_are_one_sentence(blocks):
    X, y = blocks
    with pytest.raises(ValueError, match="X is constant in all columns"):
        Coterie().fit(np.ones((20, 3)), np.arange(20.0))
    with pytest.raises(ValueError, match="y is constant"):
        Coterie().fit(X, np.full(len(X), 0.5))
    with pytest.raises(ValueError, match="2 folds or more"):
        Coterie().fit_moments(Moments().update(X.to_numpy(), y))
    with pytest.raises(ValueError, match="there must be 4 or more"):
        Coterie().fit(X[:3], y[:3])
    with pytest.raises(ValueError, match="X has no value at all in column 'b'"):
        Coterie().fit(X.assign(b=np.nan), y)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_huge_and_tiny_numbers_are_numbers(blocks, factor):
    X, y = blocks
    np.testing.assert_array_equal(Coterie().fit(factor * X, y).labels_, Coterie().fit(X, y).labels_)


def test_classification_is_a_word_for_classes(blocks):
    X, y = blocks
    assert Coterie("classification").fit(X, np.digitize(y, [-1, 1])).task_ == "classes"


def test_linear_aggregates_go_to_onnx(blocks):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    X, y = blocks
    X = X.assign(a=1000 * X["a"])
    reducer = Coterie(inputs=None).fit(X.to_numpy(), y)
    session = onnxruntime.InferenceSession(coterie.to_onnx(reducer).SerializeToString())
    given = {session.get_inputs()[0].name: X.to_numpy().astype(np.float32)}
    np.testing.assert_allclose(
        session.run(None, given)[0], reducer.transform(X.to_numpy()), rtol=1e-3, atol=1e-3
    )


def test_fields_go_in_and_maps_come_out(rng):
    xarray = pytest.importorskip("xarray")
    west, east = rng.normal(size=(2, 60, 1, 1))
    grid = np.concatenate([np.repeat(west, 3, axis=2), np.repeat(east, 3, axis=2)], axis=2)
    values = np.repeat(grid, 2, axis=1) + 0.2 * rng.normal(size=(60, 2, 6))
    field = xarray.DataArray(values, dims=("time", "lat", "lon"))
    reducer = Coterie(connectivity=coterie.field_to_graph(field, "time")).fit(field, west.ravel())
    chart = reducer.as_field()
    assert np.isnan(chart.to_numpy()[:, 3:]).all()
    assert (chart.to_numpy()[:, :3] == 0).all()
    assert reducer.as_field([2.0]).max() == 2
    assert reducer.transform(field).shape == (60, 1)


def test_rows_of_dask_lead_to_the_same_groups(blocks):
    dask = pytest.importorskip("dask.array")
    X, y = blocks
    lazy = dask.from_array(X.to_numpy(), chunks=(100, 15))
    reducer = Coterie().fit(lazy, dask.from_array(y, chunks=100))
    np.testing.assert_array_equal(reducer.labels_, Coterie().fit(X, y).labels_)
    np.testing.assert_allclose(
        reducer.transform(lazy).compute(), reducer.transform(X.to_numpy()), rtol=1e-10
    )


def test_tensors_lead_to_the_same_groups(blocks):
    torch = pytest.importorskip("torch")
    X, y = blocks
    reducer = Coterie().fit(torch.tensor(X.to_numpy()), torch.tensor(y))
    plain = Coterie(inputs=None).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(reducer.labels_, plain.labels_)
    made = reducer.transform(torch.tensor(X.to_numpy()))
    assert isinstance(made, torch.Tensor)
    np.testing.assert_allclose(made.numpy(), plain.transform(X.to_numpy()))


def test_groups_are_complete(rng):
    # Of measures of one thing, none is left out because the others make it superfluous.
    n, shared = 1_500, {"speed": 8, "braking": 7, "mileage": 5, "night": 6}
    things = {name: rng.standard_normal((n, 1)) for name in shared}
    X = np.hstack(
        [0.9 * things[name] + 0.45 * rng.standard_normal((n, m)) for name, m in shared.items()]
    )
    y = things["speed"] + 0.7 * things["braking"] + 0.5 * things["mileage"]
    reducer = Coterie().fit(X, y.ravel() + rng.standard_normal(n))
    edges = np.cumsum([0, *shared.values()])
    whole = {tuple(range(a, b)) for a, b in pairwise(edges[:4].tolist())}
    assert {tuple(group.tolist()) for group in reducer.groups_} == whole
    np.testing.assert_array_equal(reducer.rest_, np.arange(20, 26))


def test_stability_is_what_fits_to_half_of_the_rows_say(rng):
    X, y = load_tecator(return_X_y=True)
    reducer = Coterie().fit(X, y)
    overlaps = []
    for _ in range(5):
        rows = rng.permutation(len(y))[: len(y) // 2]
        again = Coterie().fit(X[rows], y[rows]).with_n_groups(reducer.n_groups_)
        for group in map(set, reducer.groups_):
            shares = [len(group & set(other)) / len(group | set(other)) for other in again.groups_]
            overlaps.append(max(shares))
    assert reducer.stability_.mean() == pytest.approx(np.mean(overlaps), abs=0.2)
