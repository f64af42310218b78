"""Change one thing in the source at a time and see whether a test notices.

A mutant is the source with one comparison, operator, constant, slice, keyword, condition or return
changed. Tests that all pass on it have missed something, unless the change makes no difference that
can be told. Mutants are tried on copies of the tree; the tree itself is never touched.

    python tests/mutation/mutants.py _core/criteria _core/search --number 200 --seed 1 --minutes 20
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/coterie")
# What notices a mistake in a room, the fastest first. The test of the same name comes before all.
WATCHED = {
    "_core/criteria/_fitted.py": "estimators/test_glm.py estimators/test_several.py",
    "_core/criteria/_mutual.py": "estimators/test_information.py estimators/test_several.py",
    "_core/criteria/_working.py": "estimators/test_glm.py",
    "_core/criteria/_penalties.py": "estimators/test_auto.py",
    "_core/criteria/_several.py": "estimators/test_several.py",
    "_core/criteria": "_core/criteria/test_nonlin.py _core/criteria/test_lin.py "
    "_core/criteria/test_genlin.py "
    "estimators/test_constant_in_folds.py estimators/test_oracle.py",
    "_core/search": "_core/search estimators/test_oracle.py estimators/test_knowledge.py",
    "_core/evidence/_on_device.py": "_core/devices estimators/test_devices.py",
    "_core/evidence/_sparse_features.py": "_core/evidence/test_sparse.py "
    "estimators/test_sparse_in.py",
    "_core/evidence/_sparse_gram.py": "_core/evidence/test_sparse.py estimators/test_sparse_in.py",
    "_core/evidence/_sparse_source.py": "_core/evidence/test_sparse.py "
    "estimators/test_sparse_in.py",
    "_core/evidence/_by_row.py": "estimators/test_gaps.py estimators/test_information.py",
    "_core/evidence/_targets.py": "estimators/test_several.py _core/compiled/test_searches.py",
    "_core/evidence": "_core/evidence/test_evidence.py _core/evidence/test_rows.py "
    "_core/evidence/test_moments.py "
    "_core/evidence/test_columns.py _core/evidence/test_accumulated.py "
    "_core/evidence/test_summed.py "
    "estimators/test_oracle.py estimators/test_weights.py estimators/test_from_moments.py",
    "_core/aggregations": "_core/test_aggregations.py estimators/test_oracle.py "
    "estimators/test_gaps.py",
    "_core/must_link.py": "_core/test_must_link.py estimators/test_knowledge.py "
    "estimators/test_from_moments.py",
    "_core/fit/_fit_groups.py": "estimators/test_auto.py estimators/test_several.py",
    "_core/fit/_sizes.py": "estimators/test_knowledge.py estimators/test_several.py",
    "_core/fit/_aggregates.py": "_core/test_aggregations.py estimators/test_gaps.py "
    "estimators/test_sparse_in.py estimators/test_devices.py estimators/test_reducers.py",
    "_core/fit": "estimators/test_oracle.py estimators/test_knowledge.py "
    "estimators/test_sparse_in.py estimators/test_laws.py",
}
ROOMS = [
    "_core/criteria",
    "_core/search",
    "_core/evidence",
    "_core/aggregations",
    "_core/fit",
]
ROOMS += ["_core/must_link.py"]
EACH_FOR_THE_OTHER = [
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr),
    (ast.And, ast.Or),
]
OTHER = {a: b for pair in EACH_FOR_THE_OTHER for a, b in (pair, pair[::-1])}
OTHER |= {ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult}
OPPOSITES = "min max, any all, argmin argmax, minimum maximum, zeros ones, isposinf isneginf"
CALLS = {a: b for pair in OPPOSITES.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
OPTIONS = ["-x", "-q", "--tb", "no", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow"]
OPTIONS += ["--hypothesis-profile", "first failure", "--assert", "plain"]
# What only guards against mistakes elsewhere, or saves memory.
NO_MATTER = {"strict", "copy", "stacklevel"}
NOT_CODE = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


class Mutant(NamedTuple):
    """One change: where it is, the line before and after, and all of the text with it."""

    path: Path
    line: int
    before: str
    after: str
    text: str


def mutants_of(source: str, path: Path = Path()) -> list[Mutant]:
    """Every mutant of a source that still compiles.

    Examples
    --------
    >>> for mutant in mutants_of("allowed = price <= allowance"):
    ...     print(mutant.after)
    allowed = (price < allowance)
    """
    whole = source.encode()
    lines = whole.splitlines(keepends=True)
    begins = [0, *accumulate(map(len, lines))]
    found = {}
    for node in nodes(ast.parse(source)):
        for old, new in changes(node):
            first, last = old.lineno - 1, old.end_lineno
            start = begins[first] + old.col_offset
            end = begins[last - 1] + old.end_col_offset
            text = whole[:start] + written(new) + whole[end:]
            stop = begins[last] + len(text) - len(whole)
            before, after = whole[begins[first] : begins[last]], text[begins[first] : stop]
            if text not in {whole, *found} and compiles(text):
                shown = before.decode().strip(), after.decode().strip()
                found[text] = Mutant(path, old.lineno, *shown, text.decode())
    return list(found.values())


def written(node: ast.AST) -> bytes:
    """A node as text, in brackets where it might otherwise belong to what stands beside it."""
    is_value = isinstance(node, ast.expr) and not isinstance(node, ast.Slice)
    return (f"({ast.unparse(node)})" if is_value else ast.unparse(node)).encode()


def compiles(text: bytes) -> bool:
    """Whether a text is Python at all."""
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All that is computed: no annotation, decorator, message or docstring."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "bases", "keywords"} and isinstance(
            node, (ast.ClassDef, ast.FunctionDef, ast.arg, ast.AnnAssign)
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg in NO_MATTER:
                continue
            if isinstance(child, ast.AST) and not isinstance(child, NOT_CODE):
                if hasattr(child, "lineno"):
                    yield child
                yield from nodes(child)


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What may be replaced for a node's sake, and by what."""
    yield from ((node, other) for other in alternatives(node))
    if isinstance(node, ast.If | ast.While) and not has_opposite(node.test):
        yield node.test, ast.UnaryOp(ast.Not(), node.test)


