"""Plots of fitted reducers; they need ``pip install "coterie[plot]"``.

Each plot has a function, such as ``plot_path``, that draws it and returns the axes, and a display
class, such as ``PathDisplay``, that stores what is drawn, as in scikit-learn.
"""

from coterie.plot._correlation import CorrelationDisplay, plot_correlation
from coterie.plot._effects import EffectsDisplay, plot_effects
from coterie.plot._groups import GroupsDisplay, plot_groups
from coterie.plot._map import MapDisplay, plot_map
from coterie.plot._number_path import NumberPathDisplay
from coterie.plot._path import PathDisplay, plot_path
from coterie.plot._stability import StabilityDisplay, plot_stability
from coterie.plot._trace import TraceDisplay, plot_trace
from coterie.plot._tree import TreeDisplay, plot_tree

__all__ = [
    "CorrelationDisplay",
    "EffectsDisplay",
    "GroupsDisplay",
    "MapDisplay",
    "NumberPathDisplay",
    "PathDisplay",
    "StabilityDisplay",
    "TraceDisplay",
    "TreeDisplay",
    "plot_correlation",
    "plot_effects",
    "plot_groups",
    "plot_map",
    "plot_path",
    "plot_stability",
    "plot_trace",
    "plot_tree",
]
