"""Reducers that choose their tolerance on their path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from coterie._core.criteria import Criterion
from coterie._model_selection.tuning._path import TolerancePath, tolerance_path
from coterie._persist.files import Entry, array_in, plain_array
from coterie.estimators import GenLinCFA, LinCFA, MutualCFA, NonLinCFA
from coterie.estimators._base import Reducer, SearchName
from coterie.estimators._elsewhere import check_rows_here
from coterie.estimators._prepared import Prepared, Splits
from coterie.estimators._rows import Given, Rows
from coterie.estimators._targets import Targets
from coterie.families import Family


class TunedReducer(Reducer):
    """A reducer that chooses its tolerance on its path.

    Final classes store their parameters and say which reducer these amount to.
    """

    tolerances: Any
    n_tolerances: Any
    cv: Any
    scoring: Any
    n_jobs: Any
    one_standard_error: Any
    _found = ()
    _reason_for_rows = GenLinCFA._reason_for_rows
    _kinds: ClassVar[Mapping[str, Any]] = {**Reducer._kinds, "path_": TolerancePath}

    @abstractmethod
    def _plain(self) -> Any:
        """The reducer whose tolerance is chosen; at that tolerance, once it is."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the tolerance, and learn from all rows which features to aggregate.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target, as the reducer without "CV" in its name takes it.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, for prices, models and scores.
        groups : array-like of shape (n_samples,), optional
            Groups of rows, for a `cv` such as ``GroupKFold``.
        """
        check_rows_here(X, f"{type(self).__name__} scores models on rows")
        self._check_choice()
        self.path_ = tolerance_path(
            X,
            y,
            estimator=self._plain(),
            tolerances=self.tolerances,
            n_tolerances=self.n_tolerances,
            cv=self.cv,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            sample_weight=sample_weight,
            groups=groups,
        )
        chosen = self.path_.simplest if self.one_standard_error else self.path_.best
        self.tolerance_ = float(self.path_.tolerances[chosen])
        self.cv_results_ = _as_results(self.path_)
        has_folds = getattr(self, "price_cv", None) is not None
        self._learn(X, y, Given(sample_weight, groups if has_folds else None))
        return self

    def _check_choice(self) -> None:
        if not isinstance(self.one_standard_error, bool | np.bool_):
            raise TypeError(
                f"one_standard_error must be True or False, got {self.one_standard_error!r}."
            )

    @property
    def _takes_numbers(self) -> bool:
        return bool(self._plain()._takes_numbers)

    def _targets(self, y: Any) -> Targets:
        return self._plain()._targets(y)

    def _splits(self, X: Any, y: Any, targets: Targets, rows: Rows) -> Splits | None:
        return self._plain()._splits(X, y, targets, rows)

    def _level(self, prepared: Prepared) -> float:
        return self.tolerance_

    def _criterion(self, prepared: Prepared, number: int, level: float) -> Criterion:
        return self._plain()._criterion(prepared, number, level)

    def _pricing(self, prepared: Prepared, number: int, tolerance: float) -> Criterion:
        return self._plain()._pricing(prepared, number, tolerance)

    def _plain_more(self) -> dict[str, Any]:
        return {"path": {name: plain_array(array) for name, array in vars(self.path_).items()}}

    def _more_in(self, fitted: Entry) -> None:
        self.path_ = _path_in(fitted["path"], len(self.labels_))
        self.cv_results_ = _as_results(self.path_)
        if not hasattr(self, "tolerance_"):
            raise fitted["tolerance"].wrong("a number")

    @property
    def _by_row(self) -> bool:
        return getattr(self, "bound", None) == "fitted"

    def _shared_with(self, kind: type[Reducer]) -> dict[str, Any]:
        """The parameters that a reducer has too, other than `cv`, which means another thing."""
        own = self.get_params(deep=False)
        return {name: own[name] for name in kind().get_params() if name in own and name != "cv"}


def _as_results(path: TolerancePath) -> dict[str, Any]:
    """The path as a table, with the names and the standard deviation of ``GridSearchCV``."""
    folds = {f"split{k}_test_score": scores for k, scores in enumerate(path.cv_scores.T)}
    return {
        "tolerance": path.tolerances,
        "n_groups": path.n_groups,
        "mean_test_score": path.cv_mean,
        "std_test_score": path.cv_scores.std(axis=1),
        **folds,
    }


def _path_in(entry: Entry, n_inputs: int) -> TolerancePath:
    """A path, its arrays of the same length."""
    kinds = {
        "tolerances": "f",
        "n_groups": "i",
        "labels": "i",
        "train_scores": "f",
        "cv_scores": "f",
    }
    arrays = {name: array_in(entry[name]) for name in kinds}
    n = arrays["tolerances"].size
    n_folds = arrays["cv_scores"].size // n if n else 0
    shapes = {"labels": (n, n_inputs), "cv_scores": (n, n_folds)}
    for name, array in arrays.items():
        right = array.shape == shapes.get(name, (n,)) and array.dtype.kind == kinds[name]
        if not right or array.size == 0:
            raise entry[name].wrong(f"an array of shape {shapes.get(name, (n,))}")
    return TolerancePath(**arrays)


class NonLinCFACV(TunedReducer):
    """NonLinCFA with the tolerance that serves linear regression best on held-out rows.

    Choose this one when the score of a model behind the groups is what counts;
    ``NonLinCFA()`` sets its allowance without folds. As ``LassoCV`` is to ``Lasso``.

    Parameters
    ----------
    tolerances : array-like of shape (T,) or None, default=None
        The tolerances to try. None: `n_tolerances` of them, close together where the number of
        groups changes fast, see :func:`tolerance_path`.
    n_tolerances : int, default=30
        How many, where `tolerances` is None.
    cv : int, splitter or iterable, default=5
        The folds on which tolerances are compared. In each, groups and model come from the
        training rows alone.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. None: R2.
    n_jobs : int or None, default=None
        How many folds at the same time. None: 1.
    one_standard_error : bool, default=False
        Whether to take the fewest groups whose mean score is within one standard error of the
        best mean, instead of the best.
    price_cv : int, splitter or None, default=None
        How the R2 of a merge is scored, the `cv` of :class:`NonLinCFA`. None: on all rows
        of the training set, in closed form. An int or a splitter: on folds within it.
    inputs : None, callable or transformer, default=None
        What is grouped, as in :class:`NonLinCFA`.
    aggregation : str or callable, default="mean"
        What replaces a group, as in :class:`NonLinCFA`.
    search : {"forward", "restart", "best"}, default="restart"
        The order of questions, as in :class:`NonLinCFA`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours: a candidate must touch a member of the group.
    max_group_size : int or None, default=None
        Largest number of members of a group.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first.
    signs : bool, default=False
        Whether a candidate may join with a minus, as in :class:`NonLinCFA`.
    groups : list of lists of columns or None, default=None
        Groups to begin with, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group.
    missing : {"error", "pairwise"}, default="error"
        What gaps (NaN) in X mean, as in :class:`NonLinCFA`.
    target_weights : array-like of shape (n_targets,) or None, default=None
        How much the prices of each target count, as in :class:`NonLinCFA`.
    engine : {"auto", "gram", "columns"}, default="auto"
        How covariances are found, as in :class:`NonLinCFA`.
    memory : float or None, default=None
        Bytes that a matrix of covariances may take. None: half the memory of the machine.

    Attributes
    ----------
    tolerance_ : float
        The tolerance chosen; the smaller index in `tolerances` of two that score the same.
    cv_results_ : dict of ndarray
        ``tolerance``, ``n_groups``, ``mean_test_score``, ``std_test_score``,
        ``split0_test_score`` and so on, as in ``GridSearchCV``.
    path_ : TolerancePath
        The same with the partitions, and indices by other rules.
    labels_, groups_, n_groups_, signs_, trace_, n_features_in_, feature_names_in_
        As in :class:`NonLinCFA`, fitted to all rows at that tolerance.

    See Also
    --------
    tolerance_path : The curve on which the tolerance is chosen.
    GenLinCFACV : For classes and counts.

    Examples
    --------
    >>> from coterie import NonLinCFACV
    >>> from coterie.datasets import make_groups
    >>> X, y, labels = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> reducer = NonLinCFACV(one_standard_error=True).fit(X, y)
    >>> bool((reducer.labels_ == labels).all())
    True
    """

    def __init__(
        self,
        *,
        tolerances: Any = None,
        n_tolerances: int = 30,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
        one_standard_error: bool = False,
        price_cv: Any = None,
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        scale: bool = False,
        signs: bool = False,
        groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        missing: Literal["error", "pairwise"] = "error",
        target_weights: Any = None,
        engine: Literal["auto", "gram", "columns"] = "auto",
        memory: float | None = None,
    ) -> None:
        self.tolerances = tolerances
        self.n_tolerances = n_tolerances
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.one_standard_error = one_standard_error
        self.price_cv = price_cv
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.scale = scale
        self.signs = signs
        self.groups = groups
        self.keep = keep
        self.separate = separate
        self.missing = missing
        self.target_weights = target_weights
        self.engine = engine
        self.memory = memory

    def _plain(self) -> NonLinCFA:
        tolerance = getattr(self, "tolerance_", 0.0)
        return NonLinCFA(tolerance, cv=self.price_cv, **self._shared_with(NonLinCFA))


class GenLinCFACV(TunedReducer):
    """GenLinCFA with the tolerance that serves a plain model best on held-out rows.

    The model is linear, logistic, Poisson or gamma regression, as the family asks. Choose this
    one to use the paper's bound without a tolerance from elsewhere; ``GenLinCFA()`` has a rule
    of its own, without folds.

    Parameters
    ----------
    tolerances : array-like of shape (T,) or None, default=None
        The tolerances to try. None: `n_tolerances` of them, close together where the number of
        groups changes fast, see :func:`tolerance_path`.
    n_tolerances : int, default=30
        How many, where `tolerances` is None.
    cv : int, splitter or iterable, default=5
        The folds on which tolerances are compared. In each, groups and model come from the
        training rows alone.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. None: R2, accuracy, or the share of deviance explained, for
        numbers, classes and counts.
    n_jobs : int or None, default=None
        How many folds at the same time. None: 1.
    one_standard_error : bool, default=False
        Whether to take the fewest groups whose mean score is within one standard error of the
        best mean, instead of the best.
    family : str or Family, default="gaussian"
        Distribution of the target, as in :class:`GenLinCFA`.
    curvature : {"zero", "null"} or float, default="zero"
        Second derivative of the family's cumulant function, as in :class:`GenLinCFA`.
    bound : {"general", "bivariate", "fitted"}, default="general"
        The rule of Algorithm 2, that of Appendix B of the paper, or the deviance itself.
    inputs : None, callable or transformer, default=None
        What is grouped, as in :class:`NonLinCFA`.
    aggregation : str or callable, default="mean"
        What replaces a group, as in :class:`NonLinCFA`.
    search : {"forward", "restart", "best"}, default="restart"
        The order of questions, as in :class:`NonLinCFA`.
    connectivity : sparse array of shape (n_inputs, n_inputs) or None, default=None
        Graph of neighbours: a candidate must touch a member of the group.
    max_group_size : int or None, default=None
        Largest number of members of a group.
    scale : bool, default=False
        Whether to standardise the inputs on the training rows first.
    signs : bool, default=False
        Whether a candidate may join with a minus, as in :class:`NonLinCFA`.
    groups : list of lists of columns or None, default=None
        Groups to begin with, as in :class:`NonLinCFA`.
    keep : list of columns or None, default=None
        Inputs that stay alone.
    separate : list of lists of columns or None, default=None
        Inputs of different lists never share a group.
    missing : {"error", "pairwise"}, default="error"
        What gaps (NaN) in X mean, as in :class:`NonLinCFA`.
    target_weights : array-like of shape (n_targets,) or None, default=None
        How much the prices of each target count, as in :class:`NonLinCFA`.
    engine : {"auto", "gram", "columns"}, default="auto"
        How covariances are found, as in :class:`NonLinCFA`.
    memory : float or None, default=None
        Bytes that a matrix of covariances may take. None: half the memory of the machine.

    Attributes
    ----------
    tolerance_ : float
        The tolerance chosen; the smaller index in `tolerances` of two that score the same.
    cv_results_ : dict of ndarray
        ``tolerance``, ``n_groups``, ``mean_test_score``, ``std_test_score``,
        ``split0_test_score`` and so on, as in ``GridSearchCV``.
    path_ : TolerancePath
        The same with the partitions, and indices by other rules.
    labels_, groups_, n_groups_, signs_, trace_, n_features_in_, feature_names_in_
        As in :class:`GenLinCFA`, fitted to all rows at that tolerance.

    See Also
    --------
    tolerance_path : The curve on which the tolerance is chosen.
    NonLinCFACV : Exact prices, for a target of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import GenLinCFACV
    >>> rng = np.random.default_rng(0)
    >>> warm, dry = rng.normal(size=(2, 300, 1))
    >>> X = np.hstack([warm, warm, dry, dry]) + 0.1 * rng.normal(size=(300, 4))
    >>> y = np.where((warm - dry).ravel() + rng.normal(size=300) > 0, "burns", "does not")
    >>> GenLinCFACV(family="bernoulli", one_standard_error=True).fit(X, y).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        *,
        tolerances: Any = None,
        n_tolerances: int = 30,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
        one_standard_error: bool = False,
        family: str | Family = "gaussian",
        curvature: Literal["zero", "null"] | float = "zero",
        bound: Literal["general", "bivariate", "fitted"] = "general",
        inputs: Any = None,
        aggregation: str | Callable[[Any], Any] = "mean",
        search: SearchName = "restart",
        connectivity: Any = None,
        max_group_size: int | None = None,
        scale: bool = False,
        signs: bool = False,
        groups: Any = None,
        keep: Any = None,
        separate: Any = None,
        missing: Literal["error", "pairwise"] = "error",
        target_weights: Any = None,
        engine: Literal["auto", "gram", "columns"] = "auto",
        memory: float | None = None,
    ) -> None:
        self.tolerances = tolerances
        self.n_tolerances = n_tolerances
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.one_standard_error = one_standard_error
        self.family = family
        self.curvature = curvature
        self.bound = bound
        self.inputs = inputs
        self.aggregation = aggregation
        self.search = search
        self.connectivity = connectivity
        self.max_group_size = max_group_size
        self.scale = scale
        self.signs = signs
        self.groups = groups
        self.keep = keep
        self.separate = separate
        self.missing = missing
        self.target_weights = target_weights
        self.engine = engine
        self.memory = memory

    def _plain(self) -> GenLinCFA:
        tolerance = getattr(self, "tolerance_", 0.0)
        return GenLinCFA(tolerance, **self._shared_with(GenLinCFA))


# All there are, those that choose their tolerance included.
REDUCERS = (GenLinCFA, GenLinCFACV, LinCFA, MutualCFA, NonLinCFA, NonLinCFACV)
