"""Draw the pictures of the README and of docs from the fits they show."""

import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie import Coterie, NonLinCFA, ToleranceCV
from coterie.datasets import load_tecator, make_groups
from coterie.plot import plot_effects, plot_groups, plot_path, plot_trace, plot_tree

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"]
MARKERS = ["o", "s", "^"]
ALONE = "#bbbbbb"


def tecator_groups(path: Path) -> None:
    tecator = load_tecator()
    reducer = Coterie().fit(tecator.data[:172], tecator.target[:172])
    mean = tecator.data.mean(axis=0)
    channels = np.arange(1, 101)
    figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
    axes.plot(channels, tecator.data[:172:6].T, color="#e8e8e8", linewidth=0.7, zorder=1)
    larger = [members for members in reducer.groups_ if len(members) > 1]
    single = [members for members in reducer.groups_ if len(members) == 1]
    for label, some in (("alone", single), ("left out", [reducer.rest_])):
        if sum(map(len, some)):
            places = np.concatenate(some)
            axes.scatter(channels[places], mean[places], color=ALONE, s=14, label=label, zorder=2)
    for (marker, colour), members in zip(product(MARKERS, COLOURS), larger, strict=False):
        style = {"color": colour, "marker": marker, "label": f"mean of {len(members)}"}
        axes.scatter(channels[members], mean[members], s=26, zorder=3, **style)
    assert len(larger) <= len(MARKERS) * len(COLOURS), "more groups than styles"
    axes.set(
        xlabel="channel (850 to 1050 nm)",
        ylabel="absorbance",
        xlim=(0, 101),
        title=f"Tecator: 100 channels become {reducer.n_groups_} columns",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        ncols=1, fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    figure.savefig(path, dpi=130)


def plots_tecator(path: Path) -> None:
    X, y = load_tecator(return_X_y=True)
    reducer = NonLinCFA().fit(X[:172], y[:172])
    figure, (above, below) = plt.subplots(2, figsize=(7.5, 6.5), layout="constrained")
    plot_groups(reducer, X, positions=range(850, 1050, 2), ax=above)
    above.set(xlabel="Wavelength (nm)", ylabel="Mean absorbance")
    plot_trace(reducer, ax=below)
    figure.savefig(path, dpi=90)


def plots_path(path: Path) -> None:
    X, y, _ = make_groups(300, 30, 5, noise=3.0, random_state=0)
    ax = plot_path(ToleranceCV(one_standard_error=True).fit(X, y))
    ax.figure.savefig(path, dpi=90)


def plots_tree(path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    plot_tree(Coterie().fit(X, y)).figure.savefig(path, dpi=90)


def plots_joint(path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    reducer = Coterie().fit(X, y)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(reducer.transform(X), y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
    plot_path(reducer, ax=left)
    plot_effects(reducer, model, X, y, ax=right)
    figure.savefig(path, dpi=80)


def report(path: Path) -> None:
    """The upper part of the report that `coterie demo` writes, in Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        subprocess.run([sys.executable, "-m", "coterie", "demo", "-q", "-o", folder], check=True)
        browser = browsers.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 900, "height": 1500}, color_scheme="light")
        page.goto(Path(folder, "report.html").as_uri())
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    here = Path(__file__).parent
    tecator_groups(here / "tecator_groups.png")
    plots_tecator(here / "plots_tecator.png")
    plots_path(here / "plots_path.png")
    plots_tree(here / "plots_tree.png")
    plots_joint(here / "plots_joint.png")
    report(here / "report.png")
