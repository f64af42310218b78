"""What the data say: counts, means and scatters, and pair views of them."""

from coterie.statistics._accumulated import Accumulated, some_rows, sum_of_squares
from coterie.statistics._by_row import GapEvidence, RowEvidence, moments_within
from coterie.statistics._columns import LARGE, SMALL, Standardised, available, means, standardised
from coterie.statistics._effective import (
    ROWS,
    effective_number,
    effective_number_of,
    looked_at,
    places_looked_at,
    unrounded,
)
from coterie.statistics._moments import BatchMoments
from coterie.statistics._on_demand import ColumnSource
from coterie.statistics._on_device import (
    DeviceEvidence,
    DeviceSource,
    scatter_among,
    standardised_there,
)
from coterie.statistics._pair_columns import PairColumns
from coterie.statistics._pairs import COLLINEAR, ROUNDING, Evidence, PairMoments, where
from coterie.statistics._rows import RowSets
from coterie.statistics._running import RunningAggregate, RunningEvidence
from coterie.statistics._sources import GramSource, gram_bytes
from coterie.statistics._sparse_gram import gram_of_sparse
from coterie.statistics._sparse_source import SparseSource
from coterie.statistics._summed import (
    Location,
    SummedColumns,
    gram_in_order,
    gram_turned,
    location_of,
    order_by_sums,
    scatter_within,
    together,
)
from coterie.statistics._sums import SumEvidence
from coterie.statistics._targets import ManyTargets

__all__ = [
    "COLLINEAR",
    "LARGE",
    "ROUNDING",
    "ROWS",
    "SMALL",
    "Accumulated",
    "BatchMoments",
    "ColumnSource",
    "DeviceEvidence",
    "DeviceSource",
    "Evidence",
    "GapEvidence",
    "GramSource",
    "Location",
    "ManyTargets",
    "PairColumns",
    "PairMoments",
    "RowEvidence",
    "RowSets",
    "RunningAggregate",
    "RunningEvidence",
    "SparseSource",
    "Standardised",
    "SumEvidence",
    "SummedColumns",
    "available",
    "effective_number",
    "effective_number_of",
    "gram_bytes",
    "gram_in_order",
    "gram_of_sparse",
    "gram_turned",
    "location_of",
    "looked_at",
    "means",
    "moments_within",
    "order_by_sums",
    "places_looked_at",
    "scatter_among",
    "scatter_within",
    "some_rows",
    "standardised",
    "standardised_there",
    "sum_of_squares",
    "together",
    "unrounded",
    "where",
]
