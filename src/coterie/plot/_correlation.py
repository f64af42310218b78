"""Correlations of features in the order of their groups, as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie.plot._canvas import axes_for, pyplot
from coterie.plot._heatmap import add_colorbar, draw_heatmap, outline_groups
from coterie.plot._reducer import checked_reducer, input_columns, signed_names
from coterie.report.inspection import StandardisedColumns, block_correlations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More rows than this cannot be told apart on a screen.
MAX_BLOCKS = 400
# Where no correlation is below this, all would be of one colour.
HIGH_CORRELATION = 0.5


@dataclass(eq=False)
class CorrelationDisplay:
    """Correlations between features, or between blocks of them, ready to be drawn.

    Parameters
    ----------
    correlation : ndarray of shape (n, n)
        Of each two features, or the mean over two blocks of them.
    blocks : list of n ndarray
        The features that each row stands for.
    labels : ndarray of shape (n_features,)
        The group of each feature.
    names : list of str or None, default=None
        One for each feature.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    mesh_ : QuadMesh
    outlines_ : PolyCollection
        A square around each group of more than one.
    colorbar_ : Colorbar or None

    See Also
    --------
    plot_correlation : Draws it at once.

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
        """The display of data like those of the fit; see ``plot_correlation``."""
        reducer = checked_reducer(reducer)
        columns = input_columns(reducer, X)
        if columns.shape[0] < 2:
            raise ValueError("X must have 2 rows or more to correlate features, got 1.")
        standardised = StandardisedColumns.of(columns)
        blocks, means = block_correlations(
            standardised, reducer.labels_, reducer.signs_, MAX_BLOCKS
        )
        return cls(means, blocks, reducer.labels_, signed_names(reducer))

    def plot(self, ax: Axes | None = None, *, colorbar: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Without them, a new figure is made.
        colorbar : bool, default=True
            Whether to show what the colours mean.
        """
        self.ax_ = axes_for(ax, 5.6, 4.8)
        self.figure_ = self.ax_.figure
        edges = np.cumsum([0, *map(len, self.blocks)])
        self.mesh_ = draw_heatmap(
            self.ax_, self.correlation, edges, **_colour_scale(self.correlation)
        )
        order = np.concatenate(self.blocks)
        names = None if self.names is None else [self.names[j] for j in order]
        self.outlines_ = outline_groups(self.ax_, self.labels[order], names)
        blocks = f", {len(self.blocks)} blocks" if len(self.blocks) < len(order) else ""
        self.ax_.set_title(f"Correlation of {len(order):,} features{blocks}")
        self.colorbar_ = add_colorbar(self.mesh_, self.ax_, "Correlation") if colorbar else None
        return self


def _colour_scale(correlation: FloatArray) -> dict[str, Any]:
    """Red and blue from -1 to 1, or one colour for what is above a half, as spectra are."""
    lowest = float(correlation.min())
    if lowest < HIGH_CORRELATION:
        return {"cmap": "RdBu_r", "vmin": -1, "vmax": 1}
    # Of equal correlations, one end of the scale must still be below the other.
    return {"cmap": "viridis", "vmin": min(lowest, 0.999), "vmax": 1}


def plot_correlation(
    reducer: Any, X: Any, *, ax: Axes | None = None, colorbar: bool = True
) -> Axes:
    """Correlations between the features, ordered by group, with a square around each group.

    Good groups are squares of one colour.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Data like those of the fit.
    ax : Axes, optional
        Without them, a new figure is made.
    colorbar : bool, default=True
        Whether to show what the colours mean.

    Returns
    -------
    Axes

    Notes
    -----
    Features that joined with a minus (``signs=True``) are turned first, since that is how
    the aggregate has them, and their names have a minus.

    More than 400 features are shown as 400 blocks or less: each cell is the mean correlation
    between two features, one of each block. Blocks do not cross groups, unless there are more
    than 400 groups. Of D features, no matrix of D x D is made.

    The colours reach from -1 to 1; where no correlation is below 0.5, as among the channels of a
    spectrum, they are others and reach from the lowest to 1.

    A constant feature has correlation 0. Where there are gaps, two features are compared by the
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
