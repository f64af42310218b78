"""Studies, comparisons with other methods, summaries of a fit and HTML reports."""

from coterie.report.inspection import StudyVerdict, Summary, summarise, write_report
from coterie.report.studies import Comparison, Study, compare, study

__all__ = [
    "Comparison",
    "Study",
    "StudyVerdict",
    "Summary",
    "compare",
    "study",
    "summarise",
    "write_report",
]
