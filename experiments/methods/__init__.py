"""Ways to fewer columns: coterie's own, the paper's baselines and other libraries'."""

from experiments.methods._classic import CLASSIC, Explaining
from experiments.methods._ours import OURS
from experiments.methods._peers import PEERS
from experiments.methods._reduction import (
    SIZES,
    FloatArray,
    IntArray,
    Method,
    Reduction,
    Setting,
    Task,
    Unavailable,
)
from experiments.methods._wrapper import ForwardSelection

METHODS: dict[str, Method] = {
    **OURS,
    "forward selection": ForwardSelection(),
    **CLASSIC,
    "PCA (95 % of the variance)": Explaining(0.95),
    **PEERS,
}

__all__ = [
    "METHODS",
    "SIZES",
    "FloatArray",
    "IntArray",
    "Method",
    "Reduction",
    "Setting",
    "Task",
    "Unavailable",
]
