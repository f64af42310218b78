"""Measure moments by Spark on one machine beside the plain loop over the same Parquet files.

Run ``python benchmarks/spark_local.py`` (a few minutes), or with ``--quick`` for a share of it.
Makes its files and removes them, and writes ``benchmarks/results/spark_local.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from coterie import NonLinCFA, moments_from

HERE = Path(__file__).parent
N_FILES, N_COLUMNS = 8, 401


def make_files(folder: str, n_rows: int) -> None:
    """Correlated columns and a target, in several files."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(20, N_COLUMNS))
    for number in range(N_FILES):
        values = rng.normal(size=(n_rows // N_FILES, 20)) @ mixing
        values += rng.normal(size=values.shape)
        columns = {f"c{place}": column for place, column in enumerate(values.T)}
        pq.write_table(pa.table(columns), Path(folder, f"{number}.parquet"))


def session():
    """Spark on two cores of this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )


def timed(function):
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def started():
    """A session whose workers have imported coterie once."""
    spark = session()
    few = spark.range(100).selectExpr("rand(1) AS a", "rand(2) AS b", "rand(3) AS y")
    moments_from(few, y="y")
    return spark


def measured(n_rows: int) -> list[tuple[str, str, str]]:
    """Rows of a table: what, seconds, and how many times those of the plain loop."""
    asked = {"y": "c400", "cv": 5}
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder, n_rows)
        plain, before = timed(lambda: moments_from(folder, **asked))
        spark, start_up = timed(started)
        try:
            frame = spark.read.parquet(folder)
            counted, first = timed(lambda: moments_from(frame, **asked))
            _, again = timed(lambda: moments_from(frame, **asked))
            reducer = NonLinCFA(0.01).fit_moments(counted)
            reduced = reducer.transform(frame)
            _, applied = timed(lambda: reduced.write.format("noop").mode("overwrite").save())
        finally:
            spark.stop()
        # Before and after, since others may be at work on the same cores.
        loop = min(before, timed(lambda: moments_from(folder, **asked))[1])
    np.testing.assert_allclose(counted.scatter(), plain.scatter(), rtol=1e-8, atol=1e-4)
    rows = {
        "moments_from(folder), the plain loop": loop,
        "Spark: start of Java, of Python, and of coterie in it": start_up,
        "Spark: moments_from(frame)": first,
        "Spark: the same once more": again,
        f"Spark: transform to {reducer.n_groups_} columns, read and not written": applied,
    }
    return [(what, f"{value:.1f}", f"{value / loop:.1f}") for what, value in rows.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="an eighth of the rows")
    n_rows = 30_000 if parser.parse_args().quick else 240_000
    load = os.getloadavg()[0]
    rows = measured(n_rows)
    size = f"{n_rows:,} x {N_COLUMNS} numbers in {N_FILES} files, 5 folds"
    lines = [f"{size}, {os.cpu_count()} cores with a load of {load:.1f} by others.", ""]
    lines += ["| what | seconds | of the plain loop |", "| --- | --- | --- |"]
    text = "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"
    (HERE / "results" / "spark_local.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
