"""
A weather field: regions that drive an index
============================================

Monthly sea-surface temperatures on a grid, and an index of rainfall somewhere else. Which
regions of the ocean matter, and with which sign? The field here is made, so that the answer is
known: the index follows a warm pool in the east and, with a minus, one in the west; everything
else is weather.
"""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from scipy.ndimage import gaussian_filter
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import TimeSeriesSplit

import coterie

rng = np.random.default_rng(0)
lat, lon = np.arange(-20.0, 21.0, 4.0), np.arange(140.0, 281.0, 5.0)
months = np.datetime64("1985-01") + np.arange(360)


def slow(n, memory=0.8):
    """A series that remembers: each month is a share of the last one."""
    steps = rng.standard_normal(n)
    for month in range(1, n):
        steps[month] = memory * steps[month - 1] + np.sqrt(1 - memory**2) * steps[month]
    return steps


def pool(centre_lat, centre_lon):
    """How much each cell belongs to a region."""
    north, east = np.meshgrid(lat, lon, indexing="ij")
    return np.exp(-(((north - centre_lat) / 8) ** 2) - ((east - centre_lon) / 18) ** 2)


east, west = slow(360), slow(360)
weather = gaussian_filter(rng.standard_normal((360, len(lat), len(lon))), (0, 1.5, 1.5)) * 2
anomalies = 1.2 * east[:, None, None] * pool(0, 245) + west[:, None, None] * pool(4, 160) + weather
field = xr.DataArray(
    anomalies,
    coords={"time": months.astype("datetime64[ns]"), "lat": lat, "lon": lon},
    dims=("time", "lat", "lon"),
    name="sst",
)
index = 1.0 * east - 0.7 * west + 0.7 * rng.standard_normal(360)

# %%
# A field goes in as it is. ``field_to_graph`` says which cells are neighbours, so that groups are
# connected regions. Months are in time: ``TimeSeriesSplit`` always holds out later ones.

train, test = slice(0, 270), slice(270, None)
regions = coterie.Coterie(
    connectivity=coterie.field_to_graph(field[train]), cv=TimeSeriesSplit(5)
).fit(field[train], index[train])
print(f"{field[0].size} cells became {regions.n_groups_} regions.")
print(f"{len(regions.rest_)} cells are left out: they add nothing, given the regions.")

# %%

figure, axes = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
coterie.plot.plot_map(regions, ax=axes)

# %%
# The effect of a region, in units of the index per standard deviation of the region, and the R2
# on the last seven and a half years:

Z, Z_test = np.asarray(regions.transform(field[train])), np.asarray(regions.transform(field[test]))
model = LinearRegression().fit(Z, index[train])
for number, effect in enumerate(model.coef_ * Z.std(axis=0)):
    print(f"region {number}: {len(regions.groups_[number]):3d} cells, effect {effect:+.2f}")
print(f"R2 on later months: {model.score(Z_test, index[test]):.3f}")
known = 1 - 0.7**2 / index.var()
print(f"R2 of someone who knows both pools exactly: {known:.3f}")
