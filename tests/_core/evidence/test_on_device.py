"""Scatters that are found on a device."""

import numpy as np
import pytest

from coterie._core.devices import OnDevice
from coterie._core.evidence import BatchMoments, DeviceSource, RowSets, _on_device

strict = pytest.importorskip("array_api_strict")


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [16, 1024])
def test_scatters_are_symmetric_to_the_last_bit(rng, monkeypatch, block, weighted, is_compiled):
    monkeypatch.setattr(_on_device, "COLUMNS_PER_PRODUCT", block)
    monkeypatch.setattr(OnDevice, "is_compiled", is_compiled)
    X, targets = rng.normal(size=(100, 50)), rng.normal(size=(100, 2))
    weights = rng.random(100) if weighted else None
    source = DeviceSource(RowSets.all_rows(weights), OnDevice(strict.asarray(X), strict), targets)
    (scatter,) = source.on_host().scatters
    np.testing.assert_array_equal(scatter, scatter.T)
    if not is_compiled:
        np.testing.assert_array_equal(np.asarray(source.scatters[0]), scatter)
    expected = BatchMoments.of(np.hstack([X, targets]), weights=weights).scatter
    np.testing.assert_allclose(scatter, expected, atol=1e-10)
