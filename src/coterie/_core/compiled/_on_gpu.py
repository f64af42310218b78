"""The searches that judge features in order, as one kernel on a GPU.

One block of threads judges one candidate per thread at the same time. The first accepted candidate
joins, and those after it are judged again. So decisions and their order are the same as with one
candidate at a time. The formulas are those of criteria, compiled without changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from coterie._core.compiled import _groups
from coterie._core.compiled._import_cuda import config, cuda
from coterie._core.compiled._jit import FORMULAS
from coterie._core.compiled._tables import (
    HELD_OUT,
    IN_SAMPLE,
    LINEAR,
    PENALISED,
    Rule,
    about_columns,
)
from coterie._core.criteria import formulas
from coterie._core.evidence import FROM_CONSTANTS, SumEvidence, without_rounding
from coterie._core.search import Limits, Record
from coterie._core.values import Decision, SearchResult, Verdict

THREADS = 512
# Limit on the registers per thread; a block has 65536. The simulator has no such option.
ROOM = {} if config.ENABLE_CUDASIM else {"max_registers": 65536 // THREADS}
# Number of decisions that the device stores before they are copied to the host.
LOGGED = 2**22
# Fields of the state of a growing group: the range of waiting candidates, the position in it, and
# counters.
FIRST, END, POSITION, N_LOGGED, IS_DONE, N_MEMBERS = range(6)
NO_CANDIDATE = 2**30


def _absolute(x: Any) -> Any:
    return math.fabs(x)


def _maximum(x: Any, y: Any) -> Any:
    return x if x > y else y


def _minimum(x: Any, y: Any) -> Any:
    return x if x < y else y


def _square_root(x: Any) -> Any:
    return math.sqrt(x)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return yes if condition else no


def _module() -> ModuleType:
    """Module with the NumPy functions that the formulas use, for scalars on the device."""
    module = ModuleType("numbers_on_device")
    for name, function in {
        "abs": _absolute,
        "maximum": _maximum,
        "minimum": _minimum,
        "sqrt": _square_root,
    }.items():
        setattr(module, name, cuda.jit(device=True)(function))
    module.inf = np.inf  # type: ignore[attr-defined]
    return module


def _compiled_there() -> Callable[[Any], Any]:
    """Function that compiles a formula for the device, after the formulas that it calls."""
    names = {function.__name__: function for function in FORMULAS}
    done: dict[str, Any] = {"np": _module(), "where": cuda.jit(device=True)(_where)}

    def there(function: Any) -> Any:
        function = getattr(function, "py_func", function)
        name = function.__name__
        if name not in done:
            called = {one: there(names[one]) for one in function.__code__.co_names if one in names}
            known = {one: done[one] for one in ("np", "where")}
            copied = FunctionType(function.__code__, {**function.__globals__, **known, **called})
            done[name] = cuda.jit(device=True)(copied)
        return done[name]

    return there


_there = _compiled_there()
in_sample_scores, given_up = _there(formulas.in_sample_scores), _there(formulas.given_up)
split_scores, lost_and_spared = _there(formulas.split_scores), _there(formulas.lost_and_spared)
explained_apart = _there(formulas.explained_apart)
bias_and_variance = _there(formulas.bias_and_variance)
more_than_rounding = _there(without_rounding)
weight_in, paired = _there(_groups.weight_in), _there(_groups.paired)


@cuda.jit(device=True)
def between(t, membership, total, gaps, deviations, column):  # type: ignore[no-untyped-def]
    """Scatter of the group with a column within a set of rows."""
    scatter = 0.0
    for b in range(membership.shape[1]):
        scatter += membership[t, b] * total[b, column] + gaps[t, b] * deviations[column, t, b]
    return scatter


@cuda.jit(device=True)
def sign_there(total, sums, whole, apart, column):  # type: ignore[no-untyped-def]
    """Sign of a candidate: -1 if its correlation with the group over all rows is negative."""
    scatter = 0.0
    for b in range(total.shape[0]):
        scatter += whole[b] * total[b, column] + sums[3, b] * apart[column, b]
    return -1.0 if scatter < 0 else 1.0


@cuda.jit(device=True)
def judged(table, group, rule, candidate):  # type: ignore[no-untyped-def]
    """Price and allowance of a candidate."""
    n, membership, _, whole, columns, deviations, _, _, apart_of, weights = table
    total, within, gaps, sums, unit = group
    kind, tolerance, curvature, is_general, units_differ, signs = rule
    weight = weight_in(weights[candidate], unit[0], units_differ)
    if signs:
        weight *= sign_there(total, sums, whole, apart_of, candidate)
    y, price, allowance = len(columns) - 1, 0.0, tolerance
    if kind == HELD_OUT:
        apart, merged, n_splits = 0.0, 0.0, len(n) // 2
        for t in range(n_splits):
            uv = between(t, membership, total, gaps, deviations, candidate)
            fit = paired(n, columns, within, (uv, uv), t, candidate, candidate, weight, y, 0)
            held = n_splits + t
            uv = between(held, membership, total, gaps, deviations, candidate)
            test = paired(n, columns, within, (uv, uv), held, candidate, candidate, weight, y, 0)
            scores = split_scores(fit, test)
            apart += scores[0] / n_splits
            merged += scores[1] / n_splits
        price = given_up(apart, merged)
    else:
        uv = between(0, membership, total, gaps, deviations, candidate)
        pairs = paired(n, columns, within, (uv, uv), 0, candidate, candidate, weight, y, 0)
        if kind == IN_SAMPLE:
            both = in_sample_scores(pairs)
            price = given_up(both[0], both[1])
        elif kind == LINEAR:
            price, allowance = bias_and_variance(pairs)
        elif kind == PENALISED:
            price, allowance = lost_and_spared(pairs, tolerance)
        else:
            price = explained_apart(pairs, curvature, is_general)
    return price, allowance


@cuda.jit(device=True)
def pool_there(table, group):  # type: ignore[no-untyped-def]
    """Compute mean, own scatter and scatter with the target of the group within each set."""
    n, membership, lengths, whole, columns, deviations, _, _, _, _ = table
    total, within, gaps, sums, _ = group
    overall, n_rows = 0.0, 0.0
    for b in range(len(lengths)):
        overall += whole[b] * lengths[b] * sums[0, b]
        n_rows += whole[b] * lengths[b]
    for b in range(len(lengths)):
        sums[3, b] = math.sqrt(whole[b] * lengths[b]) * (sums[0, b] - overall / n_rows)
    for t in range(len(n)):
        mean = 0.0
        for b in range(len(lengths)):
            mean += membership[t, b] * lengths[b] * sums[0, b]
        mean /= n[t]
        own, parts = 0.0, 0.0
        for b in range(len(lengths)):
            member = membership[t, b]
            gap = member * math.sqrt(lengths[b]) * (sums[0, b] - mean)
            own += member * sums[1, b] + gap * gap
            parts += member * sums[2, b]
            gaps[t, b] = gap
        within[t, 0] = mean
        left = FROM_CONSTANTS * n[t] * mean**2
        within[t, 1] = more_than_rounding(own, parts + left)
        within[t, 2] = between(t, membership, total, gaps, deviations, len(columns) - 1)


@cuda.jit(device=True)
def join_there(scatters, table, group, rule, feature, begin):  # type: ignore[no-untyped-def]
    """Add a feature to the group; scatters are updated from column ``begin`` on."""
    _, _, _, whole, _, _, batch_mean, batch_own, apart_of, weights = table
    total, _, _, sums, unit = group
    units_differ, signs = rule[4], rule[5]
    thread, n_batches, target = cuda.threadIdx.x, total.shape[0], total.shape[1] - 1
    factor, heaviest = 1.0, unit[0]
    if units_differ and weights[feature] > heaviest:
        factor = heaviest / weights[feature]
        heaviest = weights[feature]
    weight = weight_in(weights[feature], heaviest, units_differ)
    if signs:
        weight *= sign_there(total, sums, whole, apart_of, feature)
    if thread == 0:
        for b in range(n_batches):
            own = weight**2 * batch_own[feature, b]
            sums[0, b] = sums[0, b] * factor + weight * batch_mean[feature, b]
            sums[1, b] = sums[1, b] * factor**2 + own + 2 * weight * total[b, feature] * factor
            sums[2, b] = sums[2, b] * factor**2 + own
    cuda.syncthreads()
    if thread == 0:
        unit[0] = heaviest
        for b in range(n_batches):
            total[b, target] = total[b, target] * factor + weight * scatters[b][feature, target]
        pool_there(table, group)
    for b in range(n_batches):
        add_row(total[b], scatters[b][feature], factor, weight, begin, target)
    cuda.syncthreads()


@cuda.jit(device=True)
def add_row(total, row, factor, weight, begin, end):  # type: ignore[no-untyped-def]
    """Add a weighted row; each thread handles eight numbers at a time to hide memory latency."""
    step = cuda.blockDim.x
    i = begin + cuda.threadIdx.x
    while i + 7 * step < end:
        j, k, m, q = i + step, i + 2 * step, i + 3 * step, i + 4 * step
        r, s, t = i + 5 * step, i + 6 * step, i + 7 * step
        more = row[i], row[j], row[k], row[m], row[q], row[r], row[s], row[t]
        old = total[i], total[j], total[k], total[m], total[q], total[r], total[s], total[t]
        total[i] = old[0] * factor + weight * more[0]
        total[j] = old[1] * factor + weight * more[1]
        total[k] = old[2] * factor + weight * more[2]
        total[m] = old[3] * factor + weight * more[3]
        total[q] = old[4] * factor + weight * more[4]
        total[r] = old[5] * factor + weight * more[5]
        total[s] = old[6] * factor + weight * more[6]
        total[t] = old[7] * factor + weight * more[7]
        i += 8 * step
    while i < end:
        total[i] = total[i] * factor + weight * row[i]
        i += step


@cuda.jit(device=True)
def begin_there(group, unit_of_seed):  # type: ignore[no-untyped-def]
    """Initialise an empty group."""
    total, _, _, sums, unit = group
    for b in range(total.shape[0]):
        for column in range(cuda.threadIdx.x, total.shape[1], cuda.blockDim.x):
            total[b, column] = 0.0
    if cuda.threadIdx.x == 0:
        unit[0] = unit_of_seed
        for b in range(total.shape[0]):
            sums[0, b] = sums[1, b] = sums[2, b] = sums[3, b] = 0.0
    cuda.syncthreads()


@cuda.jit(device=True)
def strike_out(waiting, first, place):  # type: ignore[no-untyped-def]
    """Remove one of the waiting candidates; those before it move up by one place."""
    thread, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    end = place
    while end > first:
        mine = end - thread
        moved = waiting[mine - 1] if mine > first else 0
        cuda.syncthreads()
        if mine > first:
            waiting[mine] = moved
        cuda.syncthreads()
        end -= n_threads


@cuda.jit(**ROOM)
def grow(scatters, table, group, rule, restart, unit, waiting, members, log, state):  # type: ignore[no-untyped-def]
    """Grow a group from the waiting candidates, until none is accepted or the log is full."""
    candidates, prices, allowances, accepted = log
    thread, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    winner_at = cuda.shared.array(1, dtype=np.int32)
    first, end, position = state[FIRST], state[END], state[POSITION]
    n_logged, n_members = 0, state[N_MEMBERS]
    if n_members == 0:
        begin_there(group, unit)
        join_there(scatters, table, group, rule, members[0], 0)
        n_members = 1
    is_done = 0
    while True:
        n_asked = min(n_threads, end - position)
        if n_asked <= 0:
            is_done = 1
            break
        if n_logged + n_asked > len(prices):
            break
        if thread == 0:
            winner_at[0] = NO_CANDIDATE
        cuda.syncthreads()
        price, allowance, candidate = 0.0, 0.0, 0
        if thread < n_asked:
            candidate = waiting[position + thread]
            price, allowance = judged(table, group, rule, candidate)
            if price <= allowance:
                cuda.atomic.min(winner_at, 0, thread)
        cuda.syncthreads()
        winner_place = winner_at[0]
        n_heard = min(winner_place + 1, n_asked)
        if thread < n_heard:
            candidates[n_logged + thread] = candidate
            prices[n_logged + thread], allowances[n_logged + thread] = price, allowance
            accepted[n_logged + thread] = price <= allowance
        n_logged += n_heard
        if winner_place == NO_CANDIDATE:
            position += n_asked
            cuda.syncthreads()
            continue
        winner = waiting[position + winner_place]
        cuda.syncthreads()
        if thread == 0:
            members[n_members] = winner
        n_members += 1
        # Candidates before the winner are judged again only if the search restarts.
        join_there(scatters, table, group, rule, winner, 0 if restart else winner + 1)
        if restart:
            strike_out(waiting, first, position + winner_place)
            first += 1
            position = first
        else:
            position += winner_place + 1
    cuda.syncthreads()
    if thread == 0:
        state[FIRST], state[END], state[POSITION] = first, end, position
        state[N_LOGGED], state[IS_DONE], state[N_MEMBERS] = n_logged, is_done, n_members


@cuda.jit
def _nothing(values):  # type: ignore[no-untyped-def]
    values[0] = 1.0


def check() -> None:
    """Compile and run a trivial kernel, to check that the compiler works."""
    values = cuda.to_device(np.zeros(1))
    _nothing[1, 1](values)
    cuda.synchronize()


def in_order_there(
    view: SumEvidence,
    rule: Rule,
    limits: Limits,
    *,
    restart: bool,
    threads: int = THREADS,
    logged: int = LOGGED,
) -> SearchResult:
    """The result of the forward or the restart search, on a GPU and for one target."""
    cuda.synchronize()
    scatters = tuple(_raw(scatter.array) for scatter in view.source.scatters)  # type: ignore[attr-defined]
    *arrays, typical_weight, units_differ, _, signs = about_columns([_on_host(view)])
    table = tuple(cuda.to_device(array) for array in arrays)
    weights, n_batches, n_sets = arrays[-1], len(scatters), len(arrays[0])
    plain_rule = (
        rule.kind,
        rule.tolerance,
        float(rule.curvature[0]),
        rule.is_general,
        units_differ,
        signs,
    )
    there = partial(cuda.device_array, dtype=np.float64)
    shapes = (n_batches, scatters[0].shape[0]), (n_sets, 3), (n_sets, n_batches), (4, n_batches), 1
    group = tuple(there(shape) for shape in shapes)
    log = tuple(cuda.device_array(logged, dtype=kind) for kind in ("i4", "f8", "f8", "?"))
    waiting, members = (cuda.device_array(len(weights), dtype=np.int32) for _ in range(2))
    groups: list[Any] = []
    record = Record(len(weights), limits.watched)
    free: Any = np.arange(len(weights), dtype=np.int32)
    is_free = np.ones(len(free), dtype=bool)
    while len(free):
        seed = int(free[0])
        unit = weights[seed] if weights[seed] > 0 else typical_weight
        asked = limits.alike(seed, free)
        waiting[: len(asked)].copy_to_device(asked)
        members[:1].copy_to_device(asked[:1])
        # The seed is the first in the list of waiting candidates, and is skipped.
        state = np.array([1, len(asked), 1, 0, 0, 0])
        while not state[IS_DONE]:
            on_device = cuda.to_device(state)
            grow[1, threads](
                scatters,
                table,
                group,
                plain_rule,
                restart,
                unit,
                waiting,
                members,
                log,
                on_device,
            )
            state = on_device.copy_to_host()
            record.add(_decision(seed, log, int(state[N_LOGGED])))
        joined = members[: int(state[N_MEMBERS])].copy_to_host()
        groups.append(joined.astype(np.intp))
        is_free[joined] = False
        free = free[is_free[free]]
    return record.result(groups)


def _decision(seed: int, log: Sequence[Any], length: int) -> Decision:
    if not length:
        nobody = np.empty(0)
        verdict = Verdict(nobody, nobody)
        return Decision(seed, nobody.astype(np.int32), verdict, nobody.astype(bool))
    candidates, price, allowance, accepted = (part[:length].copy_to_host() for part in log)
    return Decision(seed, candidates, Verdict(price, allowance), accepted)


def _raw(array: Any) -> Any:
    """An array of any library as a Numba device array."""
    if hasattr(array, "__cuda_array_interface__"):
        return cuda.as_cuda_array(array)
    return cuda.to_device(np.asarray(array))


def _on_host(view: SumEvidence) -> Any:
    """The small arrays of the evidence, copied to the host."""
    source, rows = view.source, view.source.rows
    return SimpleNamespace(
        n=np.asarray(view.n),
        columns=np.asarray(view.columns),
        apart=np.asarray(view.apart),
        deviations=np.asarray(view.deviations),
        weights=np.asarray(view.weights),
        typical_weight=view.typical_weight,
        units_differ=view.units_differ,
        as_candidate=view.as_candidate,
        signs=view.signs,
        source=SimpleNamespace(
            count=np.asarray(source.count),
            mean=np.asarray(source.mean),
            own=np.asarray(source.own),
            n_targets=source.n_targets,
            target_column=source.target_column,
            rows=SimpleNamespace(
                membership=np.asarray(rows.membership),
                whole=None if rows.whole is None else np.asarray(rows.whole),
            ),
        ),
    )
