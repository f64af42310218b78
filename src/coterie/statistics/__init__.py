"""What the data say: counts, means and scatters, and pair views of them."""

from coterie.statistics._by_row import GapEvidence, RowEvidence, moments_within
from coterie.statistics._columns import LARGE, SMALL, Standardised, available, means, standardised
from coterie.statistics._effective import effective_number
from coterie.statistics._moments import Moments
from coterie.statistics._on_demand import ColumnSource
from coterie.statistics._pair_columns import PairColumns
from coterie.statistics._pairs import COLLINEAR, ROUNDING, Evidence, PairMoments, where
from coterie.statistics._rows import RowSets
from coterie.statistics._running import RunningAggregate, RunningEvidence
from coterie.statistics._sources import GramSource, gram_bytes
from coterie.statistics._sparse_gram import gram_of_sparse
from coterie.statistics._sparse_source import SparseSource
from coterie.statistics._sums import SumEvidence
from coterie.statistics._targets import ManyTargets

__all__ = [
    "COLLINEAR",
    "LARGE",
    "ROUNDING",
    "SMALL",
    "ColumnSource",
    "Evidence",
    "GapEvidence",
    "GramSource",
    "ManyTargets",
    "Moments",
    "PairColumns",
    "PairMoments",
    "RowEvidence",
    "RowSets",
    "RunningAggregate",
    "RunningEvidence",
    "SparseSource",
    "Standardised",
    "SumEvidence",
    "available",
    "effective_number",
    "gram_bytes",
    "gram_of_sparse",
    "means",
    "moments_within",
    "standardised",
    "where",
]
