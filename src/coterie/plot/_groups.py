"""Plot of the groups along the features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.name_coordinates import axis_from_names
from coterie.estimators import input_names_of
from coterie.plot._canvas import (
    DARK_COLOUR,
    axes_for,
    fit_horizontally,
    group_colours,
    group_sizes,
    has_several_members,
    hide_frame,
    pyplot,
    short_label,
    title_from_labels,
)
from coterie.plot._reducer import (
    checked_positions,
    checked_reducer,
    input_columns,
    signed_names,
)
from coterie.report.inspection import StandardisedColumns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to this number, features are named.
MAX_NAMED_FEATURES = 40
# Up to this number, all lanes are numbered.
MAX_NUMBERED_LANES = 20
# With standard deviations further apart than this factor, features do not share a scale.
SAME_UNITS = 100
# Width of a digit, as a share of the axis.
DIGIT_WIDTH = 0.011


class Run(NamedTuple):
    """Adjacent features of one group, from the left edge to the right."""

    label: int
    left: float
    right: float


@dataclass(eq=False)
class GroupsDisplay:
    """Display of the groups along the features.

    Parameters
    ----------
    labels : ndarray of shape (n_features,)
        The group of each feature; -1 if it is left out.
    names : list of str
        One for each feature.
    positions : ndarray of shape (n_features,) or None, default=None
        Positions of the features; None to draw features by name.
    means : ndarray of shape (n_features,) or None, default=None
        The mean of each feature over the rows.
    axis : str, default="Feature"
        Label of the positions.
    unit : str, default=""
        Unit of the means.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    bands_ : PolyCollection or BarContainer
        The bands of the groups, or a bar for each feature.
    line_ : Line2D or None
        The means, if they are drawn as a line.

    See Also
    --------
    plot_groups : Creates and draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plot import GroupsDisplay
    >>> shown = GroupsDisplay(np.array([0, 0, 1]), ["a", "b", "c"]).plot()
    >>> shown.ax_.get_title()
    '3 features in 2 groups, 1 of them alone (grey)'
    """

    labels: IntArray
    names: list[str]
    positions: FloatArray | None = None
    means: FloatArray | None = None
    axis: str = "Feature"
    unit: str = ""
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, reducer: Any, X: Any = None, positions: Any = None) -> Self:
        """Create the display from a fitted reducer; see ``plot_groups``."""
        reducer = checked_reducer(reducer)
        names, labels = signed_names(reducer), reducer.labels_
        places, axis = _feature_positions(reducer, positions, len(labels))
        if X is None:
            return cls(labels, names, places, None, axis)
        return cls(labels, names, places, *_column_means(input_columns(reducer, X), axis))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        """
        n_lanes = has_several_members(self.labels).sum() + 2
        # Names of features are slanted and need room.
        room = 2.2 if self.positions is None else 1.2
        height = np.clip(room + 0.22 * n_lanes, 2.4, 5) if self.means is None else 3.6
        self.ax_ = axes_for(ax, 7.2, height)
        self.figure_ = self.ax_.figure
        self.line_: Any = None
        self._colours = group_colours(self._along)
        if self.means is None:
            self._draw_lanes()
        elif self.positions is None:
            self._draw_bars(self.means)
        else:
            self._draw_spectrum(self.means, self.positions)
        self.ax_.set_title(title_from_labels(self.labels))
        return self

    @property
    def _order(self) -> IntArray:
        """The features from left to right."""
        if self.positions is None:
            return np.arange(len(self.labels))
        return np.argsort(self.positions, kind="stable")

    @property
    def _along(self) -> IntArray:
        return self.labels[self._order]

    def _runs(self) -> list[Run]:
        """Runs of adjacent features of one group, from left to right."""
        given = np.arange(len(self.labels)) if self.positions is None else self.positions
        places, labels = np.sort(given), self._along
        middles = (places[1:] + places[:-1]) / 2
        reach = np.diff(places).mean() / 2 if len(places) > 1 else 0.5
        edges = np.concatenate([[places[0] - reach], middles, [places[-1] + reach]])
        starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
        ends = np.append(starts[1:], len(labels))
        return [Run(int(labels[a]), edges[a], edges[b]) for a, b in zip(starts, ends, strict=True)]

    def _draw_lanes(self) -> None:
        """Draw a lane for each group, one for groups of one member, one for what is left out."""
        is_larger = has_several_members(self.labels)
        larger, runs = np.flatnonzero(is_larger), self._runs()
        lane_of = np.full(len(is_larger) + 1, len(larger))
        lane_of[larger] = np.arange(len(larger))
        others = ["alone"] * (not is_larger.all())
        if (self.labels < 0).any():
            # Label -1 is the last place.
            lane_of[-1] = len(larger) + len(others)
            others.append("left out")
        boxes = [(run, lane_of[run.label] - 0.42, lane_of[run.label] + 0.42) for run in runs]
        self.bands_ = self._draw_bands(boxes, edgecolor="face", linewidth=0.4)
        self.ax_.set_ylim(len(larger) + len(others) - 0.3, -0.7)
        self._name_lanes(larger, others)
        self._name_features(runs)

    def _name_lanes(self, larger: IntArray, others: list[str]) -> None:
        step = max(1, -(-len(larger) // MAX_NUMBERED_LANES))
        lanes = [*range(0, len(larger), step)]
        sizes = group_sizes(self.labels)
        texts = [f"{larger[lane]} ({sizes[larger[lane]]})" for lane in lanes]
        # The last number would overlap the label below it.
        if step > 1:
            lanes, texts = lanes[:-1], texts[:-1]
        below = range(len(larger), len(larger) + len(others))
        self.ax_.set_yticks([*lanes, *below], labels=[*texts, *others], fontsize="small")
        self.ax_.set_ylabel("Group (and its size)")
        self.ax_.spines[["top", "right", "left"]].set_visible(False)
        self.ax_.tick_params(axis="y", length=0)

    def _draw_bars(self, means: FloatArray) -> None:
        """Draw the mean of each feature as a bar, with the number of its group."""
        colours = [self._colours[label] for label in self.labels]
        self.bands_ = self.ax_.bar(np.arange(len(means)), means, color=colours, width=0.8)
        is_larger = np.append(has_several_members(self.labels), False)
        numbers = [str(label) if is_larger[label] else "" for label in self.labels]
        self.ax_.bar_label(self.bands_, numbers, fontsize="small", color=DARK_COLOUR, padding=2)
        self.ax_.axhline(0, color=DARK_COLOUR, linewidth=0.8)
        self.ax_.margins(y=0.12)
        self.ax_.set_ylabel(f"Mean ({self.unit})" if self.unit else "Mean")
        hide_frame(self.ax_)
        self._name_features(self._runs())

    def _draw_spectrum(self, means: FloatArray, positions: FloatArray) -> None:
        """Draw the means as a line, in front of a band for each group."""
        runs = self._runs()
        upright = self.ax_.get_xaxis_transform()
        boxes = [(run, 0.0, 1.0) for run in runs]
        self.bands_ = self._draw_bands(boxes, transform=upright, alpha=0.55, linewidth=0)
        order = self._order
        width = 1.5 if len(order) <= 1000 else 0.7
        (self.line_,) = self.ax_.plot(
            positions[order], means[order], color=DARK_COLOUR, linewidth=width
        )
        self._number_bands(runs, upright)
        self.ax_.set_ylabel(f"Mean ({self.unit})" if self.unit else "Mean")
        self.ax_.margins(y=0.12)
        hide_frame(self.ax_)
        self._name_features(runs)

    def _draw_bands(self, boxes: list[tuple[Run, float, float]], **style: Any) -> Any:
        from matplotlib.collections import PolyCollection

        corners = [
            [(run.left, low), (run.right, low), (run.right, high), (run.left, high)]
            for run, low, high in boxes
        ]
        colours = [self._colours[run.label] for run, _, _ in boxes]
        bands = PolyCollection(corners, facecolors=colours, zorder=0.5, **style)
        return self.ax_.add_collection(bands, autolim=False)

    def _number_bands(self, runs: list[Run], transform: Any) -> None:
        whole = runs[-1].right - runs[0].left
        is_larger = np.append(has_several_members(self.labels), False)
        for run in runs:
            room = DIGIT_WIDTH * (len(str(run.label)) + 0.5) * whole
            if is_larger[run.label] and run.right - run.left > room:
                self.ax_.text(
                    (run.left + run.right) / 2,
                    0.985,
                    str(run.label),
                    transform=transform,
                    ha="center",
                    va="top",
                    fontsize="small",
                    color=DARK_COLOUR,
                )

    def _name_features(self, runs: list[Run]) -> None:
        ends = (runs[0].left, runs[-1].right)
        falling = self.positions is not None and self.positions[0] > self.positions[-1]
        self.ax_.set_xlim(ends[::-1] if falling else ends)
        if self.positions is not None:
            self.ax_.set_xlabel(self.axis)
            return
        names = [short_label(name) for name in self.names]
        slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        style = {} if fit_horizontally(self.ax_, names) else slanted
        self.ax_.set_xticks(range(len(names)), labels=names, fontsize="small", **style)


def _feature_positions(
    reducer: Any, positions: Any, n_inputs: int
) -> tuple[FloatArray | None, str]:
    """Positions of the features, given or from their names, and the label of the axis."""
    if positions is not None:
        return checked_positions(positions, n_inputs), "Position"
    names = [str(name) for name in input_names_of(reducer)]
    axis = None if reducer.fit_.features.names is None else axis_from_names(names, min_names=2)
    # Few features are drawn by name, unless the names are only numbers.
    if n_inputs <= MAX_NAMED_FEATURES and (axis is None or axis.name):
        return None, "Feature"
    if axis is None:
        return np.arange(n_inputs, dtype=np.float64), "Feature"
    return axis.positions, axis.name or "Feature"


def _column_means(columns: Any, axis: str) -> tuple[FloatArray, str, str]:
    """The mean of each column, the axis, and the unit: standard deviations if units differ."""
    standardised = StandardisedColumns.of(columns)
    means, spread = standardised.mean, standardised.spread
    varying = spread[np.isfinite(spread)]
    if not len(varying) or varying.max() <= SAME_UNITS * varying.min():
        return means, axis, ""
    return means / spread, axis, "standard deviations"


def plot_groups(
    reducer: Any, X: Any = None, positions: Any = None, *, ax: Axes | None = None
) -> Axes:
    """Plot which features are in the same group, along the features.

    Without X, each group is a lane with its number (as in ``labels_``), coloured at its members;
    all groups of one member share a lane, in grey, and so do features that are left out, in light
    grey. With X, a line shows the mean of each
    feature, in front of bands in the colours of the groups, which are numbered where there is
    space; features without positions are drawn as bars. Adjacent groups have different colours. If
    there are many groups, colours are used several times.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Data with the features of the fit, to show the mean of each feature.
    positions : array-like of shape (n_features,), optional
        Positions of the features, such as wavelengths. By default the numbers in the names, if
        they are monotonic: names that are numbers, such as "850.5", and for more than 40 features
        also names such as "nm_850". Otherwise up to 40 features are shown by name, and more by
        their index.
    ax : Axes, optional
        By default a new figure is created.

    Returns
    -------
    Axes

    Notes
    -----
    If the standard deviations of the features differ by more than a factor of 100, as with mixed
    units, means are drawn in standard deviations of their feature.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import load_tecator
    >>> from coterie.plot import plot_groups
    >>> X, y = load_tecator(return_X_y=True)
    >>> ax = plot_groups(NonLinCFA().fit(X, y), X, positions=range(850, 1050, 2))
    >>> ax.get_title()
    '100 features in 17 groups, 10 of them alone (grey)'
    """
    pyplot()
    drawn: Axes = GroupsDisplay.from_estimator(reducer, X, positions).plot(ax).ax_
    return drawn
