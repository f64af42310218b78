"""xarray fields as tables of columns, and back."""

from coterie._data.fields._graph import field_to_graph
from coterie._data.fields._layout import Layout, rows_first, sample_dim_of, samples_first
from coterie._data.fields._serialise import layout_in, plain_layout
from coterie._data.fields._variables import is_field, is_lazy

__all__ = [
    "Layout",
    "field_to_graph",
    "is_field",
    "is_lazy",
    "layout_in",
    "plain_layout",
    "rows_first",
    "sample_dim_of",
    "samples_first",
]
