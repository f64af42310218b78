"""What Coterie knows besides its groups, as plain values, and back."""

from __future__ import annotations

from typing import Any

from coterie._persist.files import Entry, NotPlainError, plain_value, value_in

# What it consists of, by the names of the reducer's own attributes.
PARTS = {"model": "_model", "held_out": "_held_out"}


def plain_joint(reducer: Any) -> dict[str, Any]:
    """The task of a fitted Coterie, the path that every number of groups follows from, and scores.

    ``path_`` must have been asked for: what held-out rows say is computed then.
    """
    own = vars(reducer)
    parts = {name: plain_value(own[place], _plain_dict) for name, place in PARTS.items()}
    return {"task": reducer.task_, **parts}


def joint_in(entry: Entry) -> tuple[str, dict[str, Any]]:
    """The task, and the path and what held-out rows say of it as dicts of arrays."""
    parts = {name: value_in(entry[name], {"dict": _dict_in}) for name in PARTS}
    for name, part in parts.items():
        if not isinstance(part, dict):
            raise entry[name].wrong("the path of a Coterie")
    return entry["task"].text(), parts


def _plain_dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotPlainError(type(value).__name__)
    items = {name: plain_value(one, _plain_dict) for name, one in value.items()}
    return {"is": "dict", "items": items}


def _dict_in(entry: Entry) -> dict[str, Any]:
    items = entry["items"]
    return {name: value_in(items[name], {"dict": _dict_in}) for name in items.names()}
