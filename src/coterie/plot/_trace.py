"""Plot of the merges as trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.parameters import checked_must_link
from coterie.estimators import input_names_of
from coterie.plot._canvas import (
    DARK_COLOUR,
    FAINT_COLOUR,
    axes_for,
    fit_horizontally,
    group_colours,
    hide_frame,
    pyplot,
    short_label,
)
from coterie.plot._reducer import checked_reducer, signed_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to this number, leaves are named.
MAX_NAMED_LEAVES = 60
# Groups with a smaller share of the leaves are not numbered.
MIN_NUMBERED_LEAVES_SHARE = 0.015


@dataclass(frozen=True, eq=False)
class GroupGrowth:
    """The merges of one group.

    Parameters
    ----------
    label : int
        Number of the group.
    parts : list of k + 1 ndarray
        The features that opened the group, and those that joined with each merge. Features that
        were joined from the start (``initial_groups``) are one part.
    prices, allowances : ndarray of shape (k,)
    """

    label: int
    parts: list[IntArray]
    prices: FloatArray
    allowances: FloatArray

    @property
    def members(self) -> IntArray:
        """The features in the order of joining."""
        return np.concatenate(self.parts)

    @property
    def heights(self) -> FloatArray:
        """The highest price up to each merge, of shape (k,)."""
        return np.maximum.accumulate(self.prices)


@dataclass(eq=False)
class TraceDisplay:
    """Display of the merges of the largest groups.

    Parameters
    ----------
    growths : list of Growth
        One for each group that is drawn, from left to right.
    names : list of str
        One for each feature.
    colours : list of str
        One for each group, drawn or not.
    note : str, default=""
        A note on what is left out.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    branches_ : LineCollection
        One for each merge.
    prices_, allowances_ : PathCollection
        A dot for the price of each merge, and a dash for its allowance if it is finite.

    See Also
    --------
    plot_trace : Creates and draws it.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import TraceDisplay
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> shown = TraceDisplay.from_estimator(NonLinCFA().fit(X, y))
    >>> [len(growth.prices) for growth in shown.growths]
    [2, 5, 2]
    """

    growths: list[GroupGrowth]
    names: list[str]
    colours: list[str]
    note: str = ""
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, reducer: Any, *, max_groups: int = 12) -> Self:
        """Create the display from a fitted reducer; see ``plot_trace``."""
        reducer = checked_reducer(reducer)
        if not max_groups >= 1:
            raise ValueError(f"max_groups must be 1 or more, got {max_groups}.")
        growths = [growth for growth in _group_growths(reducer) if len(growth.members) > 1]
        if growths and hasattr(reducer, "tree_") and not len(reducer.trace_):
            raise ValueError(
                "trace_ has no merges: the members of each group were so alike that they were "
                "merged before any price was asked. Use plot_tree."
            )
        largest = sorted(growths, key=lambda growth: -len(growth.members))[:max_groups]
        shown = sorted(largest, key=lambda growth: growth.label)
        n_alone = reducer.n_groups_ - len(growths)
        note = _omitted_note(len(shown), len(growths), n_alone, int((reducer.labels_ < 0).sum()))
        return cls(shown, signed_names(reducer), group_colours(reducer.labels_), note)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        """
        self.ax_ = axes_for(ax, 7.6, 4.2)
        self.figure_ = self.ax_.figure
        floor = min([0.0, *(growth.prices.min() for growth in self.growths if len(growth.prices))])
        self._draw_branches(floor)
        self._draw_dots()
        self._name_leaves()
        self._number_groups(floor)
        self.ax_.set(ylabel="Price", title="Merges and what they cost")
        if self.note:
            self.ax_.set_xlabel(self.note, fontsize="small", color=DARK_COLOUR)
        hide_frame(self.ax_)
        self.ax_.spines["bottom"].set_visible(False)
        self._make_room()
        return self

    def _make_room(self) -> None:
        """Add space for the legend above the trees, and for the outer leaves."""
        if not self.growths:
            self.ax_.set_yticks([])
            return
        bottom, top = self.ax_.get_ylim()
        self.ax_.set_ylim(bottom, top + 0.12 * (top - bottom))
        self.ax_.set_xlim(-1, self._n_places)
        self.ax_.legend(
            fontsize="small", loc="upper right", ncols=2, framealpha=0.85, edgecolor="none"
        )

    @property
    def _n_places(self) -> int:
        return sum(len(growth.members) + 1 for growth in self.growths)

    def _starts(self) -> IntArray:
        """Position of the first leaf of each group, with a space between groups."""
        return np.cumsum([0, *(len(growth.members) + 1 for growth in self.growths)])[:-1]

    def _draw_branches(self, floor: float) -> None:
        from matplotlib.collections import LineCollection

        lines, colours = [], []
        for growth, start in zip(self.growths, self._starts(), strict=True):
            branches = _branches(growth, start, floor)
            lines += branches
            colours += [self.colours[growth.label]] * len(branches)
        # Thin lines, so that many branches do not hide the allowances.
        width, alpha = (1.4, 1.0) if len(lines) <= 500 else (0.4, 0.3)
        self.branches_ = LineCollection(lines, colors=colours, linewidths=width, alpha=alpha)
        self.ax_.add_collection(self.branches_)
        self.ax_.autoscale_view()
        if floor < 0:
            self.ax_.axhline(0, color=FAINT_COLOUR, linewidth=0.8, zorder=0.5)

    def _draw_dots(self) -> None:
        at = [
            _middles(growth, start)[1:]
            for growth, start in zip(self.growths, self._starts(), strict=True)
        ]
        x = np.concatenate([np.empty(0), *at])
        price = np.concatenate([np.empty(0), *(growth.prices for growth in self.growths)])
        allowance = np.concatenate([np.empty(0), *(growth.allowances for growth in self.growths)])
        finite = np.isfinite(allowance)
        self.allowances_ = self.ax_.scatter(
            x[finite],
            allowance[finite],
            marker="_",
            s=24,
            color=FAINT_COLOUR,
            linewidths=1.2,
            label="allowance",
        )
        size = 14 if len(x) <= 150 else 4
        self.prices_ = self.ax_.scatter(
            x, price, s=size, color=DARK_COLOUR, zorder=3, label="price"
        )

    def _name_leaves(self) -> None:
        members = [growth.members for growth in self.growths]
        if sum(map(len, members)) > MAX_NAMED_LEAVES or not members:
            self.ax_.set_xticks([])
            return
        starts = self._starts()
        places = [start + np.arange(len(m)) for start, m in zip(starts, members, strict=True)]
        names = [short_label(self.names[feature]) for feature in np.concatenate(members)]
        turn = 0 if fit_horizontally(self.ax_, names) else 90
        self.ax_.set_xticks(np.concatenate(places), labels=names, fontsize="small", rotation=turn)
        self.ax_.tick_params(axis="x", length=0)

    def _number_groups(self, floor: float) -> None:
        for growth, start in zip(self.growths, self._starts(), strict=True):
            if len(growth.members) < MIN_NUMBERED_LEAVES_SHARE * self._n_places:
                continue
            top = max([floor, *growth.heights])
            self.ax_.annotate(
                str(growth.label),
                (start + (len(growth.members) - 1) / 2, top),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize="small",
                fontweight="bold",
                color=DARK_COLOUR,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
            )


