"""What the data say: counts, means and scatters, and pair views of them."""

from coterie.statistics._columns import LARGE, SMALL, Standardised, standardised
from coterie.statistics._effective import effective_number
from coterie.statistics._moments import Moments
from coterie.statistics._on_demand import ColumnSource
from coterie.statistics._pairs import COLLINEAR, ROUNDING, Evidence, PairMoments, where
from coterie.statistics._rows import RowSets
from coterie.statistics._running import RunningAggregate, RunningEvidence
from coterie.statistics._sources import GramSource, gram_bytes
from coterie.statistics._sums import SumEvidence

__all__ = [
    "COLLINEAR",
    "LARGE",
    "ROUNDING",
    "SMALL",
    "ColumnSource",
    "Evidence",
    "GramSource",
    "Moments",
    "PairMoments",
    "RowSets",
    "RunningAggregate",
    "RunningEvidence",
    "Standardised",
    "SumEvidence",
    "effective_number",
    "gram_bytes",
    "standardised",
    "where",
]
