"""Check of the free memory on a device."""

from __future__ import annotations

import sys
from typing import Any

from coterie._core.devices._on_device import OnDevice


def check_room(like: OnDevice, needed: int, what: str) -> None:
    """Raise if a device reports less free memory than is needed.

    Parameters
    ----------
    like : OnDevice
        An array on the device.
    needed : int
        Number of bytes.
    what : str
        What the memory is needed for, as the start of the error message.
    """
    free = _free_bytes(like.array)
    if free is not None and needed > free:
        raise ValueError(
            f"{what} take {needed / 1e9:.1f} GB on {like.device}, where {free / 1e9:.1f} GB are "
            "free: use fewer features or folds, or pass X as an array of numpy."
        )


def _free_bytes(array: Any) -> int | None:
    """Free bytes on the device of an array; None if its library does not report them."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch" and array.is_cuda:
        torch = sys.modules["torch"]
        free, _ = torch.cuda.mem_get_info(array.device)
        # Memory that PyTorch has reserved but not allocated can be used too.
        kept = torch.cuda.memory_reserved(array.device) - torch.cuda.memory_allocated(array.device)
        return int(free + kept)
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with array.device:
            free, _ = cupy.cuda.runtime.memGetInfo()
            return int(free + cupy.get_default_memory_pool().free_bytes())
    return None
