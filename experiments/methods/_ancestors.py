"""The nearest ancestors of supervised grouping, written from their papers.

- pelora and wilma: Dettling and Buehlmann (2004) and (2002), supervised clusters of genes. Both
  grow one cluster after the other: a feature joins if the mean of the cluster then helps more.
- CLV: Vigneau and Qannari (2003), clusters around latent variables.
- ReNA: Hoyos-Idrobo, Varoquaux, Kahn and Thirion (2019), recursive nearest agglomeration.
- hclust: the clustering behind shap's bar plots. Features are near if what one says about the
  target, the other says too.
- Ward then lasso: Buehlmann, Ruetimann, van de Geer and Zhang (2013), cluster representatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.cluster.hierarchy import linkage, ward
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, squareform
from scipy.stats import rankdata

from experiments.methods._peers_common import cut, grouping, target_columns
from experiments.methods._peers_selection import linear_path
from experiments.methods._reduction import (
    FloatArray,
    IntArray,
    Reduction,
    Setting,
    Task,
    Unavailable,
)

SHARES = (0.5, 0.2, 0.07, 0.02)


@dataclass(frozen=True)
class Clusters:
    """Groups that do without the target, or know it only by a distance between features.

    Parameters
    ----------
    cuts : callable
        From X, y, task and sizes to labels, and to signs with which members go into the mean.
    """

    cuts: Callable[..., Iterator[tuple[IntArray, FloatArray]]]
    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return [{"size": size} for size in (2, 4, 8, 16, 32) if size <= n_features]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        sizes = [s["size"] for s in settings]
        return [signed_means(*cut) for cut in self.cuts(X, y, task, sizes)]


def signed_means(labels: IntArray, signs: FloatArray) -> Reduction:
    """Means of groups whose members may be turned around; label -1 belongs to none."""
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    return grouping(labels, signs / np.maximum(sizes[labels], 1))


def numbered(labels: IntArray) -> IntArray:
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def toward_largest(X: FloatArray, labels: IntArray) -> FloatArray:
    """Signs that turn all members of a group toward the one with the largest sum of |r|."""
    signs = np.ones(len(labels))
    C = correlations(X)
    for label in range(labels.max() + 1):
        members = np.flatnonzero(labels == label)
        block = C[np.ix_(members, members)]
        signs[members] = np.where(block[np.argmax(np.abs(block).sum(axis=0))] < 0, -1.0, 1.0)
    return signs


def correlations(X: FloatArray) -> FloatArray:
    Z = X - X.mean(axis=0)
    lengths = np.linalg.norm(Z, axis=0)
    Z = Z / np.where(lengths > 0, lengths, 1.0)
    return np.clip(Z.T @ Z, -1, 1)


# CLV ------------------------------------------------------------------------------------------


def clv(
    X: FloatArray, y: FloatArray, task: Task, sizes: list[int]
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Directional groups: each feature with the latent variable of its largest squared covariance.

    From a cut of a tree of 1 - r2, latent variables (first components) and members are updated
    in turn. The column of a group is its mean, the members turned toward the latent variable.
    """
    C = correlations(X)
    tree = linkage(squareform(1 - C**2, checks=False), "average") if len(C) > 1 else None
    for size in sizes:
        (labels,) = cut(tree, [size])
        for _ in range(5):
            closeness = C @ first_components(C, labels)
            new = numbered(np.argmax(closeness**2, axis=1))
            if np.array_equal(new, labels):
                break
            labels = new
        closeness = C @ first_components(C, labels)
        yield labels, np.where(closeness[np.arange(len(labels)), labels] < 0, -1.0, 1.0)


def first_components(C: FloatArray, labels: IntArray) -> FloatArray:
    """Weights of the latent variables, of unit variance, one column per group."""
    weights = np.zeros((len(C), labels.max() + 1))
    for label in range(labels.max() + 1):
        members = np.flatnonzero(labels == label)
        block = C[np.ix_(members, members)]
        vector = block[np.argmax(np.abs(block).sum(axis=0))].copy()
        for _ in range(20):
            vector = block @ (vector / np.linalg.norm(vector))
        weights[members, label] = vector / np.sqrt(max(vector @ block @ vector, 1e-300))
    return weights


# ReNA -----------------------------------------------------------------------------------------


