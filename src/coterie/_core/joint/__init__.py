"""Groups by their joint price: what a merge costs the target, given all other columns."""

from coterie._core.joint._choice import ALLOWANCE, MAX_SHARE_OF_ROWS, Scored, most_groups
from coterie._core.joint._content import (
    ContentOrder,
    content_folds,
    content_order,
)
from coterie._core.joint._fit_joint import JointData, JointFit, fit_joint
from coterie._core.joint._growth import grow_tree
from coterie._core.joint._held_out import FoldEvidence, HeldOut, held_out, prices_of_groups
from coterie._core.joint._likeness import MAX_KEPT, Leaves
from coterie._core.joint._path import Freedom, Path, Step, joint_path
from coterie._core.joint._penalty import Penalty
from coterie._core.joint._robust import (
    INPUTS,
    MAX_JUDGED_ROWS,
    Clipped,
    Percentiles,
    inputs_that_pay,
    max_judged_columns,
)
from coterie._core.joint._sparse_rows import standardised_sparse
from coterie._core.joint._sums import (
    CrossSums,
    RowSums,
    Scatter,
    Splits,
    cross_sums,
    products_of,
    sums_of_rows,
)
from coterie._core.joint._tree import Rules, Tree, labels_of

__all__ = [
    "ALLOWANCE",
    "INPUTS",
    "MAX_JUDGED_ROWS",
    "MAX_KEPT",
    "MAX_SHARE_OF_ROWS",
    "Clipped",
    "ContentOrder",
    "CrossSums",
    "FoldEvidence",
    "Freedom",
    "HeldOut",
    "JointData",
    "JointFit",
    "Leaves",
    "Path",
    "Penalty",
    "Percentiles",
    "RowSums",
    "Rules",
    "Scatter",
    "Scored",
    "Splits",
    "Step",
    "Tree",
    "content_folds",
    "content_order",
    "cross_sums",
    "fit_joint",
    "grow_tree",
    "held_out",
    "inputs_that_pay",
    "joint_path",
    "labels_of",
    "max_judged_columns",
    "most_groups",
    "prices_of_groups",
    "products_of",
    "standardised_sparse",
    "sums_of_rows",
]
