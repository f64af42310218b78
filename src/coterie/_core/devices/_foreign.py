"""Recognise arrays of other libraries, and convert from and to them."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.devices._on_device import OnDevice, to_host

# Libraries whose arrays follow the array API standard, but may lack ``__array_namespace__``.
UNSAID = ("torch", "cupy")


# DLPack device types of host memory: CPU, and pinned memory for CUDA and ROCm.
HOSTS = (1, 3, 11)


def is_foreign(X: Any) -> bool:
    """Whether X is an array API array of a library other than NumPy."""
    if isinstance(X, np.ndarray | np.generic | list | tuple):
        return False
    says_so = hasattr(X, "__array_namespace__") and hasattr(X, "dtype")
    return says_so or type(X).__module__.partition(".")[0] in UNSAID


def host(values: Any) -> Any:
    """Values as a NumPy array if they are an array of another library; others unchanged."""
    return to_host(_detached(values)) if is_foreign(values) else values


def _detached(X: Any) -> Any:
    """The array without gradients; raise if NumPy has no such dtype or layout."""
    if str(X.dtype).endswith("bfloat16"):
        raise ValueError("bfloat16 is unknown to numpy: make it float32 first.")
    if "sparse" in str(getattr(X, "layout", "")):
        raise ValueError("Sparse tensors are not supported: pass X as a sparse array of scipy.")
    return X.detach() if hasattr(X, "detach") else X


def taken_in(X: Any) -> NDArray[Any] | OnDevice:
    """An array of another library, wrapped for computation on its device.

    An array in host memory becomes a NumPy array, without a copy.
    """
    X = _detached(X)
    if lies_on_host(X):
        return host(X)
    found = OnDevice(X, _namespace(X))
    if found.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, got {found.dtype}.")
    _check_double(found)
    is_float = found.dtype in (np.float64, np.float32)
    return found if is_float else found.astype(np.float64)


def given_back(values: Any, like: Any) -> Any:
    """Values as an array of the same library and on the same device as ``like``."""
    if isinstance(values, OnDevice):
        return values.array
    if hasattr(like, "detach"):
        # PyTorch needs no array-api-compat for this.
        return sys.modules["torch"].asarray(values, device=like.device)
    return _namespace(like).asarray(values, device=getattr(like, "device", None))


def lies_on_host(X: Any) -> bool:
    """Whether an array is in host memory, where NumPy can read it."""
    try:
        return int(X.__dlpack_device__()[0]) in HOSTS
    except (AttributeError, BufferError, RuntimeError):
        return False


def check_on_host(X: Any) -> None:
    """Raise if X is on a device, since rows are never copied to the host implicitly."""
    if is_foreign(X) and not lies_on_host(X):
        raise TypeError("X lies on a device, and its rows are needed here: pass an array of numpy.")


def _namespace(X: Any) -> Any:
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        raise ImportError(
            f"Arrays of {type(X).__module__.partition('.')[0]} need array-api-compat: "
            "pip install 'coterie[gpu]'."
        ) from error
    return array_namespace(X)


def _check_double(found: OnDevice) -> None:
    """Raise if double precision is not available, which differences of scatters need."""
    try:
        with warnings.catch_warnings():
            # JAX warns when it converts double to single precision.
            warnings.simplefilter("ignore")
            has_double = found[:1].astype(np.float64).dtype == np.float64
    except (TypeError, RuntimeError):
        has_double = False
    if not has_double:
        raise ValueError(
            "Prices need double precision, and the device of X has none or it is switched off (in "
            "JAX, jax.config.update('jax_enable_x64', True)): else pass X as an array of numpy."
        )