def rena(
    X: FloatArray, y: FloatArray, task: Task, sizes: list[int]
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Again and again, each cluster joins its nearest one, all of them at the same time.

    Any two features are neighbours. In the last round only the shortest edges are used.
    """
    labels = np.arange(X.shape[1])
    found = {}
    for size in sorted(sizes, reverse=True):
        while labels.max() + 1 > size:
            labels = one_round(X, labels, size)
        found[size] = labels
    for size in sizes:
        yield found[size], np.ones(len(labels))


def one_round(X: FloatArray, labels: IntArray, fewest: int) -> IntArray:
    """Clusters after one round, but not fewer than asked for."""
    n = labels.max() + 1
    sums = np.zeros((n, len(X)))
    np.add.at(sums, labels, X.T)
    centres = sums / np.bincount(labels)[:, None]
    distances = cdist(centres, centres, "sqeuclidean")
    np.fill_diagonal(distances, np.inf)
    nearest = np.argmin(distances, axis=1)
    edges = np.unique(np.sort(np.column_stack([np.arange(n), nearest]), axis=1), axis=0)
    shortest = np.argsort(distances[edges[:, 0], edges[:, 1]], kind="stable")
    # Edges to nearest neighbours have no cycles where distances differ, so each merges two.
    used = edges[shortest[: n - fewest]]
    graph = coo_array((np.ones(len(used)), (used[:, 0], used[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[1][labels].astype(np.intp)


# hclust ---------------------------------------------------------------------------------------


def redundancy(X: FloatArray, y: FloatArray, task: Task, n_bins: int = 8) -> FloatArray:
    """Distance 1 - R2: what a feature says about the target, said again by another.

    What a feature says are means of the target in bins of the feature; with bins of the other
    these means are predicted again. The better direction counts.
    """
    n, p = X.shape
    bins = np.minimum((rankdata(X, axis=0) - 1) * n_bins // n, n_bins - 1).astype(int)
    likeness = np.zeros((p, p))
    indicators = [bins == b for b in range(n_bins)]
    counts = np.stack([one.sum(axis=0) for one in indicators])
    for target in target_columns(y, task).T:
        t = target - target.mean()
        means = np.stack([one.T @ t for one in indicators]) / np.maximum(counts, 1)
        said = np.take_along_axis(means, bins, axis=0)
        total = (said**2).sum(axis=0)
        explained = np.zeros((p, p))
        for one, count in zip(indicators, counts, strict=True):
            explained += (one.T.astype(float) @ said) ** 2 / np.maximum(count, 1)[:, None]
        likeness = np.maximum(likeness, explained / np.where(total > 0, total, np.inf))
    likeness = np.maximum(likeness, likeness.T)
    np.fill_diagonal(likeness, 1)
    return 1 - np.clip(likeness, 0, 1)


def hclust(
    X: FloatArray, y: FloatArray, task: Task, sizes: list[int]
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Complete linkage on the distance above."""
    tree = linkage(squareform(redundancy(X, y, task), checks=False), "complete")
    for labels in cut(tree, sizes):
        yield labels, toward_largest(X, labels)


# Ward then lasso ------------------------------------------------------------------------------


@dataclass(frozen=True)
class WardThenLasso:
    """Means of Ward's clusters, of which the lasso keeps some (of classes: any one's lasso)."""

    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        sizes = [size for size in (8, 16, 32, 64) if size <= n_features] or [n_features]
        return [{"size": size, "share": share} for size in sizes for share in SHARES]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        sizes = sorted({s["size"] for s in settings})
        trees = cut(ward(X.T), sizes)
        kept = {}
        for size, labels in zip(sizes, trees, strict=True):
            Z = signed_means(labels, np.ones(len(labels))).columns(X)
            Z = (Z - Z.mean(axis=0)) / np.maximum(Z.std(axis=0), 1e-12)
            paths = [linear_path(Z, t, np.array(SHARES)) for t in target_columns(y, task).T]
            for share, used in zip(SHARES, np.any(paths, axis=0), strict=True):
                kept[size, share] = without(labels, used)
        return [signed_means(kept[s["size"], s["share"]], np.ones(X.shape[1])) for s in settings]


def without(labels: IntArray, used: FloatArray) -> IntArray:
    """Labels of the used clusters, numbered anew; all of them where none is used."""
    if not used.any():
        return labels
    new = np.where(used, np.cumsum(used) - 1, -1)
    return new[labels].astype(np.intp)


# pelora and wilma -----------------------------------------------------------------------------

# Members of a cluster, and the signs with which they join.
SignedMembers = tuple[IntArray, FloatArray]


@dataclass(frozen=True)
class Grown:
    """Clusters that grow one after the other, for each class in turn."""

    grow: Callable[..., list[SignedMembers]]
    needs_classes: bool
    model: ClassVar[None] = None

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        return [{"size": size} for size in (1, 2, 4, 8) if size <= n_features]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        if self.needs_classes and task != "classification":
            raise Unavailable("needs classes")
        targets = target_columns(y, task).T
        most = max(s["size"] for s in settings)
        rounds = -(-most // len(targets))
        grown = [self.grow(X, target, rounds, task) for target in targets]
        in_turn = [clusters[i] for i in range(rounds) for clusters in grown if i < len(clusters)]
        return [overlapping_means(in_turn[: s["size"]], X.shape[1]) for s in settings]


def turned(X: FloatArray, target: FloatArray) -> FloatArray:
    """Signs with which each feature rises with the target."""
    return np.where((X - X.mean(axis=0)).T @ (target - target.mean()) < 0, -1.0, 1.0)


def overlapping_means(clusters: list[SignedMembers], n_features: int) -> Reduction:
    """Means of clusters that may share features. In the labels, the first of them counts."""
    weights = np.zeros((n_features, len(clusters)))
    labels = np.full(n_features, -1, dtype=np.intp)
    for number, (members, signs) in reversed(list(enumerate(clusters))):
        np.add.at(weights[:, number], members, signs / len(members))
        labels[members] = number
    return Reduction(lambda rows: rows @ weights, len(clusters), int((labels >= 0).sum()), labels)


def pelora(X: FloatArray, y: FloatArray, n_clusters: int, task: Task) -> list[SignedMembers]:
    """Clusters whose means, together, have the largest penalised likelihood.

    A feature may join as it is or turned around. Candidates are compared by the gain of one Newton
    step from the clusters before; a cluster grows as long as the best of them gains, then members
    are taken out as long as that gains.
    """
    columns, found = np.ones((len(X), 1)), []
    penalty, n_features = len(X) / 32, X.shape[1]
    both = np.hstack([X, -X])
    for _ in range(n_clusters):
        members = grown_and_pruned(Quality.of(both, y, columns, penalty, task), 2 * n_features)
        found.append((members % n_features, np.where(members < n_features, 1.0, -1.0)))
        columns = np.column_stack([columns, both[:, members].mean(axis=1)])
    return found


@dataclass(frozen=True)
class Quality:
    """What the mean of any members gains: its score squared by its information, the penalty in it.

    The inner products are of features from which the earlier columns are taken out.
    """

    scores: FloatArray
    left: FloatArray
    weights: FloatArray
    penalty: float

    @classmethod
    def of(
        cls, X: FloatArray, y: FloatArray, columns: FloatArray, penalty: float, task: Task
    ) -> Quality:
        fitted, weights = penalised_fit(columns, y, penalty, task)
        root = np.sqrt(weights)[:, None]
        scale = 1.0 if task == "classification" else max(float(np.var(y - fitted)), 1e-12)
        q, _ = np.linalg.qr(root * columns)
        left = root * X
        left = left - q @ (q.T @ left)
        return cls(X.T @ (y - fitted) / np.sqrt(scale), left, weights, penalty)

    def gains(self, sum_scores: FloatArray, norms: FloatArray, sizes: FloatArray) -> FloatArray:
        means = np.maximum(sum_scores / sizes, 0)
        return means**2 / (norms / sizes**2 + self.penalty)


def grown_and_pruned(quality: Quality, n_features: int, most: int = 30) -> IntArray:
    """Members of one cluster, each once."""
    own = np.einsum("ij,ij->j", quality.left, quality.left)
    members: list[int] = []
    total, score, norm, best = np.zeros(len(quality.left)), 0.0, 0.0, -1.0
    while len(members) < min(most, n_features):
        cross = quality.left.T @ total
        size = np.array(len(members) + 1.0)
        gains = quality.gains(score + quality.scores, norm + 2 * cross + own, size)
        gains[members] = -np.inf
        chosen = int(np.argmax(gains))
        if gains[chosen] <= best * (1 + 1e-6):
            break
        best = float(gains[chosen])
        members.append(chosen)
        norm += float(2 * cross[chosen] + own[chosen])
        score += float(quality.scores[chosen])
        total = total + quality.left[:, chosen]
    while len(members) > 1:
        cross = quality.left[:, members].T @ total
        size = np.array(len(members) - 1.0)
        gains = quality.gains(
            score - quality.scores[members], norm - 2 * cross + own[members], size
        )
        chosen = int(np.argmax(gains))
        if gains[chosen] <= best * (1 + 1e-6):
            break
        best = float(gains[chosen])
        norm += float(-2 * cross[chosen] + own[members[chosen]])
        score -= float(quality.scores[members[chosen]])
        total = total - quality.left[:, members[chosen]]
        del members[chosen]
    return np.array(members, dtype=np.intp)


def penalised_fit(
    columns: FloatArray, y: FloatArray, penalty: float, task: Task
) -> tuple[FloatArray, FloatArray]:
    """Fitted means and the weights of rows of a ridge regression, logistic for classes."""
    ridge = np.diag(np.r_[0.0, np.full(columns.shape[1] - 1, penalty)])
    if task == "regression":
        theta = np.linalg.solve(columns.T @ columns + ridge, columns.T @ y)
        return columns @ theta, np.ones(len(y))
    theta = np.zeros(columns.shape[1])
    for _ in range(15):
        p = 1 / (1 + np.exp(-np.clip(columns @ theta, -30, 30)))
        w = np.maximum(p * (1 - p), 1e-6)
        theta = theta + np.linalg.solve(
            columns.T @ (w[:, None] * columns) + ridge, columns.T @ (y - p) - ridge @ theta
        )
    p = 1 / (1 + np.exp(-np.clip(columns @ theta, -30, 30)))
    return p, np.maximum(p * (1 - p), 1e-6)


def wilma(
    X: FloatArray, y: FloatArray, n_clusters: int, task: Task, *, candidates: int = 60
) -> list[SignedMembers]:
    """Clusters whose means order the rows of two classes best (Wilcoxon), then by the margin.

    Features are turned so that they rise with the class. Those with the best orders of their own
    are the candidates; a feature is used once.
    """
    signs = turned(X, y)
    X = X * signs
    order = np.lexsort([-margin(X, y), -concordance(X, y)])
    pool, found = order[: candidates * 2], []
    while len(found) < n_clusters and len(pool):
        members = pool[one_wilma(X[:, pool[:candidates]], y)]
        found.append((members, signs[members]))
        pool = pool[~np.isin(pool, members)]
    return found


def one_wilma(X: FloatArray, y: FloatArray, most: int = 8) -> list[int]:
    """Grows by the best of all candidates and prunes, until nothing is better."""
    members: list[int] = []
    best = (-np.inf, -np.inf)
    while len(members) < most:
        total = X[:, members].sum(axis=1)
        means = (total[:, None] + X) / (len(members) + 1)
        quality, chosen = best_of(means, y, set(members))
        if quality <= best:
            break
        best = quality
        members.append(chosen)
        while len(members) > 2:
            total = X[:, members].sum(axis=1)
            means = (total[:, None] - X[:, members]) / (len(members) - 1)
            quality, taken = best_of(means, y, set())
            if quality <= best:
                break
            best = quality
            del members[taken]
    return members


def best_of(means: FloatArray, y: FloatArray, barred: set[int]) -> tuple[tuple[float, float], int]:
    """The best order, among equals the largest margin."""
    orders, margins = concordance(means, y), margin(means, y)
    orders[list(barred)] = -np.inf
    chosen = int(np.lexsort([margins, orders])[-1])
    return (float(orders[chosen]), float(margins[chosen])), chosen


def concordance(X: FloatArray, y: FloatArray) -> FloatArray:
    """Share of pairs of rows of two classes that a column puts in the right order."""
    n1 = y.sum()
    ranks = rankdata(X, axis=0)
    return (ranks[y == 1].sum(axis=0) - n1 * (n1 + 1) / 2) / (n1 * (len(y) - n1))


def margin(X: FloatArray, y: FloatArray) -> FloatArray:
    """The distance between the classes, negative where they overlap."""
    return X[y == 1].min(axis=0) - X[y == 0].max(axis=0)


ANCESTORS = {
    "CLV": Clusters(clv),
    "ReNA": Clusters(rena),
    "hclust": Clusters(hclust),
    "Ward then lasso": WardThenLasso(),
    "pelora": Grown(pelora, needs_classes=False),
    "wilma": Grown(wilma, needs_classes=True),
}
