"""Studies: split, fit, score and summarise; and comparisons with other methods."""

from coterie.report.studies._compare import Comparison, compare
from coterie.report.studies._dates import RowTimes, times_in_column, times_of_rows
from coterie.report.studies._frames import WARNING
from coterie.report.studies._importance import GroupImportance, group_importance
from coterie.report.studies._study import Study, study
from coterie.report.studies._tasks import (
    FAMILY_OF,
    SYNONYMS,
    Task,
    infer_task,
    reducer_for,
    reducer_with_tolerance,
)

__all__ = [
    "FAMILY_OF",
    "SYNONYMS",
    "WARNING",
    "Comparison",
    "GroupImportance",
    "RowTimes",
    "Study",
    "Task",
    "compare",
    "group_importance",
    "infer_task",
    "reducer_for",
    "reducer_with_tolerance",
    "study",
    "times_in_column",
    "times_of_rows",
]
