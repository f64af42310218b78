"""Draw the pictures of the README and of docs from the fits they show."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie import Coterie, NonLinCFA, ToleranceCV
from coterie.datasets import load_tecator, make_groups
from coterie.plot import plot_effects, plot_groups, plot_path, plot_trace, plot_tree


def tecator_groups(path: Path) -> None:
    X, y = load_tecator(return_X_y=True, as_frame=True)
    reducer = Coterie().fit(X[:172], y[:172])
    figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
    plot_groups(reducer, X, positions=range(1, 101), ax=ax)
    title = f"Tecator: 100 channels become {reducer.n_groups_} columns"
    ax.set(xlabel="channel (850 to 1050 nm)", ylabel="mean absorbance", title=title)
    figure.savefig(path, dpi=110)


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
    here = Path(__file__).parent / "images"
    tecator_groups(here / "tecator_groups.png")
    plots_tecator(here / "plots_tecator.png")
    plots_path(here / "plots_path.png")
    plots_tree(here / "plots_tree.png")
    plots_joint(here / "plots_joint.png")
    report(here / "report.png")
