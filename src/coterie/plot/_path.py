"""Plot of the score and the number of groups against the tolerance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._core.values import FloatArray
from coterie._model_selection.tuning import TolerancePath, tolerance_path
from coterie.estimators import Coterie
from coterie.plot._canvas import DARK_COLOUR, FAINT_COLOUR, PALETTE, axes_for, hide_frame, pyplot
from coterie.plot._number_path import NumberPathDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCORE_COLOUR, GROUPS_COLOUR = PALETTE[0], PALETTE[5]


@dataclass(eq=False)
class PathDisplay:
    """Display of the scores and the number of groups for each tolerance.

    Parameters
    ----------
    path : TolerancePath
        What :func:`coterie.tolerance_path` gave.
    own : float or None, default=None
        A tolerance to mark: that of the reducer.

    Attributes
    ----------
    ax_ : Axes
        Scores against tolerances.
    groups_ax_ : Axes
        Twin axes: number of groups against tolerances.
    figure_ : Figure
    score_line_, train_line_, groups_line_, best_, simplest_ : Line2D
    band_ : PolyCollection or None
        One standard error to both sides; None with a single fold.
    own_ : Line2D or None

    See Also
    --------
    plot_path : Creates and draws it.
    NumberPathDisplay : The same for each number of groups of a Coterie.

    Examples
    --------
    >>> from coterie import NonLinCFA
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import PathDisplay
    >>> X, y, _ = make_groups(100, 12, 3, noise=3.0, random_state=0)
    >>> shown = PathDisplay.from_estimator(NonLinCFA(0.01), X, y, n_tolerances=5).plot()
    >>> shown.ax_.get_xlabel()
    'Tolerance'
    """

    path: TolerancePath
    own: float | None = None
    ax_: Any = field(init=False, repr=False)
    groups_ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_path(cls, path: Any, own: float | None = None) -> Self:
        """Create the display from a TolerancePath."""
        if not isinstance(path, TolerancePath):
            raise TypeError(
                "path must be a TolerancePath, or a fitted ToleranceCV or Coterie, got "
                f"{type(path).__name__}. Pass X and y too, to compute the path of a reducer."
            )
        return cls(path, own)

    @classmethod
    def from_estimator(cls, reducer: Any, X: Any = None, y: Any = None, **options: Any) -> Self:
        """Create the display from a reducer.

        Parameters
        ----------
        reducer : reducer
            Without X and y, a fitted ToleranceCV, which has a path; with them, a
            NonLinCFA or GenLinCFA, fitted or not, for which the path is computed.
        X, y : optional
            As in ``tolerance_path``.
        **options
            Further arguments of ``tolerance_path``, such as ``n_tolerances``.
        """
        if X is not None or y is not None:
            pyplot()
            path = tolerance_path(X, y, estimator=reducer, **options)
            tolerance = reducer.tolerance
            return cls(path, None if isinstance(tolerance, str) else float(tolerance))
        if hasattr(reducer, "fit") and hasattr(reducer, "n_tolerances"):
            check_is_fitted(reducer)
        return cls.from_path(
            getattr(reducer, "path_", reducer), getattr(reducer, "tolerance_", None)
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        """
        self.ax_ = axes_for(ax, 6.8, 4.2)
        self.figure_ = self.ax_.figure
        self.groups_ax_ = self.ax_.twinx()
        order = np.argsort(self.path.tolerances, kind="stable")
        scale = _ToleranceScale(self.path.tolerances)
        self._draw_groups(scale.positions[order], self.path.n_groups[order])
        self._draw_scores(scale.positions[order], order)
        self._draw_marks(scale)
        scale.apply(self.ax_)
        self.ax_.set(
            xlabel="Tolerance",
            ylabel="Score on held-out rows",
            title="What each tolerance leads to",
        )
        self.ax_.legend(fontsize="small", framealpha=0.85, edgecolor="none")
        return self

    def _draw_groups(self, positions: FloatArray, n_groups: Any) -> None:
        twin = self.groups_ax_
        (self.groups_line_,) = twin.plot(
            positions, n_groups, color=GROUPS_COLOUR, linewidth=1.2, linestyle="--", label="groups"
        )
        twin.set_ylabel("Number of groups", color=GROUPS_COLOUR)
        twin.tick_params(axis="y", colors=GROUPS_COLOUR)
        twin.set_ylim(0, 1.08 * n_groups.max())
        twin.yaxis.get_major_locator().set_params(integer=True)
        twin.spines["top"].set_visible(False)
        # Draw the scores in front of the twin axes.
        self.ax_.set_zorder(twin.get_zorder() + 1)
        self.ax_.patch.set_visible(False)

    def _draw_scores(self, positions: FloatArray, order: Any) -> None:
        mean, error = self.path.cv_mean[order], self.path.cv_std_error[order]
        self.band_ = None
        if self.path.cv_scores.shape[1] > 1:
            self.band_ = self.ax_.fill_between(
                positions, mean - error, mean + error, color=SCORE_COLOUR, alpha=0.18, linewidth=0
            )
        (self.score_line_,) = self.ax_.plot(
            positions, mean, color=SCORE_COLOUR, marker=".", label=self._score_label()
        )
        (self.train_line_,) = self.ax_.plot(
            positions,
            self.path.train_scores[order],
            color=FAINT_COLOUR,
            linewidth=1,
            label="training rows",
        )
        self.ax_.plot(
            [], [], color=GROUPS_COLOUR, linestyle="--", linewidth=1.2, label="number of groups"
        )
        hide_frame(self.ax_)

    def _score_label(self) -> str:
        n_folds = self.path.cv_scores.shape[1]
        return "held-out rows" + (", ± 1 standard error" if n_folds > 1 else "")

    def _draw_marks(self, scale: _ToleranceScale) -> None:
        self.best_ = self._draw_mark("best", self.path.best, scale, marker="*", markersize=14)
        self.simplest_ = self._draw_mark(
            "simplest", self.path.simplest, scale, marker="D", markersize=7
        )
        self.own_ = None
        if self.own is not None:
            position = scale.position_of(self.own)
            self.own_ = self.ax_.axvline(
                position,
                color=DARK_COLOUR,
                linestyle=":",
                linewidth=1.2,
                label=f"own: {self.own:.2g}",
            )

    def _draw_mark(self, word: str, index: int, scale: _ToleranceScale, **style: Any) -> Any:
        n = int(self.path.n_groups[index])
        label = f"{word}: {n} group{'s' * (n != 1)} at {self.path.tolerances[index]:.2g}"
        (mark,) = self.ax_.plot(
            [scale.positions[index]],
            [self.path.cv_mean[index]],
            linestyle="none",
            color=PALETTE[1],
            markeredgecolor=DARK_COLOUR,
            zorder=4 if word == "simplest" else 3,
            label=label,
            **style,
        )
        return mark


