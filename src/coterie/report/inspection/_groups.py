"""The groups of a summary, and what is told about each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coterie._core.values import FloatArray, Trace
from coterie._model_selection.resampling import Stability
from coterie.report.inspection._correlations import likeness, with_aggregates
from coterie.report.inspection._shared_names import SharedNames
from coterie.report.inspection._standardised import StandardisedColumns
from coterie.report.inspection._summary import Group, Merge, Summary

LEFT_OUT = "left out"


def build_groups(reducer: Any, features: Sequence[str]) -> list[Group]:
    """The groups of a fitted reducer; what is left out comes last, as one entry."""
    shared = SharedNames(features)
    merges = _merges(reducer.trace_, reducer.n_groups_)
    # Coterie asks no group about candidates, and old files do not say.
    n_refused = getattr(reducer, "n_refused_", None)
    refused = [None] * len(merges) if n_refused is None else n_refused.tolist()
    names = map(str, reducer.get_feature_names_out())
    members = (one.tolist() for one in reducer.groups_)
    groups = [
        Group(name, each, joined, n, None, None, [], [], None, shared.of(each))
        for name, each, joined, n in zip(names, members, merges, refused, strict=True)
    ]
    rest = reducer.fit_.rest.tolist()
    return groups + ([Group(LEFT_OUT, rest, [], None, None, None, [], [], None)] if rest else [])


def _merges(trace: Trace, n_groups: int) -> list[list[Merge]]:
    """The accepted merges of each group."""
    accepted = trace[trace.accepted]
    merges: list[list[Merge]] = [[] for _ in range(n_groups)]
    columns = (accepted[name].tolist() for name in ("group", "candidate", "price", "allowance"))
    for group, candidate, price, allowance in zip(*columns, strict=True):
        merges[group].append(Merge(candidate, price, allowance))
    return merges


def with_own_stability(summary: Summary, reducer: Any) -> list[Group]:
    """The groups with the stability that the fit has measured itself, if it has."""
    found = getattr(reducer, "stability_", None)
    if not isinstance(found, np.ndarray):
        return summary.groups
    return _with_stability(summary, found)


def with_resampled_stability(summary: Summary, stability: Stability) -> Summary:
    """The summary with the stability of its groups under resampling."""
    labels = np.where(stability.labels < 0, summary.n_columns, stability.labels)
    if labels.tolist() != summary.labels:
        raise ValueError(
            "stability must have the same groups as this fit: compute it with the same data and "
            "parameters."
        )
    return replace(
        summary,
        groups=_with_stability(summary, stability.group_scores),
        n_resamples=len(stability.resampled),
        agreement=float(np.mean(stability.agreement)),
    )


def _with_stability(summary: Summary, found: FloatArray) -> list[Group]:
    columns = zip(summary.groups[: summary.n_columns], found.tolist(), strict=True)
    groups = [replace(group, stability=share) for group, share in columns]
    return groups + summary.groups[summary.n_columns :]


def with_likeness(
    summary: Summary, columns: StandardisedColumns, aggregates: FloatArray
) -> list[Group]:
    """The groups with likeness, weakest member and representative."""
    labels, signs = np.array(summary.labels), np.array(summary.signs, dtype=np.float64)
    groups = summary.groups[: summary.n_columns]
    alike = likeness(columns, labels, signs).tolist()
    # A group of one is its own representative; there may be thousands of them.
    several = [number for number, group in enumerate(groups) if len(group.members) > 1]
    members = [np.array(groups[number].members) for number in several]
    found = with_aggregates(columns, aggregates[:, several], members, signs)
    correlations = dict(zip(several, found, strict=True))
    told = [
        _with_correlations(group, alike[number], correlations.get(number, np.ones(1)))
        for number, group in enumerate(groups)
    ]
    return told + summary.groups[summary.n_columns :]


def _with_correlations(group: Group, alike: float, correlations: FloatArray) -> Group:
    # Two columns that are never observed together have no correlation.
    best = group.members[int(np.argmax(np.nan_to_num(correlations, nan=-1.0)))]
    if np.isnan(alike):
        return replace(group, representative=best)
    return replace(group, likeness=alike, weakest=float(correlations.min()), representative=best)
