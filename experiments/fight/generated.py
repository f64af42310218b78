"""Problems whose truth is known, drawn anew for each split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.methods import FloatArray

N_TRAIN, N_TEST, N_BLOCKS, BLOCK = 150, 500, 8, 10
FACTOR_SHARE = 0.8
Rows = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _blocks(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Features and factors: each feature is 0.8 factor and the rest its own, by variance."""
    factors = rng.normal(size=(n, N_BLOCKS))
    own = rng.normal(size=(n, N_BLOCKS * BLOCK))
    X = np.sqrt(FACTOR_SHARE) * np.repeat(factors, BLOCK, axis=1)
    return X + np.sqrt(1 - FACTOR_SHARE) * own, factors


def _cut(X: FloatArray, y: FloatArray, n_train: int = N_TRAIN) -> Rows:
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def blocks(number: int) -> Rows:
    """Five of eight factors act alike, and so do the members of a block."""
    rng = np.random.default_rng([1, number])
    X, factors = _blocks(rng, N_TRAIN + N_TEST)
    signal = factors[:, :5].sum(axis=1)
    return _cut(X, signal + rng.normal(0, np.sqrt(5), len(X)))


def contrasts(number: int) -> Rows:
    """In two blocks, the first half acts against the second: the factor cancels out."""
    rng = np.random.default_rng([2, number])
    X, factors = _blocks(rng, N_TRAIN + N_TEST)
    signs = np.repeat([1.0, -1.0], BLOCK // 2)
    against = X[:, :BLOCK] @ signs + X[:, BLOCK : 2 * BLOCK] @ signs
    signal = against + 2 * factors[:, 2]
    return _cut(X, signal + rng.normal(0, 2, len(X)))


def peaks(number: int) -> Rows:
    """Curves of six broad peaks; three bands act, one of them beside another of the other sign."""
    rng = np.random.default_rng([3, number])
    channels = np.arange(120)
    centres = np.linspace(10, 110, 6)
    shapes = np.exp(-0.5 * ((channels - centres[:, None]) / 12) ** 2)
    n = N_TRAIN + N_TEST
    X = rng.normal(size=(n, 6)) @ shapes + 0.05 * rng.normal(size=(n, 120))
    signal = X[:, 20:26].mean(1) - X[:, 44:50].mean(1) + X[:, 90:96].mean(1)
    return _cut(X, signal + rng.normal(0, 0.5, n))


def rare(number: int) -> Rows:
    """A class of one in ten, by three of eight factors."""
    rng = np.random.default_rng([4, number])
    n_train = 400
    X, factors = _blocks(rng, n_train + N_TEST)
    odds = -3.2 + 1.2 * factors[:, :3].sum(axis=1)
    y = (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-odds))).astype(float)
    return _cut(X, y, n_train)


GENERATED: dict[str, Callable[[int], Rows]] = {
    "blocks": blocks,
    "contrasts": contrasts,
    "peaks": peaks,
    "rare": rare,
}
# Which block each feature belongs to, where there are blocks.
TRUTH = {name: np.repeat(np.arange(N_BLOCKS), BLOCK) for name in ("blocks", "rare")}
