"""Plot of the effects of the groups in a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._core.values import FloatArray
from coterie._model_selection.tuning import coefficients, outputs_of
from coterie.plot._canvas import DARK_COLOUR, PALETTE, axes_for, hide_frame, pyplot, short_label
from coterie.plot._reducer import checked_reducer
from coterie.report.inspection import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UP_COLOUR, DOWN_COLOUR = PALETTE[0], PALETTE[5]
# Only this number of the largest effects is shown.
MAX_EFFECTS = 30
# The interval covers this share of the resamples.
COVERED = 0.9


@dataclass(eq=False)
class EffectsDisplay:
    """Display of the effect of each group for one standard deviation of it.

    Parameters
    ----------
    names : list of str
        One for each group.
    effects : ndarray of shape (n_outputs, n_groups)
        The effect of each group on each output.
    outputs : list of str
        The targets, or classes.
    low, high : ndarray of shape (n_outputs, n_groups) or None, default=None
        Ends of the intervals.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    dots_ : PathCollection
    intervals_ : LineCollection or None

    See Also
    --------
    plot_effects : Creates and draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plot import EffectsDisplay
    >>> shown = EffectsDisplay(["mean(a, b)", "c"], np.array([[0.5, -2.0]]), ["y"]).plot()
    >>> [text.get_text() for text in shown.ax_.get_yticklabels()]
    ['1: c', '0: mean(a, b)']
    """

    names: list[str]
    effects: FloatArray
    outputs: list[str]
    low: FloatArray | None = None
    high: FloatArray | None = None
    ax_: Any = field(init=False, repr=False)
    figure_: Any = field(init=False, repr=False)

    @classmethod
    def from_summary(cls, summary: Summary) -> Self:
        """Create the display from a summary, without intervals."""
        if not isinstance(summary, Summary):
            raise TypeError(f"summary must be a Summary, got {type(summary).__name__}.")
        groups = summary.groups[: summary.n_columns]
        if not any(group.effects for group in groups):
            raise ValueError(
                "summary has no effects: pass X and y to summarise, or use the summary of a study."
            )
        effects = np.array([group.effects for group in groups]).T
        return cls([group.name for group in groups], effects, summary.outputs)

    @classmethod
    def from_estimator(
        cls,
        reducer: Any,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        n_resamples: int = 100,
        random_state: Any = 0,
    ) -> Self:
        """Create the display from a fitted reducer and a linear model; see ``plot_effects``."""
        reducer = checked_reducer(reducer)
        if not hasattr(model, "predict"):
            raise TypeError(
                f"model must be a linear model that is fitted to the aggregates, got "
                f"{type(model).__name__}: plot_effects(reducer, model, X, y)."
            )
        check_is_fitted(model)
        aggregates = np.asarray(reducer.transform(X), dtype=np.float64)
        spread = np.nanstd(aggregates, axis=0)
        effects = _coefficients(model, len(spread)) * spread
        names = [str(name) for name in reducer.get_feature_names_out()]
        outputs = outputs_of(model, _target_names(y, model, len(effects)))
        if y is None:
            return cls(names, effects, outputs)
        drawn = _resampled(model, aggregates, np.asarray(y), n_resamples, random_state) * spread
        ends = np.quantile(drawn, [(1 - COVERED) / 2, (1 + COVERED) / 2], axis=0)
        return cls(names, effects, outputs, ends[0], ends[1])

    def plot(self, ax: Axes | None = None, *, output: int = 0) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : Axes, optional
            By default a new figure is created.
        output : int, default=0
            Which output to show.
        """
        effects = self.effects[output]
        shown = np.argsort(-np.abs(effects), kind="stable")[:MAX_EFFECTS]
        self.ax_ = axes_for(ax, 6.8, 1.4 + 0.24 * len(shown))
        self.figure_ = self.ax_.figure
        places = np.arange(len(shown))
        self.ax_.axvline(0, color=DARK_COLOUR, linewidth=0.8, zorder=0.5)
        colours = [DOWN_COLOUR if one < 0 else UP_COLOUR for one in effects[shown]]
        self.intervals_ = None
        if self.low is not None and self.high is not None:
            low, high = self.low[output][shown], self.high[output][shown]
            self.intervals_ = self.ax_.hlines(places, low, high, colors=colours, linewidth=2)
        self.dots_ = self.ax_.scatter(effects[shown], places, c=colours, s=34, zorder=3)
        texts = [f"{group}: {short_label(self.names[group], 36)}" for group in shown]
        self.ax_.set_yticks(places, labels=texts, fontsize="small")
        self.ax_.set_ylim(len(shown) - 0.4, -0.6)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.margins(x=0.08)
        self.ax_.set_xlabel(
            f"Change of {self.outputs[output]} for one standard deviation{self._note}"
        )
        self.ax_.set_title(self._title(len(shown)))
        hide_frame(self.ax_)
        return self

    @property
    def _note(self) -> str:
        return "" if self.low is None else f"\nLines: {COVERED:.0%} of the resamples"

    def _title(self, n_shown: int) -> str:
        n = len(self.names)
        return f"Effects of the {n_shown} strongest of {n:,} groups" if n_shown < n else "Effects"


