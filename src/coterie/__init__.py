"""Supervised feature aggregation.

A merge is accepted when its price does not exceed its allowance.
"""

# First, and from here: deep in a chain of imports scikit-learn takes longer to load.
import sklearn  # noqa: F401

from coterie import datasets, families, plot, theory
from coterie.accumulating import Moments
from coterie.estimators import GenLinCFA, LinCFA, MutualCFA, NonLinCFA, normalised_weights
from coterie.exporting import to_onnx
from coterie.fields import field_to_graph
from coterie.inspection import summarise, write_report
from coterie.neighbours import coordinates_to_graph
from coterie.resampling import stability
from coterie.saving import load
from coterie.sources import moments_from
from coterie.studies import compare, study
from coterie.tuning import GenLinCFACV, NonLinCFACV, tolerance_path
from coterie.values import FitWarning

__version__ = "0.1.0"

__all__ = [
    "FitWarning",
    "GenLinCFA",
    "GenLinCFACV",
    "LinCFA",
    "Moments",
    "MutualCFA",
    "NonLinCFA",
    "NonLinCFACV",
    "__version__",
    "compare",
    "coordinates_to_graph",
    "datasets",
    "families",
    "field_to_graph",
    "load",
    "moments_from",
    "normalised_weights",
    "plot",
    "stability",
    "study",
    "summarise",
    "theory",
    "to_onnx",
    "tolerance_path",
    "write_report",
]
