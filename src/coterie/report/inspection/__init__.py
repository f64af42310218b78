"""Summaries of fitted reducers, and HTML reports of summaries."""

from coterie.report.inspection._build import summarise
from coterie.report.inspection._checks import (
    check_fitted_reducer,
    check_reducer,
    checked_coordinates,
)
from coterie.report.inspection._correlations import block_correlations
from coterie.report.inspection._html import pluralise
from coterie.report.inspection._report import report_html, write_report
from coterie.report.inspection._sentences import ALL_COLUMNS, result_sentence, scores_sentence
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

__all__ = [
    "ALL_COLUMNS",
    "Correlation",
    "Group",
    "Map",
    "Merge",
    "PathSummary",
    "Score",
    "Spectrum",
    "StandardisedColumns",
    "Summary",
    "block_correlations",
    "check_fitted_reducer",
    "check_reducer",
    "checked_coordinates",
    "pluralise",
    "report_html",
    "result_sentence",
    "scores_sentence",
    "summarise",
    "write_report",
]
