"""Heat maps of features, ordered by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie.plot._canvas import DARK_COLOUR, short_label

# Up to this number of rows, features are named on both sides.
MAX_NAMED_ROWS = 30
# Groups with a smaller share of the features are not numbered.
MIN_NUMBERED_ROWS_SHARE = 0.025
# More outlines would hide what they enclose.
MAX_OUTLINES = 150


def draw_heatmap(ax: Any, values: FloatArray, edges: FloatArray, **style: Any) -> Any:
    """Draw a matrix, with the first row on top and cells between these edges."""
    mesh = ax.pcolormesh(edges, edges, values, rasterized=True, **style)
    ax.set_aspect("equal")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(edges[-1], edges[0])
    ax.tick_params(length=0)
    return mesh


def outline_groups(ax: Any, labels: IntArray, names: Sequence[str] | None) -> Any:
    """Outline groups of several members on the diagonal, and label rows where there is space.

    Parameters
    ----------
    labels : ndarray of shape (n_features,)
        In order of the rows; -1 for features that are left out, which have no outline.
    names : sequence of str or None
        In order of the rows.
    """
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    sizes = np.diff(np.append(starts, len(labels)))
    is_larger = (sizes > 1) & (labels[starts] >= 0)
    outlines = _draw_outlines(ax, starts[is_larger], sizes[is_larger])
    if names is not None and len(labels) <= MAX_NAMED_ROWS:
        texts = [short_label(name) for name in names]
        middles = np.arange(len(labels)) + 0.5
        ax.set_xticks(middles, labels=texts, fontsize="small", rotation=90)
    else:
        wide = sizes > max(1, MIN_NUMBERED_ROWS_SHARE * len(labels))
        middles = (starts + sizes / 2)[wide]
        texts = ["left out" if label < 0 else str(label) for label in labels[starts[wide]]]
        ax.set_xticks(middles, labels=texts, fontsize="small")
        ax.set(xlabel="Group", ylabel="Group")
    ax.set_yticks(middles, labels=texts, fontsize="small")
    return outlines


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