class _ToleranceScale:
    """A logarithmic scale with positions for 0 on the left and infinity on the right."""

    def __init__(self, tolerances: FloatArray) -> None:
        inside = tolerances[(tolerances > 0) & np.isfinite(tolerances)]
        ends = (inside.min(), inside.max()) if len(inside) else (1.0, 1.0)
        self._first, self._last = (np.floor(np.log10(ends[0])), np.ceil(np.log10(ends[1])))
        self._zero, self._infinity = 10.0 ** (self._first - 1), 10.0 ** (self._last + 1)
        self._has_zero, self._has_infinity = 0 in tolerances, np.isinf(tolerances).any()
        self.positions = np.array([self.position_of(tolerance) for tolerance in tolerances])

    def position_of(self, tolerance: float) -> float:
        """The position at which a tolerance is drawn."""
        if tolerance == 0:
            return self._zero
        return self._infinity if np.isinf(tolerance) else float(tolerance)

    def apply(self, ax: Any) -> None:
        """Apply the scale to the horizontal axis."""
        ax.set_xscale("log")
        if not (self._has_zero or self._has_infinity):
            return
        every = 1 + int(self._last - self._first) // 7
        powers = np.arange(self._first, self._last + 1, every)
        ticks = {10.0**power: f"$10^{{{int(power)}}}$" for power in powers}
        if self._has_zero:
            ticks[self._zero] = "0"
        if self._has_infinity:
            ticks[self._infinity] = "∞"
        ax.set_xticks([*ticks], labels=[*ticks.values()])
        ax.minorticks_off()


def plot_path(
    path: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None, **options: Any
) -> Axes:
    """Plot the score on held-out rows against the tolerance, or against the number of groups.

    For a fitted Coterie, the line is the cross-validated score of each number of groups that was
    scored, the band the standard error of its difference to the best, and the diamond the number
    of the fit; the dashed line, with its scale on the right, is the stability of the groups. Below
    is why this number was chosen.

    For a path of tolerances, the line is the mean over the folds, the band one standard error to
    both sides. The star marks the best mean, the diamond the fewest groups within one standard
    error of it, and the dotted line the tolerance of the reducer. The dashed line, with its scale
    on the right, is the number of groups.

    Parameters
    ----------
    path : TolerancePath, or reducer
        The result of ``tolerance_path``; or a fitted ToleranceCV or Coterie; or with X and y
        a NonLinCFA or GenLinCFA.
    X, y : optional
        As in ``tolerance_path``, to compute the path.
    ax : Axes, optional
        By default a new figure is created.
    **options
        Further arguments of ``tolerance_path``, such as ``n_tolerances``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from coterie import ToleranceCV
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import plot_path
    >>> X, y, _ = make_groups(100, 12, 3, noise=3.0, random_state=0)
    >>> ax = plot_path(ToleranceCV(n_tolerances=5).fit(X, y))
    >>> ax.get_ylabel()
    'Score on held-out rows'
    """
    pyplot()
    is_joint = isinstance(path, Coterie) and X is None and y is None
    shown: Any = (
        NumberPathDisplay.from_estimator(path)
        if is_joint
        else PathDisplay.from_estimator(path, X, y, **options)
    )
    drawn: Axes = shown.plot(ax).ax_
    return drawn
