"""Group the columns of a Spark data frame, and write the reduced table.

Needs ``pip install 'coterie[spark]'`` and Java 17. Run with ``python examples/spark.py``.
"""

import os
import sys
import tempfile
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession, functions

from coterie import Coterie, moments_from
from coterie.datasets import make_groups

# The Python of the Spark executors needs coterie too.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "1g")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
folder = tempfile.TemporaryDirectory()
stations, rain, _ = make_groups(6000, 30, 4, noise=3.0, random_state=0)
table = pd.DataFrame(stations, columns=[f"station {i}" for i in range(30)])
table.assign(day=range(6000), rain=rain).to_parquet(Path(folder.name, "days.parquet"))

# From here on, the code is the same for any table. In fit, all columns except the target are
# features, so the day is dropped. transform keeps columns that are not features, such as the day.
days = spark.read.parquet(str(Path(folder.name, "days.parquet")))
reducer = Coterie().fit(days.drop("day"), y="rain")
reduced = reducer.transform(days)
reduced.write.parquet(str(Path(folder.name, "reduced")))

written = spark.read.parquet(str(Path(folder.name, "reduced")))
print(f"{len(days.columns)} columns became {len(written.columns)} in {written.count()} rows:")
for name, members in zip(reducer.get_feature_names_out(), reducer.groups_, strict=True):
    print(f"  {len(members):2d}  {name}")

# One pass over the rows is enough for many fits. The fold of each row depends on its day only, so
# the folds do not depend on the order in which Spark reads the rows.
with_folds = days.withColumn("fold", functions.expr("pmod(xxhash64(day), 5)")).drop("day")
moments = moments_from(with_folds, y="rain", cv="fold")
print(f"\n{moments}")
for floor in (0.5, 0.7, 0.99):
    groups = Coterie(min_correlation=floor).fit_moments(moments).n_groups_
    print(f"  min_correlation {floor:<4g} {groups:2d} groups")

spark.stop()
folder.cleanup()
