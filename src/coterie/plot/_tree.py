"""Plot of the tree of likeness of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie.estimators import leaf_order
from coterie.plot._canvas import (
    DARK_COLOUR,
    FAINT_COLOUR,
    LEFT_OUT_COLOUR,
    axes_for,
    group_colours,
    group_sizes,
    hide_frame,
    pyplot,
    short_label,
    title_from_labels,
)
from coterie.plot._reducer import checked_reducer, signed_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to this number, leaves are named.
MAX_NAMED_LEAVES = 80
# Groups with a smaller share of the leaves are not numbered.
MIN_NUMBERED_SHARE = 0.012
# Distance of constants from all others, and of branches that may not merge.
NO_LIKENESS = 2.0
# Height of a named leaf in inches.
LEAF_INCHES = 0.17

# Where the axis of likeness has ticks, as far as there is room, and the room of each.
TICKS = (1, 0.99999, 0.9999, 0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0, -0.5, -1)
LEAST_BETWEEN_TICKS = 0.07


@dataclass(eq=False)
class TreeDisplay:
    """Display of the tree of likeness, with the groups of a fit.

    Parameters
    ----------
    tree : ndarray of shape (n_features - 1, 4)
        A SciPy linkage. Distances are 1 minus the mean correlation between members.
    labels : ndarray of shape (n_features,)
        The group of each feature; -1 if it is left out.
    names : list of str
        One for each feature.
    order : ndarray of shape (n_features,)
        The features in the order of the leaves.
    floor : float or None, default=None
        Correlation below which no two branches share a group, to mark; None for no mark.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    branches_ : LineCollection
        One for each merge, in the order of the linkage.

    See Also
    --------
    plot_tree : Creates and draws it.

    Examples
    --------
    >>> from coterie import Coterie
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import TreeDisplay
    >>> X, y, _ = make_groups(300, 12, 3, noise=1.0, random_state=0)
    >>> shown = TreeDisplay.from_estimator(Coterie().fit(X, y)).plot()
    >>> len(shown.branches_.get_segments())
    11
    """

    tree: FloatArray
    labels: IntArray
    names: list[str]
    order: IntArray
    floor: float | None = None
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, reducer: Any) -> Self:
        """Create the display from a fitted reducer; see ``plot_tree``."""
        reducer = checked_reducer(reducer)
        order = leaf_order(reducer)
        if order is None:
            raise TypeError(
                f"plot_tree needs a reducer with a tree_ of several features, such as Coterie, got "
                f"{type(reducer).__name__}. Use plot_trace for the merges of other reducers."
            )
        floor = getattr(reducer, "min_correlation", None)
        names = signed_names(reducer)
        return cls(reducer.tree_, reducer.labels_, names, order, floor**2 if floor else None)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        """
        is_named = len(self.labels) <= MAX_NAMED_LEAVES
        height = np.clip(1.3 + LEAF_INCHES * len(self.labels), 2.6, 15) if is_named else 6.4
        self.ax_ = axes_for(ax, 6.8, height)
        self.figure_ = self.ax_.figure
        self._colours = group_colours(self.labels[self.order])
        self._draw_branches()
        self._draw_strip()
        self._mark_floor()
        self._name_leaves(is_named)
        self.ax_.set_xlabel("Mean correlation between the members of two branches")
        self.ax_.set_title(title_from_labels(self.labels), fontsize="medium")
        hide_frame(self.ax_)
        self.ax_.spines["left"].set_visible(False)
        return self

    def _draw_branches(self) -> None:
        """Draw a bracket for each merge; the leaves are on the left at a correlation of 1."""
        from matplotlib.collections import LineCollection

        place, group = self._nodes()
        n = len(self.labels)
        first, second = self.tree[:, 0].astype(np.intp), self.tree[:, 1].astype(np.intp)
        self._low = _lowest_likeness(self.tree)
        # What has no likeness, such as constants, joins just beyond the others.
        across = np.maximum(1 - self.tree[:, 2], self._at(1.03))
        likeness = np.concatenate([np.ones(n), across])
        corners = [
            (likeness[first], place[first]),
            (across, place[first]),
            (across, place[second]),
            (likeness[second], place[second]),
        ]
        segments = np.stack([np.column_stack(corner) for corner in corners], axis=1)
        colours = [FAINT_COLOUR if one is None else self._colours[one] for one in group[n:]]
        width = 1.3 if n <= 200 else 0.5
        self.branches_ = LineCollection([*segments], colors=colours, linewidths=width)
        self.ax_.add_collection(self.branches_, autolim=False)
        self._scale_likeness()
        self.ax_.set_ylim(n - 0.5, -0.5)

    def _at(self, share: float) -> float:
        """The likeness at a share of the width, from 1 at 0 to the lowest at 1."""
        return 1 - share**3 * (1 - self._low)

    def _scale_likeness(self) -> None:
        """Give likeness near 1, where branches of spectra are, more room than likeness near 0."""
        from matplotlib.ticker import FixedLocator, FuncFormatter

        self.ax_.set_xscale(
            "function", functions=(lambda value: np.cbrt(value - 1), lambda at: 1 + at**3)
        )
        shown = [value for value in TICKS if value >= self._low - 1e-9]
        shares = [np.cbrt((1 - value) / (1 - self._low)) for value in shown]
        kept: list[int] = []
        for k, share in enumerate(shares):
            if not kept or share - shares[kept[-1]] >= LEAST_BETWEEN_TICKS:
                kept.append(k)
        self.ax_.xaxis.set_major_locator(FixedLocator([shown[k] for k in kept]))
        self.ax_.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        self.ax_.set_xlim(self._at(-0.06), self._at(1.05))

    def _nodes(self) -> tuple[FloatArray, list[int | None]]:
        """The place of each node along the leaves, and its group if all leaves share one."""
        n = len(self.labels)
        place = np.empty(2 * n - 1)
        place[self.order] = np.arange(n)
        group: list[int | None] = [*self.labels.tolist()]
        for row, (first, second) in enumerate(self.tree[:, :2].astype(np.intp).tolist()):
            place[n + row] = (place[first] + place[second]) / 2
            group.append(group[first] if group[first] == group[second] else None)
        return place, group

    def _draw_strip(self) -> None:
        """Draw the colour of each group beside its leaves, with its number where there is room."""
        from matplotlib.collections import PolyCollection

        along = self.labels[self.order]
        starts = np.flatnonzero(np.append(True, along[1:] != along[:-1]))
        stops = np.append(starts[1:], len(along))
        left, middle, right = (self._at(share) for share in (-0.06, -0.035, -0.01))
        boxes = [
            [(left, a - 0.5), (right, a - 0.5), (right, b - 0.5), (left, b - 0.5)]
            for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
        colours = [self._colours[label] for label in along[starts]]
        gap = 0.4 if len(along) <= 200 else 0.0
        strip = PolyCollection(boxes, facecolors=colours, edgecolors="white", linewidths=gap)
        self.ax_.add_collection(strip, autolim=False)
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            is_large = stop - start >= max(1, MIN_NUMBERED_SHARE * len(along))
            if along[start] >= 0 and is_large:
                self._write_number(middle, (start + stop - 1) / 2, int(along[start]))

    def _write_number(self, x: float, y: float, number: int) -> None:
        self.ax_.text(
            x,
            y,
            str(number),
            ha="center",
            va="center",
            fontsize="x-small",
            color="black",
            clip_on=True,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.6},
        )

    def _mark_floor(self) -> None:
        if self.floor is None:
            return
        self.ax_.axvline(self.floor, color=DARK_COLOUR, linestyle=":", linewidth=1)
        self.ax_.annotate(
            f"no group beyond {self.floor:.2g} ",
            (self.floor, 0),
            xycoords=("data", "axes fraction"),
            xytext=(3, 2),
            textcoords="offset points",
            fontsize="x-small",
            color=DARK_COLOUR,
            va="bottom",
            annotation_clip=True,
        )

    def _name_leaves(self, is_named: bool) -> None:
        self.ax_.tick_params(axis="y", length=0)
        if is_named:
            texts = [short_label(self.names[feature]) for feature in self.order]
            self.ax_.set_yticks(range(len(texts)), labels=texts, fontsize="x-small")
            for text, feature in zip(self.ax_.get_yticklabels(), self.order, strict=True):
                text.set_color(FAINT_COLOUR if self.labels[feature] < 0 else "black")
            return
        self.ax_.set_yticks([])
        self._add_legend()

    def _add_legend(self) -> None:
        """The largest groups by number and size, and what is left out."""
        from matplotlib.patches import Patch

        sizes = group_sizes(self.labels)
        largest = np.argsort(-sizes, kind="stable")[:12]
        entries = [
            Patch(color=self._colours[group], label=f"{group} ({sizes[group]:,})")
            for group in np.sort(largest)
        ]
        n_left_out = int((self.labels < 0).sum())
        if n_left_out:
            entries.append(Patch(color=LEFT_OUT_COLOUR, label=f"left out ({n_left_out:,})"))
        self.ax_.legend(
            handles=entries,
            title="Group (size)" if len(sizes) <= 12 else "Largest groups (size)",
            fontsize="x-small",
            title_fontsize="x-small",
            loc="upper left",
            bbox_to_anchor=(1, 1),
            frameon=False,
        )


