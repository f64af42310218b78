"""Evidence from the data: counts, means and scatters, and the moments of candidate pairs."""

from coterie._core.evidence._accumulated import Accumulated, some_rows, sum_of_squares
from coterie._core.evidence._build import (
    MOMENTS,
    ComputeOptions,
    EvidenceSpec,
    build_evidence,
    evidence_from_sums,
    half_of_memory,
)
from coterie._core.evidence._by_row import PairwiseEvidence, RowEvidence, moments_within
from coterie._core.evidence._canonical import (
    canonical_signs,
    canonical_signs_from_sums,
    in_order,
    order_by_content,
    signed,
)
from coterie._core.evidence._columns import (
    LARGE,
    SMALL,
    Standardised,
    available,
    means,
    standardised,
)
from coterie._core.evidence._effective import (
    ROWS,
    effective_number,
    effective_number_of,
    looked_at,
    places_looked_at,
    unrounded,
)
from coterie._core.evidence._moments import BatchMoments
from coterie._core.evidence._on_demand import ColumnSource
from coterie._core.evidence._on_device import (
    DeviceEvidence,
    DeviceSource,
    scatter_among,
    standardised_there,
)
from coterie._core.evidence._pair_columns import PairColumns
from coterie._core.evidence._pairs import (
    COLLINEAR,
    FROM_CONSTANTS,
    ROUNDING,
    Evidence,
    PairMoments,
    without_rounding,
)
from coterie._core.evidence._residuals import residual_ss, residual_ss_from_scatter
from coterie._core.evidence._rows import RowSets
from coterie._core.evidence._running import RunningAggregate, RunningEvidence
from coterie._core.evidence._sources import GramSource
from coterie._core.evidence._sparse_gram import gram_of_sparse
from coterie._core.evidence._sparse_source import SparseSource
from coterie._core.evidence._summed import (
    Location,
    SummedColumns,
    gram_in_order,
    gram_signed,
    location_of,
    order_by_sums,
    scatter_within,
    together,
)
from coterie._core.evidence._sums import SumEvidence
from coterie._core.evidence._targets import ManyTargets

__all__ = [
    "COLLINEAR",
    "FROM_CONSTANTS",
    "LARGE",
    "MOMENTS",
    "ROUNDING",
    "ROWS",
    "SMALL",
    "Accumulated",
    "BatchMoments",
    "ColumnSource",
    "ComputeOptions",
    "DeviceEvidence",
    "DeviceSource",
    "Evidence",
    "EvidenceSpec",
    "GramSource",
    "Location",
    "ManyTargets",
    "PairColumns",
    "PairMoments",
    "PairwiseEvidence",
    "RowEvidence",
    "RowSets",
    "RunningAggregate",
    "RunningEvidence",
    "SparseSource",
    "Standardised",
    "SumEvidence",
    "SummedColumns",
    "available",
    "build_evidence",
    "canonical_signs",
    "canonical_signs_from_sums",
    "effective_number",
    "effective_number_of",
    "evidence_from_sums",
    "gram_in_order",
    "gram_of_sparse",
    "gram_signed",
    "half_of_memory",
    "in_order",
    "location_of",
    "looked_at",
    "means",
    "moments_within",
    "order_by_content",
    "order_by_sums",
    "places_looked_at",
    "residual_ss",
    "residual_ss_from_scatter",
    "scatter_among",
    "scatter_within",
    "signed",
    "some_rows",
    "standardised",
    "standardised_there",
    "sum_of_squares",
    "together",
    "unrounded",
    "without_rounding",
]
