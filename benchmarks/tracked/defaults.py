"""The defaults: ``Coterie()`` and ``NonLinCFA()`` with nothing chosen.

``time_`` are seconds of fits, ``peakmem_`` the memory of a process, and ``track_`` ratios within
one process, as in ``make bench``.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers import DEFAULTS, TUNED_PLS, WARD, made, ready
from problems import paper_data, sparse_data, table, voxels, wide_data
from timing import interleaved

warnings.filterwarnings("ignore")
PCA = "PCA(4)"


class _Timed:
    """At least three and at most ten samples in each of two rounds, of a few seconds."""

    repeat = (3, 10, 4.0)
    warmup_time = 0.0


class Fits(_Timed):
    """Fits of tables of several shapes."""

    params = (DEFAULTS, ("150 x 4", "960 x 12", "1000 x 50", "2000 x 100", "1000 x 1000"))
    param_names = ("configuration", "shape")

    def setup(self, configuration: str, shape: str) -> None:
        self.fit = ready(configuration, *table(*map(int, shape.split(" x "))))
        self.fit()

    def time_fit(self, configuration: str, shape: str) -> None:
        self.fit()


class Ratios:
    """Fits in units of another computation on the same data."""

    params = DEFAULTS
    param_names = ("configuration",)
    timeout = 200

    def track_products(self, configuration: str) -> float:
        X, y = paper_data(2000, 500)
        runs = {"fit": ready(configuration, X, y), "product": lambda: X.T @ X}
        return ratio(runs, "fit", "product")

    def track_ward(self, configuration: str) -> float:
        X, y = paper_data(2000, 500)
        runs = {each: ready(each, X, y) for each in (configuration, WARD)}
        return ratio(runs, configuration, WARD)

    def track_one_row(self, configuration: str) -> float:
        X, y = table(500, 100)
        fitted = [made(each).fit(X, y) for each in (configuration, PCA)]
        runs = {str(k): lambda m=m: m.transform(X[:1]) for k, m in enumerate(fitted)}
        return ratio(runs, "0", "1", repeats=1000)

    track_products.unit = "x one X'X"
    track_ward.unit = "x Ward"
    track_one_row.unit = "x PCA"


def ratio(runs: dict, above: str, below: str, repeats: int = 25) -> float:
    """The shortest time of one run over that of another; they take turns."""
    taken = interleaved(runs, repeats=repeats, at_most=5)
    return taken[above] / taken[below]


class TunedPLS:
    """Coterie() beside a PLS whose size is chosen by five folds."""

    params = ("172 x 100", "206 x 256", "48 x 401")
    param_names = ("shape",)
    timeout = 200
    unit = "x tuned PLS"

    def track_tuned_pls(self, shape: str) -> float:
        X, y = table(*map(int, shape.split(" x ")))
        runs = {each: ready(each, X, y) for each in ("Coterie()", TUNED_PLS)}
        return ratio(runs, "Coterie()", TUNED_PLS, repeats=5)


class Wide:
    """Single precision, and more columns than a matrix is formed for."""

    params = DEFAULTS
    param_names = ("configuration",)
    timeout = 300

    def setup(self, configuration: str) -> None:
        self.fit = ready(configuration, *wide_data(100, 9000, 10))

    def time_fit(self, configuration: str) -> None:
        self.fit()

    def peakmem_fit(self, configuration: str) -> None:
        self.fit()

    # The first fit may load compiled code.
    time_fit.warmup_time = 0
    time_fit.number = 1
    time_fit.repeat = (1, 3, 60.0)


class Sparse(_Timed):
    """Columns of which nearly all numbers are zero."""

    params = DEFAULTS
    param_names = ("configuration",)
    timeout = 200

    def setup(self, configuration: str) -> None:
        self.fit = ready(configuration, *sparse_data(2000, 4000, 8000))

    def time_fit(self, configuration: str) -> None:
        self.fit()

    def peakmem_fit(self, configuration: str) -> None:
        self.fit()


class Maps(_Timed):
    """A given number of groups of neighbouring voxels."""

    params = tuple(
        each.replace("()", "(n_groups=n_groups, connectivity=graph)") for each in DEFAULTS
    )
    param_names = ("configuration",)
    timeout = 200

    def setup(self, configuration: str) -> None:
        from sklearn.feature_extraction.image import grid_to_graph

        shape = (10, 10, 10)
        given = {"graph": grid_to_graph(*shape), "n_groups": 100}
        self.fit = ready(configuration, *voxels(shape), **given)
        self.fit()

    def time_fit(self, configuration: str) -> None:
        self.fit()


class Transform(_Timed):
    """Many rows."""

    params = DEFAULTS
    param_names = ("configuration",)

    def setup(self, configuration: str) -> None:
        X, y = table(20_000, 200)
        self.rows, self.model = X, made(configuration).fit(X[:500], y[:500])

    def time_transform(self, configuration: str) -> None:
        self.model.transform(self.rows)


class Start:
    """What a process waits for."""

    def timeraw_import(self) -> str:
        return "import coterie"

    def timeraw_first_fit(self) -> str:
        return """
        import warnings
        warnings.simplefilter("ignore")
        import numpy as np
        from coterie import NonLinCFA
        rng = np.random.default_rng(0)
        X = rng.normal(size=(960, 12))
        NonLinCFA().fit(X, X[:, 0] + rng.normal(size=960))
        """

    def track_import(self) -> float:
        words = "import time; a = time.perf_counter(); import {}; print(time.perf_counter() - a)"
        taken: dict[str, list[float]] = {"coterie": [], "sklearn": []}
        for _ in range(5):
            for module, times in taken.items():
                command = [sys.executable, "-c", words.format(module)]
                run = subprocess.run(command, capture_output=True, check=True)
                times.append(float(run.stdout))
        return min(taken["coterie"]) / min(taken["sklearn"])

    track_import.unit = "x import sklearn"


class Fixed(_Timed):
    """A fixed tolerance: the searches of the paper's rules."""

    params = ("NonLinCFA(0.001)", "NonLinCFA(0.001, cv=None)", "GenLinCFA(0.77)", "LinCFA()")
    param_names = ("configuration",)

    def setup(self, configuration: str) -> None:
        self.fit = ready(configuration, *paper_data(1000, 300))
        self.fit()

    def time_fit(self, configuration: str) -> None:
        self.fit()


class Growth:
    """The slope of log time against log columns, where the matrix of pairs is not formed."""

    timeout = 300
    unit = "slope of log time"

    def track_slope(self) -> float:
        taken = []
        for d in (2000, 4000, 8000):
            X, y = wide_data(200, d, 10)
            fit = ready('NonLinCFA(search="forward", covariance="columns")', X, y)
            taken.append([d, interleaved({"fit": fit}, repeats=5, at_most=20)["fit"]])
        return float(np.polyfit(*np.log(np.array(taken)).T, 1)[0])
