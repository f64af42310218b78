"""Ranks, differences and probabilities over sets, each with an interval.

A score table has one row per set and split and one column per method. Intervals of ranks and of
probabilities are those of a bootstrap over sets, and over the splits of each set drawn. Intervals
of a difference on one set are corrected for splits that share rows (Nadeau and Bengio 2003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from scipy.stats import t as student

from experiments.methods import FloatArray
from experiments.ranking import ALIKE, probabilities

N_BOOT = 300
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 2) -> str:
        """Such as ``2.10 (1.80 to 2.50)``."""
        low, high = f"{self.low:.{digits}f}", f"{self.high:.{digits}f}"
        return f"{self.value:.{digits}f} ({low} to {high})"


def mean_over_splits(table: pd.DataFrame) -> pd.DataFrame:
    """Sets by methods; below 0 is 0, since nobody uses what is worse than the mean of y."""
    return table.groupby(level="set", sort=False).mean().clip(lower=0)


def mean_ranks(means: FloatArray) -> FloatArray:
    """Mean rank over sets (the last axis but one), 1 the best; equal scores share their ranks."""
    return rankdata(-means, axis=-1).mean(axis=-2)


def resampled(table: pd.DataFrame, n_boot: int | None = None, seed: int = 0) -> FloatArray:
    """Means over splits of sets drawn with replacement, and over splits drawn so in each set.

    Parameters
    ----------
    table : DataFrame
    n_boot : int or None
        None: N_BOOT.
    seed : int

    Returns
    -------
    means : ndarray of shape (n_boot, n_sets, n_methods)
        0 where they are below.
    """
    n_boot = N_BOOT if n_boot is None else n_boot
    rng = np.random.default_rng(seed)
    means = np.stack([
        drawn_means(part.to_numpy(), n_boot, rng)
        for _, part in table.groupby(level="set", sort=False)
    ])  # fmt: skip
    sets = rng.integers(len(means), size=(n_boot, len(means)))
    return np.clip(means[sets, np.arange(n_boot)[:, None]], 0, None)


def drawn_means(scores: FloatArray, n_boot: int, rng: np.random.Generator) -> FloatArray:
    """Means of splits drawn with replacement; scores that are missing do not count."""
    n = len(scores)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=n_boot).astype(float)
    known = np.isfinite(scores)
    with np.errstate(invalid="ignore"):
        return (weights @ np.where(known, scores, 0.0)) / (weights @ known)


def ranked(table: pd.DataFrame, n_boot: int | None = None) -> dict[str, Estimate]:
    """The mean rank of each method, the best first."""
    value = mean_ranks(mean_over_splits(table).to_numpy())
    low, high = interval_of(mean_ranks(resampled(table, n_boot)))
    found = {
        name: Estimate(float(v), float(a), float(b))
        for name, v, a, b in zip(table.columns, value, low, high, strict=True)
    }
    return dict(sorted(found.items(), key=lambda item: item[1].value))


def interval_of(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Percentiles of the columns."""
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(draws, [tail, 100 - tail], axis=0)
    return low, high


class Comparison(NamedTuple):
    """One method against another over sets: the mean difference, and who is probably better."""

    n_sets: int
    difference: Estimate
    better: Estimate
    alike: Estimate
    worse: Estimate


def compared(
    table: pd.DataFrame, one: str, other: str, *, n_boot: int | None = None, alike: float = ALIKE
) -> Comparison:
    """The Bayesian signed-rank test over sets, and how far it moves with sets and splits."""
    both = table[[one, other]].dropna()

    def said(differences: FloatArray, n_draws: int) -> list[float]:
        odds = probabilities(differences, alike=alike, n_draws=n_draws)
        return [float(differences.mean()), *odds]

    means = mean_over_splits(both).to_numpy()
    value = said(means[:, 0] - means[:, 1], 20_000)
    drawn = resampled(both, n_boot)
    low, high = interval_of(np.array([said(one[:, 0] - one[:, 1], 200) for one in drawn]))
    estimates = [Estimate(v, float(a), float(b)) for v, a, b in zip(value, low, high, strict=True)]
    return Comparison(len(means), *estimates)


def corrected(differences: FloatArray, test_per_train: float) -> Estimate:
    """The mean of paired differences over splits, with the interval of Nadeau and Bengio (2003).

    Splits share training rows, so the variance of the mean is not the variance over splits divided
    by their number n, but multiplied by 1/n + (test rows per training row).
    """
    n, mean = len(differences), float(np.mean(differences))
    if n < 2:
        return Estimate(mean, float("nan"), float("nan"))
    error = np.sqrt(np.var(differences, ddof=1) * (1 / n + test_per_train))
    half = float(student.ppf((1 + CONFIDENCE) / 2, n - 1) * error)
    return Estimate(mean, mean - half, mean + half)


def on_each_set(
    table: pd.DataFrame, one: str, other: str, test_per_train: Callable[[str], float]
) -> dict[str, Estimate]:
    """Paired differences on each set with their corrected intervals."""
    both = table[[one, other]].dropna()
    return {
        str(name): corrected((part[one] - part[other]).to_numpy(), test_per_train(str(name)))
        for name, part in both.groupby(level="set", sort=False)
    }
