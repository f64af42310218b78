"""Which arrays are of another library, and how they come in and go out."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._core.devices._on_device import OnDevice, to_host

# Arrays that follow the array API standard but do not say so themselves.
UNSAID = ("torch", "cupy")


# What DLPack calls memory of the host: plain, and pinned for CUDA or ROCm.
HOSTS = (1, 3, 11)


def is_foreign(X: Any) -> bool:
    """Whether X is an array of another library than numpy that follows the array API standard."""
    if isinstance(X, np.ndarray | np.generic | list | tuple):
        return False
    says_so = hasattr(X, "__array_namespace__") and hasattr(X, "dtype")
    return says_so or type(X).__module__.partition(".")[0] in UNSAID


def host(values: Any) -> Any:
    """Values as an array of numpy if they are of another library; others as they are."""
    return to_host(_detached(values)) if is_foreign(values) else values


def _detached(X: Any) -> Any:
    """An array of numbers that numpy knows, without what gradients would need."""
    if str(X.dtype).endswith("bfloat16"):
        raise ValueError("bfloat16 is unknown to numpy: make it float32 first.")
    if "sparse" in str(getattr(X, "layout", "")):
        raise ValueError("Sparse tensors are not supported: pass X as a sparse array of scipy.")
    return X.detach() if hasattr(X, "detach") else X


def taken_in(X: Any) -> NDArray[Any] | OnDevice:
    """An array of another library, to be computed with where it lies.

    Where that is the memory of the host, as an array of numpy, which costs nothing.
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
    """Values as an array of the library that X comes from, where X lies."""
    if isinstance(values, OnDevice):
        return values.array
    if hasattr(like, "detach"):
        # Needs no more than the library itself, as numpy reads its arrays.
        return sys.modules["torch"].asarray(values, device=like.device)
    return _namespace(like).asarray(values, device=getattr(like, "device", None))


def lies_on_host(X: Any) -> bool:
    """Whether an array lies where numpy can read it."""
    try:
        return int(X.__dlpack_device__()[0]) in HOSTS
    except (AttributeError, BufferError, RuntimeError):
        return False


def check_on_host(X: Any) -> None:
    """Raise where X lies on a device, from which nothing is fetched unasked."""
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
    """Raise where there is no double precision: differences of scatters need it."""
    try:
        with warnings.catch_warnings():
            # JAX warns that it makes single precision of double.
            warnings.simplefilter("ignore")
            has_double = found[:1].astype(np.float64).dtype == np.float64
    except (TypeError, RuntimeError):
        has_double = False
    if not has_double:
        raise ValueError(
            "Prices need double precision, and the device of X has none or it is switched off (in "
            "JAX, jax.config.update('jax_enable_x64', True)): else pass X as an array of numpy."
        )
