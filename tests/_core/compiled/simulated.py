"""Fits by the kernel for GPUs, in numba's simulator, beside fits in memory."""

import array_api_strict as strict
import numpy as np

from coterie import GenLinCFA, LinCFA, NonLinCFA
from coterie._core import compiled
from coterie._core.compiled import _on_gpu
from coterie._core.devices import _foreign
from coterie.datasets import make_groups


def searched_there(search, evidence, rule, limits):
    # Few threads, so that candidates come in several turns; a short log, so that it runs full.
    restart = compiled.IN_ORDER[search]
    return _on_gpu.in_order_there(evidence, rule, limits, restart=restart, threads=4, logged=40)


X, y, _ = make_groups(200, 14, 3, noise=2.0, random_state=0)
X = X * np.linspace(0.5, 3, 14)
REDUCERS = [
    NonLinCFA(0.01),
    NonLinCFA(),
    NonLinCFA(0.01, cv=None, search="forward"),
    NonLinCFA(0.01, search="forward"),
    NonLinCFA(0.01, scale=True),
    NonLinCFA(0.01, cv=None, signs=True),
    GenLinCFA(family="gaussian"),
    GenLinCFA(0.5, family="gaussian"),
    LinCFA(),
]


def main():
    compiled.FEWEST_FEATURES = 1
    compiled._searched_there = searched_there
    compiled.views_of = lambda evidence: []  # in memory, by numpy: nothing is compiled here
    _foreign.lies_on_host = lambda X: False
    agree = 0
    for reducer in REDUCERS:
        reducer.set_params(trace="all").fit(X, y)
        labels, trace, n_refused = reducer.labels_, reducer.trace_, reducer.n_refused_
        reducer.fit(strict.asarray(X), y)
        np.testing.assert_array_equal(reducer.labels_, labels)
        np.testing.assert_array_equal(reducer.n_refused_, n_refused)
        np.testing.assert_array_equal(reducer.trace_.candidate, trace.candidate)
        np.testing.assert_array_equal(reducer.trace_.accepted, trace.accepted)
        np.testing.assert_allclose(reducer.trace_.price, trace.price, atol=1e-12)
        agree += 1
    print(agree, "agree")


if __name__ == "__main__":
    main()
