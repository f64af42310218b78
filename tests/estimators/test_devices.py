"""A fit on a device makes the decisions of a fit in memory, for arrays of any library."""

import numpy as np
import pytest
from sklearn.base import clone

from coterie import GenLinCFA, LinCFA, Moments, MutualCFA, NonLinCFA, ToleranceCV
from coterie.datasets import make_groups

strict = pytest.importorskip("array_api_strict")
X, y, _ = make_groups(300, 40, 5, noise=2.0, random_state=0)
X = X * np.linspace(0.5, 3, 40) + np.linspace(-5, 30, 40)
TWO = np.column_stack([y, X[:, 3] + y])
CLASSES = (y > 0).astype(int)
TARGETS = {"y": y, "two": TWO, "classes": CLASSES}
WEIGHTS = np.random.default_rng(0).integers(0, 4, 300).astype(float)


@pytest.fixture
def elsewhere(monkeypatch):
    """Arrays are taken to lie on a device, wherever they lie."""
    monkeypatch.setattr("coterie._core.devices._foreign.lies_on_host", lambda X: False)


def torch_array(values):
    return pytest.importorskip("torch").asarray(values)


LIBRARIES = [
    pytest.param(strict.asarray, id="array-api-strict"),
    pytest.param(torch_array, id="torch"),
]


def assert_same_decisions(reducer, other):
    assert reducer.labels_.tolist() == other.labels_.tolist()
    assert isinstance(other.labels_, np.ndarray)
    assert reducer.trace_.candidate.tolist() == other.trace_.candidate.tolist()
    assert reducer.trace_.accepted.tolist() == other.trace_.accepted.tolist()
    np.testing.assert_allclose(reducer.trace_.price, other.trace_.price, atol=1e-12, rtol=1e-10)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    ("array", "weights"),
    [
        pytest.param(strict.asarray, WEIGHTS, id="array-api-strict"),
        pytest.param(torch_array, None, id="torch"),
    ],
)
@pytest.mark.parametrize(
    ("reducer", "target"),
    [
        (NonLinCFA(0.01), "y"),
        (NonLinCFA(), "y"),
        (NonLinCFA(0.01, cv=None, search="forward"), "y"),
        (NonLinCFA(0.01, search="forward"), "y"),
        (NonLinCFA(0.02, search="best"), "y"),
        (NonLinCFA(0.01, scale=True), "y"),
        (NonLinCFA(0.01, cv=None, signs=True), "y"),
        (NonLinCFA(n_groups=5), "y"),
        (NonLinCFA(0.01, max_group_size=4, aggregation="sum"), "y"),
        (NonLinCFA(0.01, initial_groups=[[0, 1, 2], [7, 9]]), "y"),
        (NonLinCFA(0.02), "two"),
        (GenLinCFA(family="bernoulli"), "classes"),
        (GenLinCFA(0.9, family="bernoulli", bound="bivariate"), "classes"),
        (LinCFA(), "y"),
    ],
    ids=repr,
)
def test_decisions_are_those_in_memory(reducer, target, weights, array):
    target = TARGETS[target]
    in_memory = clone(reducer).fit(X, target, sample_weight=weights)
    there = array(X)
    reducer = clone(reducer).fit(
        there, array(target), sample_weight=None if weights is None else array(weights)
    )
    assert_same_decisions(in_memory, reducer)
    made = reducer.transform(there)
    assert type(made) is type(there)
    np.testing.assert_allclose(np.asarray(made), in_memory.transform(X), atol=1e-12)
    back = reducer.inverse_transform(made)
    assert type(back) is type(there)
    expected = in_memory.inverse_transform(in_memory.transform(X))
    np.testing.assert_allclose(np.asarray(back), expected, atol=1e-12)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("array", LIBRARIES)
def test_single_precision_stays_single(array):
    single = X.astype(np.float32)
    reducer = NonLinCFA(0.01).fit(array(single), y)
    assert_same_decisions(NonLinCFA(0.01).fit(single, y), reducer)
    assert np.asarray(reducer.transform(array(single))).dtype == np.float32


@pytest.mark.usefixtures("elsewhere")
def test_jax_multiplies_where_columns_lie_and_searches_on_the_host():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        there = jax.numpy.asarray(X)
        reducer = NonLinCFA(0.01).fit(there, y)
        assert_same_decisions(NonLinCFA(0.01).fit(X, y), reducer)
        assert isinstance(reducer.transform(there), jax.Array)


