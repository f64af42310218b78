"""Arrays of other libraries: computation on their own device, and conversion from and to them."""

from coterie._core.devices._foreign import check_on_host, given_back, host, is_foreign, taken_in
from coterie._core.devices._memory import check_room
from coterie._core.devices._on_device import OnDevice

__all__ = [
    "OnDevice",
    "check_on_host",
    "check_room",
    "given_back",
    "host",
    "is_foreign",
    "taken_in",
]
