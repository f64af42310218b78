"""What was found, told: studies of a whole job, comparisons with rivals, summaries and pages."""

from coterie.report.inspection import Summary, summarise, write_report
from coterie.report.studies import Comparison, Study, compare, study

__all__ = ["Comparison", "Study", "Summary", "compare", "study", "summarise", "write_report"]
