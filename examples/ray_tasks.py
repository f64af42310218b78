"""Compute the moments of several files by Ray tasks, add them in a tree, and fit.

Needs ``pip install ray 'coterie[arrow]'``. Run with ``python examples/ray_tasks.py``.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import ray
from sklearn.model_selection import KFold

from coterie import Coterie, Moments
from coterie.datasets import make_groups


@ray.remote
def count_rows(path, n_rows, n_before):
    """Moments of one file in five folds; ``n_before`` rows are in the files before it."""
    moments = Moments(n_rows, n_before=n_before)
    for batch in pq.ParquetFile(path).iter_batches():
        table = batch.to_pandas()
        numbers = n_before + moments.n_read + np.arange(len(table))
        moments.update(table.drop(columns="rain"), table["rain"], fold=numbers * 5 // n_rows)
    return moments


@ray.remote
def add_moments(first, *others):
    """Sum of several moments."""
    return sum(others, first)


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
folder = tempfile.TemporaryDirectory()
stations, rain, _ = make_groups(6000, 30, 4, noise=3.0, random_state=0)
table = pd.DataFrame(stations, columns=[f"station {i}" for i in range(30)]).assign(rain=rain)
paths = [Path(folder.name, f"{part}.parquet") for part in range(8)]
for part, path in enumerate(paths):
    table.iloc[750 * part : 750 * part + 750].to_parquet(path)

# The footer of a Parquet file has its number of rows.
lengths = [pq.ParquetFile(path).metadata.num_rows for path in paths]
n_rows, starts = sum(lengths), np.cumsum([0, *lengths[:-1]]).tolist()
files = zip(paths, starts, strict=True)
parts = [count_rows.remote(path, n_rows, n_before) for path, n_before in files]
while len(parts) > 1:
    parts = [add_moments.remote(*parts[at : at + 4]) for at in range(0, len(parts), 4)]
moments = ray.get(parts[0])
ray.shutdown()
folder.cleanup()

print(moments)
groups = Coterie().fit_moments(moments).labels_
# The files are cut into the folds of KFold, and moments leave columns as they are.
in_memory = Coterie(inputs=None, cv=KFold(5)).fit(stations, rain).labels_
same = "as" if (groups == in_memory).all() else "not as"
print(f"{groups.max() + 1} groups, {same} with all rows in memory")
