"""Slow and obvious: regressions are run, one candidate at a time, columns are always built.

It shares no code with the package, so that agreement means something.
"""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

AGGREGATIONS = {
    "mean": lambda Z: Z.mean(axis=1),
    "sum": lambda Z: Z.sum(axis=1),
    "sum_of_squares": lambda Z: (Z**2).sum(axis=1),
    "norm": lambda Z: np.linalg.norm(Z, axis=1),
    "max": lambda Z: Z.max(axis=1),
    "min": lambda Z: Z.min(axis=1),
    "median": lambda Z: np.median(Z, axis=1),
    "principal": lambda Z: principal(Z),
}


def principal(Z):
    """First component, in the direction in which the weights sum to 0 or more."""
    pca = PCA(1).fit(Z)
    return pca.transform(Z)[:, 0] * np.sign(pca.components_[0].sum())


def nonlin_in_sample(tolerance):
    def judge(u, v, w, y):
        two, one = np.column_stack([u, v]), w[:, None]
        apart = LinearRegression().fit(two, y).score(two, y)
        merged = LinearRegression().fit(one, y).score(one, y)
        return apart - merged, tolerance

    return judge


def nonlin_held_out(tolerance, splits):
    def judge(u, v, w, y):
        two, one = np.column_stack([u, v]), w[:, None]
        apart, merged = ([held_out(Z, y, *split) for split in splits] for Z in (two, one))
        return np.mean(apart) - np.mean(merged), tolerance

    return judge


def held_out(Z, y, train, test):
    """R2 on test rows. What varies by less than 1e-6 of the rest is constant but for rounding.

    So does scikit-learn's linear regression since 1.7, and not before.
    """
    centre, level = Z[train].mean(axis=0), y[train].mean()
    slopes = np.linalg.lstsq(Z[train] - centre, y[train] - level, rcond=1e-6)[0]
    return r2_score(y[test], level + (Z[test] - centre) @ slopes)


def _standard(column):
    return (column - column.mean()) / column.std()


def _cov(a, b):
    return np.cov(a, b)[0, 1]


def genlin(tolerance, curvature, bound, *, standardise_target):
    def judge(u, v, w, y):
        u, v, w = _standard(u), _standard(v), _standard(w)
        y = _standard(y) if standardise_target else y
        left = abs(_cov(u, y)) + abs(_cov(v, y))
        right = curvature / 2 * np.var(u + v)
        if bound == "general":
            left += curvature / 2 * np.var(w)
            right += abs(_cov(w, y))
        return left / right, tolerance

    return judge


def lincfa():
    """corr(u, v) >= 1 - 2 s2 / ((n - 1) (w1 - w2)^2), multiplied out."""

    def judge(u, v, w, y):
        u, v, y = _standard(u), _standard(v), _standard(y)
        two = np.column_stack([u, v])
        model = LinearRegression().fit(two, y)
        noise = np.sum((y - model.predict(two)) ** 2) / (len(y) - 3)
        gap = np.diff(model.coef_)[0] ** 2
        return (1 - np.corrcoef(u, v)[0, 1]) * gap, 2 * noise / (len(y) - 1)

    return judge


class Asked(list):
    """(members so far, candidate, price, allowance, accepted), in order."""


def _ask(X, y, h, judge, group, candidate, asked=None):
    w = h(X[:, [*group, candidate]])
    price, allowance = judge(h(X[:, group]), X[:, candidate], w, y)
    accepted = price <= allowance
    if asked is not None:
        asked.append((tuple(group), candidate, price, allowance, accepted))
    return price, allowance, accepted


def forward(X, y, h, judge):
    asked, groups, taken = Asked(), [], set()
    for i in range(X.shape[1]):
        if i in taken:
            continue
        group = [i]
        for j in range(i + 1, X.shape[1]):
            if j not in taken and _ask(X, y, h, judge, group, j, asked)[2]:
                group.append(j)
                taken.add(j)
        groups.append(sorted(group))
    return groups, asked


def restart(X, y, h, judge):
    asked, groups, free = Asked(), [], list(range(X.shape[1]))
    while free:
        group = [free.pop(0)]
        position = 0
        while position < len(free):
            if _ask(X, y, h, judge, group, free[position], asked)[2]:
                group.append(free.pop(position))
                position = 0
            else:
                position += 1
        groups.append(sorted(group))
    return groups, asked


def best(X, y, h, judge):
    asked, groups, free = Asked(), [], list(range(X.shape[1]))

    def net(group, j):
        price, allowance, _ = _ask(X, y, h, judge, group, j)
        return price - allowance

    while True:
        pairs = [(net([i], j), i, j) for i in free for j in free if i != j]
        if not pairs or min(pairs)[0] > 0:
            break
        _, i, j = min(pairs)
        _ask(X, y, h, judge, [i], j, asked)
        group = [i, j]
        free = [f for f in free if f not in group]
        while free:
            cost, j = min((net(group, j), j) for j in free)
            if cost > 0:
                break
            _ask(X, y, h, judge, group, j, asked)
            group.append(j)
            free.remove(j)
        groups.append(sorted(group))
    return sorted(groups + [[f] for f in free]), asked


SEARCHES = {"forward": forward, "restart": restart, "best": best}
