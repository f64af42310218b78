"""Plot of the stability of the groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.parameters import checked_word
from coterie._model_selection.resampling import Stability, stability
from coterie.plot._canvas import axes_for, group_colours, hide_frame, pyplot
from coterie.plot._heatmap import add_colorbar, draw_heatmap, outline_groups
from coterie.plot._reducer import checked_reducer, signed_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Only this number of the largest groups is shown.
MAX_BARS = 40
# Pairs of more features cannot be distinguished.
MAX_PAIR_FEATURES = 2000


@dataclass(eq=False)
class StabilityDisplay:
    """Display of how often each group was found again in resamples.

    Parameters
    ----------
    result : Stability
        What :func:`coterie.stability` gave.
    names : list of str or None, default=None
        One for each feature.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    bars_ : BarContainer or None
        One for each group.
    mesh_ : QuadMesh or None
        All pairs of features.
    colorbar_ : Colorbar or None

    See Also
    --------
    plot_stability : Creates and draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plot import StabilityDisplay
    >>> from coterie._model_selection.resampling import Stability
    >>> resampled = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 2]])
    >>> result = Stability(labels=np.array([0, 0, 1]), resampled=resampled)
    >>> shown = StabilityDisplay.from_stability(result).plot()
    >>> [float(bar.get_width()) for bar in shown.bars_]
    [0.75, 0.75]
    """

    result: Stability
    names: list[str] | None = None
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_stability(cls, result: Any, names: Any = None) -> Self:
        """Create the display from a Stability; see ``plot_stability``."""
        if not isinstance(result, Stability):
            raise TypeError(
                f"result must be a Stability, from coterie.stability, got {type(result).__name__}."
            )
        if names is not None:
            names = [str(name) for name in names]
            if len(names) != len(result.labels):
                raise ValueError(
                    f"names must hold one name for each of {len(result.labels)} features, got "
                    f"{len(names)}."
                )
        return cls(result, names)

    @classmethod
    def from_estimator(cls, reducer: Any, X: Any, y: Any, **options: Any) -> Self:
        """Create the display by fitting a reducer to resamples of the data.

        Parameters
        ----------
        reducer : reducer
            Fitted; it is not changed.
        X, y : array-like
            The data of the fit.
        **options
            Further arguments of ``coterie.stability``, such as ``n_resamples``.
        """
        pyplot()
        names = signed_names(checked_reducer(reducer))
        return cls(stability(X, y, estimator=reducer, **options), names)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: Literal["groups", "pairs"] = "groups",
        colorbar: bool = True,
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        kind : {"groups", "pairs"}, default="groups"
            A bar for each group, or a cell for each pair of features.
        colorbar : bool, default=True
            Whether to show a colour bar for the cells.
        """
        self.bars_ = self.mesh_ = self.colorbar_ = None
        if checked_word("kind", kind, ["groups", "pairs"]) == "groups":
            self._draw_bars(ax)
        else:
            self._draw_pairs(ax, colorbar)
        self.figure_ = self.ax_.figure
        return self

    def _draw_bars(self, ax: Any) -> None:
        labels, scores = self.result.labels, self.result.group_scores
        labels = labels[labels >= 0]
        shown, sizes = _largest_groups(labels), np.bincount(labels)
        self.ax_ = axes_for(ax, 6.4, max(2.2, 1.2 + 0.22 * len(shown)))
        colours = group_colours(labels)
        places = np.arange(len(shown))
        self.bars_ = self.ax_.barh(
            places, scores[shown], color=[colours[group] for group in shown], height=0.75
        )
        texts = [f"{group} ({sizes[group]})" for group in shown]
        self.ax_.set_yticks(places, labels=texts, fontsize="small")
        self.ax_.bar_label(self.bars_, fmt="%.2f", fontsize="small", padding=3)
        self.ax_.set(xlim=(0, 1.1), ylim=(len(shown) - 0.4, -0.6), ylabel="Group (and its size)")
        self.ax_.set_xticks([0, 0.25, 0.5, 0.75, 1])
        self.ax_.set_xlabel("How often two members were together (or one was alone)")
        self.ax_.set_title(self._title(len(shown), len(sizes)))
        self.ax_.tick_params(axis="y", length=0)
        hide_frame(self.ax_)

    def _title(self, n_shown: int, n_groups: int) -> str:
        n_resamples = len(self.result.resampled)
        part = f"the {n_shown} largest of {n_groups:,} groups" if n_shown < n_groups else "groups"
        return f"How often {part} held in {n_resamples} resamples"

    def _draw_pairs(self, ax: Any, colorbar: bool) -> None:
        labels = self.result.labels
        if len(labels) > MAX_PAIR_FEATURES:
            raise ValueError(
                f"kind='pairs' shows at most {MAX_PAIR_FEATURES:,} features, got {len(labels):,}. "
                "Use kind='groups'."
            )
        self.ax_ = axes_for(ax, 5.6, 4.8)
        # What is left out is in no group, and comes last.
        order = np.argsort(np.where(labels < 0, len(labels), labels), kind="stable")
        together: FloatArray = self.result.together[np.ix_(order, order)]
        edges = np.arange(len(labels) + 1.0)
        self.mesh_ = draw_heatmap(self.ax_, together, edges, cmap="Blues", vmin=0, vmax=1)
        names = [str(j) for j in order] if self.names is None else [self.names[j] for j in order]
        outline_groups(self.ax_, labels[order], names)
        n_resamples = len(self.result.resampled)
        self.ax_.set_title(f"Pairs of features together in {n_resamples} resamples")
        if colorbar:
            self.colorbar_ = add_colorbar(self.mesh_, self.ax_, "Share of resamples")


def _largest_groups(labels: IntArray) -> IntArray:
    """The groups to show: all or the largest, in order of their numbers."""
    by_size = np.argsort(-np.bincount(labels), kind="stable")
    return np.sort(by_size[:MAX_BARS])


def plot_stability(
    result: Any,
    *,
    kind: Literal["groups", "pairs"] = "groups",
    names: Any = None,
    ax: Axes | None = None,
    colorbar: bool = True,
) -> Axes:
    """Plot how often groups, or pairs of features, were found again in resamples.

    Parameters
    ----------
    result : Stability
        The result of ``coterie.stability``.
    kind : {"groups", "pairs"}, default="groups"
        "groups": a bar for the ``group_scores`` of each group, or of the 40 largest.
        "pairs": a cell for each pair of features (``together``), ordered by group with a square
        around each; for at most 2,000 features.
    names : sequence of str, optional
        One for each feature, for "pairs".
    ax : Axes, optional
        By default a new figure is created.
    colorbar : bool, default=True
        Whether to show a colour bar for the cells.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import coterie
    >>> from coterie.plot import plot_stability
    >>> X, y, _ = coterie.datasets.make_groups(100, 9, 3, noise=3.0, random_state=0)
    >>> result = coterie.stability(X, y, n_resamples=10, random_state=0)
    >>> ax = plot_stability(result)
    >>> ax.get_title()
    'How often groups held in 10 resamples'
    """
    pyplot()
    shown = StabilityDisplay.from_stability(result, names).plot(ax, kind=kind, colorbar=colorbar)
    drawn: Axes = shown.ax_
    return drawn
