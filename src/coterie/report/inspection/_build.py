"""Build a summary from a fitted reducer and its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, IntArray
from coterie._data.training import checked_offset, checked_weights
from coterie._model_selection.resampling import Stability
from coterie._model_selection.tuning import (
    TolerancePath,
    coefficients,
    family_word,
    fitted_model,
    outputs_of,
    penalised_model,
    rates_of,
)
from coterie.estimators import input_names_of, inputs_of, leaf_order, shown_labels
from coterie.report.inspection._checks import check_fitted_reducer, checked_coordinates
from coterie.report.inspection._correlations import correlation_summary
from coterie.report.inspection._groups import (
    build_groups,
    with_likeness,
    with_own_stability,
    with_resampled_stability,
)
from coterie.report.inspection._joint_parts import build_number_path, build_tree
from coterie.report.inspection._positions import build_map, build_spectrum
from coterie.report.inspection._standardised import StandardisedColumns
from coterie.report.inspection._summary import PathSummary, Score, Summary
from coterie.report.inspection._verdict import StudyVerdict

INPUT_SENTENCES = {
    "clip": "Values further than three standard deviations from the mean were moved there first, "
    "because a regression on all columns then predicts better.",
    "rank": "Each value was first replaced by the share of training values below it, because a "
    "regression on all columns then predicts better.",
}
# Groups that are nearly the same share their effect; see `penalised_model`.
LEAST_PENALTY = 1e-2
# Labels of all partitions on the path; more would make the report slow to open.
MAX_PATH_LABELS = 400_000


def summarise(
    reducer: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    scores: Sequence[Score] = (),
    metric: str = "",
    path: TolerancePath | None = None,
    stability: Stability | None = None,
    positions: Any = None,
    coordinates: Any = None,
    title: str = "",
    task: str = "",
    targets: str | Sequence[str] = ("target",),
    n_test_rows: int | None = None,
    notes: Sequence[str] = (),
    offset: Any = None,
    verdict: StudyVerdict | None = None,
) -> Summary:
    """Summarise a fitted reducer as plain values, for reports and plots.

    Parameters
    ----------
    reducer : reducer
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features), optional
        The training data, for correlations and spectra.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        The targets, for the coefficients of a linear model on the aggregates.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    scores : list of Score, optional
        Scores on held-out rows, such as those of `coterie.report.compare`.
    metric : str, optional
        Name of the score, such as "R2".
    path : TolerancePath, optional
        From `coterie.tolerance_path`. By default the ``path_`` of the reducer, if it has one.
    stability : Stability, optional
        From `coterie.stability`, for the same groups.
    positions : array-like of shape (n_inputs,), optional
        Positions of the features along an axis, such as wavelengths. By default the numbers in
        the names, if they are monotonic and neighbouring features are correlated.
    coordinates : array-like of shape (n_inputs, 2), optional
        Vertical and horizontal coordinates, such as latitude and longitude. By default those in
        the names, such as "wind_lon120_lat-30".
    title, task : str, optional
        The title of the report, and what y is.
    targets : str or list of str, optional
        Names of the targets.
    n_test_rows : int, optional
        Number of held-out rows of the scores.
    notes : list of str, optional
        Further sentences for the reader.
    offset : array-like of shape (n_samples,), optional
        A known part of the linear predictor: the log of the exposure, for counts.
    verdict : StudyVerdict, optional
        From `coterie.report.study`.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> summary = coterie.report.summarise(coterie.NonLinCFA().fit(X, y), X, y)
    >>> [group.members for group in summary.groups]
    [[0, 8, 9], [1, 4, 5, 7, 10, 11], [2, 3, 6]]
    """
    check_fitted_reducer(reducer)
    summary = _fit_summary(reducer, title)
    summary = replace(summary, groups=with_own_stability(summary, reducer))
    order = leaf_order(reducer)
    summary = replace(
        summary,
        numbers=build_number_path(reducer),
        tree=build_tree(reducer, order),
        task=task,
        targets=[targets] if isinstance(targets, str) else [*map(str, targets)],
        metric=metric,
        scores=[*scores],
        path=_path_summary(_tolerance_path_of(reducer) if path is None else path),
        n_test_rows=n_test_rows,
        verdict=verdict,
        notes=[*([notes] if isinstance(notes, str) else notes), *_told_by(reducer)],
    )
    if stability is not None:
        summary = with_resampled_stability(summary, stability)
    names = summary.features
    if X is None:
        if positions is not None:
            raise ValueError(
                "positions need X: pass the training data, whose means are shown along them."
            )
        points = checked_coordinates("coordinates", coordinates, (len(names), 2))
        return replace(summary, map=build_map(names, points))
    columns, aggregates = _columns_and_aggregates(reducer, X)
    weights = checked_weights(sample_weight, columns.shape[0])
    places = positions, coordinates
    summary = _add_data(summary, columns, aggregates, weights, places, order)
    if y is None:
        return summary
    known = checked_offset(columns.shape[0], offset=offset)
    return _add_coefficients(summary, reducer, aggregates, y, weights, known)


def _fit_summary(reducer: Any, title: str) -> Summary:
    """The part of the summary that needs only the reducer."""
    names = [str(name) for name in input_names_of(reducer)]
    defaults = {n: one.default for n, one in signature(type(reducer)).parameters.items()}
    given = reducer.get_params(deep=False)
    changed = {name: one for name, one in given.items() if not _is_default(one, defaults[name])}
    return Summary(
        title=title,
        method=type(reducer).__name__,
        parameters={name: _format_parameter(one) for name, one in changed.items()},
        aggregation=reducer.fit_.aggregation.name,
        task="",
        targets=["target"],
        outputs=[],
        n_rows=None,
        n_test_rows=None,
        tolerance=_numeric_tolerance(reducer),
        penalty=_float_or_none(getattr(reducer, "penalty_", None)),
        features=names,
        labels=shown_labels(reducer).tolist(),
        signs=[int(sign) for sign in reducer.signs_],
        groups=build_groups(reducer, names),
        metric="",
        scores=[],
        path=None,
        correlation=None,
        spectrum=None,
        map=None,
        n_resamples=None,
        agreement=None,
        notes=[],
        rest=reducer.n_groups_ if len(reducer.fit_.rest) else None,
    )


def _is_default(one: Any, other: Any) -> bool:
    return one is other or (
        type(one) is type(other) and isinstance(one, str | int | float) and one == other
    )


def _format_parameter(value: Any, length: int = 80) -> str:
    """A parameter as text: the shape of a matrix, the shortened repr of anything else."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and np.size(value) != 1:
        return f"{type(value).__name__} of shape {'x'.join(map(str, value.shape))}"
    text = " ".join(repr(value).split())
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _float_or_none(value: Any) -> float | None:
    return None if value is None else float(value)


