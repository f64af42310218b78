"""The number of groups: scores of the path on held-out rows, and the choice among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.joint._path import Path
from coterie._core.joint._penalty import standard_error
from coterie._core.joint._sums import RowSums, Scatter
from coterie._core.values import FloatArray, IntArray

# Numbers of groups that are scored; between them the scores hardly differ. Few numbers make the
# choice the same more often when the rows change.
NUMBERS = (1, 2, 3, 5, 8, 13, 21, 34, 55)
# A score this many standard errors above 0 is taken to be no chance.
SURE = 2.0
# A regression on more columns than this share of the rows overfits.
MAX_SHARE_OF_ROWS = 1 / 3
# Fewer groups are taken if they cost at most this many standard errors of the held-out error,
STANDARD_ERRORS = 0.25
# or at most this share of R2 (1 - R2): less than a reader of the score would notice.
NEGLIGIBLE = 0.05


class Scored(NamedTuple):
    """Held-out scores of some numbers of groups.

    Parameters
    ----------
    numbers : ndarray of shape (n_numbers,)
    score : ndarray of shape (n_numbers,)
        Share of the targets' variance that is predicted on held-out rows, R2.
    std_error : ndarray of shape (n_numbers,)
        Standard error of the difference to the best number, over the splits.
    own_error : ndarray of shape (n_numbers,)
        Standard error of the score itself, over the splits.
    """

    numbers: IntArray
    score: FloatArray
    std_error: FloatArray
    own_error: FloatArray

    @property
    def predicts(self) -> bool:
        """Whether the best score is above 0 by more than chance gives."""
        best = int(self.score.argmax())
        return bool(self.score[best] > SURE * self.own_error[best])

    @property
    def best(self) -> int:
        """The number with the best score."""
        return int(self.numbers[self.score.argmax()])

    def chosen(self) -> int:
        """The fewest groups whose score is as good as the best, up to what is allowed."""
        top = float(self.score.max())
        allowed = np.maximum(STANDARD_ERRORS * self.std_error, NEGLIGIBLE * max(top, 0) * (1 - top))
        return int(self.numbers[np.flatnonzero(self.score >= top - allowed)[0]])


def scored_numbers(sums: RowSums, paths: list[Path], weights: FloatArray, numbers: range) -> Scored:
    """Scores of least squares on the groups of each split's own path, on its held-out rows.

    Parameters
    ----------
    sums : RowSums
        Sums of the starting groups.
    paths : list of Path
        The path from the training rows of each split.
    weights : ndarray of shape (n_nodes, n_start)
        Which starting groups each node of the tree consists of.
    numbers : range
        The numbers of groups that the path from all rows has.
    """
    most = max(1, int(sums.count.sum() * MAX_SHARE_OF_ROWS))
    common = [n for n in NUMBERS if n <= most and all(n in path.numbers for path in paths)]
    wanted = [n for n in common if n in numbers] or [min(numbers)]
    found = np.array(
        [_held_out_errors(sums, split, weights, path, wanted) for split, path in enumerate(paths)]
    )
    null, errors = found[:, 0], found[:, 1:]
    scores = 1 - errors.mean(axis=0) / null.mean()
    shares = (errors - errors[:, [int(scores.argmax())]]) / null.mean()
    own = standard_error((null[:, None] - errors) / null.mean())
    return Scored(np.array(wanted, dtype=np.intp), scores, standard_error(shares), own)


def _held_out_errors(
    sums: RowSums, split: int, weights: FloatArray, path: Path, numbers: list[int]
) -> FloatArray:
    """Held-out errors of the mean of the training rows, and of each number of groups."""
    train = sums.over(sums.train[split])
    slopes = [np.zeros((len(train.cross), sums.n_targets))]
    for number in numbers:
        if number not in path.numbers:
            number = min(path.numbers) if number < min(path.numbers) else max(path.numbers)
        chosen = weights[path.groups_at(number)].T
        slopes.append(chosen @ least_squares(train, chosen))
    return sums.squared_error(sums.test[split], train.mean, np.array(slopes))


def least_squares(train: Scatter, weights: FloatArray) -> FloatArray:
    """Coefficients of the regression on weighted sums of the columns, (n_sums, n_targets)."""
    columns = weights.T @ train.columns @ weights
    scale = np.sqrt(np.maximum(columns.diagonal(), np.finfo(float).tiny))
    # Aggregates that are nearly copies in the training rows get small coefficients, not huge ones.
    within = columns / np.outer(scale, scale) + 1e-9 * np.eye(len(scale))
    cross = (weights.T @ train.cross) / scale[:, None]
    return np.linalg.solve(within, cross) / scale[:, None]
