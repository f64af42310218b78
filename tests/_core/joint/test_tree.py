import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from coterie._core.joint import Leaves, Rules, grow_tree
from coterie._core.joint import _growth as module


def columns_of(rng, n=50, d=30):
    columns = rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) + rng.normal(size=(n, d))
    return (columns - columns.mean(0)) / columns.std(0)


def leaves_of(columns, *, kept=True):
    sizes = np.ones(columns.shape[1], dtype=np.intp)
    if kept:
        return Leaves(sizes, columns.T @ columns / len(columns))
    return Leaves(sizes, columns=np.ascontiguousarray(columns.T))


def heights(tree):
    """The likeness at which two leaves come together, for all pairs."""
    made = np.column_stack(
        [tree.children, 1 - tree.likeness, tree.stop[tree.n_leaves :] - tree.start[tree.n_leaves :]]
    )
    return cophenet(made.astype(float))


def complete(d):
    return sparse.csr_array(np.ones((d, d)) - np.eye(d))


@pytest.mark.parametrize("way", ["chains", "columns", "edges"])
def test_the_tree_is_that_of_average_linkage(rng, way):
    columns = columns_of(rng)
    distance = 1 - np.corrcoef(columns.T)
    np.fill_diagonal(distance, 0)
    expected = cophenet(linkage(squareform(distance, checks=False), "average"))
    graph = complete(30) if way == "edges" else None
    tree = grow_tree(leaves_of(columns, kept=way != "columns"), Rules(0.0, False, graph))
    np.testing.assert_allclose(heights(tree), expected, atol=1e-10)


def test_rounds_for_many_leaves_merge_the_most_alike(rng, monkeypatch):
    base = rng.normal(size=(60, 10))
    columns = np.repeat(base, 4, axis=1) + 0.2 * rng.normal(size=(60, 40))
    columns = (columns - columns.mean(0)) / columns.std(0)
    monkeypatch.setattr(module, "MAX_KEPT", 12)
    tree = grow_tree(leaves_of(columns, kept=False), Rules(0.0, False))
    found = {tuple(tree.leaves(node)) for node in range(40, 79)}
    assert all(tuple(range(4 * b, 4 * b + 4)) in found for b in range(10))


@pytest.mark.parametrize("floor", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("kept", [True, False])
def test_members_of_groups_meet_the_floor(rng, floor, kept):
    columns = columns_of(rng)
    tree = grow_tree(leaves_of(columns, kept=kept), Rules(floor, True))
    for node in range(30, 59):
        members = tree.leaves(node)
        total = (columns[:, members] * tree.signs[members]).sum(axis=1)
        own = [tree.signs[m] * np.corrcoef(columns[:, m], total)[0, 1] for m in members]
        both = tree.may_be_group[tree.children[node - 30]].all()
        is_alike = tree.likeness[node - 30] >= floor**2
        assert tree.may_be_group[node] == (both and is_alike and min(own) >= floor)


def test_groups_are_connected_small_and_of_one_kind(rng):
    columns = columns_of(rng)
    chain = sparse.diags_array([np.ones(29), np.ones(29)], offsets=[-1, 1], shape=(30, 30))
    kinds = np.where(np.arange(30) < 10, 1, np.where(np.arange(30) < 20, 2, 0))
    kinds[25] = -1
    rules = Rules(0.0, True, sparse.csr_array(chain), max_size=4, kinds=kinds)
    tree = grow_tree(leaves_of(columns), rules)
    for node in np.flatnonzero(tree.may_be_group):
        members = tree.leaves(node)
        assert (np.diff(members) == 1).all()
        assert len(members) <= 4
        assert len({*kinds[members].tolist()} - {0}) <= 1
        assert len(members) == 1 or 25 not in members
    assert tree.may_be_group[30:].any()


def test_leaves_of_each_node_are_one_stretch(rng):
    tree = grow_tree(leaves_of(columns_of(rng)), Rules(0.5, True))
    for node, (first, second) in enumerate(tree.children, start=30):
        both = sorted([*tree.leaves(first), *tree.leaves(second)])
        assert both == tree.leaves(node).tolist()
    assert (np.diff(tree.likeness) <= 0).all()


def test_opposites_join_with_a_minus(rng):
    base = rng.normal(size=50)
    columns = np.column_stack([base, -base + 0.1 * rng.normal(size=50), rng.normal(size=50)])
    columns = (columns - columns.mean(0)) / columns.std(0)
    tree = grow_tree(leaves_of(columns), Rules(0.7, True))
    assert tree.signs[0] == -tree.signs[1]
    assert tree.may_be_group[3]
    assert not grow_tree(leaves_of(columns), Rules(0.7, False)).may_be_group[3:].any()
