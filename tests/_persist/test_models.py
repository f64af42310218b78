"""What is saved comes back bit by bit; what is no model comes back as one sentence."""

import functools
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import tracemalloc
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from conftest import correlated
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted

import coterie
from coterie import GenLinCFA, LinCFA, MutualCFA, NonLinCFA, ToleranceCV, coordinates_to_graph
from coterie._core.aggregations import AGGREGATIONS
from coterie._core.values import in_order_of_joining
from coterie._persist.models import load_summary, save_with_summary
from coterie.families import FAMILIES, Family, negative_binomial
from coterie.report.inspection import report_html

MODELS = Path(__file__).parents[1] / "data" / "models"
NAMES = list("abcdefg")
LINE = coordinates_to_graph([[place] for place in range(7)], distance=[1])


def half(columns):
    return columns / 2


def spread(columns):
    return columns.max(axis=1) - columns.min(axis=1)


def own_variance(mean):
    return np.ones_like(mean)


FUNCTIONS = {"half": half, "spread": spread, "own": Family("own", own_variance)}


def same_arrays(these, those):
    """Equal in type, shape and every bit, but for which NaN a NaN is."""
    assert type(these) is type(those)
    assert these.dtype == those.dtype
    np.testing.assert_array_equal(these, those, strict=True)
    if these.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(these), np.signbit(those))


def same_values(these, those):
    assert type(these) is type(those)
    if isinstance(these, np.ndarray):
        same_arrays(these, those)
    elif isinstance(these, list | tuple):
        assert len(these) == len(those)
        for this, that in zip(these, those):
            same_values(this, that)
    elif isinstance(these, dict):
        assert list(these) == list(those)
        for name in these:
            same_values(these[name], those[name])
    elif sparse.issparse(these):
        same_arrays(these.toarray(), those.toarray())
    elif hasattr(these, "get_params"):
        same_values(these.get_params(), those.get_params())
    elif hasattr(these, "split"):
        same_values(vars(these), vars(those)) if not isinstance(these, str) else None
        assert repr(these) == repr(those)
    elif isinstance(these, Family):
        assert repr(these) == repr(those)
    else:
        assert these == those or (these != these and those != those)


def same_reducers(loaded, saved):
    """Parameters and all that was learned."""
    assert type(loaded) is type(saved)
    assert repr(loaded) == repr(saved)
    same_values(loaded.get_params(), saved.get_params())
    learned = [name for name in vars(saved) if name.endswith("_")]
    assert sorted(learned) == sorted(name for name in vars(loaded) if name.endswith("_"))
    for name in learned:
        if name == "path_":
            same_values(vars(loaded.path_), vars(saved.path_))
        elif name == "fit_":
            assert type(loaded.fit_) is type(saved.fit_)
        elif name == "estimator_":
            same_reducers(loaded.estimator_, saved.estimator_)
        else:
            same_values(getattr(loaded, name), getattr(saved, name))
    assert loaded.trace_.dtype == saved.trace_.dtype
    same_arrays(loaded.get_feature_names_out(), saved.get_feature_names_out())


@pytest.fixture
def there_and_back(tmp_path):
    def saved_and_loaded(reducer, functions=FUNCTIONS):
        path = tmp_path / "model.json"
        reducer.save(path, functions)
        loaded = coterie.load(path, functions)
        same_reducers(loaded, reducer)
        again = tmp_path / "again.json"
        loaded.save(again, functions)
        assert again.read_bytes() == path.read_bytes()
        return loaded

    return saved_and_loaded


def same_transform(loaded, saved, X):
    these, those = loaded.transform(X), saved.transform(X)
    assert type(these) is type(those)
    these, those = (Z.toarray() if sparse.issparse(Z) else np.asarray(Z) for Z in (these, those))
    same_arrays(these, those)


REDUCERS = {
    "nonlin": NonLinCFA(0.1, cv=None),
    "genlin": GenLinCFA("bic"),
    "lin": LinCFA(),
    "mutual": MutualCFA(0.3),
    "nonlin_cv": ToleranceCV(NonLinCFA(cv=None), n_tolerances=3),
    "genlin_cv": ToleranceCV(GenLinCFA(), n_tolerances=3),
}


@pytest.mark.parametrize("name", REDUCERS)
@pytest.mark.parametrize("aggregation", [*AGGREGATIONS, spread])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [False, True])
def test_every_reducer_comes_back(problem, there_and_back, name, aggregation, dtype, scale):
    X, y = problem
    reducer = clone(REDUCERS[name])
    inner = reducer.estimator if name.endswith("_cv") else reducer
    inner.set_params(aggregation=aggregation, scale=scale)
    reducer.fit(X.astype(dtype), y)
    loaded = there_and_back(reducer)
    for kind in (np.float64, np.float32):
        same_transform(loaded, reducer, X.astype(kind))
    if hasattr(reducer, "inverse_transform"):
        Z = reducer.transform(X)
        same_arrays(loaded.inverse_transform(Z), reducer.inverse_transform(Z))
    assert hasattr(loaded, "inverse_transform") == hasattr(reducer, "inverse_transform")


