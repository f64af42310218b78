"""The number of groups: scores of the path on held-out rows, and the choice among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._core.joint._path import Path
from coterie._core.joint._penalty import Penalty, standard_error
from coterie._core.joint._sums import RowSums, Scatter
from coterie._core.values import FloatArray, IntArray

# Numbers of groups that are scored, besides the chosen one; between them the scores hardly differ.
NUMBERS = (1, 2, 3, 5, 8, 13, 21, 34, 55)
# A regression on more columns than this share of the rows overfits.
MAX_SHARE_OF_ROWS = 1 / 3
# The allowance of a step, in units of the noise: the price of an effect of two standard errors.
ALLOWANCE = 4.0
# Steps are taken beyond the allowance if all of them cost at most this share of R2 (1 - R2): less
# than a reader of the score would notice.
NEGLIGIBLE = 0.01


class Scored(NamedTuple):
    """Held-out scores of some numbers of groups.

    Parameters
    ----------
    numbers : ndarray of shape (n_numbers,)
    score : ndarray of shape (n_numbers,)
        Share of the targets' variance that is predicted on held-out rows, R2.
    std_error : ndarray of shape (n_numbers,)
        Standard error of the difference to the best number, over the splits.
    """

    numbers: IntArray
    score: FloatArray
    std_error: FloatArray

    @property
    def best(self) -> int:
        """The number with the best score."""
        return int(self.numbers[self.score.argmax()])


def number_within_allowance(path: Path, penalty: Penalty, n_rows: float) -> int:
    """The number of groups from which on steps cost more than they are allowed to.

    Prices do not rise in order: a dear step may make the next ones cheap. So steps are judged
    together. The number k has the lowest sum of all prices up to k and k allowances: all stretches
    of steps that lead to it cost their allowances or less, and all that follow cost more. Then
    more steps are taken as long as they are negligible together.

    Parameters
    ----------
    path : Path
    penalty : Penalty
    n_rows : float
        The number of groups is a third of it at most, if the path has so few.
    """
    numbers = np.array(path.numbers)
    paid = np.append(0.0, np.cumsum([step.price for step in path.steps]))[::-1]
    most = most_groups(path, n_rows)
    numbers, paid = numbers[numbers <= most], paid[numbers <= most]
    within = int((paid + ALLOWANCE * penalty.noise * numbers).argmin())
    unexplained = min(penalty.noise / penalty.null, 1.0)
    negligible = NEGLIGIBLE * (1 - unexplained) * unexplained * penalty.null * n_rows
    return int(numbers[np.flatnonzero(paid <= paid[within] + negligible)[0]])


def most_groups(path: Path, n_rows: float) -> int:
    """The most groups that are chosen: a third of the rows, or more if the path has so few."""
    return max(int(n_rows * MAX_SHARE_OF_ROWS), min(path.numbers))


def scored_numbers(
    sums: RowSums, paths: list[Path], weights: FloatArray, numbers: range, chosen: int
) -> Scored:
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
    chosen : int
        One of them, which is scored in any case.
    """
    most = max(1, int(sums.count.sum() * MAX_SHARE_OF_ROWS))
    common = [n for n in NUMBERS if n <= most and all(n in path.numbers for path in paths)]
    wanted = sorted({chosen, *(n for n in common if n in numbers)})
    found = held_out_errors(sums, paths, weights, wanted)
    null, errors = found[:, 0], found[:, 1:]
    scores = 1 - errors.mean(axis=0) / null.mean()
    shares = (errors - errors[:, [int(scores.argmax())]]) / null.mean()
    return Scored(np.array(wanted, dtype=np.intp), scores, standard_error(shares))


def held_out_errors(
    sums: RowSums, paths: list[Path], weights: FloatArray, numbers: list[int]
) -> FloatArray:
    """Held-out errors of the mean of the training rows, and of each number of groups.

    Of shape (n_splits, 1 + n_numbers).
    """
    return np.array(
        [_errors_of_split(sums, split, weights, path, numbers) for split, path in enumerate(paths)]
    )


def _errors_of_split(
    sums: RowSums, split: int, weights: FloatArray, path: Path, numbers: list[int]
) -> FloatArray:
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
