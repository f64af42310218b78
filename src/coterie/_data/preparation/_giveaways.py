"""Single columns that tell the target: monotone functions of it, or that separate two classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._core.values import BoolArray, FloatArray
from coterie._data.preparation._record import named

# Rank correlations and areas under the ROC curve from here on are no accident of a good feature.
MIN_RANK_CORRELATION, MIN_AREA = 0.999, 0.9995
# With fewer rows, or fewer different targets, ranks agree by chance.
MIN_ROWS, MIN_DIFFERENT = 10, 10
# Columns are first looked at on so many rows, and dropped from the search if they are not near.
GLANCED_ROWS, GLANCE = 400, 0.03
# Less likely than this, one order of classes is no accident.
MAX_CHANCE = 1e-7


def giveaway_notes(table: Any, names: Sequence[str], y: Any) -> list[str]:
    """Sentences that name the columns which alone give the target away.

    Parameters
    ----------
    table : array-like of shape (n_samples, n_features)
        Numbers, with NaN for missing values.
    names : sequence of str
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> y = np.arange(50) / 7
    >>> giveaway_notes(np.column_stack([np.exp(y), np.sin(y)]), ["grown", "wave"], y)
    ["Warning: one column alone gives the target away: 'grown' (its order is that of the target). \
If it is not known before the target is, drop it."]
    """
    y = np.asarray(y)
    if y.ndim > 1 or len(y) < MIN_ROWS:
        return []
    columns = np.asarray(table, dtype=np.float64)
    classes, codes = np.unique(y if y.dtype.kind != "O" else y.astype(str), return_inverse=True)
    if len(classes) == 2:
        found = _separating(columns, codes == 1)
        how = "without an error it separates the classes"
    elif y.dtype.kind in "iuf" and len(classes) >= MIN_DIFFERENT:
        found = _monotone(columns, y.astype(np.float64))
        how = "its order is that of the target"
    else:
        return []
    if not len(found):
        return []
    guilty = named([names[one] for one in found])
    if len(found) == 1:
        told = f"one column alone gives the target away: {guilty} ({how}). If it is"
        return [f"Warning: {told} not known before the target is, drop it."]
    how = how.replace("it separates", "each separates").replace("its order", "the order of each")
    told = f"{len(found):,} columns alone give the target away: {guilty} ({how}). If they are"
    return [f"Warning: {told} not known before the target is, drop them."]


def _glanced(columns: FloatArray, wanted: BoolArray | FloatArray) -> Any:
    rows = np.random.default_rng(0).permutation(len(columns))[:GLANCED_ROWS]
    return columns[rows], wanted[rows]


def _monotone(columns: FloatArray, y: FloatArray) -> Any:
    some, of_y = _glanced(columns, y)
    near = np.flatnonzero(_rank_correlations(some, of_y) > MIN_RANK_CORRELATION - GLANCE)
    if not len(near) or len(columns) <= GLANCED_ROWS:
        return near[_rank_correlations(some[:, near], of_y) > MIN_RANK_CORRELATION]
    return near[_rank_correlations(columns[:, near], y) > MIN_RANK_CORRELATION]


def _separating(columns: FloatArray, is_second: BoolArray) -> Any:
    n_second = int(is_second.sum())
    n_orders = _log_choices(len(is_second), n_second)
    if n_orders < -math.log(MAX_CHANCE * 2):
        return np.empty(0, dtype=np.intp)
    some, of_some = _glanced(columns, is_second)
    near = np.arange(columns.shape[1])
    if 0 < of_some.sum() < len(of_some):
        near = near[_areas(some, of_some) > MIN_AREA - GLANCE]
    return near[_areas(columns[:, near], is_second) > MIN_AREA]


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _rank_correlations(columns: FloatArray, y: FloatArray) -> FloatArray:
    """The absolute rank correlation of each column with y, on the rows that have a value."""
    from scipy.stats import rankdata

    found = np.zeros(columns.shape[1])
    for place, column in enumerate(columns.T):
        has = np.isfinite(column)
        if (
            has.sum() < max(MIN_ROWS, len(column) / 2)
            or len(np.unique(column[has])) < MIN_DIFFERENT
        ):
            continue
        ranks, targets = rankdata(column[has]), rankdata(y[has])
        if np.ptp(targets) > 0:
            found[place] = abs(np.corrcoef(ranks, targets)[0, 1])
    return found


def _areas(columns: FloatArray, is_second: BoolArray) -> FloatArray:
    """The area under the ROC curve of each column, or 1 minus it if that is larger."""
    from scipy.stats import rankdata

    found = np.zeros(columns.shape[1])
    for place, column in enumerate(columns.T):
        has = np.isfinite(column)
        n_first, n_second = int((has & ~is_second).sum()), int((has & is_second).sum())
        if min(n_first, n_second) == 0 or has.sum() < max(MIN_ROWS, len(column) / 2):
            continue
        ranks = rankdata(column[has])[is_second[has]].sum()
        area = (ranks - n_second * (n_second + 1) / 2) / (n_first * n_second)
        found[place] = max(area, 1 - area)
    return found
