"""Products that are added in place, by whichever routine is there."""

import threading
import time

import numpy as np
import pytest

from coterie._core.evidence import _products
from coterie._core.evidence._products import add_products


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (5, 1), (7, 3), (0, 3), (4, 0)])
@pytest.mark.parametrize("is_there", [True, False])
def test_products_are_those_of_numpy(rng, monkeypatch, order, shape, is_there):
    if not is_there:
        monkeypatch.setattr(_products, "_dsyrk", lambda: None)
    rows = np.asarray(rng.normal(size=(2 * shape[0], shape[1])), order=order)[::2]
    products = rng.normal(size=(shape[1], shape[1]))
    expected = products + rows.T @ rows
    add_products(products, rows)
    np.testing.assert_allclose(np.tril(products), np.tril(expected))


def test_other_threads_go_on_meanwhile(rng):
    if _products._dsyrk() is None:
        pytest.skip("scipy does not tell where its routine is")
    rows, products = rng.normal(size=(20_000, 500)), np.zeros((500, 500))
    busy = threading.Thread(target=add_products, args=(products, rows))
    n_turns = 0
    busy.start()
    while busy.is_alive():
        time.sleep(0.001)
        n_turns += 1
    # Kept waiting, this thread would have had its turn once or twice.
    assert n_turns > 5
