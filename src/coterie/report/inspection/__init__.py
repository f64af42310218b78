"""Summaries of fitted reducers, and HTML reports of summaries."""

from coterie.report.inspection._build import summarise
from coterie.report.inspection._checks import (
    check_fitted_reducer,
    check_reducer,
    checked_coordinates,
)
from coterie.report.inspection._correlations import block_correlations, ordered_groups
from coterie.report.inspection._explain import Explanation, explain
from coterie.report.inspection._html import format_count, pluralise
from coterie.report.inspection._joint_parts import NumberPath, Tree
from coterie.report.inspection._lights import light_word, lights_sentence
from coterie.report.inspection._report import report_html, write_report
from coterie.report.inspection._representatives import Representatives, representatives
from coterie.report.inspection._sentences import (
    ALL_COLUMNS,
    columns_sentence,
    difference_text,
    effect_sentence,
    lost_sentence,
    metric_label,
    result_sentence,
    scores_sentence,
    stability_meaning,
)
from coterie.report.inspection._standardised import StandardisedColumns
from coterie.report.inspection._summary import (
    Correlation,
    Group,
    Map,
    Merge,
    PathSummary,
    Score,
    Spectrum,
    Summary,
)
from coterie.report.inspection._verdict import (
    BETTER,
    KEEP_ALL,
    MARGIN,
    NOTHING,
    UNSURE,
    USE_GROUPS,
    USE_RIVAL,
    WORSE,
    Difference,
    StudyVerdict,
    decisive,
)

__all__ = [
    "ALL_COLUMNS",
    "BETTER",
    "KEEP_ALL",
    "MARGIN",
    "NOTHING",
    "UNSURE",
    "USE_GROUPS",
    "USE_RIVAL",
    "WORSE",
    "Correlation",
    "Difference",
    "Explanation",
    "Group",
    "Map",
    "Merge",
    "NumberPath",
    "PathSummary",
    "Representatives",
    "Score",
    "Spectrum",
    "StandardisedColumns",
    "StudyVerdict",
    "Summary",
    "Tree",
    "block_correlations",
    "check_fitted_reducer",
    "check_reducer",
    "checked_coordinates",
    "columns_sentence",
    "decisive",
    "difference_text",
    "effect_sentence",
    "explain",
    "format_count",
    "light_word",
    "lights_sentence",
    "lost_sentence",
    "metric_label",
    "ordered_groups",
    "pluralise",
    "report_html",
    "representatives",
    "result_sentence",
    "scores_sentence",
    "stability_meaning",
    "summarise",
    "write_report",
]
