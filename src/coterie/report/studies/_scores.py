"""Scores of linear models on held-out rows, fitted to the columns of some method."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from coterie._core.values import FitWarning, FloatArray
from coterie._model_selection.tuning import (
    family_word,
    fitted_model,
    penalised_model,
    plain_model,
    rates_of,
    stopped_early,
)
from coterie.estimators import inputs_of
from coterie.report.inspection import Score
from coterie.report.studies._baselines import Transformers
from coterie.report.studies._metrics import DEVIANCE, POWERS, R2, held_out_scores
from coterie.report.studies._splits import Samples, as_floats
from coterie.report.studies._verdict import (
    COTERIE,
    MEAN,
    SHARES,
    corrected_error,
    mean_with_error,
    standard_error,
)

# What other methods are told to take, where the reducer has chosen other inputs than the columns.
INPUT_WORDS = {"clip": "clipped", "rank": "as ranks"}
# A lower score of a split counts as this one: how far a model is off on one split, where it is
# worse than no model anyway, must not decide a mean over all of them.
WORST = {R2: -1.0, DEVIANCE: -1.0}
# No count model predicts less than this share of the mean: a smaller rate costs an endless deviance
# where it is wrong, and gains next to nothing where it is right.
LEAST_SHARE_OF_MEAN = 0.01


class HeldOutScore(NamedTuple):
    """Scores of a model on held-out rows by name, and a remark on its solver if any."""

    scores: dict[str, float]
    note: str = ""

    @property
    def score(self) -> float:
        """The score that counts."""
        return next(iter(self.scores.values()))


def fit_copy(reducer: Any, train: Samples) -> Any:
    """A clone of the reducer, fitted to these samples."""
    return clone(reducer).fit(train.X, train.y, **train.fit_arguments(reducer))


def fit_on_split(reducer: Any, train: Samples) -> Any:
    """As `fit_copy`, without warnings: the fit to all rows gives those that matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return fit_copy(reducer, train)


def score_reducer(fitted: Any, train: Samples, test: Samples) -> HeldOutScore:
    """Scores of the penalised model on the columns of a fitted reducer."""
    columns, tested = aggregates_of(fitted, train), aggregates_of(fitted, test)
    return score_columns(fitted, penalised_model, columns, tested, train, test)


def aggregates_of(fitted: Any, samples: Samples) -> FloatArray:
    """The columns that a fitted reducer makes of these samples."""
    columns = fitted.fit_.transform(inputs_of(fitted, samples.X))
    return columns.toarray() if hasattr(columns, "toarray") else columns


def with_inputs(fitted: Any, train: Samples, test: Samples) -> tuple[Samples, Samples]:
    """The samples as other methods take them: clipped or as ranks, if the reducer takes them so.

    What it takes was learned from the training rows. Missing values are filled first, with the
    training means: where tails are heavy, the rank of a mean is high, and so tells linear models
    that a value was missing. On company accounts this is worth .07 of ROC AUC.
    """
    if getattr(fitted, "inputs_", "raw") not in INPUT_WORDS:
        return train, test
    from sklearn.impute import SimpleImputer

    fill = SimpleImputer(keep_empty_features=True).fit(as_floats(train.table))
    inputs = fitted.fit_.features.inputs
    made = (
        replace(each, table=inputs(fill.transform(as_floats(each.table)))) for each in (train, test)
    )
    return next(made), next(made)


