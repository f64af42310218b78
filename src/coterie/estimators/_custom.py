"""CustomCFA: the reducer for a criterion of your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from coterie._core.criteria import Criterion
from coterie._core.fit import TrainingData
from coterie._data.training import Given, NumbersOrClasses
from coterie.estimators._reducer import Reducer, SearchName


@dataclass(frozen=True)
class OwnPricing:
    """Pricing with the criterion of the user; see :class:`coterie._core.fit.Pricing`."""

    given: Any
    row_reason: str | None
    name: ClassVar[str] = "CustomCFA"
    targets: ClassVar[NumbersOrClasses] = NumbersOrClasses("CustomCFA")
    family: ClassVar[None] = None
    cv: ClassVar[None] = None
    cv_is_default: ClassVar[bool] = False
    checks_all_groups: ClassVar[bool] = False
    regresses_numbers: ClassVar[bool] = False
    tolerance_range: ClassVar[tuple[float, float]] = (0.0, 0.0)

    def criterion(
        self, data: TrainingData, target: int, tolerance: float, *, is_penalty: bool
    ) -> Criterion:
        """The criterion, the same for each target."""
        return self.given

    def ranking(self, data: TrainingData, target: int, tolerance: float) -> Criterion:
        """The same criterion."""
        return self.given


class CustomCFA(Reducer):
    """Group features by a criterion of your own.

    The criterion returns a price and an allowance for each candidate. A candidate joins a group
    if its price is at most its allowance. Searches, aggregations, constraints, sparse columns,
    moments, engines and devices work as in the other reducers.

    Parameters
    ----------
    criterion : Criterion
        An object with a method ``verdict(pairs)`` that returns a
        :class:`coterie.extending.Verdict`: the price and the allowance of each candidate. `pairs`
        is a :class:`coterie.extending.PairMoments`: the moments of the group, the candidates, the
        merged aggregates and the target. If the object has an attribute ``needs_rows`` that is
        true, `pairs` is a :class:`coterie.extending.PairColumns`: the columns themselves. Such a
        criterion cannot be fitted from moments.
    inputs : None, callable or transformer, default=None
        The columns to group, as in :class:`NonLinCFA`.
    aggregation : str, callable or aggregation, default="mean"
        How a group becomes one column, as in :class:`NonLinCFA`.
    search : {"forward", "restart", "best"} or search, default="restart"
        The order in which candidates are tested, as in :class:`NonLinCFA`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours. A candidate can join only if it is a neighbour of a member.
    max_group_size : int or None, default=None
        The largest number of members in a group. None: no limit.
    scale : bool, default=False
        Whether to standardise the inputs before grouping, with the training rows.
    signs : bool, default=False
        Whether a candidate may join multiplied by -1, as in :class:`NonLinCFA`.
    initial_groups : list of lists of columns or None, default=None
        Groups to start from, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone in their group.
    separate : list of lists of columns or None, default=None
        Inputs from different lists never share a group.
    missing : {"error", "pairwise"}, default="error"
        How missing values (NaN) in X are handled, as in :class:`NonLinCFA`.
    target_weights : array-like of shape (n_targets,) or None, default=None
        The weight of each target's price, as in :class:`NonLinCFA`.
    covariance : {"auto", "gram", "columns"}, default="auto"
        How covariances are computed, as in :class:`NonLinCFA`.
    max_bytes : float or None, default=None
        The largest size of a covariance matrix, in bytes. None: half the memory of the machine.
    trace : {"merges", "all"}, default="merges"
        What ``trace_`` has. "merges": the accepted candidates; those refused are only counted, so
        that the trace has fewer records than there are inputs. "all": the refused ones too, of
        which there can be millions. :func:`coterie.explain` tells of any two inputs why they
        share a group or not.

    Attributes
    ----------
    labels_ : ndarray of shape (n_inputs,)
        The group number of each input. Groups are numbered in order of their first member.
    groups_ : list of ndarray
        The input numbers of the members of each group.
    n_groups_ : int
        Number of groups, which is the number of columns that ``transform`` returns.
    signs_ : ndarray of shape (n_inputs,)
        -1 for an input that joined multiplied by -1, and 1 otherwise. The first member of each
        group has 1.
    classes_ : ndarray of shape (n_classes,)
        The class labels, if y is text; a list with one array per column if y has several columns.
    trace_ : record array
        The merges in order, with fields group, candidate, price, allowance and accepted. With
        ``trace="all"``, the refusals too.
    n_refused_ : ndarray of shape (n_groups,)
        How many candidates each group has refused, a candidate once for each time it was judged.
    fit_ : Fit
        All results of the fit in one immutable object, with all that ``transform`` needs.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features. Only set if all column names of X are strings.

    See Also
    --------
    NonLinCFA : Groups by the loss of R2 of a merge.

    Examples
    --------
    A feature joins a group if its correlation with the aggregate is at least 0.9:

    >>> import numpy as np
    >>> from coterie import CustomCFA
    >>> from coterie.extending import Verdict
    >>> class Correlated:
    ...     def verdict(self, pairs):
    ...         r2 = pairs.uv**2 / (pairs.uu * pairs.vv)
    ...         return Verdict(price=1 - r2, allowance=np.full_like(r2, 1 - 0.9**2))
    >>> rng = np.random.default_rng(0)
    >>> warm, dry = rng.normal(size=(2, 200, 1))
    >>> X = np.hstack([warm, warm, dry, dry]) + 0.1 * rng.normal(size=(200, 4))
    >>> CustomCFA(Correlated()).fit(X, warm.ravel()).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        criterion: Any,
        *,
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        scale: bool = False,
        signs: bool = False,
        initial_groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        missing: Literal["error", "pairwise"] = "error",
        target_weights: Any = None,
        covariance: Literal["auto", "gram", "columns"] = "auto",
        max_bytes: float | None = None,
        trace: Literal["merges", "all"] = "merges",
    ) -> None:
        self.criterion = criterion
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.scale = scale
        self.signs = signs
        self.initial_groups = initial_groups
        self.keep = keep
        self.separate = separate
        self.missing = missing
        self.target_weights = target_weights
        self.covariance = covariance
        self.max_bytes = max_bytes
        self.trace = trace

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which features to group.

        Parameters
        ----------
        X : array-like, sparse array, data frame or xarray field, (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets: numbers, or class labels as text, with one target per class.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts.
        """
        return self._fit(X, y, Given(sample_weight))

    def _pricing(self) -> OwnPricing:
        if isinstance(self.criterion, type):
            name = self.criterion.__name__
            raise TypeError(f"criterion must be an instance, got the class {name}: write {name}().")
        if not callable(getattr(self.criterion, "verdict", None)):
            raise TypeError(f"criterion must have a method verdict(pairs), got {self.criterion!r}.")
        return OwnPricing(self.criterion, self._row_reason)

    @property
    def _row_reason(self) -> str | None:
        needs_rows = getattr(self.criterion, "needs_rows", False)
        return f"criterion={self.criterion!r} looks at rows" if needs_rows else None
