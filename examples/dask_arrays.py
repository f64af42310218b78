"""Group the columns of Dask arrays, Dask data frames from Parquet, and xarray fields over Dask.

Needs ``pip install 'coterie[dask]' xarray``. The data are generated and small; the same code works
for data larger than memory. To use workers on several machines, put
``client = distributed.Client(address)`` first.
"""

import tempfile

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import xarray as xr

from coterie import Coterie, moments_from
from coterie.datasets import make_groups

# 20,000 rows of 40 columns that belong to 4 hidden groups.
X, y, labels = make_groups(20_000, 40, 4, noise=3.0, random_state=0)

# 1. An array, in chunks of rows (chunks along columns are joined).
table = da.from_array(X, chunks=(2_500, 40))
target = da.from_array(y, chunks=2_500)
reducer = Coterie().fit(table, target)  # one pass over X; only sums come back
groups = reducer.transform(table)  # nothing is computed yet
print(f"dask.array: {table.shape[1]} columns became {groups.shape[1]}")
print(f"  the hidden groups were found: {(reducer.labels_ == labels).all()}")
print(f"  mean of the first group: {groups[:, 0].mean().compute():.4f}")

# 2. A data frame from a folder of Parquet files, with the target in a column.
with tempfile.TemporaryDirectory() as folder:
    frame = pd.DataFrame(X, columns=[f"station {i}" for i in range(40)]).assign(rain=y)
    for part in range(8):
        frame[2_500 * part : 2_500 * (part + 1)].to_parquet(f"{folder}/{part}.parquet")

    stations = dd.read_parquet(folder)
    reducer = Coterie().fit(stations, "rain")
    groups = reducer.transform(stations)  # a Dask data frame with readable names
    print(f"\ndask.dataframe: {list(groups.columns)[:2]} ...")

    # With moments, several fits need one pass over the rows.
    moments = moments_from(stations, y="rain", cv=5)
    for floor in (0.5, 0.7, 0.99):
        n_groups = Coterie(min_correlation=floor).fit_moments(moments).n_groups_
        print(f"  number of groups with a min_correlation of {floor}: {n_groups}")

# 3. An xarray field over Dask: two seas with independent temperatures, and some land.
rng = np.random.default_rng(0)
west, east = rng.normal(size=(2, 3_000, 1, 1))
values = np.concatenate([west + np.zeros((1, 4, 5)), east + np.zeros((1, 4, 5))], axis=2)
values = values + 0.5 * rng.normal(size=values.shape)
values[:, 0, 0] = np.nan
sea = xr.DataArray(
    values,
    coords={"lat": np.arange(-15, 25, 10), "lon": np.arange(120, 170, 5)},
    dims=("time", "lat", "lon"),
    name="sst",
).chunk({"time": 500})
index = west.ravel() - 2 * east.ravel() + rng.normal(size=3_000)

reducer = Coterie().fit(sea, index)
print("\nxarray: the group of each cell (nan where there is land)")
print(reducer.as_field().values)
print(f"  transform gives {dict(reducer.transform(sea).sizes)}, lazily")
