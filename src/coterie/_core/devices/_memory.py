"""Whether there is room on a device."""

from __future__ import annotations

import sys
from typing import Any

from coterie._core.devices._on_device import OnDevice


def check_room(like: OnDevice, needed: int, what: str) -> None:
    """Raise where a device tells that it has less room than is needed.

    Parameters
    ----------
    like : OnDevice
        Something that lies there.
    needed : int
        Bytes.
    what : str
        What they are needed for.
    """
    free = _free_bytes(like.array)
    if free is not None and needed > free:
        raise ValueError(
            f"{what} take {needed / 1e9:.1f} GB on {like.device}, where {free / 1e9:.1f} GB are "
            "free: use fewer features or folds, or pass X as an array of numpy."
        )


def _free_bytes(array: Any) -> int | None:
    """Bytes that are free where an array lies, as far as its library tells."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch" and array.is_cuda:
        torch = sys.modules["torch"]
        free, _ = torch.cuda.mem_get_info(array.device)
        # What the library keeps for itself is free for it.
        kept = torch.cuda.memory_reserved(array.device) - torch.cuda.memory_allocated(array.device)
        return int(free + kept)
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with array.device:
            free, _ = cupy.cuda.runtime.memGetInfo()
            return int(free + cupy.get_default_memory_pool().free_bytes())
    return None
