import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import TimeSeriesSplit

from experiments.data import data_folder, paper_problem
from experiments.methods import METHODS
from experiments.methods._ours import RealNonLin
from experiments.protocols import model_for, score

FOLDER = data_folder()


def held_out(columns, y):
    folds = TimeSeriesSplit(5).split(columns)
    fits = ((LinearRegression().fit(columns[a], y[a]), b) for a, b in folds)
    return np.mean([model.score(columns[b], y[b]) for model, b in fits])


def standard(column):
    return (column - column.mean()) / column.std()


def groups_by_hand(X, y, tolerance):
    """The authors' search, one regression at a time."""
    free, groups = list(range(X.shape[1])), []
    while free:
        group, place = [free.pop(0)], 0
        while place < len(free):
            u, v = standard(X[:, group].mean(axis=1)), standard(X[:, free[place]])
            merged = (len(group) * u + v) / (len(group) + 1)
            apart = held_out(np.column_stack([u, v]), y)
            if apart - held_out(merged[:, None], y) <= tolerance:
                group.append(free.pop(place))
                place = 0
            else:
                place += 1
        groups.append(sorted(group))
    return sorted(groups)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-2, 5e-2])
def test_the_real_data_runs_of_the_paper_are_those_by_hand(rng, tolerance):
    X = rng.normal(size=(80, 8)) * np.arange(1, 9) + rng.normal(size=(80, 1))
    y = X[:, :3].sum(axis=1) + X[:, 5] + rng.normal(size=80)
    (reduction,) = RealNonLin().reductions(X, y, "regression", [{"tolerance": tolerance}])
    groups = [np.flatnonzero(reduction.labels == k).tolist() for k in range(reduction.n_columns)]
    assert sorted(groups) == groups_by_hand(X, y, tolerance)
    means = np.column_stack([X[:, group].mean(axis=1) for group in groups])
    np.testing.assert_allclose(reduction.columns(X), means, rtol=1e-12)


BIVARIATE = {"bound": "bivariate", "curvature": 1.0, "max_group_size": 500}
# From tab:realRes2 of the paper; GenLinCFA at 0.2 is printed as .8101, see the errata.
FINANCE = [
    ("NonLinCFA as in the paper", {"tolerance": 1e-2}, 5.6, 0.8131),
    ("NonLinCFA as in the paper", {"tolerance": 1e-3}, 7.2, 0.8061),
    ("NonLinCFA as in the paper", {"tolerance": 1e-4}, 7.4, 0.8133),
    ("NonLinCFA as in the paper", {"tolerance": 1e-5}, 7.4, 0.8133),
    ("NonLinCFA as in the paper", {"tolerance": 1e-6}, 7.4, 0.8136),
    ("GenLinCFA", {"tolerance": 0.1, **BIVARIATE}, 15.2, 0.8104),
    ("GenLinCFA", {"tolerance": 0.15, **BIVARIATE}, 8.0, 0.8119),
    ("GenLinCFA", {"tolerance": 0.25, **BIVARIATE}, 4.2, 0.8114),
    ("GenLinCFA", {"tolerance": 0.3, **BIVARIATE}, 3.8, 0.8107),
    ("LinCFA", {}, 11.4, 0.8010),
]


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="COTERIE_DATA names no folder")
@pytest.mark.parametrize(("name", "setting", "n_groups", "r2"), FINANCE)
def test_finance_is_as_printed(name, setting, n_groups, r2):
    sizes, scores = [], []
    for seed in range(5):
        problem = paper_problem("finance_fundamentals", seed, FOLDER)
        (reduction,) = METHODS[name].reductions(
            problem.X_train, problem.y_train, "regression", [setting]
        )
        sizes.append(reduction.n_columns)
        scores.append(score(reduction, model_for(problem, METHODS[name], "plain"), problem))
    assert np.mean(sizes) == n_groups
    assert abs(np.mean(scores) - r2) < 1e-4