def _group_growths(reducer: Any) -> list[GroupGrowth]:
    """The merges of each group, from the trace."""
    unit_of = _must_link_roots(reducer)
    accepted = reducer.trace_[reducer.trace_.accepted]
    accepted = accepted[np.argsort(accepted.group, kind="stable")]
    edges = np.searchsorted(accepted.group, np.arange(1, reducer.n_groups_))
    merges: list[Any] = np.split(accepted, edges)
    return [
        GroupGrowth(
            label,
            _joined_features(members, records.candidate, unit_of),
            records.price,
            records.allowance,
        )
        for label, (members, records) in enumerate(zip(reducer.groups_, merges, strict=True))
    ]


def _must_link_roots(reducer: Any) -> IntArray:
    """For each feature, the first feature that it was joined with from the start."""
    unit_of = np.arange(len(reducer.labels_))
    initial = getattr(reducer, "estimator_", reducer).initial_groups
    must_link = checked_must_link(initial, input_names_of(reducer), reducer.fit_.aggregation)
    for unit in must_link.members if must_link else ():
        unit_of[unit] = unit[0]
    return unit_of


def _joined_features(members: IntArray, joined: IntArray, unit_of: IntArray) -> list[IntArray]:
    """The features that opened a group, and those that joined with each merge.

    If n_groups forced whole groups to merge, a candidate can occur a second time. It then stands
    for its group, and is replaced by the next feature that is not a candidate.
    """
    within = {int(unit): members[unit_of[members] == unit] for unit in unit_of[members]}
    named = unit_of[joined].tolist()
    others = [unit for unit in within if unit not in set(named)]
    n_opening = len(others) - (len(named) - len({*named}))
    later = iter(others[n_opening:])
    order, seen = [], set()
    for unit in named:
        order.append(next(later) if unit in seen else unit)
        seen.add(unit)
    opening = np.concatenate([within[unit] for unit in others[:n_opening]])
    return [opening, *(within[unit] for unit in order)]


