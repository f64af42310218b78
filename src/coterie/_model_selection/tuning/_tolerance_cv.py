"""A reducer with the tolerance that serves a plain model best."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._core.fit import Fit
from coterie._core.values import FloatArray
from coterie._data.parameters import checked_flag
from coterie._data.training import check_rows_at_hand
from coterie._model_selection.tuning._path import TolerancePath, tolerance_path
from coterie._persist.documents import document_of, plain_state, state_again
from coterie._persist.files import Entry, array_in, text_of, write_whole
from coterie.estimators import (
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

# What is copied from the reducer inside, or follows from the path.
COPIED = (
    "fit_",
    "labels_",
    "groups_",
    "n_groups_",
    "signs_",
    "trace_",
    "classes_",
    "penalty_",
    "tolerance_",
    "n_features_in_",
    "feature_names_in_",
    "cv_results_",
)


def _has(name: str) -> Callable[[ToleranceCV], bool]:
    """Whether the reducer inside has a method: as fitted, else as given."""

    def check(reducer: ToleranceCV) -> bool:
        inside = getattr(reducer, "estimator_", None) or reducer.estimator or default_estimator()
        getattr(inside, name)
        return True

    return check


def default_estimator() -> NonLinCFA:
    """The reducer whose tolerance is chosen where none is given: prices on all rows."""
    return NonLinCFA(cv=None)


class ToleranceCV(MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """A reducer with the tolerance that serves a plain model best on held-out rows.

    The model is linear, logistic, Poisson or gamma regression, as the target asks. Choose this one
    when the score of a model behind the groups is what counts; ``NonLinCFA()`` sets its allowance
    without folds. As ``LassoCV`` is to ``Lasso``.

    Parameters
    ----------
    estimator : reducer or None, default=None
        What groups features, with all its parameters but the tolerance: :class:`NonLinCFA`,
        :class:`GenLinCFA` or :class:`MutualCFA`. None: ``NonLinCFA(cv=None)``.
    tolerances : array-like of shape (T,) or None, default=None
        The tolerances to try. None: `n_tolerances` of them, close together where the number of
        groups changes most; see :func:`tolerance_path`.
    n_tolerances : int, default=30
        How many to try, where `tolerances` is None.
    cv : int, splitter or iterable, default=5
        The folds on which tolerances are compared. In each, groups and model come from the
        other rows alone. How prices are scored is the `cv` of the estimator.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. None: R2, accuracy, or the share of deviance explained, as the
        target asks.
    n_jobs : int or None, default=None
        How many folds at the same time. None: 1.
    one_standard_error : bool, default=False
        Whether to take the fewest groups whose mean score is within one standard error of the
        best, instead of the best.

    Attributes
    ----------
    tolerance_ : float
        The tolerance that was chosen.
    estimator_ : reducer
        The reducer, fitted with that tolerance to all rows.
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
        """Choose the tolerance, and learn with it which features to aggregate.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target, as the estimator takes it.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, for prices, models and scores.
        groups : array-like of shape (n_samples,), optional
            Groups of rows, for a `cv` such as ``GroupKFold``.
        """
        check_rows_at_hand(X, "ToleranceCV scores models on rows")
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
        """Features that have these aggregates, as the estimator finds them.

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
        """One value for each group, or the number of the group, where its members lie.

        Parameters
        ----------
        values : array-like of shape (n_groups,), optional
            What to show. Without them, ``labels_``.

        Returns
        -------
        xarray.DataArray, or Dataset if fit saw one
        """
        return self.estimator_.as_field(values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the aggregates: ``mean(a, b, c)``, or ``a`` for a group of one.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, where X had none.

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
        *,
        trace: Literal["accepted", "all"] = "accepted",
    ) -> None:
        """Write the fitted reducer to a file of JSON, to be read by :func:`coterie.load`.

        Parameters
        ----------
        path : str or path
        functions : dict of functions and families, optional
            Names for functions that are parameters.
        trace : {"accepted", "all"}, default="accepted"
            Which decisions of ``trace_`` to keep.
        """
        check_is_fitted(self)
        write_whole(path, text_of(document_of(self, functions, trace)))

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + groups_shown(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += groups_shown(self)
        return bundle

    def __getstate__(self) -> dict[str, Any]:
        # Plain arrays, so that skops has nothing of ours to trust but the reducers themselves.
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
    """The path as a table, with the names and the standard deviation of ``GridSearchCV``."""
    folds = {f"split{k}_test_score": scores for k, scores in enumerate(path.cv_scores.T)}
    return {
        "tolerance": path.tolerances,
        "n_groups": path.n_groups,
        "mean_test_score": path.cv_mean,
        "std_test_score": path.cv_scores.std(axis=1),
        **folds,
    }


def restored(reducer: ToleranceCV, fit: Fit, path: Entry) -> ToleranceCV:
    """A reducer with what a file says about its fit."""
    estimator = default_estimator() if reducer.estimator is None else reducer.estimator
    reducer.estimator_ = clone(estimator).set_params(tolerance=fit.tolerance)
    store(reducer.estimator_, replace(fit, tolerance=None))
    reducer._store(_path_in(path, fit.n_inputs))
    return reducer


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


# All there are.
REDUCERS = (CustomCFA, GenLinCFA, LinCFA, MutualCFA, NonLinCFA, ToleranceCV)
