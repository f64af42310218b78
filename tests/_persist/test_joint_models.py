"""Files of Coterie hold the whole path, and what is no path comes back as one sentence."""

import json

import numpy as np
import pytest

import coterie
from coterie import Coterie
from coterie.datasets import make_groups


@pytest.fixture
def file(tmp_path):
    X, y, _ = make_groups(120, 12, 3, noise=1.0, random_state=0)
    path = tmp_path / "model.json"
    Coterie(inputs=None).fit(X, y).save(path)
    return path


def places_in(plain, above=()):
    """Where the arrays of a path are, and its other values."""
    if isinstance(plain, dict) and plain.get("is") == "array":
        yield (*above, "values")
    elif isinstance(plain, dict | list):
        pairs = plain.items() if isinstance(plain, dict) else enumerate(plain)
        for name, one in pairs:
            if name != "is":
                yield from places_in(one, (*above, name))
    else:
        yield above


def changed(document, place, change):
    inside = document["fitted"]["joint"]
    for name in place[:-1]:
        inside = inside[name]
    inside[place[-1]] = change(inside[place[-1]])
    return document


DAMAGES = [
    lambda value: value[:-1] if isinstance(value, list) else None,
    lambda value: [10**12] * len(value) if isinstance(value, list) else {},
    lambda value: ["?"] * len(value) if isinstance(value, list) else "?",
    lambda value: [-9] * len(value) if isinstance(value, list) else [],
]


@pytest.mark.parametrize("damage", range(len(DAMAGES)))
def test_damaged_paths_load_as_a_path_or_are_one_sentence(file, damage):
    text = file.read_text()
    reasons = []
    for place in [*places_in(json.loads(text)["fitted"]["joint"])]:
        file.write_text(json.dumps(changed(json.loads(text), place, DAMAGES[damage])))
        try:
            loaded = coterie.load(file)
        except ValueError as error:
            reasons.append(str(error))
        else:
            assert loaded.with_n_groups(2).n_groups_ == 2
    assert len(reasons) >= 15
    assert all(reason.startswith(f"{file} cannot be loaded: ") for reason in reasons)
    assert not any("\n" in reason for reason in reasons)


def test_a_path_to_other_groups_is_no_path_of_this_model(file):
    document = json.loads(file.read_text())
    leaves = document["fitted"]["joint"]["model"]["items"]["leaf_of"]["values"]
    leaves.append(leaves.pop(0))
    file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="must be the path that led to the groups"):
        coterie.load(file)


def test_files_of_many_features_stay_small(tmp_path, rng):
    hidden = rng.normal(size=(60, 100))
    X = np.repeat(hidden, 20, axis=1) + 0.4 * rng.normal(size=(60, 2000))
    reducer = Coterie(inputs=None).fit(X, hidden[:, 0] - hidden[:, 1])
    reducer.save(tmp_path / "model.json")
    # 5,000 features have 2.5 times as much, and are to stay below 2 MB.
    assert (tmp_path / "model.json").stat().st_size < 800_000
    again = coterie.load(tmp_path / "model.json").with_n_groups(30)
    np.testing.assert_array_equal(again.transform(X), reducer.with_n_groups(30).transform(X))


def test_inputs_of_an_unknown_kind_are_one_sentence(file):
    document = json.loads(file.read_text())
    document["fitted"]["inputs"] = {"is": [], "name": "square"}
    file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"cannot be loaded: 'fitted\.inputs\.is'"):
        coterie.load(file)