def _middles(growth: GroupGrowth, start: int) -> FloatArray:
    """Position of the middle of each part."""
    sizes = np.array([len(part) for part in growth.parts])
    return start + np.cumsum(sizes) - (sizes + 1) / 2


def _branches(growth: GroupGrowth, start: int, floor: float) -> list[list[tuple[float, float]]]:
    """A line for each merge: up from the group, across, and down to the joined features."""
    middles, heights = _middles(growth, start).tolist(), growth.heights.tolist()
    branches = _must_link_bars(growth, start, floor)
    stem, base = middles[0], floor
    for leaf, height in zip(middles[1:], heights, strict=True):
        branches.append([(stem, base), (stem, height), (leaf, height), (leaf, floor)])
        stem, base = (stem + leaf) / 2, height
    return branches


def _must_link_bars(
    growth: GroupGrowth, start: int, floor: float
) -> list[list[tuple[float, float]]]:
    """A bar along the floor for features that were joined from the start."""
    bars, left = [], float(start)
    for part in growth.parts:
        if len(part) > 1:
            bars.append([(left, floor), (left + len(part) - 1, floor)])
        left += len(part)
    return bars


def _omitted_note(n_shown: int, n_larger: int, n_alone: int, n_left_out: int) -> str:
    """A note on what is not drawn."""
    if n_larger == 0:
        return f"No merges: every feature is alone{' or left out' if n_left_out else ''}."
    parts: Sequence[str] = [
        f"The {n_shown} largest of {n_larger} groups are shown" if n_shown < n_larger else "",
        f"{n_alone} feature{'s' * (n_alone != 1)} alone not shown" if n_alone else "",
        f"{n_left_out:,} left out" if n_left_out else "",
    ]
    note = "; ".join(part for part in parts if part)
    return f"{note}." if note else ""


def plot_trace(reducer: Any, *, max_groups: int = 12, ax: Axes | None = None) -> Axes:
    """Plot the merges as trees: which features joined a group, in what order and at what price.

    The leaves are features in the order of joining, group by group. Each merge has a dot at its
    price, on the line down to the feature that joined, and a dash at its allowance, which the dot
    never exceeds. The branch is as high as the highest price in the group so far. A later merge can
    be cheaper than an earlier one, and a price can be negative, that is a gain.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    max_groups : int, default=12
        Number of groups to show, the largest ones. Groups of one member are not shown; a note
        below the plot says what is left out.
    ax : Axes, optional
        By default a new figure is created.

    Returns
    -------
    Axes

    Notes
    -----
    Features that were joined from the start by the parameter ``groups`` have a bar at the foot of
    the tree. If ``n_groups`` forced whole groups to merge, there is no allowance, and the features
    of both groups are shown in the order of joining.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import plot_trace
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> ax = plot_trace(NonLinCFA().fit(X, y))
    >>> ax.get_ylabel()
    'Price'
    """
    pyplot()
    drawn: Axes = TraceDisplay.from_estimator(reducer, max_groups=max_groups).plot(ax).ax_
    return drawn
