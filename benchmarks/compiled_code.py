"""One compiled search by Cython beside the one by numba: seconds, first call, sizes.

    python -m pip install cython setuptools
    python benchmarks/compiled_code.py

It decides docs/compiled-code.md. The formulas are not written again: the source of all of them is
taken from coterie._core.criteria and translated, by REPLACED and by types in the signature, into a
file of Cython, which the compiler of this machine builds. Writes results/compiled_code.json.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from measure import IDLE, Others, machine, versions
from problems import paper_data
from timing import interleaved

# From a formula for arrays to one for numbers. The order matters.
REPLACED = [
    (r'"""[\s\S]*?"""', ""),
    (r": FloatArray = ", " = "),
    # What Cython does not see by itself: which values are true or false, and count as numbers.
    (r"(regular|is_twin) = ", r"cdef bint \1 = "),
    (r"\((pairs\.\w+ > 0)\)", r"<double>(\1)"),
    (r"np\.inf", "INFINITY"),
    (r"np\.abs", "fabs"),
    (r"np\.sqrt", "sqrt"),
    (r"np\.maximum", "fmax"),
    (r"np\.minimum", "fmin"),
]
TYPES = {"PairMoments": "Pair", "bool": "bint"}

HEAD = """# cython: language_level=3, boundscheck=False, wraparound=False
# cython: cdivision=True, infer_types=True
import numpy as np
from libc.math cimport INFINITY, fabs, fmax, fmin, sqrt

cdef double ROUNDING = {rounding!r}, COLLINEAR = {collinear!r}

cdef struct Pair:
    double n, u, v, w, y, uu, vv, ww, yy, uv, uy, vy, wy

cdef inline double where(bint condition, double yes, double no) noexcept nogil:
    return yes if condition else no
"""

SEARCH = '''
def groups(const double[:, ::1] scatters, double tolerance, bint restart):
    """Labels by the search in order; the last column of the scatters is the target."""
    cdef Py_ssize_t n = scatters.shape[0] - 1, i, place, winner, seed, n_free = n, k, left
    cdef double[::1] total = np.empty(n + 1)
    cdef long[::1] waiting = np.arange(n), labels = np.empty(n, dtype=np.int64)
    cdef Pair pair
    cdef double own, apart, merged
    cdef long label = 0
    pair.yy = scatters[n, n]
    with nogil:
        while n_free > 0:
            seed = waiting[0]
            labels[seed] = label
            own = scatters[seed, seed]
            total[:] = scatters[seed]
            n_free -= 1
            for i in range(n_free):
                waiting[i] = waiting[i + 1]
            place = 0
            while place < n_free:
                winner = waiting[place]
                pair.uu, pair.vv, pair.uv = own, scatters[winner, winner], total[winner]
                pair.uy, pair.vy = total[n], scatters[winner, n]
                pair.ww, pair.wy = pair.uu + pair.vv + 2 * pair.uv, pair.uy + pair.vy
                apart, merged = in_sample_scores(pair)
                if given_up(apart, merged) > tolerance:
                    place += 1
                    continue
                labels[winner] = label
                own = pair.ww
                for k in range(n + 1):
                    total[k] += scatters[winner, k]
                n_free -= 1
                for i in range(place, n_free):
                    waiting[i] = waiting[i + 1]
                if restart:
                    place = 0
            label += 1
    return np.asarray(labels)
'''

SETUP = """
from setuptools import Extension, setup
from Cython.Build import cythonize
setup(ext_modules=cythonize(Extension("cython_search", ["cython_search.pyx"],
      extra_compile_args=["-O3"], extra_link_args=["-s"]), quiet=True),
      script_args=["build_ext", "--inplace", "-q"])