def has_opposite(test: ast.expr) -> bool:
    """Whether the opposite of a condition is among its alternatives."""
    match test:
        case ast.UnaryOp(ast.Not()) | ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Is()]):
            return True
        case ast.Compare(ops=[ast.IsNot() | ast.In() | ast.NotIn()]):
            return True
    return False


def alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """What might have been written in place of a node."""
    match node:
        case ast.Compare(left, [op], right):
            yield ast.Compare(left, [OTHER[type(op)]()], right)
        case ast.BinOp(left, op, right) if type(op) in OTHER:
            yield ast.BinOp(left, OTHER[type(op)](), right)
            yield left
            if isinstance(op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
                yield right
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OTHER[type(op)](), values)
            for k in range(len(values)):
                yield ast.BoolOp(op, rest) if len(rest := without(values, k)) > 1 else rest[0]
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.Slice(lower, upper, step):
            if lower is not None:
                yield ast.Slice(None, upper, step)
            if upper is not None:
                yield ast.Slice(lower, None, step)
        case ast.AugAssign(target, op, value) if type(op) in OTHER:
            yield ast.AugAssign(target, OTHER[type(op)](), value)
            yield ast.Assign([target], value, lineno=node.lineno)
        case ast.IfExp(test, yes, no):
            yield ast.IfExp(test, no, yes)
        case ast.Return(ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Call(func, args, keywords):
            yield from other_calls(func, args, keywords)


def other_calls(func: ast.expr, args: list, keywords: list) -> Iterator[ast.AST]:
    """The opposite of what is called, or the call with something left out."""
    match func:
        case ast.Name(name) if name in CALLS:
            yield ast.Call(ast.Name(CALLS[name]), args, keywords)
        case ast.Attribute(value, name) if name in CALLS:
            yield ast.Call(ast.Attribute(value, CALLS[name]), args, keywords)
        case ast.Attribute(value, "copy"):
            yield value
    if len(args) == 3 and ast.unparse(func) in {"where", "np.where"}:
        yield ast.Call(func, [args[0], args[2], args[1]], keywords)
    for k in (k for k, keyword in enumerate(keywords) if keyword.arg not in NO_MATTER):
        yield ast.Call(func, args, without(keywords, k))


def without(values: list, k: int) -> list:
    """All values but one."""
    return values[:k] + values[k + 1 :]


def watching(path: Path) -> list[str]:
    """The tests that watch a module, the nearest first."""
    inside = path.relative_to(PACKAGE)
    own = Path("tests", inside.parent, f"test_{inside.stem.removeprefix('_')}.py")
    near = next(watched for room, watched in WATCHED.items() if inside.is_relative_to(room))
    tests = [Path("tests", name) for name in near.split()]
    nearest = [own, path] if (ROOT / own).exists() else [path]
    return [str(test) for test in dict.fromkeys([*nearest, *tests])]


def started(copy: Path, tests: list[str]) -> int:
    """Run tests on a copy of the tree in a process of its own; its number.

    It is a fork of this one, in which the libraries are imported already.
    """
    if pid := os.fork():
        return pid
    code = 99
    try:
        os.setsid()
        os.chdir(copy)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream.fileno())
        # The compiler keeps what it has compiled under the name of the file it came from.
        os.environ["NUMBA_CACHE_DIR"] = str(copy / "compiled")
        sys.path[:0] = [str(copy / "src"), str(copy / "tests"), str(copy)]
        code = int(pytest.main([*OPTIONS, *tests]))
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        # Whatever happened, nothing of this process goes on here.
        os._exit(code)


