from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import adjusted_rand_score

from experiments.data import Problem
from experiments.methods import Reduction, Unavailable
from experiments.protocols import (
    adjusted_rv,
    agreement,
    alike,
    inner,
    model_for,
    outcomes,
)


@dataclass(frozen=True)
class FirstColumns:
    """The first columns, so many; counts how many rows it was fitted on."""

    sizes: tuple[int, ...] = (1, 2, 3)

    def settings(self, task, n_samples, n_features):
        return [{"size": size} for size in self.sizes]

    def reductions(self, X, y, task, settings):
        return [self.reduction(X.shape[1], **setting) for setting in settings]

    def reduction(self, n_features, size, **others):
        labels = np.where(np.arange(n_features) < size, np.arange(n_features), -1)
        return Reduction(lambda rows: rows[:, :size], size, size, labels)


def problem_where(rng, *, honest, on_test, n=200):
    """The training rows need so many columns, the test rows are best with another number."""
    X = rng.normal(size=(2 * n, 4))
    y = X[:, :honest].sum(axis=1) + 0.01 * rng.normal(size=2 * n)
    y[n:] = X[n:, :on_test].sum(axis=1)
    return Problem(X[:n], X[n:], y[:n], y[n:], "regression")


def run(problem, protocol, method=None, **options):
    options = {"style": "plain", "resamples": False} | options
    return outcomes(problem, method or FirstColumns(), protocol, {}, **options)


def test_what_the_plan_sets_is_not_tuned(rng):
    problem = problem_where(rng, honest=3, on_test=1)
    (outcome,) = outcomes(problem, FirstColumns(), "paper", {"size": 2}, style="plain")
    assert outcome.n_groups == 2


def test_the_honest_choice_does_not_look_at_the_test_rows(rng):
    problem = problem_where(rng, honest=3, on_test=1)
    (honest,) = run(problem, "honest")
    (paper,) = run(problem, "paper")
    assert (honest.protocol, honest.n_groups) == ("honest", 3)
    assert (paper.protocol, paper.n_groups) == ("paper", 1)
    assert paper.score > honest.score
    shuffled = problem._replace(y_test=rng.permutation(problem.y_test))
    assert run(shuffled, "honest")[0].n_groups == 3


def test_the_score_is_that_of_the_model_on_the_test_rows(rng):
    problem = problem_where(rng, honest=2, on_test=2)
    (honest,) = run(problem, "honest", FirstColumns((2,)))
    model = LinearRegression().fit(problem.X_train[:, :2], problem.y_train)
    assert honest.score == model.score(problem.X_test[:, :2], problem.y_test)


def test_a_curve_has_each_size_once_with_its_best_and_then_the_best_of_all(rng):
    class Twice(FirstColumns):
        def settings(self, task, n_samples, n_features):
            return [{"size": s, "from_end": e} for s in (1, 2) for e in (False, True)]

        def reduction(self, n_features, size, from_end):
            place = slice(n_features - size, None) if from_end else slice(size)
            return Reduction(lambda rows: rows[:, place], size, size)

    problem = problem_where(rng, honest=1, on_test=1)
    one, two, best = run(problem, "sizes", Twice())
    assert [o.n_groups for o in (one, two)] == [1, 2]
    assert [o.protocol for o in (one, two, best)] == ["sizes", "sizes", "paper"]
    assert best.score == max(one.score, two.score)
    assert not one.setting["from_end"]


def test_inner_folds_cover_the_training_rows_once(rng):
    problem = problem_where(rng, honest=1, on_test=1)
    parts = list(inner(problem))
    assert len(parts) == 5
    held_out = np.concatenate([part.X_test for part in parts])
    assert sorted(map(tuple, held_out)) == sorted(map(tuple, problem.X_train))


def test_inner_folds_in_time_are_in_one_piece(rng):
    problem = problem_where(rng, honest=1, on_test=1)._replace(in_time=True)
    held_out = np.concatenate([part.X_test for part in inner(problem)])
    np.testing.assert_array_equal(held_out, problem.X_train)


def test_inner_folds_are_no_more_than_the_rarest_class_has_rows(rng):
    y = np.repeat([0.0, 1.0], [20, 3])
    X = rng.normal(size=(23, 2))
    assert len(list(inner(Problem(X, X, y, y, "classification")))) == 3


def test_a_method_may_bring_its_own_model(rng):
    class WithRidge(FirstColumns):
        model = staticmethod(lambda task, folds: Ridge())

    problem = problem_where(rng, honest=1, on_test=1)
    assert isinstance(model_for(problem, WithRidge(), "standardised")[-1], Ridge)
    assert isinstance(model_for(problem, FirstColumns(), "plain"), LinearRegression)
    classes = problem._replace(task="classification")
    assert isinstance(model_for(classes, FirstColumns(), "standardised")[-1], LogisticRegression)


def test_a_method_without_settings_for_these_rows_is_unavailable(rng):
    with pytest.raises(Unavailable, match="has no setting for 200 rows and 4 columns"):
        run(problem_where(rng, honest=1, on_test=1), "honest", FirstColumns(()))


def test_resamples_of_what_does_not_depend_on_rows_are_alike(rng):
    (honest,) = run(problem_where(rng, honest=3, on_test=3), "honest", resamples=True)
    assert honest.stability == pytest.approx(1)
    assert honest.agreement == 1


def test_likeness_of_columns_is_one_for_turned_tables_and_zero_by_chance(rng):
    table = rng.normal(size=(300, 3))
    assert adjusted_rv(table, -5 * table[:, ::-1] + 2) == pytest.approx(1)
    chance = [adjusted_rv(rng.normal(size=(12, 8)), rng.normal(size=(12, 8))) for _ in range(400)]
    # The mean of 400, each with a spread of about 0.1.
    assert abs(np.mean(chance)) < 4 * np.std(chance) / 20


def test_the_chance_taken_off_is_the_mean_over_orders_of_the_rows(rng):
    first, second = (rng.normal(size=(9, 4)) for _ in range(2))

    def rv(a, b):
        a, b = ((t - t.mean(axis=0)) / t.std(axis=0) for t in (a, b))
        a, b = a @ a.T, b @ b.T
        return np.sum(a * b) / np.linalg.norm(a) / np.linalg.norm(b)

    shuffled = [rv(first, rng.permutation(second)) for _ in range(4000)]
    expected = (rv(first, second) - np.mean(shuffled)) / (1 - np.mean(shuffled))
    assert adjusted_rv(first, second) == pytest.approx(expected, abs=0.02)


def test_agreement_of_groups_is_the_adjusted_rand_index():
    first, second = np.array([0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1])
    assert agreement(first, second) == adjusted_rand_score(first, second)


def test_agreement_of_selections_is_kappa():
    first = np.array([0, 1, -1, -1, -1, -1, -1, -1])
    second = np.array([0, -1, 1, -1, -1, -1, -1, -1])
    # 6 of 8 agree, and (2 * 2 + 6 * 6) / 64 would by chance.
    assert agreement(first, second) == pytest.approx((6 / 8 - 40 / 64) / (1 - 40 / 64))
    assert agreement(first, first) == 1


def test_mixtures_have_no_groups_to_agree_on(rng):
    problem = problem_where(rng, honest=1, on_test=1)
    mixture = Reduction(lambda rows: rows[:, :1], 1, 4)
    assert alike(mixture, mixture, problem) == (pytest.approx(1), None)
