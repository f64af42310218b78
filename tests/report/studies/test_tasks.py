"""The task is told by the values of the target."""

import numpy as np
import pytest

from coterie import Coterie, GenLinCFA, NonLinCFA
from coterie.report.studies import (
    FAMILY_OF,
    infer_task,
    reducer_for,
    reducer_with_tolerance,
)
from coterie.report.studies._tasks import resolve_task

RNG = np.random.default_rng(0)
TARGETS = {
    "text": (["a", "b", "a"], "classes"),
    "objects": (np.array(["a", "b", "a"], dtype=object), "classes"),
    "truths": ([True, False], "classes"),
    "two numbers": ([0, 1, 1, 0], "classes"),
    "two other numbers": ([-1.5, 2.5, 2.5], "classes"),
    "codes": (np.repeat([0, 1, 2], 50), "classes"),
    "codes from 1": (np.repeat([1, 2, 3, 4], 10), "classes"),
    "counts": (RNG.poisson(2.0, size=500), "counts"),
    "counts as floats": (RNG.poisson(8.0, size=500) * (np.arange(500) > 3.0), "counts"),
    "percentages": (np.arange(101), "regression"),
    "rare events": (np.array([0] * 95 + [1, 1, 1, 2, 2]), "counts"),
    "fractions": (RNG.normal(size=100), "regression"),
    "years": (np.arange(1990, 2020), "regression"),
    "negative": (np.arange(-5, 5), "regression"),
    "two targets": (RNG.normal(size=(50, 2)), "regression"),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_values_tell_the_task(name):
    target, task = TARGETS[name]
    assert infer_task(target).name == task


OBJECTS = np.array([1.5, 2, 3], dtype=object)


def test_numbers_that_came_as_objects_are_numbers():
    assert infer_task(OBJECTS).name == "regression"
    assert infer_task(np.array([True, False], dtype=object)) == ("classes", "true or false")


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ([], "y is empty"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "got datetime64"),
        ([1.0, np.inf], "NaN or infinity"),
    ],
)
def test_what_is_no_target_is_refused(target, sentence):
    with pytest.raises(ValueError, match=sentence):
        infer_task(target)


def test_each_task_has_a_reducer():
    assert all(isinstance(reducer_for(task), Coterie) for task in FAMILY_OF)
    assert reducer_for("classes", signs=True).get_params()["task"] == "classes"
    assert isinstance(reducer_with_tolerance("regression", signs=True), NonLinCFA)
    assert isinstance(reducer_with_tolerance("counts", scale=True), GenLinCFA)
    assert reducer_with_tolerance("classes").family == "bernoulli"
    assert reducer_with_tolerance("counts").family == "poisson"


def test_a_coterie_is_for_the_task_that_is_found():
    assert resolve_task(None, ["a", "b", "a"], Coterie())[1].task == "classes"
    assert resolve_task("counts", [0, 1, 2], Coterie())[1].task == "counts"
    with pytest.raises(ValueError, match="contradict each other"):
        resolve_task("counts", [0, 1, 2], Coterie("classes"))


@pytest.mark.parametrize("task", [None, "classes", "classification"])
def test_classification_is_classes_in_a_given_reducer(task):
    y = np.arange(60) % 3
    name, reducer = resolve_task(task, y, Coterie("classification"))
    assert name == reducer.task == "classes"
