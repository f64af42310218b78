"""A group is as important as the score without it is lower, and has a best member."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import NonLinCFA
from coterie.datasets import make_groups
from coterie.report.inspection import report_html
from coterie.report.studies import _contributions
from coterie.report.studies._splits import Splits


@pytest.fixture(scope="module")
def fit():
    X, y, _ = make_groups(120, 9, 3, noise=2.0, random_state=0)
    return NonLinCFA().fit(X, y), X, y


def test_contributions_are_those_of_models_without_the_group(fit):
    reducer, X, y = fit
    Z = reducer.transform(X)
    found = coterie.group_importance(reducer, X, y, cv=3, n_repeats=1)
    lost = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(Z):
        chosen = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-10, 3, 27) * len(train)))
        chosen.fit(Z[train], y[train])

        def score(columns, train=train, test=test, penalty=chosen[-1].alpha_):
            model = make_pipeline(StandardScaler(), Ridge(penalty))
            return model.fit(columns[train], y[train]).score(columns[test], y[test])

        lost.append([score(Z) - score(np.delete(Z, k, axis=1)) for k in range(Z.shape[1])])
    assert found.contributions == pytest.approx(np.mean(lost, axis=0), abs=1e-9)
    assert (found.errors > 0).all()


def test_a_group_that_predicts_nothing_contributes_nothing(rng):
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    reducer = NonLinCFA(keep=[0, 1]).fit(X, y)
    found = coterie.group_importance(reducer, X, y)
    useful, useless = found.contributions
    assert useful > 0.9
    assert abs(useless) < 0.01
    frame = found.to_frame()
    assert frame["contribution"].is_monotonic_decreasing
    assert list(frame.columns) == ["group", "contribution", "interval_low", "interval_high"]
    middle = (frame["interval_low"] + frame["interval_high"]) / 2
    assert middle.tolist() == pytest.approx(frame["contribution"].tolist())


def test_representatives_are_most_correlated_with_their_aggregate(fit):
    reducer, X, _ = fit
    Z = reducer.transform(X)
    chosen = coterie.representatives(reducer, X)
    for group, members in enumerate(reducer.groups_):
        like = [abs(np.corrcoef(X[:, one], Z[:, group])[0, 1]) for one in members]
        assert chosen.features[group] == members[int(np.argmax(like))]
        assert chosen.correlations[group] == pytest.approx(max(like))
    np.testing.assert_array_equal(chosen.transform(X), X[:, chosen.features])
    frame = chosen.to_frame()
    assert frame["group"].tolist() == list(reducer.get_feature_names_out())
    assert frame["feature"].tolist() == chosen.features.tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_representatives_of_a_frame_are_found_by_name(library, fit):
    frames = pytest.importorskip(library)
    _, X, y = fit
    names = [f"sensor {one}" for one in range(X.shape[1])]
    whole = frames.DataFrame(dict(zip(names, X.T)))
    reducer = coterie.Coterie().fit(whole, y)
    chosen = coterie.representatives(reducer, whole)
    measured = whole[chosen.names[::-1]]
    for table in (whole, measured):
        found = chosen.transform(table)
        assert isinstance(found, frames.DataFrame)
        assert list(found.columns) == chosen.names
        np.testing.assert_array_equal(found.to_numpy(), X[:, chosen.features])
    with pytest.raises(ValueError, match=f"X must have the columns '{chosen.names[0]}'"):
        chosen.transform(whole[chosen.names[1:]])


def test_representatives_have_the_values_of_x_whatever_the_fit_makes_of_them(fit):
    _, X, y = fit
    reducer = coterie.Coterie(inputs="rank").fit(X, y)
    chosen = coterie.representatives(reducer, X)
    np.testing.assert_array_equal(chosen.transform(X.tolist()), X[:, chosen.features])
    with pytest.raises(ValueError, match=r"X must have the 9 features of the fit, got shape"):
        chosen.transform(X[:, :3])


def test_representatives_of_own_inputs_are_columns_of_these(fit):
    _, X, y = fit
    reducer = NonLinCFA(inputs=np.square).fit(X, y)
    chosen = coterie.representatives(reducer, X)
    np.testing.assert_array_equal(chosen.transform(X), X[:, chosen.features] ** 2)


def test_a_study_tells_what_each_group_contributes(fit):
    _, X, y = fit
    result = coterie.report.study(X, y, path=False)
    found = coterie.group_importance(result.reducer, X, y)
    groups = result.summary.groups
    told = [(group.contribution, group.contribution_error) for group in groups]
    assert np.array(told) == pytest.approx(
        np.column_stack([found.contributions, found.errors]), abs=1e-12
    )
    assert [group.representative for group in groups] == coterie.representatives(
        result.reducer, X
    ).features.tolist()
    once = coterie.report.study(X, y, path=False, test_last=True).summary
    assert all(group.contribution is not None for group in once.groups)
    assert all(group.contribution_error is None for group in once.groups)
    none = coterie.report.study(X, y, path=False, test_share=0).summary
    assert all(group.contribution is None for group in none.groups)


def test_contributions_that_would_take_long_are_left_out_with_a_word(fit, monkeypatch):
    _, X, y = fit
    monkeypatch.setattr(_contributions, "MAX_PRODUCTS", 1.0)
    summary = coterie.report.study(X, y, path=False).summary
    assert all(group.contribution is None for group in summary.groups)
    assert any("coterie.group_importance" in note for note in summary.notes)


def test_large_tables_have_fewer_splits_and_huge_ones_none():
    rows, splits = range(10_000), Splits([((), ())] * 15, "")
    sizes = range(1, 400)
    counts = [_contributions._affordable_splits(k, rows, "gaussian", splits) for k in sizes]
    assert counts[0] == 15
    assert counts[-1] == 0
    assert (np.diff(counts) <= 0).all()
    assert all(count == 0 or count >= 3 for count in counts)
    assert 3 in counts


def test_results_become_frames_and_are_readable(fit):
    _, X, y = fit
    result = coterie.report.study(X, y, test_last=True, path=False)
    frame = result.to_frame()
    assert frame["method"].tolist() == [one.name for one in result.summary.scores]
    assert frame["R2"].tolist() == [one.score for one in result.summary.scores]
    assert result.verdict.sentence in repr(result)
    assert len(repr(result)) < 2000
    assert "<table" in result._repr_html_()
    compared = coterie.report.compare(X, y, cv=2)
    assert compared.to_frame()["method"].iloc[0] == "coterie"
    assert "ridge on all columns" in repr(compared)


def test_differences_and_intervals_are_in_frames_and_notebooks():
    X, y, _ = make_groups(150, 9, 3, noise=2.0, random_state=0)
    result = coterie.report.study(X, y > 0, path=False)
    frame = result.to_frame().set_index("method")
    width = frame["interval_high"] - frame["interval_low"]
    assert (width / 2).tolist() == pytest.approx([s.half_width for s in result.summary.scores])
    assert width["coterie"] / 2 == pytest.approx(result.verdict.error)
    for one in result.verdict.differences:
        name = "difference" if one.metric == "ROC AUC" else "log-loss difference"
        assert frame.loc[one.rival, name] == pytest.approx(one.gain)
        ends = frame.loc[one.rival, [f"{name}_low", f"{name}_high"]]
        assert ends.tolist() == pytest.approx([one.gain - one.error, one.gain + one.error])
    assert "standard error" not in repr(result)
    assert "log-loss" in result._repr_html_()
    assert "coterie is" in result._repr_html_()
    assert f"\N{PLUS-MINUS SIGN} {result.verdict.error:.4f}" in repr(result)
    page = report_html(result.summary)
    assert "Coterie is" in page
    assert "half the width of a 95 % interval" in page


def test_levels_of_one_column_are_left_out_together(rng):
    """Each level follows from the others, so that none alone would lose anything."""
    city = rng.choice(["Oslo", "Paris", "Rome"], 300)
    table = pd.DataFrame({"city": city, "size": rng.normal(size=300)})
    y = np.select([city == "Oslo", city == "Rome"], [-2.0, 2.0], 0.0) + 0.1 * table["size"]
    y = y + 0.3 * rng.normal(size=300)
    result = coterie.report.study(table, y, path=False, estimator=coterie.Coterie(rest="keep"))
    groups = {one.name: one.contribution for one in result.summary.groups}
    levels = [value for name, value in groups.items() if "city=" in name]
    assert len(levels) >= 2
    assert min(levels) > 0.8
    assert len({round(one, 9) for one in levels}) == 1
    X = result.preparer.transform(table)
    found = coterie.group_importance(result.reducer, X, y).to_frame().set_index("group")
    assert (found.loc[[name for name in groups if "city=" in name], "contribution"] > 0.8).all()


def test_groups_are_as_important_in_any_order_of_rows_with_times(fit):
    reducer, X, y = fit
    order = np.random.default_rng(0).permutation(len(y))
    expected = coterie.group_importance(reducer, X, y, by_time=True).contributions
    found = coterie.group_importance(reducer, X[order], y[order], by_time=order).contributions
    assert found == pytest.approx(expected)
