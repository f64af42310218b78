"""The scikit-learn face."""

from coterie.estimators._genlin import GenLinCFA
from coterie.estimators._lin import LinCFA
from coterie.estimators._mutual import MutualCFA
from coterie.estimators._nonlin import NonLinCFA
from coterie.estimators._rows import normalised_weights

__all__ = ["GenLinCFA", "LinCFA", "MutualCFA", "NonLinCFA", "normalised_weights"]
