import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie import NonLinCFA
from coterie.datasets import make_groups
from coterie.estimators._names import aggregate_name, made_unique


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


@given(st.sets(st.integers(0, 60), min_size=1), st.integers(1, 40))
def test_shortened_names_of_different_groups_differ(members, length):
    names = [f"{'x' * length}{j}" for j in range(61)]
    group = np.array(sorted(members))
    name = aggregate_name("mean", group, names)
    assert name.startswith(f"mean({names[group[0]]}")