def _numeric_tolerance(reducer: Any) -> float | None:
    """The tolerance of the fit, or None if it is not a number."""
    given = getattr(reducer, "tolerance_", getattr(reducer, "tolerance", None))
    return None if isinstance(given, str) else _float_or_none(given)


def _tolerance_path_of(reducer: Any) -> TolerancePath | None:
    """The tolerance path of a reducer that has one."""
    path = getattr(reducer, "path_", None)
    return path if isinstance(path, TolerancePath) else None


def _told_by(reducer: Any) -> list[str]:
    """What the reducer says about its choices, in sentences."""
    told = []
    if (choice := getattr(reducer, "choice_", None)) is not None:
        told.append(choice)
    if (made := INPUT_SENTENCES.get(getattr(reducer, "inputs_", ""))) is not None:
        told.append(made)
    if len(rest := reducer.fit_.rest):
        told.append(
            f"{len(rest):,} features are left out: they are constant, or add nothing to the "
            "prediction given the other columns."
        )
    return told


def _path_summary(path: TolerancePath | None) -> PathSummary | None:
    if path is None:
        return None
    is_small = path.labels.size <= MAX_PATH_LABELS
    return PathSummary(
        tolerances=path.tolerances.tolist(),
        n_groups=path.n_groups.tolist(),
        train_scores=path.train_scores.tolist(),
        cv_scores=path.cv_mean.tolist(),
        cv_std_errors=path.cv_std_error.tolist(),
        labels=path.labels.tolist() if is_small else [],
        best=path.best,
        simplest=path.simplest,
    )


def _columns_and_aggregates(reducer: Any, X: Any) -> tuple[Any, FloatArray]:
    """The input columns and the aggregates of these rows."""
    columns = inputs_of(reducer, X)
    aggregates = reducer.fit_.transform(columns)
    return columns, aggregates.toarray() if hasattr(aggregates, "toarray") else aggregates


def _add_data(
    summary: Summary,
    columns: Any,
    aggregates: FloatArray,
    weights: FloatArray | None,
    places: tuple[Any, Any],
    order: IntArray | None,
) -> Summary:
    n_inputs, (positions, coordinates) = len(summary.labels), places
    standardised = StandardisedColumns.of(columns, weights)
    labels, signs = np.array(summary.labels), np.array(summary.signs, dtype=np.float64)
    return replace(
        summary,
        n_rows=columns.shape[0],
        groups=with_likeness(summary, standardised, aggregates),
        correlation=correlation_summary(standardised, labels, signs, order, summary.rest),
        spectrum=build_spectrum(
            standardised, summary.features, checked_coordinates("positions", positions, (n_inputs,))
        ),
        map=build_map(
            summary.features, checked_coordinates("coordinates", coordinates, (n_inputs, 2))
        ),
    )


def _fit_linear_model(
    reducer: Any, aggregates: FloatArray, target: Any, weights: Any, offset: Any
) -> Any:
    """Fit the penalised linear model to the rows with positive weight.

    Rows of weight 0 are dropped, since they would affect the imputation of missing values.
    """
    if weights is not None:
        kept = weights > 0
        aggregates, target, weights = aggregates[kept], target[kept], weights[kept]
        offset = None if offset is None else offset[kept]
    target, weights = rates_of(family_word(reducer, target), target, weights, offset)
    model = penalised_model(reducer, aggregates, target, LEAST_PENALTY)
    return fitted_model(model, aggregates, target, weights)


def _add_coefficients(
    summary: Summary, reducer: Any, aggregates: FloatArray, y: Any, weights: Any, offset: Any
) -> Summary:
    """Add the coefficients of the linear model on the aggregates."""
    target = np.asarray(y)
    target = target.ravel() if target.ndim == 2 and target.shape[1] == 1 else target
    model = _fit_linear_model(reducer, aggregates, target, weights, offset)
    rows = coefficients(model)
    n_targets = 1 if target.ndim == 1 else target.shape[1]
    names = summary.targets
    if names == ["target"] and n_targets > 1:
        names = [f"target {t}" for t in range(n_targets)]
    if len(names) != n_targets:
        raise ValueError(f"targets must hold one name per target ({n_targets}), got {names}.")
    standardised = StandardisedColumns.of(aggregates, weights)
    spread = np.where(np.isinf(standardised.spread), 0.0, standardised.spread)
    groups = [
        replace(group, weights=column.tolist(), effects=(column * scale).tolist())
        for group, column, scale in zip(
            summary.groups[: summary.n_columns], rows.T, spread, strict=True
        )
    ]
    groups += summary.groups[summary.n_columns :]
    return replace(summary, targets=names, outputs=outputs_of(model, names), groups=groups)
