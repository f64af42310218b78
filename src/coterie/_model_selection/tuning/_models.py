"""The default models that are fitted on the aggregates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from coterie._core.values import FloatArray, is_sparse
from coterie._data.training import is_text

# Coterie has a task in place of a family.
FAMILY_OF_TASK: dict[str | None, str] = {
    "regression": "gaussian",
    "classes": "bernoulli",
    "counts": "poisson",
}
# Families with a log link: the power of the mean that is their variance.
LOG_LINKS = {"poisson": 1, "gamma": 2, "inverse_gaussian": 3}
DEVIANCES = {"poisson": "neg_mean_poisson_deviance", "gamma": "neg_mean_gamma_deviance"}
# Folds on which a penalty is chosen, and the penalties.
INNER_FOLDS = 3
CHOICES_OF_C = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
CHOICES_OF_ALPHA = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def plain_model(estimator: Any, X: Any, y: Any) -> Any:
    """The default model for the aggregates of a reducer, by kind of target."""
    # Imported late: reducers themselves do not need these models.
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline

    word, fill = family_word(estimator, y), _imputer(estimator)
    if word not in LOG_LINKS and word != "bernoulli":
        return make_pipeline(*fill, LinearRegression()) if fill else LinearRegression()
    # A small ridge penalty, because there is no unique solution for collinear aggregates.
    model = (
        LogisticRegression(max_iter=1000)
        if word == "bernoulli"
        else _log_linear(word, alpha=1e-3, solver="newton-cholesky")
    )
    return make_pipeline(*fill, _scaler(X), _for_targets(model, y))


def penalised_model(estimator: Any, X: Any, y: Any, least: float = 1e-10) -> Any:
    """Like `plain_model`, with a ridge penalty on standardised columns that the rows choose.

    For several targets that are not numbers, and very few rows, it is the plain model. `least` is
    the smallest penalty, for each row and in units of the target's variance: with 1e-2, columns
    that differ by less than a tenth of their standard deviation share their effect.
    """
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline

    word, fill = family_word(estimator, y), _imputer(estimator)
    is_ridge = word not in LOG_LINKS and word != "bernoulli"
    if not is_ridge and (np.ndim(y) > 1 or _too_few(word, y)):
        return plain_model(estimator, X, y)
    if word == "bernoulli":
        folds: Any = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0)
        model = GridSearchCV(
            LogisticRegression(max_iter=1000),
            {"C": _at_most(CHOICES_OF_C, 1 / (least * _indicator_scatter(y)))},
            scoring="neg_log_loss",
            cv=folds,
        )
    elif word in LOG_LINKS:
        folds = KFold(INNER_FOLDS, shuffle=True, random_state=0)
        model = GridSearchCV(
            _log_linear(word, solver="newton-cholesky"),
            {"alpha": _at_least(CHOICES_OF_ALPHA, least * float(np.mean(y)))},
            scoring=DEVIANCES.get(word),
            cv=folds,
        )
    else:
        penalties = np.logspace(np.log10(least), 3, round(2 * (3 - np.log10(least)) + 1)) * len(y)
        return make_pipeline(*fill, _scaler(X), RidgeCV(penalties, alpha_per_target=np.ndim(y) > 1))
    return make_pipeline(*fill, _scaler(X), model)


def _indicator_scatter(y: Any) -> float:
    """Sum of squares of the indicator of a class, for the class with the largest."""
    counts = np.unique(y, return_counts=True)[1]
    return float((counts * (1 - counts / counts.sum())).max())


def _at_most(choices: Any, most: float) -> list[float]:
    return [float(one) for one in choices if one <= most] or [most]


def _at_least(choices: Any, least: float) -> list[float]:
    return [float(one) for one in choices if one >= least] or [least]


def with_same_penalty(model: Any) -> Any:
    """A model that is not fitted, with the penalty that the rows chose for a `penalised_model`."""
    from sklearn.linear_model import Ridge, RidgeCV
    from sklearn.pipeline import make_pipeline

    *before, last = _steps(model)
    chosen = getattr(last, "best_estimator_", last)
    again = Ridge(last.alpha_) if isinstance(last, RidgeCV) else clone(chosen)
    return make_pipeline(*map(clone, before), again)


def family_word(estimator: Any, y: Any) -> str:
    """The name of the family of the target: that of the reducer, or "bernoulli" for text."""
    inside = getattr(estimator, "estimator", None) or estimator
    task = getattr(inside, "task_", getattr(inside, "task", None))
    family = FAMILY_OF_TASK.get(task, getattr(inside, "family", "gaussian"))
    if is_text(y):
        return "bernoulli"
    word: str = family if isinstance(family, str) else family.name.partition("(")[0]
    return "poisson" if word == "negative_binomial" else word


def rates_of(word: str, y: Any, weights: Any, offset: Any) -> tuple[Any, Any]:
    """Targets and weights of a model without an offset that has the same deviance.

    With a log link and variance ``mean ** p``, the deviance of y at mean ``rate * exposure`` is
    ``exposure ** (2 - p)`` times that of ``y / exposure`` at mean ``rate``.
    """
    if offset is None:
        return y, weights
    if word not in LOG_LINKS:
        raise ValueError(
            f"offset and exposure are for counts and other targets with a log link, got {word}: "
            "use GenLinCFA(family='poisson')."
        )
    exposure = np.exp(offset)
    share = exposure ** (2 - LOG_LINKS[word])
    rates = y / (exposure if np.ndim(y) == 1 else exposure[:, None])
    return rates, share if weights is None else share * weights


def _log_linear(word: str, **parameters: Any) -> Any:
    from sklearn.linear_model import TweedieRegressor

    return TweedieRegressor(power=LOG_LINKS[word], link="log", **parameters)


def _imputer(estimator: Any) -> list[Any]:
    from sklearn.impute import SimpleImputer

    inside = getattr(estimator, "estimator", None) or estimator
    return [SimpleImputer()] if getattr(inside, "missing", "error") != "error" else []


def _scaler(X: Any) -> Any:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler(with_mean=not is_sparse(X))


def _for_targets(model: Any, y: Any) -> Any:
    """The model, or one for each of several targets."""
    from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

    if np.ndim(y) == 1:
        return model
    return (MultiOutputClassifier if is_classifier(model) else MultiOutputRegressor)(model)


def _too_few(word: str, y: Any) -> bool:
    """Whether there are too few rows, or rows of one class, to choose a penalty on folds."""
    rows = np.unique(y, return_counts=True)[1].min() if word == "bernoulli" else len(y) // 2
    return bool(rows < 2 * INNER_FOLDS)


def fitted_model(model: Any, Z: Any, y: Any, weights: Any) -> Any:
    """The model, fitted with sample weights."""
    if weights is None:
        return model.fit(Z, y)
    steps = getattr(model, "steps", None)
    if steps is None:
        return model.fit(Z, y, sample_weight=weights)
    # A search over penalties passes weights on to its model.
    models = [
        (name, step.estimator if hasattr(step, "param_grid") else step) for name, step in steps
    ]
    taking = [name for name, step in models if has_fit_parameter(step, "sample_weight")]
    return model.fit(Z, y, **{f"{name}__sample_weight": weights for name in taking})


def _steps(model: Any) -> list[Any]:
    """The steps of a pipeline, or the model alone."""
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def _linear_models(model: Any) -> list[Any]:
    """The fitted linear models inside, one for each target if there are several models."""
    last = _steps(model)[-1]
    each = getattr(last, "estimators_", None) or [last]
    return [getattr(one, "best_estimator_", one) for one in each]


def metric_of(model: Any) -> str:
    """Name of the metric that the `score` method of a default model returns."""
    from sklearn.linear_model import LinearRegression, RidgeCV
    from sklearn.multioutput import MultiOutputRegressor

    last = _steps(model)[-1]
    if is_classifier(last):
        return "accuracy"
    is_r2 = isinstance(last, LinearRegression | RidgeCV | MultiOutputRegressor)
    return "R2" if is_r2 else "share of deviance explained"


def stopped_early(model: Any) -> bool:
    """Whether a solver of a default model reached its maximum number of iterations."""
    each = _linear_models(model)
    return any(np.max(one.n_iter_) >= one.max_iter for one in each if hasattr(one, "n_iter_"))


def coefficients(model: Any) -> FloatArray:
    """Coefficients of a fitted default model, of shape (n_outputs, n_columns)."""
    steps = _steps(model)
    rows = np.vstack([np.atleast_2d(one.coef_) for one in _linear_models(model)])
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
