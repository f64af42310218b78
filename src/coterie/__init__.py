"""Supervised feature aggregation.

A merge is accepted when its price does not exceed its allowance.
"""

# Before all that takes long to import, in which Ctrl-C is to have no traceback.
from coterie._core.interrupts import WATCHES  # noqa: F401

# isort: split
# First, and from here: deep in a chain of imports scikit-learn takes longer to load.
import sklearn  # noqa: F401

from coterie import datasets, extending, families, plot, report, theory
from coterie._core.values import FitWarning
from coterie._data.fields import field_to_graph
from coterie._data.moments import Moments
from coterie._data.neighbours import coordinates_to_graph
from coterie._data.preparation import TablePreparer
from coterie._data.progress import show_progress
from coterie._data.sources import moments_from
from coterie._model_selection.resampling import stability
from coterie._model_selection.tuning import ToleranceCV, tolerance_path
from coterie._persist.models import load, load_preparer
from coterie._persist.onnx import to_onnx
from coterie.estimators import (
    Coterie,
    CustomCFA,
    GenLinCFA,
    LinCFA,
    MutualCFA,
    NonLinCFA,
    normalised_weights,
)
from coterie.report.inspection import explain, representatives
from coterie.report.studies import group_importance

__version__ = "0.1.0"

__all__ = [
    "Coterie",
    "CustomCFA",
    "FitWarning",
    "GenLinCFA",
    "LinCFA",
    "Moments",
    "MutualCFA",
    "NonLinCFA",
    "TablePreparer",
    "ToleranceCV",
    "__version__",
    "coordinates_to_graph",
    "datasets",
    "explain",
    "extending",
    "families",
    "field_to_graph",
    "group_importance",
    "load",
    "load_preparer",
    "moments_from",
    "normalised_weights",
    "plot",
    "report",
    "representatives",
    "show_progress",
    "stability",
    "theory",
    "to_onnx",
    "tolerance_path",
]