@pytest.mark.parametrize(
    "parameters",
    [
        {"tolerance": np.float64(0.1)},
        {"tolerance": np.float32(0.1)},
        {"tolerance": np.inf},
        {"tolerance": 0},
        {"tolerance": "aic", "cv": 3},
        {"n_groups": 3},
        {"n_groups": np.int64(2), "signs": True},
        {"signs": True, "scale": True},
        {"initial_groups": [[0, 1], ("c", "d")], "keep": ["a", "e"][1:]},
        {"keep": {"a", "g"}, "separate": [range(3), np.arange(3, 5)]},
        {"keep": pd.Index(["a"]).to_numpy()},
        {"max_group_size": 2, "search": "best"},
        {"connectivity": LINE},
        {"connectivity": sparse.csr_matrix(LINE)},
        {"connectivity": sparse.coo_array(LINE)},
        {"connectivity": LINE.astype(bool).astype(np.int8).tocsc()},
        {"connectivity": LINE.toarray()},
        {"connectivity": LINE.toarray().tolist()},
        {"cv": KFold(3, shuffle=True, random_state=4)},
        {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=4)},
        {"cv": TimeSeriesSplit(3, gap=1)},
        {"cv": ShuffleSplit(3, test_size=0.25, random_state=np.int32(3))},
        {"cv": PredefinedSplit([0, 1, 2] * 20)},
        {"cv": [(np.arange(30), np.arange(30, 60)), (list(range(30, 60)), range(30))]},
        {"inputs": np.square},
        {"inputs": np.abs, "scale": True},
        {"inputs": half, "aggregation": spread},
        {"inputs": half, "tolerance": 0.2, "aggregation": "median"},
        {"covariance": "columns", "max_bytes": 1e6},
        {"target_weights": [1.0]},
        {"target_weights": np.array([2.0])},
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("frame", [False, True])
def test_every_parameter_comes_back(problem, there_and_back, parameters, frame):
    X, y = problem
    if frame or {"initial_groups", "keep"} & {*parameters}:
        X = pd.DataFrame(X, columns=NAMES)
    reducer = NonLinCFA(**parameters).fit(X, y)
    loaded = there_and_back(reducer)
    same_transform(loaded, reducer, X)
    labels = reducer.labels_
    np.testing.assert_array_equal(loaded.fit(X, y).labels_, labels)
    same_transform(loaded, reducer, X)


@pytest.mark.parametrize("n_features", [7, 3])
def test_functions_may_change_how_many_columns_there_are(problem, there_and_back, n_features):
    X, y = problem

    def some(columns):
        return columns[:, :n_features] ** 2

    reducer = NonLinCFA(0.2, inputs=some).fit(X, y)
    loaded = there_and_back(reducer, {"some": some})
    assert (loaded.n_features_in_, len(loaded.labels_)) == (7, n_features)
    same_transform(loaded, reducer, X)


@pytest.mark.parametrize(
    "family", ["poisson", FAMILIES["gamma"], negative_binomial(0.1 + 0.2), FUNCTIONS["own"]]
)
@pytest.mark.parametrize("is_tuned", [False, True])
def test_families_come_back(problem, there_and_back, family, is_tuned):
    X, y = problem
    reducer = GenLinCFA(0.9, family=family, curvature="null")
    reducer = ToleranceCV(reducer) if is_tuned else reducer
    reducer.fit(X, np.exp(y / 10))
    loaded = there_and_back(reducer)
    if isinstance(family, Family):
        mean, same = np.array([0.5, 2.0]), (loaded.estimator if is_tuned else loaded).family
        np.testing.assert_array_equal(same.variance(mean), family.variance(mean))
        np.testing.assert_array_equal(
            same.unit_deviances(mean, mean[::-1]), family.unit_deviances(mean, mean[::-1])
        )
    labels = reducer.labels_
    np.testing.assert_array_equal(loaded.fit(X, np.exp(y / 10)).labels_, labels)


@pytest.mark.parametrize(("cv", "price_cv"), [(KFold(3), None), (5, KFold(3))])
def test_tuned_reducers_keep_their_folds_and_scorer(problem, there_and_back, cv, price_cv):
    X, y = problem
    scorer = make_scorer(mean_squared_error, greater_is_better=False)
    reducer = ToleranceCV(
        NonLinCFA(cv=price_cv), tolerances=[0.0, 0.1, np.float32(0.5)], scoring=scorer, cv=cv
    )
    loaded = there_and_back(reducer.fit(X, y), {"error": scorer})
    assert loaded.scoring is scorer
    assert loaded.path_.best == reducer.path_.best


LABELS = {
    "text": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "numbers": np.array([3, 5]),
    "small": np.array([0, 1], dtype=np.uint8),
    "floats": np.array([-0.5, 0.5]),
    "truths": np.array([False, True]),
    "bytes": np.array([b"\x00\xff", b"yes"]),
    "mixed": np.array(["no", 1], dtype=object),
    "surrogates": np.array(["\udc80", "\U0001f600"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS)
def test_classes_come_back(problem, there_and_back, labels):
    X, y = problem
    reducer = GenLinCFA(family="bernoulli").fit(X, LABELS[labels][(y > 0).astype(int)])
    there_and_back(reducer)


def test_classes_of_several_targets_come_back(problem, there_and_back):
    X, y = problem
    several = np.column_stack([np.where(y > 0, "b", "a"), y.round(1)]).astype(object)
    several[:, 1] = y
    loaded = there_and_back(NonLinCFA().fit(X, several))
    assert loaded.classes_[1] is None


@pytest.mark.parametrize("aggregation", ["mean", "sum", "norm", "max", "median"])
def test_gaps_come_back(problem, there_and_back, rng, aggregation):
    X, y = problem
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    reducer = NonLinCFA(0.3, missing="pairwise", aggregation=aggregation, scale=True).fit(X, y)
    same_transform(there_and_back(reducer), reducer, X)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [False, True])
def test_sparse_columns_are_scaled_alike(problem, there_and_back, kind, dtype, scale):
    X, y = problem
    X = kind(np.where(X > 0, X, 0).astype(dtype))
    reducer = NonLinCFA(0.2, cv=None, scale=scale).fit(X, y)
    same_transform(there_and_back(reducer), reducer, X)


@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_output_is_set_as_before(problem, there_and_back, output):
    X, y = problem
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "default": np.ndarray}[output]
    X = pd.DataFrame(X, columns=NAMES)
    reducer = NonLinCFA().fit(X, y).set_output(transform=output)
    loaded = there_and_back(reducer)
    assert isinstance(loaded.transform(X), frame)
    assert list(loaded.feature_names_in_) == NAMES


def test_requests_for_metadata_come_back(problem, there_and_back):
    X, y = problem
    with config_context(enable_metadata_routing=True):
        reducer = NonLinCFA(0.1, cv=GroupKFold(3)).set_fit_request(sample_weight="w", groups=True)
        loaded = there_and_back(reducer.fit(X, y, groups=np.arange(60) % 5))
        requests = loaded.get_metadata_routing().fit.requests
        assert requests == {"sample_weight": "w", "groups": True}


def a_field(rng):
    values = rng.normal(size=(60, 2, 3))
    values[:, 0, 1] = np.nan
    coords = {
        "time": pd.date_range("2000-01-01", periods=60),
        "lat": ("lat", [-0.1, 10.0], {"units": "degrees", "valid_range": np.float32([-90, 90])}),
        "lon": [0, 120, 240],
        "basin": ("lon", np.array(["a", "b", "cc"], dtype=object)),
        "height": np.float32(2.0),
        "start": np.datetime64("2000-01-01T06", "ns"),
        "area": (("lat", "lon"), np.arange(6.0).reshape(2, 3)),
    }
    attributes = {"units": "K", "missing": np.nan, "levels": [1, 2.5], "n": np.int16(3)}
    return xr.DataArray(values, coords, ("time", "lat", "lon"), "sst", attributes)


@pytest.mark.parametrize("dataset", [False, True])
def test_fields_come_back(rng, there_and_back, dataset):
    field = a_field(rng)
    y = field.fillna(0).sum(("lat", "lon")).values
    if dataset:
        field = xr.Dataset({"sst": field, "wind": ("time", rng.normal(size=60))})
    reducer = NonLinCFA(0.3).fit(field, y)
    loaded = there_and_back(reducer)
    assert loaded.as_field().identical(reducer.as_field())
    assert loaded.transform(field).identical(reducer.transform(field))
    Z = reducer.transform(field)
    assert loaded.inverse_transform(Z).identical(reducer.inverse_transform(Z))


def test_fields_that_json_cannot_hold_are_refused(rng, tmp_path):
    field, path = a_field(rng), tmp_path / "model.json"
    y = field.fillna(0).sum(("lat", "lon")).values
    odd = field.assign_attrs(history=object())
    with pytest.raises(TypeError, match=r"^Attribute 'history' of Variable 'sst' has type objec"):
        NonLinCFA().fit(odd, y).save(path)
    stacked = field.dropna("lat").stack(cell=("lat", "lon"))
    with pytest.raises(TypeError, match=r"^Coordinate 'cell' has type MultiIndex, which JSON"):
        NonLinCFA().fit(stacked, y).save(path)
    assert not path.exists()


def test_the_trace_tells_the_same_story(problem, there_and_back):
    X, y = problem
    reducer = NonLinCFA(0.3).fit(X, y)
    loaded = there_and_back(reducer)
    groups = coterie._core.values.Partition(tuple(loaded.groups_))
    members = [sorted(group) for group in in_order_of_joining(groups, loaded.trace_)]
    assert members == [group.tolist() for group in reducer.groups_]


def test_refusals_are_saved_where_the_trace_has_them_and_counted_in_any_case(
    problem, there_and_back
):
    X, y = problem
    for reducer in (NonLinCFA(0.3), NonLinCFA(0.3, trace="all")):
        loaded = there_and_back(reducer.fit(X, y))
        same_arrays(np.asarray(loaded.trace_), np.asarray(reducer.trace_))
        same_arrays(loaded.n_refused_, reducer.n_refused_)
    assert loaded.n_refused_.sum() == np.count_nonzero(~reducer.trace_.accepted) > 0


def test_a_summary_travels_with_the_model(problem, tmp_path):
    X, y = problem
    reducer = NonLinCFA(0.3).fit(X, y)
    path = tmp_path / "model.json"
    reducer.save(path)
    assert load_summary(path) is None
    summary = coterie.report.summarise(reducer, X, y)
    save_with_summary(reducer, summary, path)
    assert load_summary(path) == summary
    same_transform(coterie.load(path), reducer, X)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(schema()).validate(json.loads(path.read_text()))


def test_parameters_set_after_the_fit_change_nothing(problem, there_and_back):
    X, y = problem
    reducer = NonLinCFA(0.3, inputs=np.square).fit(X, y)
    Z = reducer.transform(X)
    reducer.set_params(aggregation="max", inputs=np.exp, scale=True)
    loaded = there_and_back(reducer)
    np.testing.assert_array_equal(reducer.transform(X), Z)
    np.testing.assert_array_equal(loaded.transform(X), Z)


def test_loaded_reducers_are_reducers(problem, there_and_back, tmp_path):
    X, y = problem
    loaded = there_and_back(NonLinCFA(0.3).fit(X, y))
    check_is_fitted(loaded)
    same_reducers(pickle.loads(pickle.dumps(loaded)), loaded)
    assert make_pipeline(loaded, StandardScaler()).fit(X, y).transform(X).shape[1] < 7
    with pytest.raises(ValueError, match="X has 6 features, but NonLinCFA is expecting 7"):
        loaded.transform(X[:, :6])


def test_files_of_the_same_fit_are_the_same(problem, tmp_path):
    X, y = problem
    for name in "ab":
        NonLinCFA(keep={0, 3, "x2"}).fit(X, y).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# What a file cannot hold.


@pytest.mark.parametrize("transformer", [StandardScaler(), FunctionTransformer(np.square)])
def test_transformers_are_refused_with_a_way_out(problem, tmp_path, transformer):
    X, y = problem
    name = type(transformer).__name__
    reducer = NonLinCFA(inputs=transformer).fit(X, y)
    with pytest.raises(
        TypeError, match=rf"inputs={name}\(...\) cannot be saved as JSON: fit it in"
    ):
        reducer.save(tmp_path / "model.json")
    with pytest.raises(TypeError, match="cannot be saved as JSON"):
        reducer.set_params(inputs=None).save(tmp_path / "model.json")
    assert not any(tmp_path.iterdir())


def pairs_of_rows():
    yield np.arange(30), np.arange(30, 60)


class OwnSplitter(KFold):
    pass


@pytest.mark.parametrize(
    ("parameters", "kind"),
    [
        ({"cv": pairs_of_rows()}, "generator"),
        ({"cv": OwnSplitter(3)}, "OwnSplitter"),
        ({"cv": KFold(3, shuffle=True, random_state=np.random.RandomState(0))}, "RandomState"),
        ({"keep": {0: "a"}}, "dict"),
        ({"max_group_size": 3 + 0j}, "complex"),
        ({"connectivity": LINE.astype(complex)}, "csr_array of complex128"),
    ],
)
def test_what_json_cannot_hold_is_refused_by_name(problem, tmp_path, parameters, kind):
    X, y = problem
    (name,) = parameters
    reducer = NonLinCFA(0.2).fit(X, y).set_params(**parameters)
    match = rf"^{name} holds a value of kind {kind}, which JSON cannot hold. Only fit needs it"
    with pytest.raises(TypeError, match=match):
        reducer.save(tmp_path / "model.json")
    reducer.set_params(**{name: None}).save(tmp_path / "model.json")


def test_only_fitted_reducers_of_ours_are_saved(problem, tmp_path):
    class Mine(NonLinCFA):
        pass

    with pytest.raises(ValueError, match="not fitted"):
        NonLinCFA().save(tmp_path / "model.json")
    with pytest.raises(TypeError, match="Mine is no reducer of coterie"):
        Mine().fit(*problem).save(tmp_path / "model.json")


def test_functions_without_a_name_must_be_given_one(problem, tmp_path):
    X, y = problem
    path = tmp_path / "model.json"
    for function in (lambda columns: columns**3, functools.partial(np.power, 2.0)):
        reducer = NonLinCFA(inputs=function).fit(X, y)
        with pytest.raises(ValueError, match=r"has no name of its own for the file: give it one"):
            reducer.save(path)
        reducer.save(path, functions={"power": function})
        with pytest.raises(ValueError, match=r"needs the function or family 'power', which no"):
            coterie.load(path)
        same_transform(coterie.load(path, functions={"power": function}), reducer, X)


def test_two_functions_of_one_name_are_told_apart(problem, tmp_path):
    X, y = problem

    def other():
        def half(columns):
            return columns.mean(axis=1)

        return half

    reducer, path = NonLinCFA(inputs=half, aggregation=other()).fit(X, y), tmp_path / "model.json"
    with pytest.raises(ValueError, match="Two different functions are called 'half'"):
        reducer.save(path)
    with pytest.raises(ValueError, match="has no name of its own"):
        reducer.save(path, {"half": half})
    functions = {"half": half, "middle": reducer.aggregation}
    reducer.save(path, functions)
    same_transform(coterie.load(path, functions), reducer, X)


@pytest.mark.parametrize("functions", [[half], {"half": 3}, {3: half}])
def test_functions_are_given_by_name(problem, tmp_path, functions):
    with pytest.raises(TypeError, match="functions must be a dict from names to functions or fam"):
        coterie.load(tmp_path / "model.json", functions)
    with pytest.raises(TypeError, match="functions must be a dict from names to functions or fam"):
        NonLinCFA().fit(*problem).save(tmp_path / "model.json", functions)


# Writing: the old file or the new one.


def test_a_full_disk_leaves_the_old_file(problem, tmp_path, monkeypatch):
    X, y = problem
    path = tmp_path / "model.json"
    NonLinCFA(0.1).fit(X, y).save(path)
    old = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        NonLinCFA(0.9).fit(X, y).save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("moment", ["os.fsync", "shutil.copymode", "Path.replace"])
def test_a_kill_leaves_the_old_file(problem, tmp_path, moment):
    path = tmp_path / "model.json"
    reducer = NonLinCFA(0.1).fit(*problem)
    reducer.save(path)
    code = f"""
    import os, shutil, signal
    from pathlib import Path
    import coterie
    reducer = coterie.load({str(path)!r})
    reducer.set_params(tolerance=0.9)
    {moment} = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
    reducer.save({str(path)!r})
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert run.returncode == -signal.SIGKILL
    assert coterie.load(path).tolerance == 0.1


@pytest.mark.skipif(os.name != "posix", reason="needs links and modes")
def test_links_and_permissions_stay(problem, tmp_path):
    reducer, path, link = NonLinCFA().fit(*problem), tmp_path / "model.json", tmp_path / "link"
    reducer.save(path)
    path.chmod(0o640)
    link.symlink_to(path)
    reducer.set_params(search="best").save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert coterie.load(path).search == "best"
    with pytest.raises(ValueError, match="is not a regular file"):
        reducer.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        reducer.save(tmp_path / "nowhere" / "model.json")


# Reading: a reducer or a sentence.


def a_model(X, y):
    reducer = NonLinCFA(
        np.float64(0.2),
        cv=KFold(3),
        inputs=np.square,
        scale=True,
        connectivity=LINE,
        keep={"square(a)"},
        separate=[range(3), (4, 5)],
    )
    return reducer.fit(pd.DataFrame(X, columns=NAMES), y)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Models with all that a file can have."""
    rng = np.random.default_rng(3)
    X, y = correlated(rng)
    field = a_field(rng)
    reducers = [
        a_model(X, y),
        NonLinCFA(np.inf, aggregation="max", missing="pairwise").fit(X, y),
        NonLinCFA(0.1, aggregation=spread, cv=[(range(30), range(30, 60))]).fit(X, y),
        GenLinCFA(family="bernoulli", signs=True).fit(X, np.where(y > 0, "b", "a")),
        GenLinCFA(0.9, family=negative_binomial(0.5), curvature="null").fit(X, np.exp(y / 10)),
        ToleranceCV(NonLinCFA(cv=None, inputs=half), n_tolerances=3).fit(X, y),
        LinCFA(aggregation="principal").fit(X, y),
        NonLinCFA(0.2).fit(field, field.fillna(0).sum(("lat", "lon")).values),
    ]
    path = tmp_path_factory.mktemp("models") / "model.json"
    texts = []
    for reducer in reducers:
        reducer.save(path)
        texts.append(path.read_text())
    return texts


def check_sentence(error, path):
    message = str(error.value)
    assert type(error.value) is ValueError
    assert message.startswith(f"{path} cannot be loaded: ")
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 1000


def loaded_or_reason(path):
    try:
        return coterie.load(path, FUNCTIONS)
    except ValueError as error:
        return str(error)


def transformed_or_reason(reducer, rows):
    try:
        return reducer.transform(rows)
    except ValueError as error:
        return str(error)


def loads_or_says_why(path, content):
    """Load a file that may be anything, and use what comes out."""
    path.write_bytes(content)
    reducer = loaded_or_reason(path)
    if isinstance(reducer, str):
        assert reducer.startswith(f"{path} cannot be loaded: ")
        assert "\n" not in reducer
        return
    assert repr(reducer)
    assert reducer.n_groups_ == len(reducer.groups_) == reducer.labels_.max() + 1
    if reducer.n_features_in_ > 1000:
        return
    assert len(reducer.get_feature_names_out()) == reducer.n_groups_
    if reducer.fit_.features.layout is not None:
        reducer.as_field()
        return
    rows = np.linspace(-1, 1, 3 * reducer.n_features_in_).reshape(3, -1)
    if hasattr(reducer, "feature_names_in_"):
        rows = pd.DataFrame(rows, columns=reducer.feature_names_in_)
    with np.errstate(all="ignore"):
        Z = transformed_or_reason(reducer.set_output(transform="default"), rows)
    # What functions make of the columns is checked, as in any reducer.
    if isinstance(Z, str):
        assert "inputs" in Z or "aggregation" in Z
    else:
        assert Z.shape == (3, reducer.n_groups_)


def places_in(value, place=()):
    yield place
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value[:8])
        for key, one in inner:
            yield from places_in(one, (*place, key))


PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.sampled_from([10**12, 2**31, 2**63, -1, 0, 1, 1e308, 5e-324, -0.0])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["NaN", "Infinity", "mean", "given", "array", "LinCFA", "__import__", "sin"])
)
ANYTHING = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner)
)


@st.composite
def mutated(draw, text):
    """A model in which one or a few things are not as they were."""
    document = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        *way, key = draw(st.sampled_from([place for place in places_in(document) if place]))
        inside = document
        for step in way:
            inside = inside[step]
        old = inside[key]
        match draw(st.sampled_from(["drop", "replace", "move", "repeat", "nudge"])):
            case "drop":
                del inside[key]
            case "replace":
                inside[key] = draw(ANYTHING)
            case "move":
                others = [place for place in places_in(document) if place]
                other = document
                for step in draw(st.sampled_from(others)):
                    other = other[step]
                inside[key] = json.loads(json.dumps(other))
            case "repeat":
                inside[key] = old * 2 if isinstance(old, list | str) else [old, old]
            case "nudge" if isinstance(old, int | float) and not isinstance(old, bool):
                inside[key] = draw(st.sampled_from([old + 1, -old, float(old), 10**12, old * 2]))
    return json.dumps(document)


@settings(max_examples=400)
@given(data=st.data())
def test_a_damaged_model_is_a_model_or_a_sentence(documents, tmp_path, data):
    text = data.draw(st.sampled_from(documents))
    loads_or_says_why(tmp_path / "model.json", data.draw(mutated(text)).encode())


