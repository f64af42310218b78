"""A fitted result becomes a summary, and a summary a picture or a page."""

from coterie.inspection._likeness import correlations
from coterie.inspection._made import summarise
from coterie.inspection._report import report_html, write_report
from coterie.inspection._standardised import Standardised
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

__all__ = [
    "Correlation",
    "Group",
    "Map",
    "Merge",
    "PathSummary",
    "Score",
    "Spectrum",
    "Standardised",
    "Summary",
    "correlations",
    "report_html",
    "summarise",
    "write_report",
]
