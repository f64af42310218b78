import pickle
import re

import numpy as np
import pandas as pd
import pytest

from experiments.fight import page, results, statistics, tables
from experiments.fight.__main__ import main
from experiments.fight.contest import ALL
from experiments.fight.entrants import OURS, TUNED
from experiments.fight.generated import TRUTH
from experiments.fight.models import ON_ALL
from experiments.fight.page import few, write_page
from experiments.fight.statistics import Estimate
from experiments.fight.tables import MODELS, OF_CLASSES, RAW, ROBUST

SETS = ("ames", "chicago", "sonar", "caravan", "made_blocks")
CLASSES = ("sonar", "caravan")
OLD = ("nir_tecator_fat", "gene_golub38")


def lines_of(name, split, inputs, rng):
    classes = name in (*CLASSES, "gene_golub38")
    common = {"set": name, "split": split, "inputs": inputs, "versions": 1}
    for method in (ALL, *OURS, *TUNED):
        if method in OF_CLASSES and not classes:
            yield common | {"method": method, "note": "needs classes"}
            continue
        for number, model in enumerate(ON_ALL if method == ALL else MODELS):
            good = 0.9 if method == "Coterie" else 0.4 if model == "constant" else 0.6
            line = {"method": method, "model": model, "score": good + 0.01 * rng.normal()}
            line["loss"] = (0.2 if name == "caravan" else 0.6) if classes else np.nan
            if number == 0:
                line |= {"columns": 5, "measured": 9, "seconds": 0.1, "coherence": 0.8}
                line |= {"same": 0.5} if split else {}
            yield common | line


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("fight") / "fight.csv"
    for name in (*SETS, *OLD):
        for split in range(3):
            kinds = ["raw", "rank"] if name == "sonar" else ["raw"]
            results.append(path, [x for k in kinds for x in lines_of(name, split, k, rng)])
    return results.read(path)


def test_robust_inputs_are_those_of_the_splits_that_have_them(found):
    robust, raw = tables.variant(found, ROBUST), tables.variant(found, RAW)
    assert len(robust) == len(raw)
    assert set(robust.loc[robust["set"] == "sonar", "inputs"]) == {"rank"}
    assert set(raw["inputs"]) == {"raw"}


def test_a_score_table_has_every_split_once(found):
    table = tables.score_table(tables.of_sets(found), "plain")
    assert len(table) == len(SETS) * 3
    assert table.columns[0] == ALL
    one = found.query("set == 'ames' and split == 1 and method == 'PCA' and model == 'plain'")
    assert table.loc[("ames", 1), "PCA"] == one["score"].item()


def test_methods_that_some_set_lacks_have_no_rank(found, monkeypatch):
    monkeypatch.setattr(statistics, "N_BOOT", 5)
    ranks = tables.rank_table(tables.of_sets(found))["plain"]
    assert not set(OF_CLASSES) & set(ranks)
    assert set(ranks) == {ALL, *OURS, *TUNED} - set(OF_CLASSES)
    assert next(iter(ranks)) == "Coterie"
    assert ranks["Coterie"] == Estimate(1, 1, 1)


def test_costs_of_all_columns_are_known_too(found):
    cost = tables.costs(tables.of_sets(found))
    assert cost.loc[ALL, "columns"] == cost.loc["PCA", "columns"] == 5
    assert cost.loc["CLV", "same"] == 0.5


def test_what_is_far_better_is_clearly_better_on_every_set(found):
    table = tables.score_table(tables.of_sets(found), "plain")
    duel = tables.against(table, "Coterie", "PCA")
    assert (duel.sets_better, duel.sets_worse) == (5, 0)
    assert duel.better.value > 0.95
    assert tables.against(table, "Coterie", "wilma").n_sets == 2


def test_rare_classes_are_known_by_the_loss_of_their_shares(found):
    assert tables.rare_sets(found) == ["caravan"]


def test_new_rows_need_no_correction():
    assert tables.test_per_train("made_blocks") == 0
    assert tables.test_per_train("sonar") == pytest.approx(1 / 3)
    assert tables.test_per_train("chicago") == pytest.approx(90 / 365)


def test_groups_beside_the_truth(tmp_path):
    blocks = TRUTH["blocks"]
    some = np.where(blocks < 5, blocks, -1)
    found = {("CLV", "raw"): blocks, ("Coterie", "raw"): some, ("PLS", "rank"): blocks}
    (tmp_path / "made_blocks-3.pickle").write_bytes(pickle.dumps(found))
    rows = tables.truth(tmp_path).set_index("method")
    assert rows.loc["CLV", ["split", "index", "used"]].tolist() == [3, 1, 1]
    assert rows.loc["Coterie", ["index", "used"]].tolist() == [1, 0.625]
    assert "PLS" not in rows.index


@pytest.fixture(scope="module")
def text(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    truth = pd.DataFrame(
        [{"set": "made_blocks", "split": 0, "method": "CLV", "index": 0.5, "used": 1.0}]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "N_BOOT", 5)
        write_page(found, folder, truth)
    for picture in ("fight_ranks", "fight_frontier", "fight_development"):
        assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
    return (folder / "fight.md").read_text("utf-8")


def test_the_page_says_what_flatters_and_what_is_missing(text):
    assert "were designed on twelve data sets and their splits" in text
    assert "This run was stopped early: 3 of 20 splits" in text
    assert "They flatter it" in text
    assert "No method failed" in text


def test_every_table_is_whole(text):
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert len(blocks) >= 9
    for block in blocks:
        assert len({line.count(" | ") for line in block.splitlines() if "---" not in line}) == 1
        assert "nan" not in block


def test_the_page_has_the_numbers_of_the_results(found, text):
    lines = found.query("set == 'ames' and method == 'Coterie' and model == 'plain'")
    assert f"| ames | {lines['score'].mean():.3f} (5.0) |" in text


def test_failures_are_named(found):
    broken = pd.concat(
        [found, pd.DataFrame([{"set": "ames", "method": "CLV", "note": "failed: x"}])]
    )
    assert "Failed: CLV on ames (1 times)" in page.how_it_was_done(broken.fillna({"note": ""}))


def test_words_are_wrapped_and_tables_are_not():
    row = "| a | " + "b " * 80 + "|"
    assert page.wrapped(row) == row
    lines = page.wrapped("- one " + "two " * 60 + "\n- three").splitlines()
    assert max(map(len, lines)) <= 104
    assert [line[:2] for line in lines] == ["- ", "  ", "  ", "- "]


def test_counts_that_agree_are_said_once():
    assert few(pd.Series([20, 20])) == "20"
    assert few(pd.Series([5, 7])) == "5 to 7"


def test_no_results_make_no_page(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["page", "--results", str(tmp_path / "none.csv")])
    assert "there are no results in" in capsys.readouterr().err
