"""A fitted result becomes a summary, and a summary a picture or a page."""

from coterie.report.inspection._checks import (
    check_fitted_reducer,
    check_reducer,
    checked_places,
)
from coterie.report.inspection._likeness import correlations
from coterie.report.inspection._made import summarise
from coterie.report.inspection._markup import counted
from coterie.report.inspection._report import report_html, write_report
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
from coterie.report.inspection._unit_columns import UnitColumns
from coterie.report.inspection._wording import ALL, answer, scores_sentence

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
