"""Arrays of other libraries answer to numpy's functions as numpy's own do."""

import numpy as np
import pytest

from coterie import Moments, NonLinCFA, moments_from
from coterie._core.devices import OnDevice, given_back, host, is_foreign, taken_in
from coterie._core.devices._foreign import lies_on_host

strict = pytest.importorskip("array_api_strict")
X = np.random.default_rng(0).normal(size=(4, 5))
SIGN = X > 0


def there(values):
    return OnDevice(strict.asarray(values), strict)


@pytest.mark.parametrize(
    "formula",
    [
        lambda a: a + 1,
        lambda a: 1.5 - a,
        lambda a: a * np.float64(2.5),
        lambda a: X * a,
        lambda a: a / np.abs(X),
        lambda a: -a,
        lambda a: a**2,
        lambda a: a @ X.T,
        lambda a: X.T @ a,
        lambda a: (a > 0) & (a < 1),
        lambda a: ~(a >= 0.5) | (a == 1),
        lambda a: 1.0 * (a > 0),
        lambda a: 0.3 * (a > 0) + a,
        lambda a: np.maximum(a, 0.0),
        lambda a: np.maximum(1.0, a),
        lambda a: np.minimum(a, X[::-1]),
        lambda a: np.sqrt(np.square(a)),
        lambda a: np.log(np.abs(a)),
        lambda a: np.isfinite(a / (a > 0.2) * 1.0),
        lambda a: np.where(a > 0, a, 0.0),
        lambda a: np.where(a > 0, np.inf, 0.0),
        lambda a: np.take(a, np.array([3, 0]), axis=1),
        lambda a: np.cumsum(a, axis=1),
        lambda a: np.stack([a, X]),
        lambda a: np.concatenate([X, a], axis=1),
        lambda a: np.column_stack([a[:, 0], a[:, 2]]),
        lambda a: np.append(a[:, 0], 7.0),
        lambda a: np.swapaxes(a, -1, -2),
        lambda a: np.tile(a, 2),
        lambda a: np.triu(a, 1),
        lambda a: np.clip(a, -0.5, 0.5),
        lambda a: np.isposinf(a),
        lambda a: np.argmax(a, axis=0),
        lambda a: np.take_along_axis(a, np.argmax(a, axis=0)[None], axis=0),
        lambda a: a[0],
        lambda a: a[:, None, 1:3],
        lambda a: a[..., [4, 1]],
        lambda a: a[np.array([2, 2])],
        lambda a: a[:, np.array([3, 1]), None],
        lambda a: a.T.reshape(2, 10).sum(axis=0),
        lambda a: a.mean(axis=1),
        lambda a: a.max(axis=0),
        lambda a: (a > 0).any(axis=0),
        lambda a: (a > -9).all(),
        lambda a: a.astype(np.float32),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_formula_gives_what_it_gives_in_numpy(formula):
    expected, found = formula(X), formula(there(X))
    assert isinstance(found, OnDevice)
    found = np.asarray(found)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_sorted_places_are_found_there():
    places = np.searchsorted(there(np.array([1, 4, 7])), there(np.array([0, 4, 9])))
    assert np.asarray(places).tolist() == [0, 1, 3]


def test_what_is_not_known_is_refused_and_never_done_elsewhere():
    with pytest.raises(TypeError, match="no implementation found"):
        np.median(there(X))
    with pytest.raises(TypeError, match="arctan"):
        np.arctan(there(X))


def test_numbers_about_an_array_are_those_of_numpy():
    a = there(X)
    assert (a.shape, a.ndim, a.size, len(a), a.dtype) == ((4, 5), 2, 20, 4, np.float64)
    assert float(a[0, 0]) == X[0, 0]
    assert [np.asarray(row).tolist() for row in a] == X.tolist()
    assert np.ndim(a) == 2
    assert np.shape(a) == (4, 5)


def test_foreign_are_arrays_of_other_libraries_alone():
    pd = pytest.importorskip("pandas")
    assert is_foreign(strict.asarray(X))
    assert not any(
        map(is_foreign, [X, X[0, 0], X.tolist(), pd.DataFrame(X), pd.Series(X[0]), None])
    )


def test_what_numpy_can_read_is_read_by_numpy_and_given_back():
    torch = pytest.importorskip("torch")
    tensor = torch.asarray(X)
    assert lies_on_host(tensor)
    taken = taken_in(tensor)
    assert np.shares_memory(taken, tensor.numpy())
    assert isinstance(given_back(taken, tensor), torch.Tensor)
    assert host(tensor).tolist() == X.tolist()
    assert host("as it is") == "as it is"


def test_whole_numbers_become_double_and_complex_ones_are_refused(monkeypatch):
    monkeypatch.setattr("coterie._core.devices._foreign.lies_on_host", lambda X: False)
    assert taken_in(strict.asarray([[1, 2]])).dtype == np.float64
    assert taken_in(strict.asarray(X.astype(np.float32))).dtype == np.float32
    with pytest.raises(ValueError, match="real numbers, got complex128"):
        taken_in(strict.asarray([[1j]]))


def test_numbers_that_numpy_does_not_know_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="bfloat16 is unknown to numpy"):
        taken_in(torch.asarray(X).bfloat16())


def test_single_precision_alone_is_not_enough(monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr("coterie._core.devices._foreign.lies_on_host", lambda X: False)
    with jax.enable_x64(False), pytest.raises(ValueError, match="double precision"):
        taken_in(jax.numpy.asarray(X))


def test_without_array_api_compat_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("coterie._core.devices._foreign.lies_on_host", lambda X: False)
    monkeypatch.setitem(__import__("sys").modules, "array_api_compat", None)
    with pytest.raises(ImportError, match=r"coterie\[gpu\]"):
        taken_in(strict.asarray(X))


def test_tensors_that_want_gradients_are_read_and_given_back_without():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(taken_in(tensor), X)
    assert Moments().update(tensor, torch.tensor(X[:, 0], requires_grad=True)).n_samples_ == len(X)


def test_sparse_tensors_are_one_sentence():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="Sparse tensors are not supported"):
        NonLinCFA().fit(torch.tensor(X).to_sparse(), X[:, 0])


def test_tensors_on_the_host_need_no_other_library(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(__import__("sys").modules, "array_api_compat", None)
    assert isinstance(given_back(X, torch.tensor(X)), torch.Tensor)


def test_fields_are_for_fit():
    xarray = pytest.importorskip("xarray")
    with pytest.raises(TypeError, match="xarray object: pass it to fit"):
        moments_from(xarray.DataArray(X, dims=("time", "cell"), name="sst"), X[:, 0])
