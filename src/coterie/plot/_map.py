"""Plot of the groups on a map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from coterie._core.values import BoolArray, FloatArray, IntArray
from coterie._data.name_coordinates import plane_from_names
from coterie.estimators import input_names_of
from coterie.plot._canvas import (
    DARK_COLOUR,
    axes_for,
    group_colours,
    has_several_members,
    pyplot,
    title_from_labels,
)
from coterie.plot._reducer import checked_reducer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Features are drawn as a grid if they fill at least this share of it.
MIN_GRID_SHARE = 0.25
# Numbers closer to the border, as a share of the map, are avoided if possible.
BORDER_MARGIN = 0.03
# More numbers would hide the map.
MAX_GROUP_NUMBERS = 30
# More minus signs would be unreadable.
MAX_SIGN_MARKS = 600


@dataclass(eq=False)
class MapDisplay:
    """Display of the groups of features on a plane.

    Parameters
    ----------
    labels : ndarray of shape (n_features,)
        The group of each feature; -1 if it is left out.
    coordinates : ndarray of shape (n_features, 2)
        Vertical and horizontal coordinate of each feature: latitude and longitude.
    signs : ndarray of shape (n_features,) or None, default=None
        -1 for features that are multiplied by -1.
    axes : tuple of str, default=("First coordinate", "Second coordinate")
        Labels of the coordinates.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    cells_ : QuadMesh or PathCollection
        Cells if the coordinates form a grid, else dots.

    See Also
    --------
    plot_map : Creates and draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plot import MapDisplay
    >>> grid = np.array([(lat, lon) for lat in range(2) for lon in range(3)])
    >>> shown = MapDisplay(np.array([0, 0, 1, 0, 1, 1]), grid).plot()
    >>> shown.ax_.get_title()
    '6 features in 2 groups'
    """

    labels: IntArray
    coordinates: FloatArray
    signs: FloatArray | None = None
    axes: tuple[str, str] = ("First coordinate", "Second coordinate")
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, reducer: Any, coordinates: Any = None, *, variable: str | None = None
    ) -> Self:
        """Create the display from a fitted reducer; see ``plot_map``."""
        reducer = checked_reducer(reducer)
        if coordinates is not None:
            points = _checked_points(coordinates, len(reducer.labels_))
            names = [str(name) for name in getattr(coordinates, "columns", ())]
            named = {"axes": (names[0], names[1])} if names else {}
            return cls(reducer.labels_, points, reducer.signs_, **named)
        if not hasattr(reducer, "as_field"):
            return cls._from_names(reducer, variable)
        # as_field() has no number for what is left out, which is drawn here.
        field = reducer.fit_.features.layout.field
        labels = _select_variable(field(reducer.labels_.astype(np.float64)), variable)
        signs = _select_variable(field(reducer.signs_), variable)
        return cls._from_field(labels, signs)

    @classmethod
    def _from_names(cls, reducer: Any, variable: str | None) -> Self:
        """Create the display from the coordinates in the names, for one variable."""
        plane = plane_from_names([str(name) for name in input_names_of(reducer)])
        if plane is None:
            raise ValueError(
                "coordinates must be given, since the reducer was not fitted to an xarray field "
                "and the names have none: pass two for each feature, such as latitude and "
                "longitude."
            )
        variable = _checked_variable(variable, list(dict.fromkeys(plane.layers)))
        own = np.array([layer == variable for layer in plane.layers])
        points = np.column_stack([plane.up, plane.across])[own]
        axes = (plane.up_name, plane.across_name)
        return cls(reducer.labels_[own], points, reducer.signs_[own], axes)

    @classmethod
    def _from_field(cls, labels: Any, signs: Any) -> Self:
        if labels.ndim != 2:
            raise ValueError(
                f"A map has 2 dimensions, and the field has {labels.ndim}: pass coordinates, two "
                "for each feature."
            )
        cells = np.argwhere(np.isfinite(labels.values))
        along = [_numeric_coordinates(labels, dim) for dim in labels.dims]
        points = np.column_stack([values[cells[:, k]] for k, values in enumerate(along)])
        flat = labels.values[tuple(cells.T)].astype(np.intp)
        up, across = (str(dim) for dim in labels.dims)
        return cls(flat, points, signs.values[tuple(cells.T)], (up, across))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        """
        self.ax_ = axes_for(ax, 6.0, 4.4)
        self.figure_ = self.ax_.figure
        up, across = self.coordinates.T
        rows, row = np.unique(up, return_inverse=True)
        columns, column = np.unique(across, return_inverse=True)
        is_grid = (
            len(up) >= MIN_GRID_SHARE * len(rows) * len(columns)
            and min(len(rows), len(columns)) > 1
        )
        if is_grid:
            self._draw_grid(rows, columns, row, column)
        else:
            self._draw_dots()
        self._draw_signs()
        self._number_groups()
        self.ax_.set(
            xlabel=self.axes[1],
            ylabel=self.axes[0],
            title=title_from_labels(_renumbered(self.labels)),
        )
        self.ax_.spines[["top", "right"]].set_visible(False)
        return self

    def _draw_grid(self, rows: Any, columns: Any, row: IntArray, column: IntArray) -> None:
        from matplotlib.colors import ListedColormap

        numbers = _renumbered(self.labels)
        values = np.full((len(rows), len(columns)), np.nan)
        features = np.full(values.shape, -1)
        features[row, column] = np.arange(len(row))
        colours = group_colours(numbers, _adjacent_pairs(features))
        # Label -1 has the last colour.
        values[row, column] = numbers % len(colours)
        self.cells_ = self.ax_.pcolormesh(
            columns,
            rows,
            values,
            cmap=ListedColormap(colours),
            vmin=-0.5,
            vmax=len(colours) - 0.5,
            shading="nearest",
        )

    def _draw_dots(self) -> None:
        from scipy.spatial import KDTree

        numbers = _renumbered(self.labels)
        nearest = KDTree(self.coordinates).query(self.coordinates, k=min(7, len(numbers)))[1]
        pairs = np.column_stack(
            [np.repeat(np.arange(len(numbers)), nearest.shape[1]), nearest.ravel()]
        )
        colours = np.array(group_colours(numbers, pairs))
        self.cells_ = self.ax_.scatter(
            self.coordinates[:, 1],
            self.coordinates[:, 0],
            c=colours[numbers],
            s=np.clip(12000 / len(numbers), 4, 90),
            linewidths=0,
        )

    def _draw_signs(self) -> None:
        """Draw a minus on each feature with sign -1."""
        if self.signs is None:
            return
        negative = self.coordinates[self.signs < 0]
        if 0 < len(negative) <= MAX_SIGN_MARKS:
            self.ax_.scatter(
                negative[:, 1], negative[:, 0], marker="_", s=18, color="white", linewidths=1.2
            )

    def _number_groups(self) -> None:
        """Write the number of each group of several members on its innermost member."""
        larger = np.flatnonzero(has_several_members(self.labels))
        scale = np.ptp(self.coordinates, axis=0)
        scaled = self.coordinates / np.where(scale > 0, scale, 1.0)
        is_grid = hasattr(self.cells_, "get_coordinates")
        for label in larger if len(larger) <= MAX_GROUP_NUMBERS else ():
            up, across = self.coordinates[_innermost_member(scaled, self.labels == label)]
            self.ax_.annotate(
                str(label),
                (across, up),
                # Next to a dot, so that the dot stays visible.
                xytext=(0, 0 if is_grid else 11),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize="small",
                color=DARK_COLOUR,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.2},
            )


