"""Heat maps of features, ordered by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie.plot._canvas import DARK_COLOUR, short_label

# Up to this number of rows, features are named on both sides.
MAX_NAMED_ROWS = 80
# Height of a line of small text.
LINE_INCHES = 0.115
# Groups with a smaller share of the features are not numbered.
MIN_NUMBERED_ROWS_SHARE = 0.025
# More outlines would hide what they enclose.
MAX_OUTLINES = 150


def heatmap_inches(n_features: int) -> float:
    """Height of a new figure for a heat map: more if many features are named."""
    return 4.8 if n_features > MAX_NAMED_ROWS else max(4.8, 2.6 + LINE_INCHES * n_features)


def draw_heatmap(ax: Any, values: FloatArray, edges: FloatArray, **style: Any) -> Any:
    """Draw a matrix, with the first row on top and cells between these edges."""
    mesh = ax.pcolormesh(edges, edges, values, rasterized=True, **style)
    ax.set_aspect("equal")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(edges[-1], edges[0])
    ax.tick_params(length=0)
    return mesh


def outline_groups(
    ax: Any, labels: IntArray, names: Sequence[str] | None, end: float | None = None
) -> Any:
    """Outline groups of several members on the diagonal, and label rows where there is space.

    Parameters
    ----------
    labels : ndarray of shape (n_features,)
        In order of the rows; -1 for features that are left out, which have no outline.
    names : sequence of str or None
        In order of the rows.
    end : float, optional
        Where the last row ends, if what is left out is narrower than one for each feature.
    """
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    stops = np.append(starts[1:], len(labels) if end is None else end)
    sizes = stops - starts
    is_rest = labels[starts] < 0
    is_larger = (sizes > 1) & ~is_rest
    outlines = _draw_outlines(ax, starts[is_larger], sizes[is_larger])
    for start in starts[is_rest]:
        ax.axhline(start, color=DARK_COLOUR, linewidth=0.9, linestyle=":")
        ax.axvline(start, color=DARK_COLOUR, linewidth=0.9, linestyle=":")
    if names is not None and len(labels) <= MAX_NAMED_ROWS and stops[-1] == len(labels):
        _name_rows(ax, names)
        return outlines
    wide = sizes > max(1, MIN_NUMBERED_ROWS_SHARE * stops[-1])
    middles = (starts + sizes / 2)[wide]
    texts = ["left out" if label < 0 else str(label) for label in labels[starts[wide]]]
    ax.set_xticks(middles, labels=texts, fontsize="small")
    ax.set_yticks(middles, labels=texts, fontsize="small")
    ax.set(xlabel="Group", ylabel="Group")
    return outlines


def _name_rows(ax: Any, names: Sequence[str]) -> None:
    """Name rows and columns, or every second, third, ... if they would overlap."""
    inches = ax.get_position().height * ax.figure.get_figheight()
    step = max(1, round(LINE_INCHES * len(names) / inches))
    middles = np.arange(0, len(names), step) + 0.5
    texts = [short_label(name) for name in names[::step]]
    size = "small" if len(names) <= 30 else "x-small"
    ax.set_xticks(middles, labels=texts, fontsize=size, rotation=90)
    ax.set_yticks(middles, labels=texts, fontsize=size)


def _draw_outlines(ax: Any, starts: IntArray, sizes: IntArray) -> Any:
    from matplotlib.collections import PolyCollection

    if len(starts) > MAX_OUTLINES:
        starts, sizes = starts[:0], sizes[:0]
    squares = [
        [(a, a), (a + n, a), (a + n, a + n), (a, a + n)]
        for a, n in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    outlines = PolyCollection(squares, facecolors="none", edgecolors=DARK_COLOUR, linewidths=0.9)
    return ax.add_collection(outlines, autolim=False)


def add_colorbar(mesh: Any, ax: Any, label: str) -> Any:
    """Add a colour bar for a heat map."""
    bar = ax.figure.colorbar(mesh, ax=ax, label=label, shrink=0.85)
    bar.outline.set_visible(False)
    return bar
