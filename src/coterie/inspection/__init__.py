"""A fitted result becomes a summary, and a summary a picture or a page."""

from coterie.inspection._checks import (
    check_fitted_reducer,
    check_reducer,
    checked_places,
)
from coterie.inspection._likeness import correlations
from coterie.inspection._made import summarise
from coterie.inspection._markup import counted
from coterie.inspection._report import report_html, write_report
from coterie.inspection._summary import (
    Correlation,
    Group,
    Map,
    Merge,
    PathSummary,
    Score,
    Spectrum,
    Summary,
)
from coterie.inspection._unit_columns import UnitColumns
from coterie.inspection._wording import ALL, answer, scores_sentence

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
