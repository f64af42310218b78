"""Training data of a fit: tables, arrays on a device, moments, or rows counted by an engine."""

from coterie._data.training._columns import (
    ColumnData,
    check_values,
    column_data,
)
from coterie._data.training._folds import checked_cv, fold_of_each, splits_of_rows
from coterie._data.training._lazy import (
    check_in_memory,
    engine_for,
    is_out_of_memory,
    rows_at_hand,
)
from coterie._data.training._moments import (
    MomentData,
    check_moments_suffice,
    lazy_data,
    moment_data,
    names_in_moments,
)
from coterie._data.training._rows import (
    Given,
    Rows,
    checked_offset,
    checked_rows,
    checked_weights,
    normalised_weights,
)
from coterie._data.training._table import (
    checked_array,
    feature_names,
    fitted_inputs,
    input_columns,
    inputs_of,
    is_transformer,
    read_table,
    reason_for_rows,
    table_as_in_fit,
    table_of_field,
    taken_to_apply,
)
from coterie._data.training._targets import (
    FamilyTargets,
    NumbersOrClasses,
    NumbersOrCodes,
    OneNumber,
    TargetReader,
    is_text,
    look_like_classes,
)
from coterie._data.training._task import TargetsOfTask, task_in_moments, task_of

__all__ = [
    "ColumnData",
    "FamilyTargets",
    "Given",
    "MomentData",
    "NumbersOrClasses",
    "NumbersOrCodes",
    "OneNumber",
    "Rows",
    "TargetReader",
    "TargetsOfTask",
    "check_in_memory",
    "check_moments_suffice",
    "check_values",
    "checked_array",
    "checked_cv",
    "checked_offset",
    "checked_rows",
    "checked_weights",
    "column_data",
    "engine_for",
    "feature_names",
    "fitted_inputs",
    "fold_of_each",
    "input_columns",
    "inputs_of",
    "is_out_of_memory",
    "is_text",
    "is_transformer",
    "lazy_data",
    "look_like_classes",
    "moment_data",
    "names_in_moments",
    "normalised_weights",
    "read_table",
    "reason_for_rows",
    "rows_at_hand",
    "splits_of_rows",
    "table_as_in_fit",
    "table_of_field",
    "taken_to_apply",
    "task_in_moments",
    "task_of",
]
