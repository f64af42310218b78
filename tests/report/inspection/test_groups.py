"""What is told about each group: what its names share, how stable it is, who stands for it."""

from dataclasses import replace

import numpy as np
import pytest
from report.inspection.summaries import joint_summary, whole_summary

import coterie
from coterie.datasets import make_groups
from coterie.report.inspection import light_word
from coterie.report.inspection._sentences import stability_sentence
from coterie.report.inspection._shared_names import SharedNames


@pytest.mark.parametrize(
    ("names", "members", "shared"),
    [
        (["mean radius", "worst radius", "mean area"], [0, 1], "radius"),
        (["meanRadius", "worst_radius", "meanArea"], [0, 1], "radius"),
        # A word of all features tells nothing about a group.
        (["wind speed", "wind gust", "wind"], [0, 1], ""),
        (["wind speed 10 m", "wind speed 50 m", "wind gust 10 m"], [0, 1], "speed"),
        (["850 nm", "852 nm", "854 nm", "856 nm"], [0, 1, 2], "850 nm to 854 nm"),
        # One between is missing, so it is no range.
        (["850 nm", "852 nm", "854 nm", "856 nm"], [0, 1, 3], ""),
        # Numbers are compared as numbers.
        (["x8", "x9", "x10", "x11", "y8"], [0, 1, 2], "x8 to x10"),
        (["temperature", "temperance", "pressure"], [0, 1], "tempera..."),
        (["temperature", "temperance", "temper"], [0, 1], "tempera..."),
        (["temperature", "temperance", "temperas"], [0, 1], ""),
        (["ab1c", "ab2d", "z"], [0, 1], ""),
        (["a", "b"], [0], ""),
        (["", " "], [0, 1], ""),
    ],
)
def test_names_share_what_not_all_names_share(names, members, shared):
    assert SharedNames(names).of(members) == shared


def test_the_light_follows_the_number_that_is_shown():
    for share in np.linspace(0, 1, 2001):
        shown = float(f"{share:.2f}")
        expected = "firm" if shown >= 0.75 else "fair" if shown >= 0.5 else "loose"
        assert light_word(share) == expected
    assert light_word(None) == light_word(float("nan")) == ""


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = make_groups(150, 12, 3, noise=2.0, random_state=0)
    return coterie.Coterie().fit(X, y), X, y


def test_a_coterie_tells_the_stability_of_its_own_fit(fitted):
    reducer, X, y = fitted
    summary = coterie.report.summarise(reducer, X, y)
    told = [group.stability for group in summary.groups[: summary.n_columns]]
    assert told == reducer.stability_.tolist()
    assert "half of the rows" in stability_sentence(summary)
    resampled = coterie.stability(X, y, estimator=reducer, n_resamples=3, random_state=0)
    asked = coterie.report.summarise(reducer, X, y, stability=resampled)
    told = [group.stability for group in asked.groups[: asked.n_columns]]
    assert told == resampled.group_scores.tolist()
    assert "repeated 3 times" in stability_sentence(asked)


def test_the_representative_is_known_from_data_only(fitted):
    reducer, X, _ = fitted
    assert all(one.representative is None for one in coterie.report.summarise(reducer).groups)
    summary = coterie.report.summarise(reducer, X)
    chosen = coterie.representatives(reducer, X).features.tolist()
    assert [one.representative for one in summary.groups[: summary.n_columns]] == chosen


def test_groups_of_one_are_their_own_representatives(fitted):
    _, X, y = fitted
    reducer = coterie.NonLinCFA(keep=[0, 1, 2]).fit(X[:, :3], y)
    groups = coterie.report.summarise(reducer, X[:, :3], y).groups
    assert [group.representative for group in groups] == [0, 1, 2]
    assert all(group.likeness is None and group.weakest is None for group in groups)


def test_the_groups_become_a_frame():
    summary = joint_summary()
    frame = summary.to_frame()
    groups = summary.groups[: summary.n_columns]
    assert frame["group"].tolist() == [group.name for group in groups]
    assert frame["n_members"].tolist() == [len(group.members) for group in groups]
    assert frame["members"][0] == [summary.features[one] for one in groups[0].members]
    assert frame["effect on fat"].tolist() == [group.effects[0] for group in groups]
    assert frame["light"].tolist() == [light_word(group.stability) for group in groups]
    assert frame["representative"].tolist() == [
        summary.features[group.representative] for group in groups
    ]


def test_a_representative_of_another_group_is_refused():
    summary = whole_summary()
    stranger = replace(summary.groups[0], representative=summary.groups[1].members[0])
    with pytest.raises(ValueError, match="representatives of own groups"):
        replace(summary, groups=[stranger, *summary.groups[1:]])
