"""The scikit-learn estimators: Coterie, NonLinCFA, GenLinCFA, LinCFA, MutualCFA and CustomCFA."""

from coterie._data.training import inputs_of, normalised_weights
from coterie.estimators._coterie import Coterie, restore_path
from coterie.estimators._custom import CustomCFA
from coterie.estimators._genlin import GenLinCFA
from coterie.estimators._html import groups_shown
from coterie.estimators._lin import LinCFA
from coterie.estimators._mutual import MutualCFA
from coterie.estimators._nonlin import NonLinCFA
from coterie.estimators._reducer import (
    Reducer,
    decisions_about,
    input_names_of,
    leaf_order,
    pricing_of,
    problem_of,
    shown_labels,
    store,
)
from coterie.estimators._remote import transformed
from coterie.estimators._tree_reasons import TreeReasons, tree_reasons

__all__ = [
    "Coterie",
    "CustomCFA",
    "GenLinCFA",
    "LinCFA",
    "MutualCFA",
    "NonLinCFA",
    "Reducer",
    "TreeReasons",
    "decisions_about",
    "groups_shown",
    "input_names_of",
    "inputs_of",
    "leaf_order",
    "normalised_weights",
    "pricing_of",
    "problem_of",
    "restore_path",
    "shown_labels",
    "store",
    "transformed",
    "tree_reasons",
]
