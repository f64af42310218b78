import numpy as np
import pytest

from coterie._core.joint import Leaves, Penalty, Rules, Splits, grow_tree, joint_path, sums_of_rows
from coterie._core.joint._path import Freedom, prices_among


def penalty(per_row, noise):
    return Penalty(per_row, noise, null=1.0, predicts=True)


def problem(rng, n=60, d=8, n_targets=2):
    hidden = rng.normal(size=(n, 3))
    columns = hidden @ rng.normal(size=(3, d)) + 0.5 * rng.normal(size=(n, d))
    columns = (columns - columns.mean(0)) / columns.std(0)
    targets = hidden @ rng.normal(size=(3, n_targets)) + rng.normal(size=(n, n_targets))
    return columns, targets - targets.mean(0)


def tree_of(columns, rules=None):
    n = len(columns)
    sizes = np.ones(columns.shape[1], dtype=np.intp)
    return grow_tree(Leaves(sizes, columns.T @ columns / n), rules or Rules(0.0, True))


def scatter_of(columns, targets):
    fold = np.arange(len(columns)) % 2
    return sums_of_rows(columns, targets, None, Splits.of_folds(fold)).everything()


def minimum(columns, targets, members, per_row):
    """The smallest penalised sum of squares, with one coefficient per list of columns."""
    sums = np.column_stack([columns[:, each].sum(axis=1) for each in members])
    ridge = len(columns) * per_row * np.diag([len(each) for each in members])
    theta = np.linalg.solve(sums.T @ sums + ridge, sums.T @ targets)
    residual = targets - sums @ theta
    return np.square(residual).sum() + np.trace(theta.T @ ridge @ theta)


@pytest.mark.parametrize("per_row", [1e-6, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("leaves_out", [True, False])
def test_prices_are_what_the_penalised_sum_of_squares_rises_by(rng, per_row, leaves_out):
    columns, targets = problem(rng)
    tree = tree_of(columns)
    signed = columns * tree.signs
    start, freedom = np.arange(8), Freedom(leaves_out, np.zeros(8, dtype=bool))
    path = joint_path(scatter_of(signed, targets), tree, start, penalty(per_row, 0.0), freedom)
    nodes = {node: [node] for node in range(8)}
    before = minimum(signed, targets, list(nodes.values()), per_row)
    for step in path.steps:
        left = nodes.pop(step.first)
        if step.merged >= 0:
            nodes[step.merged] = left + nodes.pop(step.second)
        after = minimum(signed, targets, list(nodes.values()), per_row)
        assert step.price == pytest.approx(after - before, rel=1e-6, abs=1e-8)
        before = after
    assert len(nodes) == 1


def test_the_cheapest_constraint_comes_first(rng):
    columns, targets = problem(rng)
    tree = tree_of(columns)
    signed = columns * tree.signs
    freedom = Freedom(True, np.zeros(8, dtype=bool))
    path = joint_path(scatter_of(signed, targets), tree, np.arange(8), penalty(0.1, 0.0), freedom)
    alone = [[node] for node in range(8)]
    before = minimum(signed, targets, alone, 0.1)
    pairs = [pair for pair in tree.children.tolist() if max(pair) < 8]
    prices = [minimum(signed, targets, [m for m in alone if m != [n]], 0.1) for n in range(8)]
    prices += [
        minimum(signed, targets, [*(m for m in alone if m[0] not in pair), pair], 0.1)
        for pair in pairs
    ]
    assert path.steps[0].price == pytest.approx(min(prices) - before)


def test_with_two_columns_and_no_penalty_the_price_is_that_of_the_paper(rng):
    # The R2 that a merge loses: of a regression on both, less that on their mean (equation 12).
    columns, targets = problem(rng, d=2, n_targets=1)
    tree = tree_of(columns)
    signed = columns * tree.signs

    def r2(these):
        fitted = these @ np.linalg.lstsq(these, targets, rcond=None)[0]
        return 1 - np.square(targets - fitted).sum() / np.square(targets).sum()

    lost = r2(signed) - r2(signed.mean(axis=1, keepdims=True))
    freedom = Freedom(False, np.zeros(2, dtype=bool))
    path = joint_path(scatter_of(signed, targets), tree, np.arange(2), penalty(1e-12, 0.0), freedom)
    assert path.steps[0].price / np.square(targets).sum() == pytest.approx(lost, rel=1e-6)


def test_near_copies_within_noise_merge_before_anything_is_left_out(rng):
    base = rng.normal(size=(200, 1))
    columns = np.hstack([base + 0.1 * rng.normal(size=(200, 3)), rng.normal(size=(200, 2))])
    columns = (columns - columns.mean(0)) / columns.std(0)
    targets = base + 0.1 * rng.normal(size=(200, 1))
    tree = tree_of(columns)
    freedom = Freedom(True, np.zeros(5, dtype=bool))
    path = joint_path(
        scatter_of(columns * tree.signs, targets), tree, np.arange(5), penalty(0.01, 1.0), freedom
    )
    assert [step.merged >= 0 for step in path.steps[:2]] == [True, True]
    assert sorted(tree.leaves(path.groups_at(1)[0])) == [0, 1, 2]


def test_kept_groups_are_never_left_out(rng):
    columns, targets = problem(rng)
    tree = tree_of(columns, Rules(0.0, True, kinds=np.array([-1, 0, 0, 0, 0, 0, 0, 0])))
    kept = np.arange(8) == 0
    path = joint_path(
        scatter_of(columns * tree.signs, targets),
        tree,
        np.arange(8),
        penalty(0.1, 0.0),
        Freedom(True, kept),
    )
    assert all(step.first != 0 and step.second != 0 for step in path.steps)
    assert 0 in path.groups_at(1)


def test_every_number_of_groups_is_on_the_path(rng):
    columns, targets = problem(rng)
    tree = tree_of(columns)
    freedom = Freedom(True, np.zeros(8, dtype=bool))
    path = joint_path(
        scatter_of(columns * tree.signs, targets), tree, np.arange(8), penalty(0.1, 0.0), freedom
    )
    assert [len(path.groups_at(number)) for number in path.numbers] == list(range(1, 9))


@pytest.mark.parametrize("per_row", [1e-4, 0.1])
def test_prices_among_groups_are_what_a_shared_coefficient_costs(rng, per_row):
    columns, targets = problem(rng)
    members = [[0, 1], [2], [3, 4, 5], [6, 7]]
    sums = np.column_stack([columns[:, each].sum(axis=1) for each in members])
    sizes = np.array([len(each) for each in members])
    found = prices_among(scatter_of(sums, targets), sizes, penalty(per_row, 0.0))
    before = minimum(columns, targets, members, per_row)
    for a, b in [(0, 1), (1, 3), (0, 2)]:
        rest = [each for k, each in enumerate(members) if k not in (a, b)]
        after = minimum(columns, targets, [*rest, members[a] + members[b]], per_row)
        assert found[a, b] == pytest.approx(after - before, rel=1e-6)
