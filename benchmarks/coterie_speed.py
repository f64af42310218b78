"""How long Coterie takes beside a tuned PLS, Ward and ReNA.

    python benchmarks/coterie_speed.py                  # tables, then 11,520 and 60,800 voxels
    python benchmarks/coterie_speed.py tables
    python benchmarks/coterie_speed.py voxels
    python benchmarks/coterie_speed.py wide 20000       # so many columns of 100 rows, no graph

Data are generated, in the shapes of real tables: genes, counts, spectra. Times are of the
processor, the lowest of three fits (one of Ward and of wide tables), in one thread if the
environment says so (OMP_NUM_THREADS=1). ReNA is timed where nilearn is installed.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import ndimage
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.model_selection import GridSearchCV

from coterie import Coterie

# Rows and columns.
TABLES = {
    "many rows": (1040, 75),
    "counts": (206, 256),
    "spectra": (172, 100),
    "gasoline": (48, 401),
    "Golub": (30, 3051),
    "prostate": (81, 5966),
    "melons": (877, 256),
    "coffee": (48, 1841),
}
SIZES = [1, 2, 3, 5, 8, 10, 12, 16, 20]
VOXELS = {(24, 24, 20): 1_152, (40, 40, 38): 6_080}


def table(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Columns that share 20 hidden ones, and a target of three of these."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_rows, 20))
    mix = rng.normal(size=(20, n_columns)) * (rng.random((20, n_columns)) < 0.15)
    columns = hidden @ mix + 0.5 * rng.normal(size=(n_rows, n_columns))
    return columns, hidden[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n_rows)


def voxels(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Smooth maps with noise, 100 rows; the target is the mean of one corner."""
    rng = np.random.default_rng(0)
    smooth = ndimage.gaussian_filter(rng.normal(size=(100, *shape)), (0, 2, 2, 2))
    smooth /= smooth.std()
    columns = (smooth + 0.5 * rng.normal(size=smooth.shape)).reshape(100, -1)
    return columns, columns[:, :500].mean(axis=1) + 0.1 * rng.normal(size=100)


def seconds(fit: Callable[[], Any], repeats: int = 3) -> float:
    """The lowest processor time of some calls."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        fit()
        taken.append(time.process_time() - start)
    return min(taken)


def tuned_pls(n_rows: int, n_columns: int) -> GridSearchCV:
    """A PLS whose size is chosen among nine by five folds."""
    sizes = [size for size in SIZES if size < min(0.8 * n_rows - 1, n_columns)]
    return GridSearchCV(PLSRegression(), {"n_components": sizes}, cv=5)


def compare_tables() -> None:
    """One line for each table."""
    for name, shape in TABLES.items():
        X, y = table(*shape)
        pls = seconds(lambda X=X, y=y: tuned_pls(*X.shape).fit(X, y))
        own = seconds(lambda X=X, y=y: Coterie().fit(X, y))
        print(f"{name:10s} {shape!s:13s} PLS {pls:6.2f} s  Coterie {own:6.2f} s  {own / pls:5.2f}")


def compare_voxels() -> None:
    """One line for each map: Ward, ReNA, Coterie."""
    for shape, n_groups in VOXELS.items():
        X, y = voxels(shape)
        graph = grid_to_graph(*shape)
        model = Coterie(n_groups=n_groups, connectivity=graph, inputs=None)
        ward = FeatureAgglomeration(n_groups, connectivity=graph)
        line = [f"Coterie {seconds(lambda m=model, X=X, y=y: m.fit(X, y)):6.2f} s"]
        line.append(f"Ward {seconds(lambda w=ward, X=X: w.fit(X), 1):6.2f} s")
        if find_spec("nilearn"):
            line.append(f"ReNA {_rena(X, shape, n_groups):6.2f} s")
        print(f"{X.shape[1]:,} voxels to {n_groups:,} groups: {', '.join(line)}")


def _rena(X: Any, shape: tuple[int, ...], n_groups: int) -> float:
    from nibabel import Nifti1Image
    from nilearn.regions import ReNA

    mask = Nifti1Image(np.ones(shape, dtype=np.int8), np.eye(4))
    return seconds(lambda: ReNA(mask, n_clusters=n_groups).fit(X))


def measure_wide(n_columns: int) -> None:
    """Seconds and memory of one fit of a wide table."""
    X, y = table(100, n_columns)
    taken = seconds(lambda: Coterie().fit(X, y), repeats=1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"100 x {n_columns:,}: {taken:.1f} s, at most {memory:.1f} GiB")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    words = sys.argv[1:] or ["tables", "voxels"]
    if "tables" in words:
        compare_tables()
    if "voxels" in words:
        compare_voxels()
    if "wide" in words:
        measure_wide(int(words[words.index("wide") + 1]))
