"""What held-out rows say of a Coterie, as plain arrays, and computed when first asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from coterie._core.joint import (
    FoldEvidence,
    Freedom,
    HeldOut,
    JointFit,
    Penalty,
    RowSums,
    Rules,
    Scored,
    held_out,
)
from coterie._core.threads import few_threads

SUMS = ("count", "total", "products", "n_targets", "train", "test")


def plain_evidence(evidence: FoldEvidence) -> dict[str, Any]:
    """The evidence as plain arrays, so that skops need not trust its classes."""
    sums, penalty, rules, freedom = evidence[:4]
    return {
        **{name: getattr(sums, name) for name in SUMS},
        "penalty": tuple(penalty),
        "floor": rules.floor,
        "neighbours": None if rules.neighbours is None else rules.neighbours.toarray() != 0,
        "max_size": rules.max_size,
        "kinds": rules.kinds,
        "freedom": tuple(freedom),
        "pool": evidence.pool,
        "starts": evidence.starts,
        "shares": evidence.shares,
    }


def evidence_again(plain: dict[str, Any]) -> FoldEvidence:
    """The evidence from plain arrays."""
    graph = plain["neighbours"]
    graph = None if graph is None else sparse.csr_array(graph.astype(np.float64))
    return FoldEvidence(
        RowSums(**{name: plain[name] for name in SUMS}),
        Penalty(*plain["penalty"]),
        Rules(plain["floor"], False, graph, plain["max_size"], plain["kinds"]),
        Freedom(*plain["freedom"]),
        plain["pool"],
        plain["starts"],
        plain["shares"],
    )


def look_at_held_out(joint: JointFit, plain: dict[str, Any]) -> dict[str, Any]:
    """What held-out rows say, as plain arrays, from the evidence as plain arrays."""
    with few_threads(True):
        found = held_out(joint.tree, joint.path, joint.chosen, evidence_again(plain))
    return {
        "scored": found.scored._asdict(),
        "resampled": [
            {"numbers": np.array(list(one)), "labels": np.array(list(one.values()))}
            for one in found.resampled
        ],
    }


def held_out_again(plain: dict[str, Any]) -> HeldOut:
    """What held-out rows say, from plain arrays."""
    return HeldOut(
        Scored(**plain["scored"]),
        [
            dict(zip(one["numbers"].tolist(), one["labels"], strict=True))
            for one in plain["resampled"]
        ],
    )
