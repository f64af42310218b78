"""The groups of a fitted reducer as an HTML table, for notebooks."""

from __future__ import annotations

from typing import Any

from coterie._core.fit import groups_html


def groups_shown(reducer: Any) -> str:
    """The largest groups as an HTML table: number, aggregate, size and highest price paid.

    An empty string for a reducer that is not fitted.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> groups_shown(NonLinCFA())
    ''
    >>> groups_shown(NonLinCFA().fit(X, y)).count("<tr>")
    4
    """
    try:
        names = reducer.get_feature_names_out()
    except (AttributeError, ValueError, IndexError):
        # Not fitted, or the last fit failed: scikit-learn's diagram is still shown.
        return ""
    return groups_html(names, reducer.groups_, reducer.trace_)
