"""What the pages say of the larger files of results."""

import json

import numpy as np
import pandas as pd
import pytest

from experiments import for_docs, joint
from experiments.comparison import published


@pytest.fixture(scope="module")
def paper():
    return for_docs.paper()


def test_every_printed_number_is_counted_once(paper):
    printed = 2 * (published()["score"] != "").sum()
    assert paper["printed"] == printed == sum(paper["verdict"].values())
    for row in paper["summary"]["rows"]:
        assert row[1] == sum(row[2:])


def test_baselines_of_finance_come_out_as_printed(paper):
    rows = {(row[0], row[1]): row for row in paper["finance"]["rows"]}
    for method in ("PCA", "kernel PCA", "Isomap"):
        for what in ("columns", "score"):
            _, _, printed, ours, verdict = rows[method, what]
            assert (ours, verdict) == (printed, "equal")


def test_draws_of_rows_have_a_range(paper):
    assert "five draws" in paper["bankruptcy"]["columns"]
    assert "five draws" not in paper["finance"]["columns"]
    assert all(" to " in row[4] for row in paper["bankruptcy"]["rows"])


def test_tables_have_a_cell_for_each_column():
    for name in ("known", "paper_problems", "real", "targets"):
        for found in for_docs.COMPUTED[name]().values():
            if isinstance(found, dict) and "rows" in found:
                assert {len(row) for row in found["rows"]} == {len(found["columns"])}


def test_likeness_is_over_pairs_of_one_group(rng):
    shared = rng.normal(size=50)
    X = np.column_stack([shared, -shared, rng.normal(size=50), np.ones(50)])
    assert joint.alike(X, np.array([0, 0, 1, 1])) == pytest.approx(1)
    assert joint.alike(X, np.array([-1, 0, 0, -1])) < 0.5
    assert joint.alike(X, np.arange(4)) == 1


def test_the_committed_table_of_coterie_is_that_of_its_sets():
    found = json.loads((joint.RESULTS / "joint.json").read_text("utf-8"))
    again = joint.beside(found["sets"])
    assert found["table"] == again["table"]
    assert found["level"] == again["level"]
    assert pd.DataFrame(found["sets"]).shape[1] == 12