def score_transformers(
    steps: Transformers, reducer: Any, train: Samples, test: Samples, model_of: Any = None
) -> HeldOutScore:
    """Scores of a linear model on the columns of other transformers.

    Transformers and model are fitted to the training rows only; missing values are filled with
    the training means.

    Parameters
    ----------
    steps : list of transformers
        None of them: all columns as they are.
    reducer : reducer
        It says which family of targets the model is for.
    model_of : callable, optional
        From reducer, columns and target to a model; by default `penalised_model`.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    fill = [SimpleImputer()] if reducer.missing != "error" else []
    pipeline = make_pipeline(*fill, *steps, "passthrough")
    with ignore_sklearn_warnings():
        train_columns = _first(pipeline.fit_transform(as_floats(train.table), train.y))
        test_columns = _first(pipeline.transform(as_floats(test.table)))
    model_of = penalised_model if model_of is None else model_of
    return score_columns(reducer, model_of, train_columns, test_columns, train, test)


def score_columns(
    reducer: Any,
    model_of: Any,
    train_columns: FloatArray,
    test_columns: FloatArray,
    train: Samples,
    test: Samples,
) -> HeldOutScore:
    """Scores of a model on given columns of training and test rows."""
    model = model_on_columns(reducer, model_of, train_columns, train)
    return HeldOutScore(
        score_model(reducer, model, (train_columns, test_columns), train, test),
        "a solver stopped before it converged" if stopped_early(model) else "",
    )


def model_on_columns(reducer: Any, model_of: Any, columns: FloatArray, train: Samples) -> Any:
    """A model, fitted to given columns of the training rows."""
    word = family_word(reducer, train.y)
    target, weights = rates_of(word, train.y, train.weights, train.offset)
    with ignore_sklearn_warnings():
        return fitted_model(model_of(reducer, columns, target), columns, target, weights)


def score_model(
    reducer: Any, model: Any, columns: tuple[FloatArray, FloatArray], train: Samples, test: Samples
) -> dict[str, float]:
    """Scores of a fitted model by name on the test rows.

    Parameters
    ----------
    columns : tuple of ndarray
        The columns of the training rows and of the test rows.
    """
    learned, tested = columns
    word = family_word(reducer, test.y)
    target, weights = rates_of(word, test.y, test.weights, test.offset)
    with ignore_sklearn_warnings():
        if word in POWERS:
            rates = rates_of(word, train.y, None, train.offset)[0]
            model = WithinRange.of(model, learned, rates)
        scores = held_out_scores(model, tested, target, weights, word)
    return {name: max(score, WORST.get(name, -np.inf)) for name, score in scores.items()}


@dataclass(frozen=True, eq=False)
class WithinRange:
    """A model with a log link that predicts no mean beyond those of the training rows.

    The exponential of a column just outside of the training range may be a million times the
    target, and one such row would decide a comparison.

    Parameters
    ----------
    model : model
        Fitted.
    low, high : float or ndarray of shape (n_targets,)
    """

    model: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, model: Any, columns: FloatArray, rates: FloatArray) -> WithinRange:
        """The range of its predictions and of the targets of the training rows."""
        means = model.predict(columns)
        high = np.minimum(means.max(axis=0), rates.max(axis=0))
        low = np.maximum(means.min(axis=0), LEAST_SHARE_OF_MEAN * rates.mean(axis=0))
        return cls(model, np.minimum(low, high), high)

    def predict(self, columns: FloatArray) -> FloatArray:
        """The means, moved into the range."""
        with np.errstate(over="ignore"):
            return np.clip(self.model.predict(columns), self.low, self.high)


def score_guess(reducer: Any, train: Samples, test: Samples) -> HeldOutScore:
    """Scores of always predicting the mean, or the shares of the classes."""
    columns, tested = np.zeros((len(train), 1)), np.zeros((len(test), 1))
    return score_columns(reducer, plain_model, columns, tested, train, test)


def has_lasso(word: str, y: Any) -> bool:
    """Whether scikit-learn has a lasso for this family: numbers and two classes."""
    return word == "gaussian" or (word == "bernoulli" and y.ndim == 1 and len(np.unique(y)) == 2)


def lasso_model(reducer: Any, _: Any, y: Any) -> Any:
    """Lasso on standardised columns, with a penalty chosen on three folds."""
    from sklearn.linear_model import LassoCV, LogisticRegression, MultiTaskLassoCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if family_word(reducer, y) == "bernoulli":
        model = LogisticRegression(solver="liblinear", random_state=0, **_l1_penalty())
        choices = {"C": np.logspace(-3, 0, 4)}
        return make_pipeline(
            StandardScaler(), GridSearchCV(model, choices, scoring="neg_log_loss", cv=3)
        )
    # No penalty above the standard deviation of the target leaves a coefficient.
    penalties = max(float(np.max(np.std(y, axis=0))), 1e-300) * np.logspace(0, -3, 30)
    kind = LassoCV if np.ndim(y) == 1 else MultiTaskLassoCV
    return make_pipeline(StandardScaler(), kind(alphas=penalties, cv=3))


def name_with_inputs(name: str, kinds: set[str]) -> str:
    """The name of a method with the inputs that it was given on the splits.

    Examples
    --------
    >>> name_with_inputs("PCA", {"rank"}), name_with_inputs("PCA", {"raw", "clip"})
    ('PCA, as ranks', 'PCA, raw or clipped')
    >>> name_with_inputs("PCA", {"raw"}), name_with_inputs("the mean", {"rank"})
    ('PCA', 'the mean')
    """
    words = [word for kind, word in INPUT_WORDS.items() if kind in kinds]
    if not words or name in (COTERIE, MEAN, SHARES):
        return name
    *first, last = words if kinds <= INPUT_WORDS.keys() else ["raw", *words]
    return f"{name}, {', '.join(first)} or {last}" if first else f"{name}, {last}"


def as_score(
    name: str, metric: str, each: list[tuple[int, HeldOutScore]], test_ratio: float
) -> Score:
    """The scores of a method on all splits as one."""
    means = {
        one: mean_with_error([score.scores[one] for _, score in each], test_ratio)[0]
        for one in each[0][1].scores
    }
    return Score(
        name,
        float(np.mean([n_columns for n_columns, _ in each])),
        means.pop(metric),
        standard_error([score.scores[metric] for _, score in each], test_ratio),
        "; ".join(sorted({score.note for _, score in each if score.note})),
        means or None,
        corrected_error([score.scores[metric] for _, score in each], test_ratio),
    )


def _l1_penalty() -> dict[str, Any]:
    """The parameter of a logistic regression that makes it a lasso, in any scikit-learn."""
    from sklearn.linear_model import LogisticRegression

    is_new = signature(LogisticRegression).parameters["penalty"].default == "deprecated"
    return {"l1_ratio": 1.0} if is_new else {"penalty": "l1"}


def _first(columns: Any) -> FloatArray:
    # With a target, PLS returns a pair.
    return np.asarray(columns[0] if isinstance(columns, tuple) else columns)


@contextmanager
def ignore_sklearn_warnings() -> Iterator[None]:
    """Suppress warnings of scikit-learn; what matters is in the notes of the scores."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"sklearn\..*")
        yield