def _innermost_member(points: FloatArray, is_member: BoolArray) -> int:
    """The member farthest from other groups and the border; of ties, the nearest to the mean."""
    from scipy.spatial import KDTree

    members = points[is_member]
    away = np.square(members - members.mean(axis=0)).sum(axis=1)
    depth = np.minimum(members - points.min(axis=0), points.max(axis=0) - members).min(axis=1)
    if not is_member.all():
        # A member on the border is still better than one next to other groups.
        depth = np.minimum(
            depth + BORDER_MARGIN, np.asarray(KDTree(points[~is_member]).query(members)[0])
        )
    return int(np.flatnonzero(is_member)[np.lexsort((away, -depth.round(9)))[0]])


def _adjacent_pairs(features: IntArray) -> IntArray:
    """Pairs of adjacent features in a grid, also diagonally; -1 marks empty cells."""
    neighbours = [
        (features[1:], features[:-1]),
        (features[:, 1:], features[:, :-1]),
        (features[1:, 1:], features[:-1, :-1]),
        (features[1:, :-1], features[:-1, 1:]),
    ]
    pairs = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in neighbours])
    return pairs[(pairs >= 0).all(axis=1)]


def _renumbered(labels: IntArray) -> IntArray:
    """The labels of the same groups without unused numbers; -1 stays."""
    numbers, found = np.unique(labels, return_inverse=True)
    return found - int((numbers < 0).any())