class Worker:
    """A copy of the tree that is one mutant after another."""

    def __init__(self, folder: Path) -> None:
        self.copy = folder
        folder.mkdir()
        self.mutant: Mutant | None = None
        for name in ("src", "tests", "examples", "experiments", "pyproject.toml"):
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(
                ROOT / name, folder / name
            )

    def begin(self, tests: list[str], seconds: float, mutant: Mutant | None = None) -> None:
        """Become a mutant, or stay as it is, and run tests."""
        if mutant is not None:
            (self.copy / mutant.path).write_text(mutant.text)
        self.mutant, self.deadline = mutant, time.monotonic() + seconds
        self.pid = started(self.copy, tests)

    def stop(self) -> None:
        """End the tests, wherever they are."""
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def outcome(self) -> str | None:
        """How the tests ended, or None while they run."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid and time.monotonic() < self.deadline:
            return None
        if not pid:
            self.stop()
        if self.mutant is not None:
            shutil.copy2(ROOT / self.mutant.path, self.copy / self.mutant.path)
        if not pid:
            return "no end"
        return {0: "survived", 1: "killed", 2: "killed"}.get(os.waitstatus_to_exitcode(status), "?")


def tried(
    chosen: list[Mutant], workers: list[Worker], most: int | None, seconds: float, until: float
) -> Iterator[tuple[Mutant, str]]:
    """Each mutant and how it fared, as long as there is time."""
    waiting, busy, idle = iter(chosen), [], list(workers)
    try:
        while True:
            while idle and time.monotonic() < until and (mutant := next(waiting, None)):
                busy.append(idle.pop())
                busy[-1].begin(watching(mutant.path)[:most], seconds, mutant)
            if not busy:
                return
            time.sleep(0.05)
            for worker in list(busy):
                mutant = worker.mutant
                if (outcome := worker.outcome()) is not None:
                    busy.remove(worker)
                    idle.append(worker)
                    yield mutant, outcome
    finally:
        for worker in busy:
            worker.stop()


def check_unchanged(worker: Worker, modules: list[Path]) -> None:
    """Stop unless the tests pass on what is not mutated."""
    tests = list(dict.fromkeys(test for module in modules for test in watching(module)))
    worker.begin(tests, 3600.0)
    while (outcome := worker.outcome()) is None:
        time.sleep(0.1)
    if outcome != "survived":
        sys.exit(f"The tests fail without any change:\n{(worker.copy / 'output.txt').read_text()}")


def modules_named(names: list[str]) -> list[Path]:
    """The modules of these rooms, or with these paths inside the package."""
    paths = [ROOT / PACKAGE / name for name in names or ROOMS]
    if missing := [path for path in paths if not path.exists()]:
        sys.exit(f"There is no {missing[0].relative_to(ROOT)}.")
    files = [file for path in paths for file in (sorted(path.glob("*.py")) or [path])]
    return [file.relative_to(ROOT) for file in files if file.name != "__init__.py"]


def main() -> None:
    """Try some mutants, show those that survive, and write down how many did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="rooms or files in src/coterie; all by default")
    parser.add_argument("--number", type=int, default=100, help="of mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=30.0, help="after which none is begun")
    parser.add_argument("--nearest", type=int, help="how many files of tests, by default all")
    parser.add_argument("--seconds", type=float, default=180.0, help="for the tests of one mutant")
    parser.add_argument("--at-once", type=int, default=2, help="mutants that are tried")
    parser.add_argument("--unchecked", action="store_true", help="the tests are known to pass")
    parser.add_argument("--every", action="store_true", help="name those that are killed too")
    parser.add_argument("--into", type=Path, default=ROOT / "build/mutants.txt")
    args = parser.parse_args()
    modules = modules_named(args.modules)
    every = [m for path in modules for m in mutants_of((ROOT / path).read_text(), path)]
    chosen = random.Random(args.seed).sample(every, min(args.number, len(every)))
    counts: Counter[str] = Counter()
    told = []
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(Path(folder, str(k))) for k in range(args.at_once)]
        if not args.unchecked:
            check_unchanged(workers[0], modules)
        until = time.monotonic() + 60 * args.minutes
        for mutant, outcome in tried(chosen, workers, args.nearest, args.seconds, until):
            counts[outcome] += 1
            lines = f"{mutant.path}:{mutant.line}: {outcome}\n- {mutant.before}\n+ {mutant.after}\n"
            if outcome != "killed" or args.every:
                print(lines, flush=True)
            if outcome != "killed":
                told.append(lines)
    ended = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    score = f"{counts.total()} of {len(every)} mutants tried, seed {args.seed}: {ended}."
    print(score)
    args.into.parent.mkdir(parents=True, exist_ok=True)
    args.into.write_text("\n".join([score, "", *told]))


if __name__ == "__main__":
    # Before numpy is imported: threads do not live on in a fork.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    # A mutant may be as long and as old as the one before it, which is all that is compared.
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    import hypothesis.extra.numpy  # noqa: F401
    import pandas as pd  # noqa: F401
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.utils.estimator_checks  # noqa: F401

    main()
