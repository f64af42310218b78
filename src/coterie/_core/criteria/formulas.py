"""The formulas of the criteria on moments, which are compiled without changes."""

from coterie._core.criteria._genlin import explained_apart, ratio_or_inf
from coterie._core.criteria._lin import bias_and_variance
from coterie._core.criteria._nonlin import (
    given_up,
    in_sample_scores,
    lost_and_spared,
    split_scores,
    two_slopes,
)
from coterie._core.criteria._ratios import correlation, ratio

__all__ = [
    "bias_and_variance",
    "correlation",
    "explained_apart",
    "given_up",
    "in_sample_scores",
    "lost_and_spared",
    "ratio",
    "ratio_or_inf",
    "split_scores",
    "two_slopes",
]
