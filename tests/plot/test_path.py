import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from coterie import Coterie, GenLinCFA, LinCFA, NonLinCFA, ToleranceCV
from coterie._model_selection.tuning import TolerancePath
from coterie.datasets import make_groups
from coterie.plot import NumberPathDisplay, PathDisplay, plot_path

# Out of order, so that lines must be sorted. Means 0.5, 0.8, 0.75; the standard error of two
# folds is half of what they differ by: 0.1, 0.1, 0.05.
PATH = TolerancePath(
    tolerances=np.array([1.0, 0.01, 0.1]),
    n_groups=np.array([1, 9, 4]),
    labels=np.zeros((3, 9), dtype=np.intp),
    train_scores=np.array([0.6, 0.95, 0.9]),
    cv_scores=np.array([[0.4, 0.6], [0.7, 0.9], [0.7, 0.8]]),
)


def test_lines_and_band_are_those_of_the_path():
    shown = PathDisplay.from_path(PATH).plot()
    assert shown.ax_.get_xscale() == "log"
    np.testing.assert_array_equal(shown.score_line_.get_xdata(), [0.01, 0.1, 1.0])
    np.testing.assert_allclose(shown.score_line_.get_ydata(), [0.8, 0.75, 0.5])
    np.testing.assert_array_equal(shown.train_line_.get_ydata(), [0.95, 0.9, 0.6])
    np.testing.assert_array_equal(shown.groups_line_.get_ydata(), [9, 4, 1])
    corners = {tuple(point) for point in shown.band_.get_paths()[0].vertices.round(10).tolist()}
    assert {(0.01, 0.7), (0.01, 0.9), (0.1, 0.7), (0.1, 0.8), (1.0, 0.4), (1.0, 0.6)} <= corners


def test_best_and_simplest_are_marked_with_what_they_are():
    shown = PathDisplay.from_path(PATH, own=0.3).plot()
    # 0.75 is within one standard error, 0.1, of the best, 0.8; 0.5 is not.
    assert (shown.best_.get_xdata()[0], shown.best_.get_ydata()[0]) == (0.01, pytest.approx(0.8))
    assert shown.simplest_.get_xdata()[0] == 0.1
    assert shown.own_.get_xdata() == [0.3, 0.3]
    said = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert {"best: 9 groups at 0.01", "simplest: 4 groups at 0.1", "own: 0.3"} <= {*said}


def test_one_fold_has_no_band():
    one = TolerancePath(
        PATH.tolerances, PATH.n_groups, PATH.labels, PATH.train_scores, PATH.cv_scores[:, :1]
    )
    assert PathDisplay.from_path(one).plot().band_ is None


@pytest.mark.parametrize("ends", [(0.0, np.inf), (0.0, 1.0), (0.1, np.inf), (0.0, 0.0)])
def test_zero_and_infinity_have_places_beside_the_others(ends):
    tolerances = np.array([ends[0], 0.05, ends[1]])
    path = TolerancePath(tolerances, PATH.n_groups, PATH.labels, PATH.train_scores, PATH.cv_scores)
    shown = PathDisplay.from_path(path).plot()
    shown.figure_.canvas.draw()
    ticks = dict(zip(shown.ax_.get_xticks(), shown.ax_.get_xticklabels()))
    places = shown.score_line_.get_xdata()
    assert np.isfinite(places).all()
    assert (np.diff(places) >= 0).all()
    for tolerance, word, place in [(0.0, "0", places[0]), (np.inf, "∞", places[-1])]:
        if tolerance in ends:
            assert ticks[place].get_text() == word


@pytest.mark.parametrize("estimator", [NonLinCFA(cv=None), GenLinCFA()])
def test_a_tuned_reducer_shows_its_path_and_its_tolerance(estimator):
    X, y, _ = make_groups(90, 8, 2, noise=2.0, random_state=0)
    reducer = ToleranceCV(estimator, n_tolerances=4, cv=3).fit(X, y)
    shown = PathDisplay.from_estimator(reducer).plot()
    assert shown.path is reducer.path_
    assert shown.own == reducer.tolerance_ == shown.best_.get_xdata()[0]


def test_the_path_of_a_plain_reducer_is_made():
    X, y, _ = make_groups(90, 8, 2, noise=2.0, random_state=0)
    ax = plot_path(NonLinCFA(0.02), X, y, n_tolerances=4, cv=3)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "own: 0.02" in said
    assert PathDisplay.from_estimator(NonLinCFA(), X, y, n_tolerances=2, cv=3).own is None


@pytest.mark.parametrize("path", [NonLinCFA(0.1), LinCFA(), "path", [0.1, 0.2]])
def test_what_has_no_path_is_refused(path):
    with pytest.raises(TypeError, match=r"^path must be a TolerancePath, or a fitted ToleranceCV"):
        plot_path(path)
    assert not plt.get_fignums()


def test_a_tuned_reducer_must_be_fitted():
    with pytest.raises(NotFittedError):
        plot_path(ToleranceCV())


def test_a_coterie_shows_its_numbers_of_groups_and_the_reason():
    X, y, _ = make_groups(150, 12, 3, noise=1.0, random_state=0)
    reducer = Coterie().fit(X, y)
    shown = NumberPathDisplay.from_estimator(reducer).plot()
    np.testing.assert_array_equal(shown.score_line_.get_xdata(), reducer.path_["n_groups"])
    np.testing.assert_array_equal(shown.score_line_.get_ydata(), reducer.path_["score"])
    np.testing.assert_array_equal(shown.stability_line_.get_ydata(), reducer.path_["stability"])
    assert shown.chosen_.get_xdata()[0] == reducer.n_groups_
    ax = plot_path(reducer)
    assert " ".join(ax.get_xlabel().split()) == f"Number of groups {reducer.choice_}"
    ticks = [text.get_text() for text in ax.get_xticklabels()]
    assert ticks == [str(number) for number in reducer.path_["n_groups"]]


def test_a_number_that_was_not_scored_is_a_line():
    X, y, _ = make_groups(150, 12, 3, noise=1.0, random_state=0)
    shown = NumberPathDisplay.from_estimator(Coterie(n_groups=4).fit(X, y)).plot()
    assert list(shown.chosen_.get_xdata()) == [4, 4]
    assert "this fit: 4 groups" in [t.get_text() for t in shown.ax_.get_legend().get_texts()]


def test_numbers_of_groups_need_a_coterie():
    X, y, _ = make_groups(90, 8, 2, noise=2.0, random_state=0)
    with pytest.raises(TypeError, match="such as a fitted Coterie, got NonLinCFA"):
        NumberPathDisplay.from_estimator(NonLinCFA().fit(X, y))
