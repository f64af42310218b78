"""Summaries made by arithmetic, of any size, with or without each part."""

from dataclasses import replace
from math import cos, sin

from coterie.report.inspection import (
    Correlation,
    Group,
    Map,
    Merge,
    NumberPath,
    PathSummary,
    Score,
    Spectrum,
    Summary,
    Tree,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "]]><!--<svg onload=alert(1)>",
    "\"double\" 'single' `back` ${summary} $style",
    "line\nbreak\ttab\r\u2028\u2029",
    "\u202eoverride",
    "NaN",
    "",
    "   ",
    "x" * 3000,
    "\U0001f9c0 cheese",
    "null\x00byte",
    "&lt;b&gt;&amp;",
    "javascript:alert(1)",
]


def numbered(n_features, n_groups):
    """Labels of blocks of about equal size."""
    return [one * n_groups // n_features for one in range(n_features)]


def group_of(number, members, outputs, names):
    merges = [Merge(one, sin(one) * 0.01, 0.01) for one in members[1:]]
    effects = [cos(number + output) for output in range(len(outputs))]
    return Group(
        name=f"mean({names[members[0]]}, ...)" if merges else names[members[0]],
        members=members,
        merges=merges,
        refused=number,
        likeness=0.5 + 0.4 * cos(number) if merges else None,
        weakest=0.3 + 0.2 * cos(number) if merges else None,
        weights=[2 * effect for effect in effects],
        effects=effects,
        stability=None,
    )


def summary_of(n_features=12, n_groups=3, *, names=None, outputs=("fat",), **parts):
    """A fit of blocks of features, and other parts as given."""
    names = names or [f"feature_{one:05d}" for one in range(n_features)]
    n_features = len(names)
    labels = numbered(n_features, n_groups)
    of = [[one for one in range(n_features) if labels[one] == k] for k in range(n_groups)]
    plain = Summary(
        title="A table",
        method="NonLinCFA",
        parameters={"tolerance": "0.01"},
        aggregation="mean",
        task="regression",
        targets=["fat"],
        outputs=[*outputs],
        n_rows=172,
        n_test_rows=43,
        tolerance=0.01,
        penalty=None,
        features=names,
        labels=labels,
        signs=[-1 if one % 5 == 3 else 1 for one in range(n_features)],
        groups=[group_of(k, members, outputs, names) for k, members in enumerate(of)],
        metric="R2",
        scores=[],
        path=None,
        correlation=None,
        spectrum=None,
        map=None,
        n_resamples=None,
        agreement=None,
        notes=[],
    )
    return replace(plain, **parts)


def scores(fit, whole, std_error=None):
    return [Score("coterie", 3, fit, std_error), Score("all columns", 12, whole, std_error)]


def path_of(n_features, counts=(12, 6, 3, 2, 1)):
    """A step for each number of groups."""
    counts = [min(count, n_features) for count in counts]
    steps = range(len(counts))
    return PathSummary(
        tolerances=[0.001 * 10.0 ** (4 * step / (len(counts) - 1)) for step in steps],
        n_groups=counts,
        train_scores=[0.9 - 0.05 * step for step in steps],
        cv_scores=[0.8 - 0.02 * (step - 1) ** 2 for step in steps],
        cv_std_errors=[0.01 + 0.01 * step for step in steps],
        labels=[numbered(n_features, count) for count in counts],
        best=1,
        simplest=2,
    )


def correlation_of(summary, most=40):
    shown = range(0, len(summary.features), max(1, len(summary.features) // most))
    thousandths = [[1000 if a == b else round(900 * cos(a - b)) for a in shown] for b in shown]
    return Correlation(
        thousandths, [summary.labels[one] for one in shown], [[one] for one in shown]
    )


def spectrum_of(n_features):
    at = [850.0 + 2 * one for one in range(n_features)]
    mean = [3 + sin(one / 9) for one in range(n_features)]
    return Spectrum("nm", at, mean, [one - 0.5 for one in mean], [one + 0.7 for one in mean])


def map_of(n_features, width=4):
    across = [float(one % width) for one in range(n_features)]
    up = [float(one // width) for one in range(n_features)]
    return Map(across, up, "east", "north", [""] * n_features)


def told_of(group, number):
    """All that can be told about a group; the lights of the first three differ."""
    return replace(
        group,
        stability=[0.9, 0.6, 0.3][number % 3],
        shared="feature_0..." if number == 0 else "",
        representative=group.members[-1],
        contribution=0.1 / (number + 1),
        contribution_error=0.01,
    )


def whole_summary(n_features=12, n_groups=3, **parts):
    """A summary in which nothing is missing."""
    plain = summary_of(n_features, n_groups, **parts)
    n_features = len(plain.features)
    return replace(
        plain,
        scores=[*scores(0.868, 0.865, 0.02), Score("PCA", 3, 0.851, 0.03, "stopped early")],
        path=path_of(n_features),
        correlation=correlation_of(plain),
        spectrum=spectrum_of(n_features),
        map=map_of(n_features),
        agreement=0.83,
        groups=[told_of(group, k) for k, group in enumerate(plain.groups)],
        notes=["Columns were standardised."],
    )


def chain_of(n_features, **parts):
    """A tree in which each feature joins all before it, less and less alike."""
    nodes = range(n_features - 1)
    plain = Tree(
        first=[0 if node == 0 else n_features + node - 1 for node in nodes],
        second=[node + 1 for node in nodes],
        likeness=[round(0.95 - 0.9 * node / n_features, 4) for node in nodes],
        order=[*range(n_features)],
        min_correlation=0.7,
        may_join=[0] * (n_features - 1),
        prices=[0.001 * (node + 1) for node in nodes],
        exit_prices=[None] * n_features,
        allowance=0.005,
        constant=[],
    )
    return replace(plain, **parts)


def joint_summary(n_features=12, n_groups=3, **parts):
    """A joint fit in which the last block of features is left out."""
    plain = whole_summary(n_features, n_groups + 1)
    left_out = replace(
        plain.groups[-1],
        name="left out",
        merges=[],
        likeness=None,
        weakest=None,
        stability=None,
        shared="",
        representative=None,
        contribution=None,
        contribution_error=None,
        weights=[],
        effects=[],
    )
    counts = [1, 2, 3, 5]
    joint = replace(
        plain,
        method="Coterie",
        tolerance=None,
        parameters={},
        path=None,
        spectrum=None,
        map=None,
        rest=n_groups,
        groups=[*plain.groups[:-1], left_out],
        numbers=NumberPath(
            n_groups=counts,
            scores=[0.5, 0.7, 0.8, 0.79],
            std_errors=[0.05, 0.03, 0.0, 0.01],
            stability=[1.0, 0.9, 0.8, 0.6],
            labels=[numbered(n_features, count + 1) for count in counts],
        ),
        tree=chain_of(n_features),
    )
    return replace(joint, **parts)
