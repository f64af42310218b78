"""Numba's compiler for GPUs, imported such that it works beside NumPy 2.5, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

import numpy as np

__all__ = ["config", "cuda"]


@contextmanager
def _with_row_stack() -> Iterator[None]:
    """NumPy with row_stack for a moment.

    NumPy 2.5 removed this second name of vstack, and numba-cuda up to 0.30.4 says what both mean
    to its compiler when it is imported.
    """
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":
        yield
        return
    vars(np)["row_stack"] = np.vstack
    try:
        yield
    finally:
        del vars(np)["row_stack"]


with _with_row_stack():
    from numba import config, cuda

    if not config.ENABLE_CUDASIM and find_spec("numba_cuda") is not None:
        # Where row_stack is named; otherwise it is imported with the first kernel.
        import_module("numba.cuda.np.arrayobj")
