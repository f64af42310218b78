"""Axes, colours, labels and titles that all plots share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.values import BoolArray, IntArray

# The colours of Okabe and Ito, which colour-blind readers can distinguish.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
SINGLE_COLOUR = "#8f8f8f"
LEFT_OUT_COLOUR = "#dedede"
DARK_COLOUR = "#333333"
FAINT_COLOUR = "#9a9a9a"
# Longer names are cut in the middle.
MAX_LABEL_LENGTH = 24
# Width of a letter of small text, including the space between names.
SMALL_LETTER_INCHES = 0.09


def pyplot() -> Any:
    """Import matplotlib.pyplot, only when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('Plots need an extra: pip install "coterie[plot]".') from None
    return plt


def axes_for(ax: Any, width: float = 6.4, height: float = 4.0) -> Any:
    """The given axes, or those of a new figure of this size in inches."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not hasattr(ax, "add_collection"):
        raise TypeError(f"ax must be a matplotlib Axes, got {type(ax).__name__}.")
    return ax


def short_label(name: object, length: int = MAX_LABEL_LENGTH) -> str:
    """A short label for a name, in which a dollar sign does not start math text."""
    text = " ".join(str(name).split())
    if len(text) > length:
        half = length // 2 - 1
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def fit_horizontally(ax: Any, names: Sequence[str]) -> bool:
    """Whether small labels fit below the axes without rotation."""
    inches = ax.bbox.width / ax.figure.dpi
    return max(map(len, names)) * len(names) * SMALL_LETTER_INCHES < inches


def group_sizes(labels: IntArray) -> IntArray:
    """Number of members of each group, of shape (n_groups,); -1 marks what is left out."""
    return np.bincount(labels[labels >= 0])


def has_several_members(labels: IntArray) -> BoolArray:
    """Mask of groups with more than one member, of shape (n_groups,)."""
    return group_sizes(labels) > 1


def group_colours(labels: IntArray, neighbours: IntArray | None = None) -> list[str]:
    """A colour for each group, grey for groups of one member; neighbours differ.

    There is one colour more than groups, at the end: that of features with label -1, which are
    left out.

    Parameters
    ----------
    labels : ndarray of shape (n_features,)
    neighbours : ndarray of shape (n, 2), optional
        Pairs of neighbouring features. By default features next to each other in the table,
        without those in groups of one member.

    Notes
    -----
    A group gets the least used of the colours that none of its neighbours has. Groups with more
    neighbours than there are colours come first; only among these can neighbours share a colour.
    """
    # Label -1 is the last place.
    is_larger = np.append(has_several_members(labels), False)
    if neighbours is None:
        along = labels[is_larger[labels]]
        touching = np.column_stack([along[:-1], along[1:]])
    else:
        touching = labels[neighbours]
    neighbours_of: list[set[int]] = [set() for _ in is_larger]
    for a, b in np.unique(touching, axis=0).tolist():
        if a != b and is_larger[a] and is_larger[b]:
            neighbours_of[a].add(b)
            neighbours_of[b].add(a)
    larger = sorted(
        np.flatnonzero(is_larger).tolist(), key=lambda g: len(neighbours_of[g]) < len(PALETTE)
    )
    return _assign_colours(neighbours_of, larger)


def _assign_colours(neighbours_of: list[set[int]], order: list[int]) -> list[str]:
    colours = [SINGLE_COLOUR] * (len(neighbours_of) - 1) + [LEFT_OUT_COLOUR]
    used: Counter[str] = Counter()
    for group in order:
        taken = Counter(colours[other] for other in neighbours_of[group])
        colours[group] = min(PALETTE, key=lambda colour: (taken[colour], used[colour]))
        used[colours[group]] += 1
    return colours


def title_from_labels(labels: IntArray) -> str:
    """A title with the numbers of features and groups, and of features that are left out."""
    is_larger = has_several_members(labels)
    n_groups, n_alone = len(is_larger), int((~is_larger).sum())
    n_left_out = int((labels < 0).sum())
    groups = "1 group" if n_groups == 1 else f"{n_groups:,} groups"
    alone = f", {n_alone:,} of them alone (grey)" if n_alone else ""
    left_out = f", {n_left_out:,} left out (light)" if n_left_out else ""
    return f"{len(labels):,} features in {groups}{alone}{left_out}"


def hide_frame(ax: Any) -> None:
    """Hide the top and right sides of the frame."""
    ax.spines[["top", "right"]].set_visible(False)