def _lowest_likeness(tree: FloatArray) -> float:
    """Where the axis of likeness ends."""
    known = tree[tree[:, 2] < NO_LIKENESS, 2]
    lowest = 1 - float(known.max()) if len(known) else 0.0
    return min(lowest, 0.999)


def plot_tree(reducer: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the tree of likeness of a fitted Coterie: which features are alike, and the groups.

    Leaves are features, at a correlation of 1. Branches join where the mean correlation between
    their members is read below. Branches within a group have its colour, and its number is beside
    its leaves. What is left out is light grey. The dotted line is the square of
    ``min_correlation``: branches that join beyond it never share a group.

    Parameters
    ----------
    reducer : Coterie
        Fitted.
    ax : Axes, optional
        By default a new figure is created.

    Returns
    -------
    Axes

    Notes
    -----
    Up to 80 features are named. More have a legend of the largest groups instead.

    A group can be smaller than its branch: the target can need features apart that are alike.

    Examples
    --------
    >>> from coterie import Coterie
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import plot_tree
    >>> X, y, _ = make_groups(300, 12, 3, noise=1.0, random_state=0)
    >>> ax = plot_tree(Coterie().fit(X, y))
    >>> ax.get_xlabel()
    'Mean correlation between the members of two branches'
    """
    pyplot()
    drawn: Axes = TreeDisplay.from_estimator(reducer).plot(ax).ax_
    return drawn
