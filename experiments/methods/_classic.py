"""The paper's baselines: columns that mix all features, with or without a look at the target."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import SparseEfficiencyWarning
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import KernelCenterer

from experiments.methods._reduction import (
    SIZES,
    FloatArray,
    Method,
    Reduction,
    Setting,
    Task,
    Unavailable,
)
from experiments.methods._supervised_pca import BairPCA, BarshanPCA, Kernel

Columns = Callable[[FloatArray], FloatArray]
Fit = Callable[..., Reduction]
N_NEIGHBORS = 5
# Rows x (rows + features), with which the time of neighbourhood components grows.
MOST_WORK = 10_000_000


@dataclass(frozen=True)
class Training:
    """Rows to learn from, and what their target is."""

    X: FloatArray
    y: FloatArray
    task: Task


@dataclass(frozen=True)
class Sized:
    """A method for which the number of columns is chosen.

    Parameters
    ----------
    fit : callable
        From training rows, size and the other settings to a reduction. It has as many of
        the size columns as exist, perhaps none.
    sizes : tuple of int
    others : tuple of Setting
        Each is tried with each size.
    is_nested : bool
        Whether a smaller size gives the first columns of a larger one, so that one fit does.
    needs_classes : bool
    """

    fit: Fit
    sizes: tuple[int, ...] = (*range(1, 51), *(size for size in SIZES if size > 50))
    others: tuple[Setting, ...] = ({},)
    is_nested: bool = True
    needs_classes: bool = False

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        most = max(1, min(n_features, n_samples - 2))
        sizes = [size for size in self.sizes if size <= most]
        return [{"size": size, **other} for size in sizes for other in self.others]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        """Settings that want more columns than exist share one reduction, the same object."""
        training = Training(X, y, task)
        check(training, needs_classes=self.needs_classes)
        together = [settings] if self.is_nested else [[setting] for setting in settings]
        return [found for some in together for found in nested(self.fit, training, some)]


@dataclass(frozen=True)
class Explaining:
    """As many principal components as have a share of the variance; nothing is chosen."""

    share: float

    def settings(self, task: Task, n_samples: int, n_features: int) -> list[Setting]:
        """One."""
        return [{}]

    def reductions(
        self, X: FloatArray, y: FloatArray, task: Task, settings: list[Setting]
    ) -> list[Reduction]:
        """The same for each setting."""
        training = Training(X, y, task)
        check(training, needs_classes=False)
        fitted = PCA(self.share, svd_solver="full").fit(X)
        return [mixing(training, fitted.transform, fitted.n_components_) for _ in settings]


def check(training: Training, *, needs_classes: bool) -> None:
    if needs_classes and training.task != "classification":
        raise Unavailable("needs classes")
    if needs_classes and np.ptp(training.y) == 0:
        raise Unavailable("needs two classes")
    if not np.ptp(training.X, axis=0).any():
        raise Unavailable("no feature varies")


def nested(fit: Fit, training: Training, settings: list[Setting]) -> list[Reduction]:
    """One fit per distinct other settings, as wide as needed, and cuts of it."""
    wanted = [(other_settings(setting), setting["size"]) for setting in settings]
    # Sorted by size, the widest of each comes last and stays.
    widest = dict(sorted(wanted, key=lambda pair: pair[1]))
    whole = {
        other: remembering(fit(training, size, **dict(other))) for other, size in widest.items()
    }
    cuts = [(other, min(size, whole[other].n_columns)) for other, size in wanted]
    made = {cut: first_columns(whole[cut[0]], cut[1]) for cut in cuts}
    return [made[cut] for cut in cuts]


def other_settings(setting: Setting) -> tuple[tuple[str, Hashable], ...]:
    return tuple((name, value) for name, value in sorted(setting.items()) if name != "size")


def remembering(reduction: Reduction) -> Reduction:
    if reduction.n_columns == 0:
        raise Unavailable("no column stands out from rounding")
    return replace(reduction, columns=Remembered(reduction.columns))


def first_columns(reduction: Reduction, size: int) -> Reduction:
    return replace(reduction, columns=partial(cut_columns, reduction.columns, size), n_columns=size)


def cut_columns(columns: Columns, size: int, X: FloatArray) -> FloatArray:
    return columns(X)[:, :size].copy()


class Remembered:
    """Columns of the last few arrays: training, validation and test rows, asked once per size.

    An array is known by its identity, so it must not be changed in place.
    """

    def __init__(self, columns: Columns, n_arrays: int = 3):
        self.columns = columns
        self.n_arrays = n_arrays
        self.seen: list[tuple[FloatArray, FloatArray]] = []

    def __call__(self, X: FloatArray) -> FloatArray:
        for rows, columns in self.seen:
            if rows is X:
                return columns
        columns = self.columns(X)
        self.seen = [*self.seen, (X, columns)][-self.n_arrays :]
        return columns


def mixing(training: Training, columns: Columns, n_columns: int) -> Reduction:
    """A reduction whose columns need every feature."""
    return Reduction(columns, n_columns, n_measured=training.X.shape[1])


def pca(training: Training, size: int) -> Reduction:
    # The full solver is exact, so that fewer components are the first of more.
    fitted = PCA(min(size, *training.X.shape), svd_solver="full").fit(training.X)
    values = fitted.singular_values_
    rounding = max(training.X.shape) * np.finfo(float).eps * values[0]
    return mixing(training, fitted.transform, int(np.sum(values > rounding)))


def lda(training: Training, size: int) -> Reduction:
    fitted = fitted_to_classes(LinearDiscriminantAnalysis(), training)
    n_columns = fitted.transform(training.X[:1]).shape[1]
    return mixing(training, fitted.transform, min(size, n_columns))


def kernel_pca(training: Training, size: int, kernel: str) -> Reduction:
    parameters = {"gamma": 1 / training.X.shape[1], "degree": 3, "coef0": 1}
    gram = pairwise_kernels(training.X, metric=kernel, filter_params=True, **parameters)
    n_columns = n_positive(gram, size)
    fitted = KernelPCA(max(1, n_columns), kernel=kernel, eigen_solver="dense", **parameters)
    return mixing(training, fitted.fit(training.X).transform, n_columns)


def n_positive(gram: FloatArray, size: int) -> int:
    """How many of the leading eigenvalues, after centring, are positive; at most size.

    Neither the sigmoid kernel nor geodesic distances are those of a Euclidean space, and
    scikit-learn refuses components past the first negative eigenvalue.
    """
    n = len(gram)
    leading = (n - min(size, n), n - 1)
    values = eigh(KernelCenterer().fit_transform(gram), eigvals_only=True, subset_by_index=leading)
    rounding = n * np.finfo(float).eps * np.abs(gram).max()
    # Below this share of the largest, scikit-learn takes an eigenvalue for zero.
    return int(np.sum(values > max(rounding, 1e-12 * values[-1])))


def isomap(training: Training, size: int, n_neighbors: int = N_NEIGHBORS) -> Reduction:
    n_neighbors = min(n_neighbors, len(training.X) - 1)
    fitted = Isomap(n_neighbors=n_neighbors, n_components=1, eigen_solver="dense")
    with warnings.catch_warnings():
        # Where the graph falls apart, scikit-learn joins its parts by their nearest rows.
        warnings.filterwarnings("ignore", "The number of connected components", UserWarning)
        warnings.simplefilter("ignore", SparseEfficiencyWarning)
        fitted.fit(training.X)
    gram = -0.5 * fitted.dist_matrix_**2
    n_columns = n_positive(gram, size)
    # Only now is the number of components known; paths need not be found a second time.
    fitted.kernel_pca_ = KernelPCA(max(1, n_columns), kernel="precomputed", eigen_solver="dense")
    fitted.kernel_pca_.fit(gram)
    return mixing(training, fitted.transform, n_columns)


def lle(training: Training, size: int, n_neighbors: int = N_NEIGHBORS) -> Reduction:
    n_samples, n_features = training.X.shape
    n_columns = min(size, n_features, n_samples - 1)
    n_neighbors = min(n_neighbors, n_samples - 1)
    fitted = LocallyLinearEmbedding(
        n_neighbors=n_neighbors, n_components=n_columns, eigen_solver="dense"
    )
    try:
        fitted.fit(training.X)
    except np.linalg.LinAlgError as error:
        raise Unavailable(f"neighbours are degenerate: {error}") from error
    return mixing(training, fitted.transform, n_columns)


def bair(training: Training, size: int, keep: float) -> Reduction:
    fitted = BairPCA(size, keep=keep, task=training.task).fit(training.X, training.y)
    return Reduction(fitted.transform, len(fitted.components_), n_measured=len(fitted.kept_))


def barshan(training: Training, size: int) -> Reduction:
    kernel: Kernel = "delta" if training.task == "classification" else "rbf"
    fitted = BarshanPCA(size, kernel=kernel).fit(training.X, training.y)
    return mixing(training, fitted.transform, len(fitted.components_))


def nca(training: Training, size: int) -> Reduction:
    n_samples, n_features = training.X.shape
    if n_samples * (n_samples + n_features) > MOST_WORK:
        raise Unavailable(f"{n_samples} rows of {n_features} features would take minutes")
    n_columns = min(size, n_features, n_samples - 1)
    # It starts from LDA or PCA. Where many features put rows far apart it barely moves from
    # there, and elsewhere more rounds than these changed no accuracy.
    model = NeighborhoodComponentsAnalysis(n_columns, max_iter=50, random_state=0)
    fitted = fitted_to_classes(model, training)
    return mixing(training, fitted.transform, len(fitted.components_))


def fitted_to_classes(model: BaseEstimator, training: Training) -> BaseEstimator:
    # Discriminants, with which both methods may start, need rows that vary within classes
    # and more rows than classes; scikit-learn says so by either of these errors. Where the
    # means of classes agree, it divides nothing by nothing and finds no column.
    try:
        with np.errstate(invalid="ignore"):
            return model.fit(training.X, training.y.astype(int))
    except (IndexError, ValueError) as error:
        raise Unavailable(f"classes are degenerate: {error}") from error


KERNELS = tuple({"kernel": kernel} for kernel in ("linear", "poly", "sigmoid", "rbf"))
SHARES = tuple({"keep": keep} for keep in (0.1, 0.25, 0.5, 1.0))
FEW_SIZES = tuple(size for size in SIZES if size <= 50)

CLASSIC: dict[str, Method] = {
    "PCA": Sized(pca),
    "LDA": Sized(lda, needs_classes=True),
    "kernel PCA": Sized(kernel_pca, others=KERNELS),
    "Isomap": Sized(isomap),
    "LLE": Sized(lle),
    "supervised PCA (Bair)": Sized(bair, others=SHARES),
    "supervised PCA (Barshan)": Sized(barshan),
    "NCA": Sized(nca, sizes=FEW_SIZES, is_nested=False, needs_classes=True),
}
