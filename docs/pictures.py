"""Draw the pictures of the README from the fits they show."""

from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt

from coterie import NonLinCFA
from coterie.datasets import load_tecator

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"]
MARKERS = ["o", "s", "^"]
ALONE = "#bbbbbb"


def tecator_groups(path: Path) -> None:
    tecator = load_tecator()
    reducer = NonLinCFA().fit(tecator.data[:172], tecator.target[:172])
    mean = tecator.data.mean(axis=0)
    channels = np.arange(1, 101)
    figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
    axes.plot(channels, tecator.data[:172:6].T, color="#e8e8e8", linewidth=0.7, zorder=1)
    larger = [members for members in reducer.groups_ if len(members) > 1]
    single = np.concatenate([members for members in reducer.groups_ if len(members) == 1])
    axes.scatter(channels[single], mean[single], color=ALONE, s=14, label="alone", zorder=2)
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


if __name__ == "__main__":
    tecator_groups(Path(__file__).parent / "tecator_groups.png")
