"""Tables of any columns become numbers, and a record says what was done to each column."""

from coterie._data.preparation._preparer import TablePreparer, prepared_if_odd
from coterie._data.preparation._record import Preparation, PreparedColumn

__all__ = ["Preparation", "PreparedColumn", "TablePreparer", "prepared_if_odd"]
