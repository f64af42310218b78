"""Choice of the tolerance: the path from tolerance to score, and ToleranceCV."""

from coterie._model_selection.tuning._models import (
    coefficients,
    family_word,
    fitted_model,
    metric_of,
    outputs_of,
    penalised_model,
    plain_model,
    rates_of,
    stopped_early,
    with_same_penalty,
)
from coterie._model_selection.tuning._path import TolerancePath, tolerance_path
from coterie._model_selection.tuning._tolerance_cv import (
    REDUCERS,
    ToleranceCV,
    default_estimator,
    restored,
)

__all__ = [
    "REDUCERS",
    "ToleranceCV",
    "TolerancePath",
    "coefficients",
    "default_estimator",
    "family_word",
    "fitted_model",
    "metric_of",
    "outputs_of",
    "penalised_model",
    "plain_model",
    "rates_of",
    "restored",
    "stopped_early",
    "tolerance_path",
    "with_same_penalty",
]
