"""What a notebook shows of a reducer."""

import re
import sys
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from coterie import Coterie, GenLinCFA, NonLinCFA, TablePreparer, ToleranceCV
from coterie.datasets import make_groups


class Rows(HTMLParser):
    """The texts of the cells of each row of the table of groups."""

    def __init__(self, html):
        super().__init__()
        self.rows, self._inside = [], False
        self.feed(html[html.index('<div class="coterie-groups"') :])

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        self._inside = tag in ("td", "th")
        if self._inside:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


def shown_by_scikit_learn(reducer):
    """The diagram alone, its ids taken out: they count up."""
    return without_ids(BaseEstimator._repr_html_inner(reducer))


def without_ids(html):
    return re.sub(r"sk-(container|estimator)-id-\d+", "id", html)


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_groups(120, 12, 3, noise=2.0, random_state=0)
    return X, y


def test_a_fitted_reducer_shows_its_groups_the_largest_first(data):
    X, y = data
    reducer = NonLinCFA(0.01).fit(X, y)
    head, *rows = Rows(reducer._repr_html_()).rows
    assert head == ["group", "column", "size", "highest price"]
    sizes = [len(members) for members in reducer.groups_]
    assert [int(row[2]) for row in rows] == sorted(sizes, reverse=True)
    names = reducer.get_feature_names_out()
    for number, name, size, price in rows:
        assert name == names[int(number)]
        assert int(size) == sizes[int(number)]
        merges = [r.price for r in reducer.trace_ if r.accepted and r.group == int(number)]
        assert price == (f"{max(merges):.2g}" if merges else "")


def test_the_diagram_is_that_of_scikit_learn(data):
    X, y = data
    for reducer in (NonLinCFA(0.01).fit(X, y), GenLinCFA().fit(X, y)):
        whole = without_ids(reducer._repr_html_())
        assert whole.startswith(shown_by_scikit_learn(reducer))
        bundle = reducer._repr_mimebundle_()
        assert without_ids(bundle["text/html"]) == whole
        assert bundle["text/plain"] == repr(reducer)


def test_an_unfitted_reducer_shows_the_diagram_alone():
    for reducer in (NonLinCFA(), ToleranceCV()):
        assert without_ids(reducer._repr_html_()) == shown_by_scikit_learn(reducer)
        assert "coterie-groups" not in reducer._repr_mimebundle_()["text/html"]


def test_text_display_stays_text(data):
    reducer = NonLinCFA(0.01).fit(*data)
    with config_context(display="text"):
        assert not hasattr(reducer, "_repr_html_")
        assert reducer._repr_mimebundle_() == {"text/plain": repr(reducer)}


def test_repr_and_pipelines_are_as_ever(data):
    reducer = NonLinCFA(0.01)
    assert repr(reducer.fit(*data)) == "NonLinCFA(tolerance=0.01)"
    pipeline = make_pipeline(reducer).fit(*data)
    assert "coterie-groups" not in pipeline._repr_html_()


def test_many_groups_are_counted_and_not_shown(rng):
    X = rng.normal(size=(60, 100))
    reducer = NonLinCFA(0.0, cv=None, keep=list(range(100))).fit(X, X[:, 0])
    assert reducer.n_groups_ == 100
    _, *rows, last = Rows(reducer._repr_html_()).rows
    assert len(rows) == 12
    assert last == ["and 88 more"]
    assert [row[0] for row in rows] == [str(k) for k in range(12)]


def test_hostile_names_are_text(rng):
    names = ["<script>alert(1)</script>", "a&b", '"><img src=x onerror=alert(1)>', "'"]
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=names)
    reducer = NonLinCFA(0.0, cv=None, keep=names).fit(X, X["a&b"])
    html = reducer._repr_html_()
    table = html[html.index('<div class="coterie-groups"') :]
    assert "<script" not in table
    assert "<img" not in table
    assert [row[1] for row in Rows(html).rows[1:]] == names
    assert all(unescape(name) in unescape(table) for name in names)


def test_a_fit_that_failed_half_way_is_still_shown(data):
    X, y = data
    reducer = NonLinCFA(0.01).fit(X, y)
    with pytest.raises(ValueError):
        reducer.set_params(keep=["no such column"]).fit(X[:, :5], y)
    assert reducer._repr_html_()


def test_tuned_and_signed_reducers_have_tables_too(rng):
    factor = rng.normal(size=(90, 1))
    X = factor * [1, -1, 1] + 0.1 * rng.normal(size=(90, 3))
    reducer = ToleranceCV(NonLinCFA(cv=None, signs=True), n_tolerances=3, cv=3).fit(
        X, factor.ravel()
    )
    rows = Rows(reducer._repr_html_()).rows[1:]
    assert sum(int(row[2]) for row in rows) == 3
    assert np.all([row[1] in reducer.get_feature_names_out() for row in rows])


def test_a_fit_is_readable_and_becomes_a_frame(data):
    X, y = data
    names = [f"a<b {number}" for number in range(X.shape[1])]
    reducer = Coterie().fit(pd.DataFrame(X, columns=names), y)
    fit, columns = reducer.fit_, list(reducer.get_feature_names_out())
    head, *lines = repr(fit).splitlines()
    assert head.startswith(f"Fit: 12 columns in {reducer.n_groups_} group")
    assert ("left out" in head) == (len(reducer.rest_) > 0)
    assert sorted(line.split(": ", 1)[1].rpartition(" (")[0] for line in lines) == sorted(columns)
    assert Rows(fit._repr_html_()).rows == Rows(reducer._repr_html_()).rows
    frame = fit.to_frame()
    assert frame["group"].tolist() == columns
    assert frame["members"].tolist() == [[names[m] for m in one] for one in reducer.groups_]
    assert frame["n_members"].tolist() == [len(one) for one in reducer.groups_]
    merges = reducer.trace_[reducer.trace_.accepted]
    for group, price in enumerate(frame["highest_price"]):
        paid = merges.price[merges.group == group]
        assert price == paid.max() if len(paid) else np.isnan(price)


def test_a_fit_of_other_columns_numbers_them(data):
    X, y = data
    fit = NonLinCFA(0.01, inputs=lambda table: np.hstack([table, table**2])).fit(X, y).fit_
    assert repr(fit).startswith("Fit: 24 columns in")
    members = [name for names in fit.to_frame()["members"] for name in names]
    assert sorted(members) == sorted(f"input{number}" for number in range(24))


def test_frames_need_pandas_and_say_so(data, monkeypatch):
    fit = NonLinCFA(0.01).fit(*data).fit_
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas: pip install pandas"):
        fit.to_frame()


@pytest.mark.parametrize("estimator", [Coterie(), NonLinCFA(), ToleranceCV(), TablePreparer()])
def test_the_diagram_links_to_the_page_of_the_class(estimator):
    page = f"https://coterie-dev.github.io/coterie/api/generated/coterie.{type(estimator).__name__}"
    assert f'href="{page}.html' in estimator._repr_html_()
