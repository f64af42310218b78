"""Plot of the score against the number of groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie.plot._canvas import DARK_COLOUR, PALETTE, axes_for, hide_frame
from coterie.plot._reducer import checked_reducer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCORE_COLOUR, STABILITY_COLOUR = PALETTE[0], PALETTE[5]
# Letters of a caption in each inch of width.
LETTERS_PER_INCH = 14


@dataclass(eq=False)
class NumberPathDisplay:
    """Display of the score and the stability for each number of groups.

    Parameters
    ----------
    n_groups : ndarray of shape (n_numbers,)
        The numbers of groups that were scored.
    score : ndarray of shape (n_numbers,)
        Cross-validated.
    std_error : ndarray of shape (n_numbers,)
        Of the difference to the best score.
    stability : ndarray of shape (n_numbers,)
        Mean over groups, from 0 to 1.
    chosen : int
        The number of groups of the fit.
    caption : str, default=""
        Why this number.

    Attributes
    ----------
    ax_ : Axes
        Scores against numbers of groups.
    stability_ax_ : Axes
        Twin axes: stability.
    figure_ : Figure
    score_line_, stability_line_, chosen_ : Line2D
    band_ : PolyCollection

    See Also
    --------
    plot_path : Creates and draws it.

    Examples
    --------
    >>> from coterie import Coterie
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import NumberPathDisplay
    >>> X, y, _ = make_groups(300, 12, 3, noise=1.0, random_state=0)
    >>> shown = NumberPathDisplay.from_estimator(Coterie().fit(X, y)).plot()
    >>> shown.n_groups
    array([1, 2, 3, 5, 8])
    """

    n_groups: IntArray
    score: FloatArray
    std_error: FloatArray
    stability: FloatArray
    chosen: int
    caption: str = ""
    ax_: Any = field(init=False, repr=False)
    stability_ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, reducer: Any) -> Self:
        """Create the display from a fitted Coterie."""
        reducer = checked_reducer(reducer)
        path = getattr(reducer, "path_", None)
        if not isinstance(path, dict):
            raise TypeError(
                "reducer must have scores for each number of groups, such as a fitted Coterie, got "
                f"{type(reducer).__name__}."
            )
        return cls(**path, chosen=int(reducer.n_groups_), caption=reducer.choice_)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        """
        self.ax_ = axes_for(ax, 6.8, 4.2)
        self.figure_ = self.ax_.figure
        self.stability_ax_ = self.ax_.twinx()
        self._draw_stability()
        self._draw_scores()
        self._draw_chosen()
        self.ax_.set_xscale("log")
        numbers = sorted({*self.n_groups.tolist(), self.chosen})
        self.ax_.set_xticks(numbers, labels=[f"{number:,}" for number in numbers])
        self.ax_.minorticks_off()
        self.ax_.set(ylabel="Score on held-out rows", title="What each number of groups leads to")
        self._add_caption()
        self.ax_.legend(fontsize="small", framealpha=0.85, edgecolor="none", loc="best")
        return self

    def _draw_stability(self) -> None:
        twin = self.stability_ax_
        (self.stability_line_,) = twin.plot(
            self.n_groups,
            self.stability,
            color=STABILITY_COLOUR,
            linestyle="--",
            linewidth=1.2,
        )
        twin.set_ylabel("Stability of the groups", color=STABILITY_COLOUR)
        twin.tick_params(axis="y", colors=STABILITY_COLOUR)
        twin.set_ylim(0, 1.05)
        twin.spines["top"].set_visible(False)
        # Draw the scores in front of the twin axes.
        self.ax_.set_zorder(twin.get_zorder() + 1)
        self.ax_.patch.set_visible(False)

    def _draw_scores(self) -> None:
        self.band_ = self.ax_.fill_between(
            self.n_groups,
            self.score - self.std_error,
            self.score + self.std_error,
            color=SCORE_COLOUR,
            alpha=0.18,
            linewidth=0,
        )
        (self.score_line_,) = self.ax_.plot(
            self.n_groups,
            self.score,
            color=SCORE_COLOUR,
            marker=".",
            label="held-out rows, ± standard error",
        )
        self.ax_.plot([], [], color=STABILITY_COLOUR, linestyle="--", label="stability")
        hide_frame(self.ax_)

    def _draw_chosen(self) -> None:
        scored = np.flatnonzero(self.n_groups == self.chosen)
        text = f"this fit: {self.chosen} group{'s' * (self.chosen != 1)}"
        if not len(scored):
            # A number that was asked for need not be among those that are scored.
            self.chosen_ = self.ax_.axvline(
                self.chosen, color=DARK_COLOUR, linestyle=":", linewidth=1.2, label=text
            )
            return
        (self.chosen_,) = self.ax_.plot(
            [self.chosen],
            [self.score[scored[0]]],
            linestyle="none",
            marker="D",
            markersize=8,
            color=PALETTE[1],
            markeredgecolor=DARK_COLOUR,
            zorder=4,
            label=text,
        )

    def _add_caption(self) -> None:
        from textwrap import fill

        width = int(LETTERS_PER_INCH * self.ax_.bbox.width / self.figure_.dpi)
        told = f"\n{fill(self.caption, max(width, 20))}" if self.caption else ""
        self.ax_.set_xlabel(f"Number of groups{told}")