@given(data=st.data())
def test_a_model_cut_short_is_a_sentence(documents, tmp_path, data):
    text, path = data.draw(st.sampled_from(documents)), tmp_path / "model.json"
    path.write_text(text[: data.draw(st.integers(0, len(text.rstrip()) - 1))])
    with pytest.raises(ValueError) as error:
        coterie.load(path, FUNCTIONS)
    check_sentence(error, path)


@given(data=st.data())
def test_bytes_that_changed_are_a_model_or_a_sentence(documents, tmp_path, data):
    text = bytearray(data.draw(st.sampled_from(documents)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    loads_or_says_why(tmp_path / "model.json", bytes(text))


@given(content=st.binary() | ANYTHING.map(lambda value: json.dumps(value).encode()))
def test_anything_else_is_a_sentence(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ValueError) as error:
        coterie.load(path)
    check_sentence(error, path)


def changed(text, **changes):
    document = json.loads(text)
    for place, value in changes.items():
        *way, key = place.split("__")
        inside = document
        for step in way:
            inside = inside[step]
        inside[key] = value
    return json.dumps(document)


DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = {
    "": "it is not JSON, or truncated: Expecting value: line 1 column 1",
    "[]": "it is not a model saved by coterie",
    '{"format": "coterie"}': "'version' is missing",
    '{"format": "coterie", "format": "coterie"}': "it has a duplicate key",
    '{"format": NaN}': "it has NaN, which is not JSON",
    DEEP: "its lists are nested too deeply",
    '{"version": ' + "9" * 5000 + "}": "it has a number with too many digits",
    '{"format": "coterie", "version": 1e999}': "'version' must be a whole number",
}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_model_is_one_sentence(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        coterie.load(path)
    check_sentence(error, path)
    assert HOSTILE[text] in str(error.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 3}, "it was saved by a newer coterie (format 3, this one reads 2): pip"),
        ({"version": True}, "'version' must be a whole number"),
        ({"reducer": "os.system"}, "'reducer' must be one of 'Coterie', 'CustomCFA', "),
        ({"parameters__verbose": 3}, "'parameters.verbose' is not a known key"),
        ({"parameters__missing": "often"}, "'parameters.missing' must be one of 'error', "),
        ({"parameters__inputs": {"is": "numpy", "name": "load"}}, "'parameters.inputs.name' must"),
        ({"parameters__inputs": {"is": "given", "name": "exec"}}, "it needs the function or fam"),
        ({"parameters__inputs": {"is": "pickle"}}, "'parameters.inputs.is' must be one of"),
        ({"parameters__cv__name": "GridSearchCV"}, "'parameters.cv.name' must be one of"),
        ({"parameters__cv__parameters__n_splits": -1}, "must be parameters of KFold (k-fold"),
        ({"parameters__connectivity__starts": [0, 10**12]}, "'parameters.connectivity.starts' mu"),
        ({"fitted__n_features_in": 10**12}, "'fitted.n_features_in' must be a whole number from"),
        ({"fitted__n_features_in": 10**6}, "'fitted.n_features_in' must be 7, as there are labels"),
        ({"fitted__labels": [0, 10**12]}, "'fitted.labels' must be a list of whole numbers"),
        ({"fitted__labels": [1, 0, 0, 0, 0, 0, 0]}, "'fitted.labels' must be the group of each"),
        ({"fitted__labels": [0]}, "'fitted.labels' must be the group of each of two or more"),
        ({"fitted__signs": [0] * 7}, "'fitted.signs' must be a list of 1 and -1"),
        ({"fitted__weights": [1e999] * 7}, "it has Infinity, which is not JSON"),
        ({"fitted__weights": [10**400] * 7}, "'fitted.weights' must be a list of numbers"),
        ({"fitted__weights": ["nan"] * 7}, "'fitted.weights' must be a list of numbers"),
        ({"fitted__scaling__spread__values": [0] * 7}, "'fitted.scaling.spread' must be an arr"),
        ({"fitted__scaling__spread__shape": [7, 10**12]}, "'fitted.scaling.spread.shape[1]' mu"),
        ({"fitted__scaling__spread__dtype": "O"}, "'fitted.scaling.spread.dtype' must be a type"),
        ({"fitted__aggregation": "spread"}, "'fitted.aggregation' must be one of 'mean', 'sum'"),
        ({"fitted__classes": "a"}, "'fitted.classes' must be an array of classes"),
        ({"fitted__penalty": "a"}, "'fitted.penalty' must be a number, got 'a'"),
        ({"output": "pickle"}, "'output' must be one of 'default', 'pandas', 'polars'"),
        ({"requests": {"fit": True}}, "'requests.fit' is not a known key"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_by_place(documents, tmp_path, changes, sentence):
    path = tmp_path / "model.json"
    path.write_text(changed(documents[0], **changes))
    with pytest.raises(ValueError) as error:
        coterie.load(path)
    check_sentence(error, path)
    assert sentence in str(error.value)


WIDE = ["a" * 2**15] + [""] * (2**15 - 1)
# One value on each of many diagonals, each of which would be kept whole.
MANY = 6000
DIAGONALS = {
    "is": "graph",
    "kind": "dia_array",
    "starts": [0, *([MANY] * MANY)],
    "columns": list(range(MANY)),
    "values": {"is": "array", "dtype": "bool", "shape": [MANY], "values": [True] * MANY},
}


@pytest.mark.parametrize(
    "changes",
    [
        {"fitted__n_features_in": 10**12},
        {"fitted__classes": {"is": "array", "dtype": "str", "shape": [2**15], "values": WIDE}},
        {"parameters__keep": {"is": "range", "values": [0, 2**60, 1]}},
        {"parameters__connectivity__starts": [0, 10**12]},
        {"parameters__cv__parameters__n_splits": 10**12},
        {"parameters__connectivity": DIAGONALS},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_small_files_take_little_memory(documents, tmp_path, changes):
    path = tmp_path / "model.json"
    path.write_text(changed(documents[0], **changes))
    tracemalloc.start()
    loaded_or_reason(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        coterie.load(tmp_path / "model.json")


# The format: what was saved once loads forever.


def schema():
    text = resources.files("coterie._persist").joinpath("model.schema.json").read_text("utf-8")
    return json.loads(text)


def test_files_are_as_the_schema_says(documents):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    goldens = [path.read_text() for path in sorted(MODELS.glob("*.json"))]
    assert goldens
    for text in [*documents, *goldens]:
        validator.validate(json.loads(text))
    for changes in ({"version": 3}, {"reducer": "os.system"}, {"fitted__labels": [0.5]}):
        assert not validator.is_valid(json.loads(changed(documents[0], **changes)))


ROW = [1.0, 2.0, 4.0, 8.0]
GOLDEN = {
    # (1 + 2) / 2 and (4 + 8) / 2
    "mean": (["mean(warm, mild)", "mean(dry, arid)"], [1.5, 6.0]),
    # (1 - 2) / 2 and (4 - 8) / 2
    "signs": (["mean(warm, -mild)", "mean(dry, -arid)"], [-0.5, -2.0]),
    # max(1, 2) and max(4, 8)
    "max": (["max(warm, mild)", "max(dry, arid)"], [2.0, 8.0]),
    # 1 + 4 and 16 + 64
    "squares": (["sum(square(warm), square(mild))", "sum(square(dry), square(arid))"], [5.0, 80.0]),
    # (1 - 1) / 2 + (2 - 0) / 4 and (4 - 2) / 0.5 + (8 + 1) / 1
    "scaled": (["sum(warm, mild)", "sum(dry, arid)"], [0.5, 13.0]),
    # 0.6 (1 - 1) + 0.8 (2 - 1) and 0.6 (4 - 2) + 0.8 (8 - 3)
    "principal": (["principal(warm, mild)", "principal(dry, arid)"], [0.8, 5.2]),
    "tuned": (["mean(warm, mild)", "mean(dry, arid)"], [1.5, 6.0]),
    "told": (["mean(warm, mild)", "mean(dry, arid)"], [1.5, 6.0]),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_models_saved_long_ago_still_load(name):
    reducer = coterie.load(MODELS / f"{name}.json")
    row = pd.DataFrame([ROW], columns=["warm", "mild", "dry", "arid"])
    names, values = GOLDEN[name]
    assert reducer.get_feature_names_out().tolist() == names
    np.testing.assert_allclose(reducer.transform(row), [values], rtol=1e-15)
    assert reducer.labels_.tolist() == [0, 0, 1, 1]
    assert len(reducer.trace_) > 0


def test_summaries_told_long_ago_are_still_told():
    told = load_summary(MODELS / "told.json")
    assert told.title == "Heath fires"
    assert told.features == ["warm", "mild", "dry", "arid"]
    assert [group.name for group in told.groups] == ["mean(warm, mild)", "mean(dry, arid)"]
    assert told.outputs == ["burnt"]
    assert [score.name for score in told.scores] == ["coterie", "all columns", "PCA"]
    assert told.spectrum.positions == [1.0, 2.0, 3.0, 4.0]
    assert (told.map.up, told.map.across) == ([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0])
    assert len(told.path.tolerances) == len(told.path.labels) == 30
    assert "Heath fires" in report_html(told)


def test_all_old_models_are_known():
    assert {path.stem for path in MODELS.glob("*.json")} == {*GOLDEN}


def test_old_models_know_what_they_were():
    signs = coterie.load(MODELS / "signs.json")
    assert (type(signs), signs.family) == (GenLinCFA, "bernoulli")
    assert signs.classes_.tolist() == ["burns", "does not"]
    assert signs.signs_.tolist() == [1, -1, 1, -1]
    tuned = coterie.load(MODELS / "tuned.json")
    assert type(tuned) is ToleranceCV
    assert tuned.tolerance_ == tuned.path_.tolerances[tuned.path_.best] == 0.125
    assert repr(tuned.cv) == repr(LeaveOneOut())
    assert type(coterie.load(MODELS / "max.json")) is MutualCFA
    assert type(coterie.load(MODELS / "scaled.json")) is LinCFA
    assert coterie.load(MODELS / "mean.json").penalty_ == 2.5


def test_what_had_no_effect_in_a_file_of_format_1_is_left_out(problem, tmp_path):
    X, y = problem
    path = tmp_path / "model.json"
    NonLinCFA(0.3, aggregation="max").fit(X, y).save(path)
    document = json.loads(path.read_text())
    parameters = document["parameters"]
    old = {"covariance": "engine", "max_bytes": "memory", "initial_groups": "groups"}
    document["parameters"] = {old.get(name, name): one for name, one in parameters.items()}
    document["parameters"]["engine"] = "columns"
    path.write_text(json.dumps(document | {"version": 1}))
    assert coterie.load(path).fit(X, y).covariance == "auto"


COTERIE = {"is": "reducer", "name": "Coterie", "parameters": {}}


@pytest.mark.parametrize("inside", ["coterie", 3, {"is": "tuple", "values": []}, COTERIE])
def test_a_tuned_reducer_that_is_no_reducer_is_told(inside, rng, tmp_path):
    X, y = correlated(rng)
    path = tmp_path / "model.json"
    ToleranceCV(NonLinCFA(cv=None), n_tolerances=3).fit(X, y).save(path)
    document = json.loads(path.read_text())
    document["parameters"]["estimator"] = inside
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"model\.json cannot be loaded: .*estimator") as error:
        coterie.load(path)
    check_sentence(error, path)