@pytest.mark.usefixtures("elsewhere")
def test_a_reducer_serves_all_libraries_wherever_it_was_fitted():
    there = strict.asarray(X)
    from_host, from_there = NonLinCFA().fit(X, y), NonLinCFA().fit(there, y)
    np.testing.assert_allclose(np.asarray(from_host.transform(there)), from_there.transform(X))


def test_arrays_in_the_memory_of_the_host_are_computed_with_by_numpy_and_given_back():
    torch = pytest.importorskip("torch")
    there = torch.asarray(X)
    reducer = NonLinCFA(aggregation="max").fit(there, torch.asarray(y))
    assert reducer.labels_.tolist() == NonLinCFA(aggregation="max").fit(X, y).labels_.tolist()
    made = reducer.transform(there)
    assert isinstance(made, torch.Tensor)
    np.testing.assert_array_equal(made.numpy(), reducer.transform(X))


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    ("reducer", "message"),
    [
        (NonLinCFA(aggregation="max"), "aggregation='max' looks at the rows"),
        (NonLinCFA(inputs=np.square), "inputs is a function of rows"),
        (NonLinCFA(missing="pairwise"), "missing='pairwise'"),
        (NonLinCFA(covariance="columns"), "covariance='columns'"),
        (GenLinCFA(bound="fitted"), "bound='fitted'"),
        (MutualCFA(), "NumPy array"),
    ],
    ids=repr,
)
def test_what_must_see_rows_says_so(reducer, message):
    with pytest.raises(ValueError, match=message):
        reducer.fit(strict.asarray(X), y)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    "taken",
    [ToleranceCV().fit, NonLinCFA().partial_fit, Moments().update],
    ids=["cross-validated", "partial_fit", "update"],
)
def test_rows_that_are_needed_here_are_not_fetched_unasked(taken):
    with pytest.raises(TypeError, match="X lies on a device"):
        taken(strict.asarray(X), y)


@pytest.mark.usefixtures("elsewhere")
def test_bad_columns_are_named():
    bad = X.copy()
    bad[3, 7] = np.nan
    with pytest.raises(ValueError, match="X has NaN in column 7"):
        NonLinCFA().fit(strict.asarray(bad), y)
    bad[3, 7] = -np.inf
    with pytest.raises(ValueError, match=r"X has infinity \(inf\) in column 7"):
        NonLinCFA().fit(strict.asarray(bad), y)
    with pytest.raises(ValueError, match="2 dimensions"):
        NonLinCFA().fit(strict.asarray(y), y)
    with pytest.raises(ValueError, match="minimum of 2"):
        NonLinCFA().fit(strict.asarray(X[:, :1]), y)
    reducer = NonLinCFA().fit(X, y)
    with pytest.raises(ValueError, match="39 features"):
        reducer.transform(strict.asarray(X[:, 1:]))


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.filterwarnings("ignore:X is constant:coterie.FitWarning")
def test_columns_that_do_not_vary_and_copies_are_no_trouble():
    odd = X.copy()
    odd[:, 4], odd[:, 9] = 2.5, odd[:, 8]
    for search in ("restart", "best"):
        in_memory = NonLinCFA(0.01, search=search).fit(odd, y)
        assert_same_decisions(in_memory, NonLinCFA(0.01, search=search).fit(strict.asarray(odd), y))


def test_too_little_room_is_told_before_it_starts(monkeypatch, elsewhere):
    monkeypatch.setattr("coterie._core.devices._memory._free_bytes", lambda array: 1000)
    with pytest.raises(ValueError, match=r"Scatters of 40 features take .* 0\.0 GB are"):
        NonLinCFA().fit(strict.asarray(X), y)


def test_scikit_learn_is_not_told_that_fitted_attributes_lie_on_the_device():
    from sklearn.utils import get_tags

    # labels_ stay on the host, and a reducer serves arrays of all libraries: the tag would say no.
    assert not get_tags(NonLinCFA()).array_api_support


@pytest.mark.usefixtures("elsewhere")
def test_what_was_fitted_elsewhere_and_needs_rows_says_so_too():
    reducer = NonLinCFA(aggregation="median").fit(X, y)
    with pytest.raises(ValueError, match="aggregation='median' looks at the rows"):
        reducer.transform(strict.asarray(X))
