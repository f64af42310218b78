"""Studies, comparisons with other methods, summaries of a fit and HTML reports."""

from coterie.report.inspection import Summary, summarise, write_report
from coterie.report.studies import Comparison, Study, compare, study

__all__ = ["Comparison", "Study", "Summary", "compare", "study", "summarise", "write_report"]
