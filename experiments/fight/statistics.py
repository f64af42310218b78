"""Ranks, differences and probabilities over sets, each with an interval.

A score table has one row per set and split and one column per method. Intervals of ranks and of
probabilities are those of a bootstrap over sets, and over the splits of each set drawn. Intervals
of a difference on one set are corrected for splits that share rows (Nadeau and Bengio 2003).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
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


def mean_ranks(means: pd.DataFrame) -> pd.Series:
    """Mean rank over sets, 1 the best; of equal scores the mean of their ranks."""
    return means.rank(axis=1, ascending=False).mean()


def resampled(table: pd.DataFrame, n_boot: int = N_BOOT, seed: int = 0) -> Iterator[pd.DataFrame]:
    """Means over splits of sets drawn with replacement, and in each of splits drawn so."""
    rng = np.random.default_rng(seed)
    parts = [part.to_numpy() for _, part in table.groupby(level="set", sort=False)]
    for _ in range(n_boot):
        rows = [
            np.nanmean(parts[i][rng.integers(len(parts[i]), size=len(parts[i]))], axis=0)
            for i in rng.integers(len(parts), size=len(parts))
        ]
        yield pd.DataFrame(rows, columns=table.columns).clip(lower=0)


def ranked(table: pd.DataFrame, n_boot: int = N_BOOT) -> dict[str, Estimate]:
    """The mean rank of each method, the best first."""
    value = mean_ranks(mean_over_splits(table))
    draws = pd.DataFrame([mean_ranks(means) for means in resampled(table, n_boot)])
    low, high = interval_of(draws.to_numpy())
    found = {
        name: Estimate(float(value[name]), float(a), float(b))
        for name, a, b in zip(table.columns, low, high, strict=True)
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
    table: pd.DataFrame, one: str, other: str, *, n_boot: int = N_BOOT, alike: float = ALIKE
) -> Comparison:
    """The Bayesian signed-rank test over sets, and how far it moves with sets and splits."""
    both = table[[one, other]].dropna()

    def said(means: pd.DataFrame, n_draws: int) -> list[float]:
        differences = (means[one] - means[other]).to_numpy()
        odds = probabilities(differences, alike=alike, n_draws=n_draws)
        return [float(differences.mean()), *odds]

    means = mean_over_splits(both)
    value = said(means, 20_000)
    draws = np.array([said(drawn, 500) for drawn in resampled(both, n_boot)])
    low, high = interval_of(draws)
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
