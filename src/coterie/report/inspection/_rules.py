"""The rule of the fit, in words: one for joint fits, one for the paper's reducers."""

from __future__ import annotations

from coterie.report.inspection._html import format_significant
from coterie.report.inspection._summary import Summary

PAIRWISE_RULE = (
    "Features join groups one by one. Each merge has a <em>price</em>: the loss in predicting the "
    "target when two columns become one, as a share of R&sup2; or of the deviance, or a bound on "
    "it. It also has an <em>allowance</em>: the loss that is accepted for a simpler table, which "
    "grows with the <em>tolerance</em>. A merge is accepted when its price does not exceed its "
    "allowance."
)
JOINT_RULE = (
    "First a tree of likeness is grown from the correlations of the features alone, whatever the "
    "target. Then groups merge along the tree, or are left out, the cheapest first. The "
    "<em>price</em> of a step is the loss in predicting the target given all other columns, as a "
    "share of the variance of the target. Merges go on until the next ones cost more than noise "
    "explains; the <em>allowance</em> is the highest price that was paid for it. A merge is "
    "accepted when its price does not exceed its allowance, and the features are alike."
)


def rule_html(summary: Summary) -> str:
    """How the groups were found."""
    return PAIRWISE_RULE if summary.tree is None else JOINT_RULE


def unlike_sentence(summary: Summary) -> str:
    """Whether unlike features can share a group."""
    if summary.tree is None:
        return (
            "Features with low correlation can be in one group if neither helps to predict the "
            "target."
        )
    floor = summary.tree.min_correlation
    if not floor:
        return "Features with low correlation can be in one group, since min_correlation is 0."
    return (
        f"Each member has a correlation of at least {format_significant(floor)} with its group "
        "(min_correlation), unless you put it there. What adds nothing to the prediction, given "
        "the other columns, is left out."
    )
