"""How far a reader walks who follows one call through the package.

    python benchmarks/walk.py
    python benchmarks/walk.py fit      also the functions, in the order of their first call

For each call: functions, files, changes of file between one first call and the next, and returns to
the room that was just left.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import coterie

ROOT = Path(coterie.__file__).parent


class Step(NamedTuple):
    path: str
    function: str

    @property
    def room(self) -> str:
        parts = Path(self.path).with_suffix("").parts
        return ".".join(parts[:2]) if parts[0].startswith("_") else parts[0]


def first_calls(call: Callable[[], Any]) -> list[Step]:
    """The functions of the package that a call comes to, in the order of their first call."""
    steps: dict[Any, Step] = {}

    def profile(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)) and code.co_name[0] != "<":
            path = str(Path(code.co_filename).relative_to(ROOT))
            steps.setdefault(code, Step(path, code.co_qualname))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(steps.values())


def figures(steps: list[Step]) -> str:
    hops = sum(a.path != b.path for a, b in pairwise(steps))
    rooms = [step.room for step in steps]
    visits = [room for k, room in enumerate(rooms) if k == 0 or rooms[k - 1] != room]
    returns = sum(a == b for a, b in zip(visits, visits[2:], strict=False))
    files = len({step.path for step in steps})
    return f"{len(steps):4d} functions {files:3d} files {hops:4d} hops {returns:3d} returns"


def calls(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] + rng.normal(size=200)
    file = folder / "table.parquet"
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_parquet(file)
    yield "fit", lambda: coterie.NonLinCFA().fit(X, y)
    yield "folds", lambda: coterie.NonLinCFA(0.01).fit(X, y)
    yield "tuned", lambda: coterie.ToleranceCV().fit(X, y)
    yield "parquet", lambda: coterie.NonLinCFA().fit_moments(coterie.moments_from(file, "y"))
    try:
        import torch
    except ImportError:
        return
    yield "tensor", lambda: coterie.NonLinCFA().fit(torch.asarray(X), y)


def main() -> None:
    warnings.simplefilter("ignore", coterie.FitWarning)
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)):
            call()  # so that no import counts
            steps = first_calls(call)
            print(f"{name:10}", figures(steps))
            if name in sys.argv[1:]:
                print(*(f"    {step.path:36} {step.function}" for step in steps), sep="\n")


if __name__ == "__main__":
    main()
