"""Whether compiled code saves more time than it takes to load it, or to compile it."""

from __future__ import annotations

from collections.abc import Sequence

from coterie._core.evidence import GramSource, SumEvidence

# Measured on one core of 2025: the time of a NumPy search per pair of features, where scatters are
# looked up, and what each row adds where they are computed from columns.
SECONDS_PER_PAIR, SECONDS_PER_ROW = 2e-7, 1e-9
# Importing the compiler and reading compiled code from disk; and compiling.
LOADING_SECONDS, COMPILING_SECONDS = 1.0, 20.0


def seconds_in_numpy(views: Sequence[SumEvidence]) -> float:
    """About how long a search takes without compiled code."""
    source = views[0].source
    per_pair = SECONDS_PER_PAIR
    if not isinstance(source, GramSource):
        per_pair += SECONDS_PER_ROW * float(source.count.sum())
    return len(views) * views[0].n_features ** 2 * per_pair
