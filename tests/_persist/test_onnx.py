"""ONNX and skops: other ways to carry a fitted reducer, as good as the reducer itself."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import GenLinCFA, LinCFA, MutualCFA, NonLinCFA, ToleranceCV
from coterie._core.aggregations import AGGREGATIONS
from coterie._persist.onnx import ONNX_OPERATORS

REDUCERS = {
    "nonlin": NonLinCFA(0.3, cv=None),
    "signs": NonLinCFA(0.3, signs=True),
    "genlin": GenLinCFA("bic"),
    "lin": LinCFA(),
    "mutual": MutualCFA(0.3),
    "nonlin_cv": ToleranceCV(NonLinCFA(cv=None), n_tolerances=3),
    "genlin_cv": ToleranceCV(GenLinCFA(), n_tolerances=3),
}


def run_in_onnx(model, X):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    content = coterie.to_onnx(model).SerializeToString()
    try:
        session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    except runtime.capi.onnxruntime_pybind11_state.NotImplemented as error:
        # Older versions have no cosine of float64.
        if "Cos(" not in str(error):
            raise
        pytest.skip(str(error))
    return session.run(None, {"X": X.astype(np.float32)})[0]


def close_to(got, expected):
    """Within a millionth, of the number or of the spread of its column."""
    assert got.dtype == np.float32
    assert got.shape == expected.shape
    scale = np.maximum(np.abs(expected), expected.std(axis=0))
    assert (np.abs(got - expected) <= 1e-6 * scale).all()


@pytest.mark.parametrize("name", REDUCERS)
@pytest.mark.parametrize("scale", [False, True])
def test_onnx_transforms_alike(problem, name, scale):
    X, y = problem
    reducer = clone(REDUCERS[name])
    inner = reducer.estimator if name.endswith("_cv") else reducer
    inner.set_params(scale=scale)
    reducer.fit(X, y)
    close_to(run_in_onnx(reducer, X), reducer.transform(X.astype(np.float32)))


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("scale", [False, True])
def test_onnx_has_every_aggregation(problem, aggregation, scale):
    X, y = problem
    X = X + 300  # as temperatures in kelvins, where a centre in single precision would show
    reducer = NonLinCFA(0.5, cv=None, aggregation=aggregation, scale=scale).fit(X, y)
    assert max(map(len, reducer.groups_)) > 2
    single = X.astype(np.float32)
    close_to(run_in_onnx(reducer, X), reducer.transform(single.astype(np.float64)))


@pytest.mark.parametrize("function", [np.square, *ONNX_OPERATORS], ids=lambda one: one.__name__)
def test_onnx_has_functions_of_numpy(problem, function):
    X, y = problem
    X = np.abs(X) + 0.5
    if function is np.sign:
        X = X - 1
    reducer = NonLinCFA(0.3, cv=None, inputs=function).fit(X, y)
    single = X.astype(np.float32).astype(np.float64)
    close_to(run_in_onnx(reducer, X), reducer.transform(single))


def test_onnx_takes_pipelines(problem):
    X, y = problem
    model = make_pipeline(StandardScaler(), NonLinCFA(0.1), LinearRegression()).fit(X, y)
    expected = model.predict(X.astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(run_in_onnx(model, X).ravel(), expected, rtol=1e-4, atol=1e-5)


def test_a_linear_aggregation_is_one_product(problem):
    pytest.importorskip("skl2onnx")
    graph = coterie.to_onnx(NonLinCFA(signs=True).fit(*problem)).graph
    assert [node.op_type for node in graph.node] == ["Cast", "MatMul", "Cast"]


def span(columns):
    return np.ptp(columns, axis=1)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"inputs": np.cbrt},
            "has no ONNX operator: apply it before the reducer, in a Pipeline step",
        ),
        ({"inputs": StandardScaler()}, "has no ONNX operator: apply it before the reducer"),
        ({"aggregation": span}, "aggregation 'span' is not supported in ONNX"),
        (
            {"missing": "pairwise", "aggregation": "max"},
            "aggregation 'max' with missing values is not supported in ONNX",
        ),
    ],
)
def test_what_onnx_lacks_is_refused(problem, parameters, sentence):
    pytest.importorskip("skl2onnx")
    with pytest.raises(ValueError, match=sentence):
        coterie.to_onnx(NonLinCFA(0.1, **parameters).fit(*problem))


@pytest.mark.parametrize(
    "reducer",
    [
        NonLinCFA(0.1, missing="pairwise"),
        coterie.Coterie(inputs=None),
        coterie.Coterie(inputs="clip"),
    ],
    ids=["pairwise", "Coterie", "clipped"],
)
def test_missing_values_are_filled_in_by_the_graph(problem, reducer, rng):
    pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = problem
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X).astype(np.float32)
    holes[0] = np.nan
    fitted = reducer.fit(holes.astype(np.float64), y)
    session = onnxruntime.InferenceSession(coterie.to_onnx(fitted).SerializeToString())
    found = session.run(None, {"X": holes})[0]
    np.testing.assert_allclose(found, fitted.transform(holes.astype(np.float64)), atol=1e-5)


def test_ranks_are_refused_in_a_sentence(problem):
    pytest.importorskip("skl2onnx")
    with pytest.raises(ValueError, match=r"^The reducer turns columns into ranks"):
        coterie.to_onnx(coterie.Coterie(inputs="rank").fit(*problem))


def test_only_what_is_fitted_goes_to_onnx():
    pytest.importorskip("skl2onnx")
    with pytest.raises(ValueError, match="not fitted"):
        coterie.to_onnx(NonLinCFA())


def test_without_the_extra_there_is_a_sentence():
    code = (
        "import sys; sys.modules['skl2onnx'] = None; import coterie;"
        "coterie.to_onnx(coterie.NonLinCFA())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = run.stderr.splitlines()[-1]
    assert last == 'ImportError: ONNX needs an extra: pip install "coterie[onnx]".'


@pytest.mark.parametrize("name", REDUCERS)
@pytest.mark.parametrize("aggregation", [*AGGREGATIONS])
def test_skops_needs_to_trust_nothing_but_the_reducer(problem, name, aggregation):
    skops = pytest.importorskip("skops.io")
    X, y = problem
    reducer = clone(REDUCERS[name])
    if not reducer.get_params().get("signs"):
        inner = reducer.estimator if name.endswith("_cv") else reducer
        inner.set_params(aggregation=aggregation, scale=True)
    reducer.fit(X, y)
    content = skops.dumps(reducer)
    kinds = {type(reducer), type(getattr(reducer, "estimator_", reducer))}
    names = sorted(f"{kind.__module__}.{kind.__name__}" for kind in kinds)
    assert sorted(skops.get_untrusted_types(data=content)) == names
    loaded = skops.loads(content, trusted=[*kinds])
    np.testing.assert_array_equal(loaded.transform(X), reducer.transform(X))
    np.testing.assert_array_equal(loaded.trace_, reducer.trace_)
    assert type(loaded.trace_) is type(reducer.trace_)
    assert loaded.get_feature_names_out().tolist() == reducer.get_feature_names_out().tolist()


def test_skops_saves_transformers_that_json_cannot(problem):
    skops = pytest.importorskip("skops.io")
    X, y = problem
    reducer = NonLinCFA(inputs=StandardScaler()).fit(X, y)
    loaded = skops.loads(skops.dumps(reducer), trusted=[NonLinCFA])
    np.testing.assert_array_equal(loaded.transform(X), reducer.transform(X))
