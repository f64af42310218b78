import matplotlib.pyplot as plt
import numpy as np
import pytest

from coterie import NonLinCFA, stability
from coterie._model_selection.resampling import Stability
from coterie.datasets import make_groups
from coterie.plot import StabilityDisplay, plot_stability

# Features 0 and 2 are together in three of four resamples, and 1 is alone in two of them.
RESULT = Stability(
    labels=np.array([0, 1, 0]),
    resampled=np.array([[0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]),
)


def test_bars_are_how_often_groups_held():
    shown = StabilityDisplay.from_stability(RESULT).plot()
    assert [bar.get_width() for bar in shown.bars_] == [0.75, 0.5]
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["0 (2)", "1 (1)"]
    assert shown.mesh_ is None
    assert "4 resamples" in shown.ax_.get_title()


def test_cells_are_how_often_pairs_were_together_in_the_order_of_groups():
    shown = StabilityDisplay.from_stability(RESULT, ["a", "b", "c"]).plot(kind="pairs")
    expected = [[1, 0.75, 0.5], [0.75, 1, 0.25], [0.5, 0.25, 1]]
    np.testing.assert_allclose(shown.mesh_.get_array(), expected)
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["a", "c", "b"]
    assert shown.bars_ is None
    assert shown.colorbar_ is not None


def test_of_many_groups_the_largest_are_shown():
    labels = np.append(np.arange(300), np.arange(250, 270))
    shown = StabilityDisplay(Stability(labels, labels[None])).plot()
    assert len(shown.bars_) == 40
    said = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert {f"{group} (2)" for group in range(250, 270)} <= {*said}
    assert "the 40 largest of 300 groups" in shown.ax_.get_title()


def test_a_reducer_learns_again_and_stays_as_it_is():
    X, y, _ = make_groups(80, 6, 2, noise=2.0, random_state=0)
    reducer = NonLinCFA(0.02).fit(X, y)
    shown = StabilityDisplay.from_estimator(reducer, X, y, n_resamples=4, random_state=0).plot()
    expected = stability(X, y, estimator=reducer, n_resamples=4, random_state=0)
    np.testing.assert_array_equal(shown.result.resampled, expected.resampled)
    assert shown.names == [f"x{j}" for j in range(6)]


def test_all_pairs_of_very_many_features_are_refused():
    labels = np.arange(2001)
    with pytest.raises(ValueError, match=r"^kind='pairs' shows at most 2,000 features, got 2,001"):
        plot_stability(Stability(labels, labels[None]), kind="pairs")
    assert not plt.get_fignums()


def test_bad_arguments_are_refused():
    with pytest.raises(
        TypeError, match=r"^result must be a Stability, from coterie.stability, got int"
    ):
        plot_stability(3)
    with pytest.raises(ValueError, match=r"^kind must be one of 'groups', 'pairs', got 'group'"):
        plot_stability(RESULT, kind="group")
    with pytest.raises(
        ValueError, match=r"^names must hold one name for each of 3 features, got 2\.$"
    ):
        plot_stability(RESULT, names=["a", "b"])
    assert not plt.get_fignums()


def test_what_is_left_out_has_no_bar_and_no_outline():
    labels = np.array([0, 0, -1, 1, 1, -1])
    result = Stability(labels=labels, resampled=np.array([labels, labels]))
    shown = StabilityDisplay.from_stability(result).plot()
    assert [float(bar.get_width()) for bar in shown.bars_] == [1, 1]
    pairs = StabilityDisplay.from_stability(result).plot(kind="pairs")
    cells = np.asarray(pairs.mesh_.get_array()).reshape(6, 6)
    np.testing.assert_array_equal(cells[4:], np.eye(6)[4:])
