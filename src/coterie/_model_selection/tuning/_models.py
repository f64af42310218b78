"""The default models that are fitted on the aggregates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from coterie._core.values import FloatArray, is_sparse
from coterie._data.training import is_text

# Coterie has a task in place of a family.
FAMILY_OF_TASK: dict[str | None, str] = {
    "regression": "gaussian",
    "classes": "bernoulli",
    "counts": "poisson",
}


def plain_model(estimator: Any, X: Any, y: Any) -> Any:
    """The default model for the aggregates of a reducer, by kind of target."""
    # Imported late: reducers themselves do not need these models.
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import (
        GammaRegressor,
        LinearRegression,
        LogisticRegression,
        PoissonRegressor,
        TweedieRegressor,
    )
    from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # A small ridge penalty, because there is no unique solution for collinear aggregates.
    ridge = {"alpha": 1e-3, "solver": "newton-cholesky"}
    models = {
        "bernoulli": LogisticRegression(max_iter=1000),
        "poisson": PoissonRegressor(**ridge),
        "gamma": GammaRegressor(**ridge),
        "inverse_gaussian": TweedieRegressor(power=3, link="log", **ridge),
    }
    inside = getattr(estimator, "estimator", None) or estimator
    task = getattr(inside, "task_", getattr(inside, "task", None))
    family = FAMILY_OF_TASK.get(task, getattr(inside, "family", "gaussian"))
    if is_text(y):
        family = "bernoulli"
    word = family if isinstance(family, str) else family.name.partition("(")[0]
    model = models.get("poisson" if word == "negative_binomial" else word)
    fill = [SimpleImputer()] if getattr(inside, "missing", "error") != "error" else []
    if model is None:
        return make_pipeline(*fill, LinearRegression()) if fill else LinearRegression()
    if np.ndim(y) > 1:
        several = MultiOutputClassifier if word == "bernoulli" else MultiOutputRegressor
        model = several(model)
    return make_pipeline(*fill, StandardScaler(with_mean=not is_sparse(X)), model)


def fitted_model(model: Any, Z: Any, y: Any, weights: Any) -> Any:
    """The model, fitted with sample weights."""
    if weights is None:
        return model.fit(Z, y)
    steps = getattr(model, "steps", None)
    if steps is None:
        return model.fit(Z, y, sample_weight=weights)
    taking = [name for name, step in steps if has_fit_parameter(step, "sample_weight")]
    return model.fit(Z, y, **{f"{name}__sample_weight": weights for name in taking})


def _steps(model: Any) -> list[Any]:
    """The steps of a pipeline, or the model alone."""
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def metric_of(model: Any) -> str:
    """Name of the metric that the `score` method of a default model returns."""
    from sklearn.linear_model import LinearRegression
    from sklearn.multioutput import MultiOutputRegressor

    last = _steps(model)[-1]
    if is_classifier(last):
        return "accuracy"
    is_r2 = isinstance(last, LinearRegression | MultiOutputRegressor)
    return "R2" if is_r2 else "share of deviance explained"


def stopped_early(model: Any) -> bool:
    """Whether a solver of a default model reached its maximum number of iterations."""
    last = _steps(model)[-1]
    each = getattr(last, "estimators_", None) or [last]
    return any(np.max(one.n_iter_) >= one.max_iter for one in each if hasattr(one, "n_iter_"))


def coefficients(model: Any) -> FloatArray:
    """Coefficients of a fitted default model, of shape (n_outputs, n_columns)."""
    steps = _steps(model)
    each = getattr(steps[-1], "estimators_", None) or [steps[-1]]
    rows = np.vstack([np.atleast_2d(one.coef_) for one in each])
    scales = [step.scale_ for step in steps if getattr(step, "scale_", None) is not None]
    return rows / scales[0] if scales else rows


def outputs_of(model: Any, targets: list[str]) -> list[str]:
    """Names of the outputs, one for each row of the coefficients: targets or classes."""
    last = _steps(model)[-1]
    if not hasattr(last, "classes_"):
        return targets
    classes = last.classes_ if isinstance(last.classes_, list) else [last.classes_]
    return [
        f"{target} = {one:g}" if isinstance(one, float) else f"{target} = {one}"
        for target, labels in zip(targets, classes, strict=True)
        # For two classes there is one output, for the second class.
        for one in (labels[1:] if len(labels) == 2 else labels)
    ]