def _coefficients(model: Any, n_groups: int) -> FloatArray:
    """Coefficients of a linear model on the aggregates, of shape (n_outputs, n_groups)."""
    try:
        rows = coefficients(model)
    except AttributeError:
        raise TypeError(
            f"model must be a fitted linear model with coef_, got {type(model).__name__}."
        ) from None
    if rows.shape[1] != n_groups:
        raise ValueError(
            f"model must be fitted to the {n_groups} columns of reducer.transform(X), got one of "
            f"{rows.shape[1]} columns."
        )
    return rows


def _target_names(y: Any, model: Any, n_outputs: int) -> list[str]:
    """Names of the targets: those of y if it has any."""
    columns: Sequence[Any] = getattr(y, "columns", ())
    if len(columns):
        return [str(name) for name in columns]
    if getattr(y, "name", None) is not None:
        return [str(y.name)]
    is_one = n_outputs == 1 or hasattr(model, "classes_") or hasattr(model, "steps")
    return ["the target"] if is_one else [f"target {one}" for one in range(n_outputs)]


def _resampled(
    model: Any, aggregates: FloatArray, target: Any, n_resamples: int, random_state: Any
) -> FloatArray:
    """Coefficients of the model fitted to rows drawn with replacement."""
    if len(target) != len(aggregates):
        raise ValueError(
            f"X and y must have the same rows, got {len(aggregates)} and {len(target)}."
        )
    rng, found = check_random_state(random_state), []
    for _ in range(n_resamples):
        rows = rng.randint(len(target), size=len(target))
        found.append(coefficients(clone(model).fit(aggregates[rows], target[rows])))
    return np.array(found)


def plot_effects(
    fitted: Any,
    model: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    output: int = 0,
    n_resamples: int = 100,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Plot how much a linear model changes for one standard deviation of each group.

    So groups of any units can be compared. The strongest 30 effects are shown.

    Parameters
    ----------
    fitted : reducer or Summary
        A fitted reducer, with `model` and `X`; or a summary, such as ``study(X, y).summary``,
        whose effects are shown without intervals.
    model : linear model, optional
        Fitted to ``reducer.transform(X)``, such as RidgeCV or LogisticRegression, also as the last
        step of a pipeline after a StandardScaler.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Data with the features of the reducer.
    y : array-like of shape (n_samples,), optional
        The target. With it, lines show where 90 % of the effects lie when the model is fitted to
        rows drawn with replacement, with the same groups.
    output : int, default=0
        Which target or class to show, if there are several.
    n_resamples : int, default=100
        Number of draws.
    random_state : int, RandomState or None, default=0
        Seed of the draws.
    ax : Axes, optional
        By default a new figure is created.

    Returns
    -------
    Axes

    Notes
    -----
    For classes, the change is in log-odds; for counts, in logarithms. Groups that are highly
    correlated share their effect: use a penalised model.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeCV
    >>> from coterie import Coterie
    >>> from coterie.datasets import make_groups
    >>> from coterie.plot import plot_effects
    >>> X, y, _ = make_groups(300, 12, 3, noise=1.0, random_state=0)
    >>> reducer = Coterie().fit(X, y)
    >>> ax = plot_effects(reducer, RidgeCV().fit(reducer.transform(X), y), X, y, n_resamples=20)
    >>> ax.get_title()
    'Effects'
    """
    pyplot()
    if isinstance(fitted, Summary):
        shown = EffectsDisplay.from_summary(fitted)
    else:
        checked_reducer(fitted)
        if model is None or X is None:
            raise TypeError("plot_effects needs a model and X with a reducer, or a Summary alone.")
        options = {"n_resamples": n_resamples, "random_state": random_state}
        shown = EffectsDisplay.from_estimator(fitted, model, X, y, **options)
    drawn: Axes = shown.plot(ax, output=output).ax_
    return drawn
