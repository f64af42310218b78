import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie import NonLinCFA
from coterie._core.fit._names import aggregate_name, made_unique
from coterie.datasets import make_groups


def test_a_group_of_five_hundred_has_a_readable_name():
    names = [f"a_rather_long_feature_name_{j}" for j in range(1000)]
    for members in (np.arange(500), np.arange(0, 1000, 2), np.array([0, 999])):
        name = aggregate_name("mean", members, names)
        assert len(name) < 120
        assert names[members[0]] in name


def test_names_stay_apart_even_when_features_have_names_with_commas():
    X, y, _ = make_groups(100, 4, 2, random_state=0)
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b, c", "a, b", "c"])
    graph = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    names = NonLinCFA(np.inf, connectivity=graph).fit(frame, y).get_feature_names_out()
    assert names.tolist() == ["mean(a, b, c)#1", "mean(a, b, c)#2"]


@given(st.lists(st.sampled_from(["a", "b", "a#1", "a#2", "b#1"]), max_size=9))
def test_made_unique_is_unique(names):
    unique = made_unique(names)
    assert len(set(unique)) == len(unique) == len(names)
    assert [u for u, n in zip(unique, names) if names.count(n) == 1] == [
        n for n in names if names.count(n) == 1
    ]


def test_only_a_series_has_a_first_and_a_last():
    words = ["age", "income", "height", "weight", "years_of_education", "blood_pressure", "pulse"]
    name = aggregate_name("mean", np.arange(7), [f"{word}_of_patient" for word in words])
    assert " to " not in name
    assert name.endswith(" more)")


def test_a_series_counts_on_evenly():
    uneven = [f"station_{number}_temperature_anomaly" for number in (459, 12, 77, 651, 3)]
    assert " to " not in aggregate_name("mean", np.arange(5), uneven)
    even = [f"level_{number:.2f}_of_the_atmosphere" for number in np.arange(0.25, 2, 0.25)]
    name = aggregate_name("mean", np.arange(7), even)
    assert name == "mean(level_0.25_of_the_atmosphere to level_1.75_of_the_atmosphere)"


def test_long_names_lose_their_middle():
    names = ["a" * 1500, "b" * 1500]
    assert len(aggregate_name("mean", np.arange(2), names)) < 150


@given(st.lists(st.integers(0, 3), min_size=61, max_size=61), st.integers(1, 90))
def test_names_of_the_groups_of_a_partition_differ(labels, length):
    names = [f"{'x' * length}{j}" for j in range(61)]
    groups = [np.flatnonzero(np.array(labels) == label) for label in set(labels)]
    spelled = made_unique([aggregate_name("mean", group, names) for group in groups])
    assert len(set(spelled)) == len(groups)
    assert max(map(len, spelled)) < 200
