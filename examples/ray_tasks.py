"""Count the rows of several files by tasks of Ray, add the moments up in a tree, and fit.

Needs ``pip install ray 'coterie[arrow]'``. Run with ``python examples/ray_tasks.py``.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import ray

from coterie import Moments, NonLinCFA
from coterie.datasets import make_groups


@ray.remote
def counted(path, n_rows, n_before):
    """The moments of one file, of which so many rows come before, in five folds."""
    moments = Moments(n_rows, n_before=n_before)
    for batch in pq.ParquetFile(path).iter_batches():
        table = batch.to_pandas()
        numbers = n_before + moments.n_read + np.arange(len(table))
        moments.update(table.drop(columns="rain"), table["rain"], fold=numbers * 5 // n_rows)
    return moments


@ray.remote
def added(first, *others):
    return sum(others, first)


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
folder = tempfile.TemporaryDirectory()
stations, rain, _ = make_groups(6000, 30, 4, noise=3.0, random_state=0)
table = pd.DataFrame(stations, columns=[f"station {i}" for i in range(30)]).assign(rain=rain)
paths = [Path(folder.name, f"{part}.parquet") for part in range(8)]
for part, path in enumerate(paths):
    table.iloc[750 * part : 750 * part + 750].to_parquet(path)

# How many rows each file has is in its footer.
lengths = [pq.ParquetFile(path).metadata.num_rows for path in paths]
n_rows, starts = sum(lengths), np.cumsum([0, *lengths[:-1]]).tolist()
files = zip(paths, starts, strict=True)
parts = [counted.remote(path, n_rows, n_before) for path, n_before in files]
while len(parts) > 1:
    parts = [added.remote(*parts[at : at + 4]) for at in range(0, len(parts), 4)]
moments = ray.get(parts[0])
ray.shutdown()
folder.cleanup()

print(moments)
for reducer in (NonLinCFA(), NonLinCFA(0.01)):
    groups = reducer.fit_moments(moments).labels_
    in_memory = reducer.fit(stations, rain).labels_
    same = "as" if (groups == in_memory).all() else "not as"
    print(f"{reducer}: {groups.max() + 1} groups, {same} with all rows in memory")
