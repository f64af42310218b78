"""Features that stay together: what the search sees of them, and what comes back."""

import numpy as np
import pytest
from scipy import sparse

from coterie._core.must_link import MustLink
from coterie._core.search import Limits
from coterie._core.values import TRACE_DTYPE, Partition, SearchResult

UNITS = MustLink.of([np.array([3, 1]), np.array([5, 4])], 7)


def test_every_feature_is_in_one_unit_in_the_order_of_first_members():
    assert [unit.tolist() for unit in UNITS.members] == [[0], [1, 3], [2], [4, 5], [6]]
    assert UNITS.firsts.tolist() == [0, 1, 2, 4, 6]
    assert [unit.tolist() for unit in MustLink.of([], 2).members] == [[0], [1]]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_a_unit_is_the_sum_of_its_members(rng, layout):
    X = rng.normal(size=(5, 7))
    expected = np.column_stack([X[:, 0], X[:, 1] + X[:, 3], X[:, 2], X[:, 4] + X[:, 5], X[:, 6]])
    sums = UNITS.sums(layout(X))
    assert sparse.issparse(sums) == sparse.issparse(layout(X))
    np.testing.assert_allclose(sums.toarray() if sparse.issparse(sums) else sums, expected)
    np.testing.assert_allclose(X @ UNITS.membership(7).T, expected)


def test_units_touch_where_their_members_do_and_never_themselves():
    graph = np.zeros((7, 7))
    for a, b in ((1, 3), (3, 4), (0, 6)):
        graph[a, b] = graph[b, a] = 2.0
    joined = UNITS.limits(Limits(neighbours=sparse.csr_array(graph))).neighbours
    touching = sorted(zip(*(where.tolist() for where in joined.toarray().nonzero())))
    assert touching == [(0, 4), (1, 3), (3, 1), (4, 0)]
    assert joined.nnz == 4


def test_units_count_their_members_where_groups_are_limited_and_keep_their_kind():
    kinds = np.array([0, 0, 0, 2, 1, 0, -1])
    limits = UNITS.limits(Limits(max_group_size=3, kinds=kinds))
    assert limits.max_group_size == 3
    assert limits.kinds.tolist() == [0, 2, 0, 1, -1]
    assert limits.sizes.tolist() == [1, 2, 1, 2, 1]
    free = UNITS.limits(Limits())
    assert (free.neighbours, free.max_group_size, free.kinds, free.sizes) == (None,) * 4


@pytest.mark.parametrize("signs", [None, np.array([1.0, -1.0, 1.0, -1.0, 1.0])])
def test_groups_of_units_are_groups_of_their_members(signs):
    partition = Partition((np.array([0, 3]), np.array([1, 2]), np.array([4])), signs)
    record = [(0, 3, 0.1, 0.2, True), (1, 2, 0.1, 0.2, True)]
    trace = np.array(record, dtype=TRACE_DTYPE).view(np.recarray)
    found = SearchResult(partition, trace, np.array([3, 2, 0]))
    features, told, n_refused = UNITS.expanded(found)
    assert n_refused.tolist() == [3, 2, 0]
    assert [group.tolist() for group in features.groups] == [[0, 4, 5], [1, 2, 3], [6]]
    assert told.candidate.tolist() == [4, 2]
    assert trace.candidate.tolist() == [3, 2]
    if signs is None:
        assert features.signs is None
    else:
        assert features.signs.tolist() == [1, -1, 1, -1, -1, -1, 1]
