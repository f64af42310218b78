"""Plot of the correlations of features, ordered by group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie.estimators import leaf_order
from coterie.plot._canvas import axes_for, pyplot
from coterie.plot._heatmap import (
    MAX_NAMED_ROWS,
    add_colorbar,
    draw_heatmap,
    heatmap_inches,
    outline_groups,
)
from coterie.plot._reducer import checked_reducer, input_columns, signed_names
from coterie.report.inspection import StandardisedColumns, block_correlations, ordered_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More rows cannot be distinguished on a screen.
MAX_BLOCKS = 400
# If all correlations are above this, a diverging colour map would show one colour.
HIGH_CORRELATION = 0.5


@dataclass(eq=False)
class CorrelationDisplay:
    """Display of the correlations between features, or between blocks of features.

    Parameters
    ----------
    correlation : ndarray of shape (n, n)
        Correlation of two features, or its mean over two blocks of features.
    blocks : list of n ndarray
        The features of each row.
    labels : ndarray of shape (n_features,)
        The group of each feature; -1 if it is left out.
    names : list of str or None, default=None
        One for each feature.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    mesh_ : QuadMesh
    outlines_ : PolyCollection
        A square around each group of several members.
    colorbar_ : Colorbar or None

    See Also
    --------
    plot_correlation : Creates and draws it.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import CorrelationDisplay
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> shown = CorrelationDisplay.from_estimator(NonLinCFA().fit(X, y), X)
    >>> shown.correlation.shape
    (12, 12)
    """

    correlation: FloatArray
    blocks: list[IntArray]
    labels: IntArray
    names: list[str] | None = None
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, reducer: Any, X: Any) -> Self:
        """Create the display from a fitted reducer and data; see ``plot_correlation``."""
        reducer = checked_reducer(reducer)
        columns = input_columns(reducer, X)
        if columns.shape[0] < 2:
            raise ValueError("X must have 2 rows or more to correlate features, got 1.")
        standardised = StandardisedColumns.of(columns)
        groups, rest = ordered_groups(reducer.labels_, leaf_order(reducer))
        blocks, means = block_correlations(standardised, groups, rest, reducer.signs_, MAX_BLOCKS)
        return cls(means, blocks, reducer.labels_, signed_names(reducer))

    def plot(self, ax: Axes | None = None, *, colorbar: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        colorbar : bool, default=True
            Whether to show a colour bar.
        """
        order = np.concatenate(self.blocks)
        side = heatmap_inches(len(order))
        self.ax_ = axes_for(ax, side + 0.8, side)
        self.figure_ = self.ax_.figure
        edges = np.cumsum([0, *self._widths()])
        self.mesh_ = draw_heatmap(
            self.ax_, self.correlation, edges, **_colour_scale(self.correlation)
        )
        names = None if self.names is None else [self.names[j] for j in order]
        self.outlines_ = outline_groups(self.ax_, self.labels[order], names, edges[-1])
        self.ax_.set_title(self._title(len(order)), fontsize="medium")
        self.colorbar_ = add_colorbar(self.mesh_, self.ax_, "Correlation") if colorbar else None
        return self

    def _widths(self) -> FloatArray:
        """The width of each block: its number of features, or less for what is left out."""
        sizes = np.array([len(block) for block in self.blocks], dtype=np.float64)
        is_rest = np.array([self.labels[block[0]] < 0 for block in self.blocks])
        n_grouped, n_rest = sizes[~is_rest].sum(), sizes[is_rest].sum()
        # Otherwise thousands of features that do not matter would leave no room for the groups.
        if n_rest and len(self.labels) > MAX_NAMED_ROWS:
            sizes[is_rest] *= min(1.0, 0.5 * n_grouped / n_rest)
        return sizes

    def _title(self, n_features: int) -> str:
        n_left_out = int((self.labels < 0).sum())
        notes = [
            f"{len(self.blocks)} blocks" if len(self.blocks) < n_features else "",
            f"the last {n_left_out:,} left out" if n_left_out else "",
        ]
        told = ", ".join(note for note in notes if note)
        return f"Correlation of {n_features:,} features" + (f"\n{told}" if told else "")


def _colour_scale(correlation: FloatArray) -> dict[str, Any]:
    """Red and blue from -1 to 1, or a sequential map if all are high, as for spectra."""
    lowest = float(correlation.min())
    if lowest < HIGH_CORRELATION:
        return {"cmap": "RdBu_r", "vmin": -1, "vmax": 1}
    # If all are equal, the lower end must still be below the upper.
    return {"cmap": "viridis", "vmin": min(lowest, 0.999), "vmax": 1}


def plot_correlation(
    reducer: Any, X: Any, *, ax: Axes | None = None, colorbar: bool = True
) -> Axes:
    """Plot the correlations between features, ordered by group, with a square around each.

    Good groups are squares of one colour.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Data with the features of the fit.
    ax : Axes, optional
        By default a new figure is created.
    colorbar : bool, default=True
        Whether to show a colour bar.

    Returns
    -------
    Axes

    Notes
    -----
    Features with sign -1 (``signs=True``) are multiplied by -1 first, as in the aggregate, and
    their names get a minus.

    More than 400 features are shown as at most 400 blocks: each cell is the mean correlation
    between two features, one of each block. A block is within one group, unless there are more
    than 400 groups. The D x D matrix of D features is never formed.

    A reducer with a tree has its groups and their members in the order of the leaves. Features
    that are left out come last. Up to 80 features are named; among more, what is left out has at
    most a third of the width.

    The colours reach from -1 to 1. If no correlation is below 0.5, as among the channels of a
    spectrum, another colour map reaches from the lowest correlation to 1.

    A constant feature has correlation 0. With missing values, two features are compared on the
    rows that have both.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import plot_correlation
    >>> X, y, _ = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> ax = plot_correlation(NonLinCFA().fit(X, y), X)
    >>> ax.get_title()
    'Correlation of 12 features'
    """
    pyplot()
    shown = CorrelationDisplay.from_estimator(reducer, X).plot(ax, colorbar=colorbar)
    drawn: Axes = shown.ax_
    return drawn
