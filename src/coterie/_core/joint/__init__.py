"""Groups by their joint price: what a merge costs the target, given all other columns."""

from coterie._core.joint._choice import MAX_SHARE_OF_ROWS, Scored
from coterie._core.joint._content import content_folds, content_order
from coterie._core.joint._fit_joint import JointData, JointFit, fit_joint, labels_of
from coterie._core.joint._growth import grow_tree
from coterie._core.joint._likeness import MAX_KEPT, Leaves
from coterie._core.joint._path import Path, Step, joint_path
from coterie._core.joint._penalty import Penalty
from coterie._core.joint._robust import INPUTS, Clipped, Percentiles, inputs_that_pay
from coterie._core.joint._sums import RowSums, Scatter, Splits, products_of, sums_of_rows
from coterie._core.joint._tree import Rules, Tree

__all__ = [
    "INPUTS",
    "MAX_KEPT",
    "MAX_SHARE_OF_ROWS",
    "Clipped",
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
    "fit_joint",
    "grow_tree",
    "inputs_that_pay",
    "joint_path",
    "labels_of",
    "products_of",
    "sums_of_rows",
]
