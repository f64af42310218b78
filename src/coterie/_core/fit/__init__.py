"""The fit: from training data, a specification and a pricing to groups."""

from coterie._core.fit._aggregates import (
    Aggregates,
    LinearAggregates,
    PlainAggregates,
    Scaling,
    aggregates_of,
    same_kind,
)
from coterie._core.fit._fit_groups import Problem, fit_groups, n_varying_groups
from coterie._core.fit._groupable import Groupable, MergeQuestion, Searchable
from coterie._core.fit._names import checked_names
from coterie._core.fit._result import Fit
from coterie._core.fit._shown import groups_html
from coterie._core.fit._spec import Features, FitSpec, Pricing, TrainingData

__all__ = [
    "Aggregates",
    "Features",
    "Fit",
    "FitSpec",
    "Groupable",
    "LinearAggregates",
    "MergeQuestion",
    "PlainAggregates",
    "Pricing",
    "Problem",
    "Scaling",
    "Searchable",
    "TrainingData",
    "aggregates_of",
    "checked_names",
    "fit_groups",
    "groups_html",
    "n_varying_groups",
    "same_kind",
]
