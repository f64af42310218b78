"""Choice of the tolerance: the path from tolerance to score, and ToleranceCV."""

from coterie._model_selection.tuning._models import (
    coefficients,
    fitted_model,
    metric_of,
    outputs_of,
    plain_model,
    stopped_early,
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
    "fitted_model",
    "metric_of",
    "outputs_of",
    "plain_model",
    "restored",
    "stopped_early",
    "tolerance_path",
]
