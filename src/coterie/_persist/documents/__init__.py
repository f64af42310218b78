"""Fitted reducers as plain values, for JSON and for pickle."""

from coterie._persist.documents._documents import (
    FORMAT,
    VERSION,
    document_of,
    fit_in,
    restore_settings,
)
from coterie._persist.documents._functions import checked_functions
from coterie._persist.documents._joint import joint_in
from coterie._persist.documents._parameters import unfitted_in
from coterie._persist.documents._state import plain_state, state_again
from coterie._persist.documents._upgrade import upgraded

__all__ = [
    "FORMAT",
    "VERSION",
    "checked_functions",
    "document_of",
    "fit_in",
    "joint_in",
    "plain_state",
    "restore_settings",
    "state_again",
    "unfitted_in",
    "upgraded",
]
