"""Tables of any columns become numbers, and a record says what was done to each column."""

from coterie._data.preparation._columns import read_column
from coterie._data.preparation._giveaways import giveaway_notes
from coterie._data.preparation._preparer import TablePreparer, prepared_if_odd
from coterie._data.preparation._record import Preparation, PreparedColumn, source_of
from coterie._data.preparation._screen import words_of_name

__all__ = [
    "Preparation",
    "PreparedColumn",
    "TablePreparer",
    "giveaway_notes",
    "prepared_if_odd",
    "read_column",
    "source_of",
    "words_of_name",
]
