"""The best single member of each group, for those who want to measure fewer features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from coterie._core.values import FloatArray, IntArray, data_frame
from coterie._data.fields import is_field
from coterie._data.frames import frame_html, frame_text, known_frame
from coterie._data.training import table_as_in_fit
from coterie.estimators import input_names_of, inputs_of
from coterie.report.inspection._checks import check_fitted_reducer
from coterie.report.inspection._correlations import with_aggregates
from coterie.report.inspection._standardised import StandardisedColumns

# What Coterie may make of columns first, one column of each.
SAME_COLUMNS = ("raw", "clip", "rank")


@dataclass(frozen=True, eq=False, repr=False)
class Representatives:
    """One feature of each group, which stands for it.

    Parameters
    ----------
    features : ndarray of shape (n_groups,)
        The number of each feature.
    names : list of str
        The name of each feature.
    correlations : ndarray of shape (n_groups,)
        Correlation of each with the aggregate of its group.
    groups : list of str
        The groups, as in ``get_feature_names_out``.
    reducer : reducer
        The fitted reducer whose groups they are.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> chosen = coterie.representatives(coterie.Coterie().fit(X, y), X)
    >>> chosen.transform(X).shape
    (300, 3)
    >>> list(chosen.to_frame().columns)
    ['group', 'representative', 'feature', 'correlation']
    """

    features: IntArray
    names: list[str]
    correlations: FloatArray
    groups: list[str]
    reducer: Any = field(repr=False)

    def transform(self, X: Any) -> Any:
        """The representatives among the columns of X, in the order of the groups.

        Values are as in X: neither standardised nor aggregated. If the reducer has a function or a
        transformer as `inputs`, they are columns of what it makes of X.

        Parameters
        ----------
        X : array-like, data frame or xarray field of shape (n_samples, n_features)
            If the reducer was fitted to named columns, a data frame needs only those of the
            representatives, in any order.

        Returns
        -------
        data frame or array of shape (n_samples, n_groups)
            A pandas or polars data frame if X is one.
        """
        features = self.reducer.fit_.features
        made = getattr(self.reducer, "inputs_", "own")
        if features.inputs is not None and made not in SAME_COLUMNS:
            return inputs_of(self.reducer, X)[:, self.features]
        X = table_as_in_fit(features, X) if is_field(X) else known_frame(X)
        if hasattr(X, "columns") and features.names is not None:
            return X[self._present(X.columns)]
        X = X if hasattr(X, "shape") else np.asarray(X)
        if len(X.shape) != 2 or X.shape[1] != features.n_features:
            raise ValueError(
                f"X must have the {features.n_features} features of the fit, got shape {X.shape}."
            )
        return _safe_indexing(X, self.features, axis=1)

    def _present(self, columns: Any) -> list[str]:
        """The names of the representatives, all of them among these columns."""
        absent = [name for name in self.names if name not in columns]
        if absent:
            raise ValueError(f"X must have the columns {', '.join(map(repr, absent))}.")
        return self.names

    def __repr__(self) -> str:
        return frame_text(self._headline, self)

    def _repr_html_(self) -> str:
        return frame_html(self._headline, self)

    @property
    def _headline(self) -> str:
        return f"Representatives of {len(self.groups):,} groups"

    def to_frame(self) -> Any:
        """A pandas data frame with one row for each group."""
        return data_frame(
            {
                "group": self.groups,
                "representative": self.names,
                "feature": self.features,
                "correlation": self.correlations,
            }
        )


def representatives(reducer: Any, X: Any) -> Representatives:
    """The member of each group that is most correlated with its aggregate.

    For those who want to measure fewer features: each stands for its group.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X : array-like, data frame or xarray field of shape (n_samples, n_features)
        Rows on which correlations are computed, such as the training rows.

    Returns
    -------
    Representatives
        ``features`` and ``names``, ``transform(X)`` and ``to_frame()``.

    Examples
    --------
    >>> import coterie
    >>> from sklearn.linear_model import RidgeCV
    >>> X, y = coterie.datasets.load_tecator(return_X_y=True, as_frame=True)
    >>> reducer = coterie.Coterie().fit(X[:172], y[:172])
    >>> chosen = coterie.representatives(reducer, X[:172])
    >>> Z = chosen.transform(X)
    >>> Z.shape[1] == reducer.n_groups_, list(Z.columns) == chosen.names
    (True, True)
    >>> model = RidgeCV([1e-6]).fit(Z[:172], y[:172])
    >>> bool(model.score(Z[172:], y[172:]) > 0.9)
    True
    """
    check_fitted_reducer(reducer)
    columns = inputs_of(reducer, X)
    aggregates = reducer.fit_.transform(columns)
    aggregates = aggregates.toarray() if hasattr(aggregates, "toarray") else aggregates
    standardised = StandardisedColumns.of(columns)
    found = with_aggregates(standardised, aggregates, reducer.groups_, reducer.signs_)
    best = [int(np.argmax(np.nan_to_num(each, nan=-1.0))) for each in found]
    pairs = [*zip(reducer.groups_, found, best, strict=True)]
    features = np.array([members[place] for members, _, place in pairs])
    names = input_names_of(reducer)
    return Representatives(
        features,
        [str(names[feature]) for feature in features],
        np.array([each[place] for _, each, place in pairs]),
        [str(name) for name in reducer.get_feature_names_out()],
        reducer,
    )
