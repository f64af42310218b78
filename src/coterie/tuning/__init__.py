"""Which tolerance? The curve from tolerance to score, and reducers that choose on it."""

from coterie.tuning._path import TolerancePath, tolerance_path
from coterie.tuning._reducers import GenLinCFACV, NonLinCFACV

__all__ = ["GenLinCFACV", "NonLinCFACV", "TolerancePath", "tolerance_path"]
