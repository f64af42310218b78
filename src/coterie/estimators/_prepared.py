"""What a fit works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from coterie._core.grouping import Groupable
from coterie._core.values import FloatArray, IntArray, Partition
from coterie.estimators._rows import Rows
from coterie.estimators._seen import Seen
from coterie.estimators._targets import Targets

Splits = list[tuple[IntArray, IntArray]]


class Data(NamedTuple):
    """What a fit was given, once it is validated."""

    columns: Any  # (n_samples, n_inputs), NaN where there may be gaps; or sparse
    targets: Targets
    rows: Rows
    splits: Splits | None
    gaps: bool  # whether the columns have some


class Prepared(NamedTuple):
    """What a fit works on: what is known of inputs and targets, and the evidence gathered."""

    seen: Seen
    importance: FloatArray  # (n_targets,), how much each target counts
    groupable: Groupable
    of_units: Callable[..., Groupable]  # the same columns, ready to be grouped as `units`
    least: FloatArray | None = None  # rows that a question must be asked of, if there are gaps

    @property
    def n_varying(self) -> int:
        """Number of inputs that are not constant, and one at least."""
        return max(1, int(np.count_nonzero(~np.isnan(self.groupable.relevance))))

    def n_varying_groups(self, partition: Partition) -> int:
        """Number of groups that are not of constants, and one at least."""
        firsts = [members[0] for members in partition.groups]
        return max(1, int(np.count_nonzero(~np.isnan(self.groupable.relevance[firsts]))))

    def effective_number(self) -> float:
        """How many candidates there are in effect."""
        signs = self.groupable.turned is not None
        return self.seen.effective_number(self.groupable.relevance, signs=signs)