def _checked_points(coordinates: Any, n_inputs: int) -> FloatArray:
    points = np.asarray(coordinates, dtype=np.float64)
    if points.shape != (n_inputs, 2):
        raise ValueError(
            f"coordinates must have 2 columns and one row for each feature, shape ({n_inputs}, 2), "
            f"got {points.shape}."
        )
    if not np.isfinite(points).all():
        raise ValueError("coordinates must be finite, got NaN or infinity.")
    return points


def _select_variable(field: Any, variable: str | None) -> Any:
    """The named variable of a field, or the only one."""
    if not hasattr(field, "data_vars"):
        return field
    names = [str(name) for name in field.data_vars]
    return field[_checked_variable(variable, names)]


def _checked_variable(variable: str | None, names: list[str]) -> str:
    """The name of the variable to show; raise if it must be given."""
    known = variable is None and len(names) == 1
    if not known and variable not in names:
        raise ValueError(
            f"variable must be one of {', '.join(map(repr, names))}, got {variable!r}."
        )
    return names[0] if variable is None else variable


def _numeric_coordinates(field: Any, dim: Any) -> FloatArray:
    """The coordinates along a dimension, or indices if they are not numbers."""
    values = field[dim].values
    is_number = values.dtype.kind in "fiu" and np.isfinite(values).all()
    return values.astype(np.float64) if is_number else np.arange(len(values), dtype=np.float64)


def plot_map(
    reducer: Any,
    coordinates: Any = None,
    *,
    variable: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot which features are in the same group, on a map.

    Each group has a colour that differs from those of its neighbours, and its number (as in
    ``labels_``) on its innermost member. Groups of one member are grey, features
    that are left out light grey. Features with sign -1
    (``signs=True``) have a white minus.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    coordinates : array-like or data frame of shape (n_features, 2), optional
        Vertical and horizontal coordinate of each feature, such as latitude and longitude. Not
        needed if the reducer was fitted to an xarray field with two dimensions besides the
        samples.
    variable : str, optional
        The variable to show, if the reducer was fitted to a Dataset with several variables. Groups
        with only one cell in it are grey.
    ax : Axes, optional
        By default a new figure is created.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import NonLinCFA
    >>> from coterie.plot import plot_map
    >>> grid = [(lat, lon) for lat in range(4) for lon in range(5)]
    >>> rng = np.random.default_rng(0)
    >>> west, east = rng.normal(size=(2, 300))
    >>> field = np.array([west if lon < 2 else east for _, lon in grid]).T
    >>> field = field + 0.3 * rng.normal(size=field.shape)
    >>> reducer = NonLinCFA().fit(field, west - east + rng.normal(size=300))
    >>> ax = plot_map(reducer, grid)
    >>> ax.get_title()
    '20 features in 2 groups'
    """
    pyplot()
    shown = MapDisplay.from_estimator(reducer, coordinates, variable=variable).plot(ax)
    drawn: Axes = shown.ax_
    return drawn
