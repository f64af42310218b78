"""Where pictures are drawn: matplotlib, once it is needed, and what all pictures share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.values import BoolArray, IntArray

# Okabe and Ito's colours, which colour-blind readers can tell apart.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
SINGLE_COLOUR = "#c4c4c4"
DARK_COLOUR = "#333333"
FAINT_COLOUR = "#9a9a9a"
# Names longer than this lose their middle.
MAX_LABEL_LENGTH = 24
# Width of a letter of small text, space between names included, in inches.
SMALL_LETTER_INCHES = 0.09


def pyplot() -> Any:
    """The pyplot of matplotlib, imported when something is to be drawn and not before."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('Plots need an extra: pip install "coterie[plot]".') from None
    return plt


def axes_for(ax: Any, width: float = 6.4, height: float = 4.0) -> Any:
    """The axes to draw into: those given, or those of a new figure of some size in inches."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not hasattr(ax, "add_collection"):
        raise TypeError(f"ax must be one Axes of matplotlib, got {type(ax).__name__}.")
    return ax


def short_label(name: object) -> str:
    """A name as matplotlib shows it: short, and a dollar is a dollar and not mathematics."""
    text = " ".join(str(name).split())
    if len(text) > MAX_LABEL_LENGTH:
        half = MAX_LABEL_LENGTH // 2 - 1
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def fit_horizontally(ax: Any, names: Sequence[str]) -> bool:
    """Whether small names have room below the axes without being turned."""
    inches = ax.bbox.width / ax.figure.dpi
    return max(map(len, names)) * len(names) * SMALL_LETTER_INCHES < inches


def has_several_members(labels: IntArray) -> BoolArray:
    """Which groups have more than one member, of shape (n_groups,)."""
    return np.bincount(labels) > 1


def group_colours(labels: IntArray, neighbours: IntArray | None = None) -> list[str]:
    """A colour for each group, grey for groups of one; neighbours differ.

    Parameters
    ----------
    labels : ndarray of shape (n_features,)
    neighbours : ndarray of shape (n, 2), optional
        Pairs of features that touch. Without them, features next to each other in the table,
        those that are alone left out.

    Notes
    -----
    A group gets a colour that none of its neighbours has, of those the least used. Groups with
    more neighbours than there are colours come first; only among these may colours meet.
    """
    is_larger = has_several_members(labels)
    if neighbours is None:
        along = labels[is_larger[labels]]
        touching = np.column_stack([along[:-1], along[1:]])
    else:
        touching = labels[neighbours]
    beside: list[set[int]] = [set() for _ in is_larger]
    for a, b in np.unique(touching, axis=0).tolist():
        if a != b and is_larger[a] and is_larger[b]:
            beside[a].add(b)
            beside[b].add(a)
    larger = sorted(np.flatnonzero(is_larger).tolist(), key=lambda g: len(beside[g]) < len(PALETTE))
    return _assign_colours(beside, larger)


def _assign_colours(beside: list[set[int]], order: list[int]) -> list[str]:
    colours = [SINGLE_COLOUR] * len(beside)
    used: Counter[str] = Counter()
    for group in order:
        taken = Counter(colours[other] for other in beside[group])
        colours[group] = min(PALETTE, key=lambda colour: (taken[colour], used[colour]))
        used[colours[group]] += 1
    return colours


def groups_title(n_groups: int, n_features: int, n_alone: int) -> str:
    """How many groups there are, as a title."""
    groups = "1 group" if n_groups == 1 else f"{n_groups:,} groups"
    alone = f", {n_alone:,} of them alone (grey)" if n_alone else ""
    return f"{n_features:,} features in {groups}{alone}"


def title_from_labels(labels: IntArray) -> str:
    """How many groups these are, as a title."""
    is_larger = has_several_members(labels)
    return groups_title(len(is_larger), len(labels), int((~is_larger).sum()))


def hide_frame(ax: Any) -> None:
    """Take away the frame but for its left and lower side."""
    ax.spines[["top", "right"]].set_visible(False)
