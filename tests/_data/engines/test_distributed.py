"""dask.distributed workers in separate processes, which may be killed."""

import contextlib
import logging
import os
import signal
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest
from distributed import Client, LocalCluster

from coterie import NonLinCFA, moments_from
from coterie.datasets import make_groups

pytestmark = pytest.mark.slow

LENGTHS = (1000, 0, 300, 700, 500, 500)


def children():
    """Our child processes, without the resource tracker of multiprocessing."""
    found = psutil.Process().children(recursive=True)
    return {child for child in found if "resource_tracker" not in command_line(child)}


def command_line(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


@pytest.fixture(scope="module")
def client():
    """Two workers in separate processes, which end with the fixture."""
    before = children()
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            # Workers that die are expected here, and nobody needs to read about it.
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
    _, alive = psutil.wait_procs(children() - before, timeout=5)
    assert alive == []


@pytest.fixture(scope="module")
def columns():
    X, y, _ = make_groups(sum(LENGTHS), 20, 4, noise=3.0, random_state=0)
    return X, y


def kill_once(marker, number):
    """A function of blocks that kills its process at one block, the first time only."""

    def survive(block, block_info=None):
        place = block_info[0]["chunk-location"][0] if block_info else None
        if place == number and not marker.exists():
            marker.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    return survive


def test_decisions_are_those_of_one_machine(client, columns):
    X, y = columns
    expected = NonLinCFA(0.01).fit(X, y)
    table = da.from_array(X, chunks=(LENGTHS, (7, 13)))
    found = NonLinCFA(0.01).fit(table, da.from_array(y, chunks=333))
    assert found.labels_.tolist() == expected.labels_.tolist()
    np.testing.assert_allclose(found.trace_.price, expected.trace_.price, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.transform(table).compute(), expected.transform(X))
    with dask.config.set(scheduler="synchronous"):
        here = moments_from(table, y, cv=5)
    np.testing.assert_allclose(moments_from(table, y, cv=5).scatter(), here.scatter(), rtol=1e-12)


def test_frames_are_counted_and_transformed_by_workers(client, columns):
    X, y = columns
    frame = pd.DataFrame(X, columns=[f"station {i}" for i in range(20)]).assign(rain=y)
    table = dd.from_pandas(frame, npartitions=5)
    reducer = NonLinCFA().fit(table, "rain")
    expected = NonLinCFA().fit(frame.drop(columns="rain"), y)
    assert reducer.labels_.tolist() == expected.labels_.tolist()
    assert reducer.penalty_ == pytest.approx(expected.penalty_)
    Z = reducer.transform(table).compute()
    np.testing.assert_allclose(Z, expected.transform(frame.drop(columns="rain")))


def test_errors_on_a_worker_have_the_same_message(client, columns):
    X, y = columns
    X = X.copy()
    X[-1, 3] = np.nan
    row = rf"row {len(X) - 1:,} of X"
    with pytest.raises(ValueError, match=rf"^X has NaN in column 3 of chunk 5, {row}\. Fill the"):
        NonLinCFA().fit(da.from_array(X, chunks=(LENGTHS, 20)), y)


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(client, columns, tmp_path):
    X, y = columns
    marker = Path(tmp_path, "died")
    table = da.from_array(X, chunks=(LENGTHS, 20)).map_blocks(
        kill_once(marker, 3), dtype=X.dtype, meta=np.empty((0, 0))
    )
    found = NonLinCFA(0.01).fit(table, y)
    assert int(marker.read_text()) not in client.run(os.getpid).values()
    with dask.config.set(scheduler="synchronous"):
        unharmed = NonLinCFA(0.01).fit(da.from_array(X, chunks=(LENGTHS, 20)), y)
    assert found.labels_.tolist() == unharmed.labels_.tolist()
    np.testing.assert_allclose(found.trace_.price, unharmed.trace_.price, rtol=1e-9, atol=1e-12)
    expected = NonLinCFA(0.01).fit(X, y)
    assert found.labels_.tolist() == expected.labels_.tolist()
    np.testing.assert_allclose(found.transform(X), expected.transform(X))
