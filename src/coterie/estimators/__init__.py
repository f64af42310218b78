"""The scikit-learn face."""

from coterie.estimators._reducers import GenLinCFA, LinCFA, NonLinCFA

__all__ = ["GenLinCFA", "LinCFA", "NonLinCFA"]
