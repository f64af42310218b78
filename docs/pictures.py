"""Draw the pictures of the README and of docs from the fits they show."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np
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


BLUE, RED, GREY = "#4477aa", "#cc4433", "#777777"


def joint_price(path: Path) -> None:
    """The penalised sum of squares around its minimum, and the line on which two groups are one."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    for ax, needed, title in zip(
        axes,
        [(1.15, 0.85), (1.9, 0.1)],
        ["They mean the same: a small price", "The target needs them apart: a large price"],
        strict=True,
    ):
        rng = np.random.default_rng(1)
        shared = rng.normal(size=(150, 1))
        S = 0.8 * shared + 0.6 * rng.normal(size=(150, 2))
        y = S @ needed + 2.0 * rng.normal(size=150)
        S, y = S - S.mean(axis=0), y - y.mean()
        A, noise = S.T @ S + np.eye(2), 4.0
        theta, K = np.linalg.solve(A, S.T @ y), np.linalg.inv(A)
        a = np.array([1.0, -1.0])
        merged = theta - K @ a * (a @ theta) / (a @ K @ a)
        price = (a @ theta) ** 2 / (a @ K @ a) / noise
        grid = np.linspace(-0.7, 2.7, 200)
        d = np.stack(np.meshgrid(grid, grid), axis=-1) - theta
        J = np.einsum("...i,ij,...j", d, A, d) / noise
        ax.contour(grid, grid, J, levels=[1, 4, 16, 36, 64], colors="#bbbbbb", linewidths=0.8)
        ax.contour(grid, grid, J, levels=[price], colors=RED, linewidths=2)
        ax.plot(grid, grid, color=BLUE)
        ax.text(1.95, 2.12, "one group", color=BLUE, rotation=45, rotation_mode="anchor")
        arrow = {"arrowstyle": "-", "color": GREY, "lw": 0.8}
        ax.plot(*theta, "o", color="black")
        ax.annotate("two groups", theta, (1.75, -0.45), arrowprops=arrow)
        ax.plot(*merged, "o", color=RED)
        words = f"merged: the price is {price:.1f}"
        ax.annotate(words, merged, (-0.6, 2.4), color=RED, arrowprops=arrow)
        ax.set(title=title, xlabel="coefficient of group g", aspect="equal")
    axes[0].set_ylabel("coefficient of group h")
    figure.savefig(path, dpi=110)


def paper_rule(path: Path) -> None:
    """Price and allowance of NonLinCFA for two standardised features, as they become alike."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    r = np.linspace(0, 0.999, 300)
    for (b1, b2), colour, style in [((1, 1), BLUE, "-"), ((1, 0.6), GREY, "-"), ((1, 0), RED, "-")]:
        signal = b1**2 + b2**2 + 2 * r * b1 * b2
        of_mean = (b1 + b2) ** 2 * (1 + r) / 2
        left.plot(r, (signal - of_mean) / (signal + 1), color=colour, ls=style)
        lies = np.searchsorted(r, 0.2 if b2 < 0.5 else 0.02)
        height = ((signal - of_mean) / (signal + 1))[lies]
        words = {1: "y = u + v + noise", 0.6: "y = u + 0.6 v + noise", 0: "y = u + noise"}[b2]
        left.annotate(words, (r[lies], height), (r[lies], height + 0.006), color=colour)
    left.axhline(np.log(100) * 0.5 / 97, color="black", ls="--", lw=1)
    left.annotate("allowance, 100 rows", (0.62, np.log(100) * 0.5 / 97 + 0.006))
    left.set(xlabel="correlation of u and v", ylabel="R2 that the merge loses", ylim=(-0.01, 0.3))
    left.set_title("Price")
    n = np.geomspace(10, 10_000, 200)
    for share, colour in [(0.9, RED), (0.5, GREY), (0.1, BLUE)]:
        right.loglog(n, np.log(n) * share / (n - 3), color=colour, label=f"{share:.0%} noise")
    right.set(xlabel="rows", ylabel="R2 that a merge may lose", title='Allowance, "bic"')
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)


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
    joint_price(here / "joint_price.png")
    paper_rule(here / "paper_rule.png")
    report(here / "report.png")
