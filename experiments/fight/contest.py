"""One split: every entrant with every model, as lines of the results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.metrics import adjusted_rand_score

from experiments.fight.entrants import (
    OURS,
    TUNED,
    Entrant,
    as_reduction,
    fitted_ours,
    folds,
    robust,
)
from experiments.fight.models import BEHIND, ON_ALL, Folds, loss, plain, score
from experiments.fight.problems import Split
from experiments.methods import FloatArray, IntArray, Reduction, Unavailable
from experiments.run import FAILED

Line = dict[str, Any]
Labels = dict[tuple[str, str], IntArray]
ALL = "all columns"


class Fitted(NamedTuple):
    """A reducer, the rows that it is to be given, what was chosen for it and what it cost."""

    reduction: Reduction
    rows: Split
    setting: str
    seconds: float


def contest(split: Split, before: Labels) -> tuple[list[Line], Labels]:
    """All lines of one split, and the groups that were found.

    The robust inputs are those that ``Coterie()`` chose inside the training rows. Where it chose
    the columns as they are, there are no other lines.

    Parameters
    ----------
    split : Split
    before : dict
        The groups of the split before, by method and inputs.
    """
    # All columns are finite, and all parameters are ours.
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)
    with unchecked, warnings.catch_warnings():
        # Solvers that stop early are part of what is compared.
        warnings.simplefilter("ignore")
        in_folds = folds(split)
        coterie, how = coterie_itself(split)
        lines: list[Line] = []
        found: Labels = {}
        for inputs in dict.fromkeys(["raw", how]):
            rows = split if inputs == "raw" else robust(split, inputs)
            on_all = with_models(rows, in_folds, ALL, None, 0.0, ON_ALL)
            given = {"Coterie": coterie} if inputs == how else {}
            reduced_lines = of_reducers(rows, in_folds, found, before, inputs, given)
            lines += [{**line, "inputs": inputs} for line in (*on_all, *reduced_lines)]
    return lines, found


def coterie_itself(split: Split) -> tuple[Fitted, str]:
    """``Coterie()`` on the columns as they are, and which inputs it chose."""
    start = time.process_time()
    reducer = fitted_ours("Coterie", split)
    seconds = time.process_time() - start
    reduction = as_reduction(reducer)
    return Fitted(reduction, split, "", seconds), reducer.inputs_


def of_reducers(
    split: Split,
    in_folds: Folds,
    found: Labels,
    before: Labels,
    inputs: str,
    given: dict[str, Fitted],
) -> Iterator[Line]:
    """Every reducer on one kind of inputs; those that are given are fitted already."""
    near = np.abs(np.nan_to_num(np.corrcoef(split.X.T))).reshape(split.X.shape[1], -1)
    for name in (*OURS, *TUNED):
        try:
            fitted = given.get(name) or reduced(name, split, in_folds)
            reduction = fitted.reduction
            lines = list(
                with_models(fitted.rows, in_folds, name, reduction, fitted.seconds, BEHIND)
            )
        except Unavailable as reason:
            yield {"method": name, "note": str(reason)}
            continue
        except Exception as error:
            # One method that breaks does not stop the others; the page counts it.
            yield {"method": name, "note": f"{FAILED} {type(error).__name__}: {error}"}
            continue
        lines[0] |= {"setting": fitted.setting}
        if reduction.labels is not None:
            whole = np.full(split.n_features, -1, dtype=np.int32)
            whole[split.features] = reduction.labels
            found[name, inputs] = whole
            lines[0] |= {"coherence": coherence(near, reduction.labels)}
            earlier = before.get((name, inputs))
            if earlier is not None:
                lines[0] |= {"same": adjusted_rand_score(earlier, whole)}
        yield from lines


def reduced(name: str, split: Split, in_folds: Folds) -> Fitted:
    """A reducer fitted to the training rows, its setting chosen by the folds."""
    start = time.process_time()
    if name in OURS:
        if name == "GenLinCFA" and split.task == "regression":
            raise Unavailable("is NonLinCFA for numbers")
        options = {"inputs": None} if name == "Coterie" else {}
        reduction = as_reduction(fitted_ours(name, split, **options))
        return Fitted(reduction, split, "", time.process_time() - start)
    entrant = TUNED[name]
    chosen = tuned(entrant, split, in_folds)
    (reduction,) = entrant.method.reductions(split.X, split.y, split.task, [chosen])
    setting = " ".join(str(value) for value in chosen.values() if value != "rbf")
    return Fitted(reduction, split, setting, time.process_time() - start)


def tuned(entrant: Entrant, split: Split, in_folds: Folds) -> dict[str, Any]:
    """The setting with the best mean score of the plain model; among equals the first."""
    settings = entrant.tried(split)
    if not settings:
        raise Unavailable("has no setting for so few rows or columns")
    scores = np.zeros(len(settings))
    for train, test in in_folds:
        X, y = split.X[train], split.y[train]
        X_test, y_test = split.X[test], split.y[test]
        reductions = entrant.method.reductions(X, y, split.task, settings)
        known: dict[int, float] = {}
        for number, reduction in enumerate(reductions):
            if id(reduction) not in known:
                predicted = plain(
                    reduction.columns(X), y, reduction.columns(X_test), split.task, ()
                )
                known[id(reduction)] = score(y_test, predicted, split.task)
            scores[number] += known[id(reduction)]
    return settings[int(np.argmax(np.round(scores, 9)))]


def with_models(
    split: Split,
    in_folds: Folds,
    name: str,
    reduction: Reduction | None,
    seconds: float,
    models: dict[str, Any],
) -> Iterator[Line]:
    """One line for each model behind the columns; what the reducer costs is in the first."""
    Z = split.X if reduction is None else reduction.columns(split.X)
    Z_test = split.X_test if reduction is None else reduction.columns(split.X_test)
    if not (np.isfinite(Z).all() and np.isfinite(Z_test).all()):
        raise ValueError("columns are not finite")
    for number, (model_name, model) in enumerate(models.items()):
        start = time.process_time()
        predicted = model(Z, split.y, Z_test, split.task, in_folds)
        line = {
            "method": name, "model": model_name,
            "score": score(split.y_test, predicted, split.task),
            "loss": loss(split.y_test, predicted, split.task),
            "model_seconds": time.process_time() - start,
        }  # fmt: skip
        if number == 0:
            n_features = split.X.shape[1]
            line |= {
                "columns": n_features if reduction is None else reduction.n_columns,
                "measured": n_features if reduction is None else reduction.n_measured,
                "seconds": seconds,
            }
        yield line


def coherence(near: FloatArray, labels: IntArray) -> float:
    """Mean |r| between a feature and the others of its group, over features that share one."""
    total = count = 0.0
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        size = len(members)
        if size > 1:
            total += (near[np.ix_(members, members)].sum() - size) / (size - 1)
            count += size
    return total / count if count else float("nan")
