"""The data of the benchmarks, all generated: each function gives X and y, from a fixed seed."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = tuple[Any, np.ndarray]


def wide_data(n_samples: int, n_features: int, n_groups: int = 50) -> Data:
    """Features of a few hidden factors, in float32, made a block at a time."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_samples, n_groups)).astype(np.float32)
    labels = rng.integers(n_groups, size=n_features)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    for start in range(0, n_features, 4096):
        block = slice(start, start + 4096)
        noise = rng.standard_normal(size=X[:, block].shape, dtype=np.float32)
        X[:, block] = factors[:, labels[block]] + np.float32(0.3) * noise
    y = factors.astype(np.float64) @ rng.normal(size=n_groups) + 0.5 * rng.normal(size=n_samples)
    return X, y


def paper_data(n_samples: int, n_features: int) -> Data:
    """The synthetic problem of the paper, with noise that grows with the number of columns."""
    from coterie.datasets import make_paper_data

    return make_paper_data(n_features, noise=n_features / 10, n_samples=n_samples)


def table(n_samples: int, n_features: int) -> Data:
    """Columns that share 20 hidden ones, and a target of three of these."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_samples, 20))
    mix = rng.normal(size=(20, n_features)) * (rng.random((20, n_features)) < 0.15)
    columns = hidden @ mix + 0.5 * rng.normal(size=(n_samples, n_features))
    return columns, hidden[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n_samples)


def counts(n_samples: int, n_features: int) -> Data:
    """Such a table, and counts whose logarithm depends on it."""
    X, y = table(n_samples, n_features)
    return X, np.random.default_rng(1).poisson(np.exp(1 + 0.5 * y)).astype(float)


def sparse_data(n_samples: int, n_features: int, n_stored: int) -> Data:
    """A sparse array with so many stored numbers, and a target of its first columns."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    rows = rng.integers(n_samples, size=n_stored)
    columns = (n_features * rng.random(n_stored) ** 2).astype(int)
    X = csr_array((rng.random(n_stored), (rows, columns)), shape=(n_samples, n_features))
    return X, X[:, : n_features // 100].sum(axis=1) + 0.1 * rng.normal(size=n_samples)


def voxels(shape: tuple[int, int, int]) -> Data:
    """Smooth maps with noise, 100 rows; the target is the mean of one corner."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(0)
    smooth = gaussian_filter(rng.normal(size=(100, *shape)), (0, 2, 2, 2))
    smooth /= smooth.std()
    columns = (smooth + 0.5 * rng.normal(size=smooth.shape)).reshape(100, -1)
    return columns, columns[:, :500].mean(axis=1) + 0.1 * rng.normal(size=100)


PROBLEMS = {
    each.__name__: each for each in (wide_data, paper_data, table, counts, sparse_data, voxels)
}
