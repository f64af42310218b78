"""A fitted result becomes a summary, and a summary a picture or a page."""

from coterie.report.inspection._build import summarise
from coterie.report.inspection._checks import (
    check_fitted_reducer,
    check_reducer,
    checked_places,
)
from coterie.report.inspection._correlations import correlations
from coterie.report.inspection._html import counted
from coterie.report.inspection._report import report_html, write_report
from coterie.report.inspection._sentences import ALL, answer, scores_sentence
from coterie.report.inspection._standardised import UnitColumns
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
    "ALL",
    "Correlation",
    "Group",
    "Map",
    "Merge",
    "PathSummary",
    "Score",
    "Spectrum",
    "Summary",
    "UnitColumns",
    "answer",
    "check_fitted_reducer",
    "check_reducer",
    "checked_places",
    "correlations",
    "counted",
    "report_html",
    "scores_sentence",
    "summarise",
    "write_report",
]
