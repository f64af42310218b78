"""What Coterie knows besides its groups, as plain values, and back."""

from __future__ import annotations

from typing import Any

from coterie._persist.files import Entry, NotPlainError, plain_value, value_in


def plain_joint(reducer: Any) -> dict[str, Any]:
    """The task of a fitted Coterie, and the path that every number of groups follows from."""
    return {"task": reducer.task_, "model": plain_value(vars(reducer)["_model"], _plain_dict)}


def joint_in(entry: Entry) -> tuple[str, dict[str, Any]]:
    """The task, and the path as a dict of arrays."""
    model = value_in(entry["model"], {"dict": _dict_in})
    if not isinstance(model, dict):
        raise entry["model"].wrong("the path of a Coterie")
    return entry["task"].text(), model


def _plain_dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotPlainError(type(value).__name__)
    items = {name: plain_value(one, _plain_dict) for name, one in value.items()}
    return {"is": "dict", "items": items}


def _dict_in(entry: Entry) -> dict[str, Any]:
    items = entry["items"]
    return {name: value_in(items[name], {"dict": _dict_in}) for name in items.names()}