"""


def signature(match: re.Match[str]) -> str:
    """The first line of a formula, with types of C."""
    name, given, result = match.groups()
    arguments = [argument.split(": ") for argument in given.split(", ")]
    typed = ", ".join(f"{TYPES.get(kind, 'double')} {argument}" for argument, kind in arguments)
    result = "(double, double)" if result.startswith("tuple") else "double"
    return f"cdef inline {result} {name}({typed}) noexcept nogil:"


def translated() -> str:
    """A file of Cython with all formulas of the criteria, and a search."""
    from coterie._core.criteria import formulas
    from coterie._core.evidence import COLLINEAR, ROUNDING

    text = HEAD.format(rounding=ROUNDING, collinear=COLLINEAR)
    for name in formulas.__all__:
        source = inspect.getsource(getattr(formulas, name))
        source = re.sub(r"def (\w+)\((.*)\) -> (.*):", signature, source)
        for pattern, replacement in REPLACED:
            source = re.sub(pattern, replacement, source)
        text += "\n" + source
    return text + SEARCH


def built(folder: Path) -> float:
    """Build the extension; the seconds that takes."""
    (folder / "cython_search.pyx").write_text(translated())
    (folder / "setup.py").write_text(SETUP)
    start = time.perf_counter()
    subprocess.run([sys.executable, "setup.py"], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def evidence_of(X: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """Arrays for numba, the matrix of scatters for Cython, and the question for NumPy."""
    from coterie._core.aggregations import AGGREGATIONS
    from coterie._core.compiled._tables import rule_of, sums_of, views_of
    from coterie._core.criteria import NonLin
    from coterie._core.evidence import ComputeOptions, RowSets, build_evidence
    from coterie._core.fit._groupable import MergeQuestion

    evidence = build_evidence(
        X, y[:, None], AGGREGATIONS["mean"], RowSets.all_rows(), ComputeOptions("gram")
    )
    sums = sums_of(views_of(evidence))
    question = MergeQuestion(evidence, NonLin(0.001))
    return sums, rule_of(NonLin(0.001)), np.ascontiguousarray(sums.scatters[0]), question


def first_call(engine: str, folder: str) -> float:
    """Seconds from nothing loaded but NumPy and the library to the result of a small search."""
    X, y = paper_data(300, 70)
    sums, rule, scatters, _ = evidence_of(X, y)
    start = time.perf_counter()
    if engine == "cython":
        sys.path.insert(0, folder)
        import cython_search

        cython_search.groups(scatters, 0.001, True)
    else:
        from coterie._core.compiled import _searches
        from coterie._core.search import Limits

        _searches.in_order(sums, rule, Limits(), restart=True)
    return time.perf_counter() - start


def in_fresh_process(engine: str, folder: Path, cache: Path) -> float:
    """The first call of a process, with numba's cache in this folder."""
    import os

    command = [sys.executable, __file__, "--first", engine, str(folder)]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(run.stdout.splitlines()[-1])


def installed_mb(*packages: str) -> float:
    """Megabytes of the files of installed packages, libraries beside them included."""
    from importlib.metadata import files

    sizes = [
        f.locate().stat().st_size for p in packages for f in files(p) or () if f.locate().exists()
    ]
    return sum(sizes) / 1e6


def downloaded_mb(*packages: str) -> float:
    """Megabytes of the wheels of packages."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder]
        subprocess.run([sys.executable, "-m", *words, *packages], check=True, capture_output=True)
        return sum(f.stat().st_size for f in Path(folder).iterdir()) / 1e6


def compare() -> dict[str, Any]:
    """All figures."""
    from coterie._core.compiled._searches import in_order
    from coterie._core.search import Limits, restart

    others = Others()
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as cache:
        folder = Path(name)
        building = built(folder)
        library = next(folder.glob("*.so"))
        sys.path.insert(0, name)
        import cython_search

        figures: dict[str, Any] = {"machine": machine(), "versions": versions()}
        for d in (1000, 2000):
            X, y = paper_data(2000, d)
            sums, rule, scatters, question = evidence_of(X, y)
            found = cython_search.groups(scatters, 0.001, True)
            result = in_order(sums, rule, Limits(), restart=True)
            labels = np.empty(d, dtype=int)
            for label, group in enumerate(result.partition.groups):
                labels[list(group)] = label
            runs = {
                "product": lambda X=X: X.T @ X,
                "NumPy": lambda q=question: restart(q),
                "numba": lambda s=sums, r=rule: in_order(s, r, Limits(), restart=True),
                "Cython": lambda s=scatters: cython_search.groups(s, 0.001, True),
            }
            same = {"same groups": bool(np.array_equal(found, labels))}
            figures[f"2000x{d}"] = interleaved(runs, repeats=15) | same
        figures["cython: build"] = building
        figures["cython: library, MB"] = library.stat().st_size / 1e6
        figures["cython: first call"] = min(
            in_fresh_process("cython", folder, Path(cache)) for _ in range(3)
        )
        figures["numba: first call, cache empty"] = in_fresh_process("numba", folder, Path(cache))
        figures["numba: first call, cache full"] = min(
            in_fresh_process("numba", folder, Path(cache)) for _ in range(3)
        )
    figures["numba: download, MB"] = downloaded_mb("numba", "llvmlite")
    figures["numba: installed, MB"] = installed_mb("numba", "llvmlite")
    source = (HERE.parent / "src" / "coterie").rglob("*")
    figures["coterie: source, MB"] = (
        sum(f.stat().st_size for f in source if f.suffix in (".py", ".txt", ".json")) / 1e6
    )
    share = others.share()
    return figures | {"others": share, "idle": share is not None and share <= IDLE}


def main() -> None:
    if "--first" in sys.argv:
        print(first_call(*sys.argv[2:]))
        return
    figures = compare()
    text = json.dumps(figures, indent=1)
    (HERE / "results" / "compiled_code.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
