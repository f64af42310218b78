"""ToleranceCV: a reducer that chooses its tolerance by cross-validation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._core.fit import Fit
from coterie._core.values import PAGE_OF_ESTIMATOR, FloatArray
from coterie._data.parameters import checked_flag
from coterie._data.training import rows_at_hand
from coterie._model_selection.tuning._path import TolerancePath, tolerance_path
from coterie._persist.documents import document_of, plain_state, state_again
from coterie._persist.files import Entry, array_in, text_of, write_whole
from coterie.estimators import (
    Coterie,
    CustomCFA,
    GenLinCFA,
    LinCFA,
    MutualCFA,
    NonLinCFA,
    groups_shown,
    pricing_of,
    store,
    transformed,
)

# Attributes that are copied from the inner reducer, or computed from the path.
COPIED = (
    "fit_",
    "labels_",
    "groups_",
    "n_groups_",
    "signs_",
    "trace_",
    "n_refused_",
    "classes_",
    "penalty_",
    "tolerance_",
    "n_features_in_",
    "feature_names_in_",
    "cv_results_",
)


def _has(name: str) -> Callable[[ToleranceCV], bool]:
    """A check whether the inner reducer (the fitted one, if any) has a method."""

    def check(reducer: ToleranceCV) -> bool:
        inside = getattr(reducer, "estimator_", None) or reducer.estimator or default_estimator()
        getattr(inside, name)
        return True

    return check


def default_estimator() -> NonLinCFA:
    """The default reducer of ToleranceCV, with prices on all rows."""
    return NonLinCFA(cv=None)


class ToleranceCV(MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """A reducer that chooses its tolerance by cross-validation.

    The tolerance is chosen for the best score, on held-out rows, of a model that is fitted on the
    aggregates. The model is linear, logistic, Poisson or gamma regression, depending on the
    target. Use this reducer if the score of such a model is what matters. ``NonLinCFA()`` chooses
    its allowance without cross-validation. The relation is that of ``LassoCV`` to ``Lasso``.

    Parameters
    ----------
    estimator : reducer or None, default=None
        The reducer: :class:`NonLinCFA`, :class:`GenLinCFA` or :class:`MutualCFA`. Its tolerance is
        ignored, and its other parameters are used. None: ``NonLinCFA(cv=None)``.
    tolerances : array-like of shape (T,) or None, default=None
        The tolerances to try. None: `n_tolerances` of them, close together where the number of
        groups changes most; see :func:`tolerance_path`.
    n_tolerances : int, default=30
        Number of tolerances to try if `tolerances` is None.
    cv : int, splitter or iterable, default=5
        The folds on which tolerances are compared. For each fold, groups and model are learned
        from the other rows. The `cv` of the estimator is separate: it scores prices.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. None: R2, accuracy, or the share of deviance explained, depending on
        the target.
    n_jobs : int or None, default=None
        Number of folds to run in parallel. None: 1.
    one_standard_error : bool, default=False
        Whether to use the one-standard-error rule: the fewest groups whose mean score is within
        one standard error of the best, instead of the best score.

    Attributes
    ----------
    tolerance_ : float
        The tolerance that was chosen.
    estimator_ : reducer
        The reducer, fitted with that tolerance on all rows.
    cv_results_ : dict of ndarray
        ``tolerance``, ``n_groups``, ``mean_test_score``, ``std_test_score``,
        ``split0_test_score`` and so on, as in ``GridSearchCV``.
    path_ : TolerancePath
        The curve on which the tolerance was chosen.
    labels_, groups_, n_groups_, signs_, classes_, trace_, fit_, n_features_in_, feature_names_in_
        As in :class:`NonLinCFA`.

    See Also
    --------
    tolerance_path : The curve on which the tolerance is chosen.

    Examples
    --------
    >>> from coterie import NonLinCFA, ToleranceCV
    >>> from coterie.datasets import make_groups
    >>> X, y, labels = make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> reducer = ToleranceCV(NonLinCFA(cv=None), one_standard_error=True).fit(X, y)
    >>> bool((reducer.labels_ == labels).all())
    True
    """

    # Read by scikit-learn for the link of the HTML representation.
    _doc_link_module = "coterie"
    _doc_link_template = PAGE_OF_ESTIMATOR

    fit_: Fit

    def __init__(
        self,
        estimator: Any = None,
        *,
        tolerances: Any = None,
        n_tolerances: int = 30,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
        one_standard_error: bool = False,
    ) -> None:
        self.estimator = estimator
        self.tolerances = tolerances
        self.n_tolerances = n_tolerances
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.one_standard_error = one_standard_error

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the tolerance, and learn with it which features to group.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets, as in the estimator.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, for prices, models and scores.
        groups : array-like of shape (n_samples,), optional
            Group labels of the rows, for a `cv` such as ``GroupKFold``.
        """
        X = rows_at_hand(X, "ToleranceCV scores models on rows")
        one_standard_error = checked_flag("one_standard_error", self.one_standard_error)
        estimator = default_estimator() if self.estimator is None else self.estimator
        path = tolerance_path(
            X,
            y,
            estimator=estimator,
            tolerances=self.tolerances,
            n_tolerances=self.n_tolerances,
            cv=self.cv,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            sample_weight=sample_weight,
            groups=groups,
        )
        chosen = path.simplest if one_standard_error else path.best
        self.estimator_ = clone(estimator).set_params(tolerance=float(path.tolerances[chosen]))
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if groups is not None and pricing_of(self.estimator_).cv is not None:
            given["groups"] = groups
        self.estimator_.fit(X, y, **given)
        self._store(path)
        return self

    def _store(self, path: TolerancePath) -> None:
        store(self, self.estimator_.fit_)
        self.tolerance_ = self.estimator_.tolerance
        self.path_, self.cv_results_ = path, _as_results(path)

    def transform(self, X: Any) -> FloatArray:
        """Replace each group by its aggregate, as the estimator does.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_groups), or a frame as set by ``set_output``
        """
        check_is_fitted(self)
        return transformed(self, X)

    @available_if(_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> FloatArray:
        """Features that have these aggregates, as in the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_groups)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self.estimator_.inverse_transform(X)

    @available_if(_has("as_field"))
    def as_field(self, values: Any = None) -> Any:
        """A map of the groups: each grid cell has the value, or the number, of its group.

        Parameters
        ----------
        values : array-like of shape (n_groups,), optional
            The values to map. By default ``labels_``.

        Returns
        -------
        xarray.DataArray, or Dataset if X was one in fit
        """
        return self.estimator_.as_field(values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the aggregates: ``mean(a, b, c)``, or ``a`` for a group of one.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, if X had none in fit.

        Returns
        -------
        ndarray of shape (n_groups,) of str objects
        """
        check_is_fitted(self)
        return self.estimator_.get_feature_names_out(input_features)

    def save(
        self,
        path: str | os.PathLike[str],
        functions: Mapping[str, Any] | None = None,
    ) -> None:
        """Save the fitted reducer to a JSON file, for :func:`coterie.load`.

        Parameters
        ----------
        path : str or path
        functions : dict of functions and families, optional
            Names for functions that are parameters.
        """
        check_is_fitted(self)
        write_whole(path, text_of(document_of(self, functions)))

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + groups_shown(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += groups_shown(self)
        return bundle

    def __getstate__(self) -> dict[str, Any]:
        # Plain arrays, so that the reducers are the only classes of this package that skops must
        # trust.
        state = super().__getstate__()
        if "estimator_" not in state:
            return plain_state(state)
        kept = {name: value for name, value in state.items() if name not in COPIED}
        return kept | {"path_": vars(self.path_)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "estimator_" not in state:
            super().__setstate__(state_again(state))
            return
        super().__setstate__(state)
        self._store(TolerancePath(**state["path_"]))

    def __sklearn_is_fitted__(self) -> bool:
        return "labels_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inside = get_tags(default_estimator() if self.estimator is None else self.estimator)
        tags.target_tags, tags.input_tags = inside.target_tags, inside.input_tags
        tags.transformer_tags = inside.transformer_tags
        return tags


def _as_results(path: TolerancePath) -> dict[str, Any]:
    """The path as a dict of arrays, in the format of ``GridSearchCV.cv_results_``."""
    folds = {f"split{k}_test_score": scores for k, scores in enumerate(path.cv_scores.T)}
    return {
        "tolerance": path.tolerances,
        "n_groups": path.n_groups,
        "mean_test_score": path.cv_mean,
        "std_test_score": path.cv_scores.std(axis=1),
        **folds,
    }


def restored(reducer: ToleranceCV, fit: Fit, path: Entry) -> ToleranceCV:
    """The reducer, with the fit and the path from a file."""
    estimator = default_estimator() if reducer.estimator is None else reducer.estimator
    reducer.estimator_ = clone(estimator).set_params(tolerance=fit.tolerance)
    store(reducer.estimator_, replace(fit, tolerance=None))
    reducer._store(_path_in(path, fit.n_inputs))
    return reducer


def _path_in(entry: Entry, n_inputs: int) -> TolerancePath:
    """The path from a file, with checked shapes and dtypes."""
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


# All reducers of the package.
REDUCERS = (Coterie, CustomCFA, GenLinCFA, LinCFA, MutualCFA, NonLinCFA, ToleranceCV)
