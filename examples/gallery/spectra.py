"""
Spectra: which bands carry the fat?
===================================

Near-infrared spectra of 215 meat samples, 100 channels from 850 to 1048 nm, and the fat content
from chemistry (the Tecator data, which ship with coterie). Neighbouring channels are nearly
copies of each other, so a model on all channels has coefficients that nobody can read. We want
a few bands that a spectroscopist would draw, and a model as good as partial least squares.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, RepeatedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import coterie
from coterie.datasets import load_tecator

X, y = load_tecator(return_X_y=True)
wavelengths = np.arange(850, 1050, 2)

# %%
# Bands are contiguous if only neighbouring channels may merge. Neighbours are a chain along the
# wavelengths; ``coordinates_to_graph`` makes it.

chain = coterie.coordinates_to_graph(wavelengths, distance=2)
bands = coterie.Coterie(connectivity=chain).fit(X, y)
for members, stability in zip(bands.groups_, bands.stability_, strict=True):
    first, last = wavelengths[members[[0, -1]]]
    print(f"{first:5d} to {last:4d} nm  {len(members):3d} channels  found again: {stability:.0%}")
print(bands.choice_)

# %%

figure, axes = plt.subplots(figsize=(7.5, 3.5), layout="constrained")
coterie.plot.plot_groups(bands, X, positions=wavelengths, ax=axes)
labels = axes.set(xlabel="Wavelength (nm)", ylabel="Mean absorbance")

# %%
# Narrow bands lie around the absorption of fat near 930 nm, where a nanometre matters to the
# target, and wide ones where it does not. How well do they predict, on samples that neither the
# bands nor the model have seen? Both methods choose their size inside the training rows.

folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
pls = GridSearchCV(PLSRegression(), {"n_components": [3, 5, 8, 12, 16, 20]}, cv=5)
rivals = {
    "least squares on bands": make_pipeline(
        coterie.Coterie(connectivity=chain), LinearRegression()
    ),
    "partial least squares": pls,
    "least squares on all channels": LinearRegression(),
}
for name, model in rivals.items():
    scores = cross_val_score(model, X, y, cv=folds)
    print(f"R2 {scores.mean():.3f} ± {scores.std():.3f}  {name}")

# %%
# The bands are columns with names, for a table or a colleague. Fewer bands are a look-up away,
# without a new fit:

few = bands.with_n_groups(5)
for members in few.groups_:
    print(f"{wavelengths[members[0]]} to {wavelengths[members[-1]]} nm")
if len(few.rest_):
    print(f"left out: {len(few.rest_)} channels")
