"""Tables of other libraries as data frames of pandas or polars."""

from __future__ import annotations

from html import escape
from importlib.util import find_spec
from typing import Any

# Their tables are known, or rows that an engine keeps.
KNOWN = ("builtins", "numpy", "scipy", "pandas", "xarray", "dask", "dask_expr", "pyspark")


def known_frame(X: Any) -> Any:
    """A table of another library as a polars or pandas frame; anything else unchanged.

    A lazy frame is collected. Tables of Arrow and all others that narwhals knows (DuckDB, Ibis,
    Modin, cuDF, ...) become frames of polars where it is installed, or else of pandas.

    Examples
    --------
    >>> import polars as pl
    >>> known_frame(pl.LazyFrame({"a": [1]})).columns
    ['a']
    >>> known_frame([[1, 2]])
    [[1, 2]]
    """
    library = type(X).__module__.partition(".")[0]
    # Of the class, since a lazy frame warns when it is asked for its columns.
    if library in KNOWN or not hasattr(type(X), "columns"):
        return X
    if library == "polars":
        return X.collect() if type(X).__name__ == "LazyFrame" else X
    return _from_narwhals(X, library)


def _from_narwhals(X: Any, library: str) -> Any:
    if find_spec("narwhals") is None:
        if library != "pyarrow":
            return X
        raise ImportError('Tables of Arrow need narwhals: pip install "coterie[tables]".')
    import narwhals as nw

    if type(X).__name__ == "RecordBatch":
        import pyarrow

        X = pyarrow.Table.from_batches([X])
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return X
    if frame.implementation.is_pandas() or frame.implementation.is_polars():
        return frame.to_native()
    return frame.to_pandas() if find_spec("polars") is None else frame.to_polars()


# A result shows at most so many rows.
MAX_SHOWN_ROWS = 12


def frame_text(headline: str, result: Any) -> str:
    """A headline, and the first rows of what ``result.to_frame()`` gives, if pandas is there."""
    if find_spec("pandas") is None:
        return headline
    frame = result.to_frame()
    shown = frame.head(MAX_SHOWN_ROWS).to_string(max_colwidth=40, float_format="{:.3g}".format)
    more = len(frame) - MAX_SHOWN_ROWS
    return f"{headline}\n{shown}" + (f"\n... and {more:,} more, see to_frame()" if more > 0 else "")


def frame_html(headline: str, result: Any) -> str:
    """The same as HTML, for notebooks."""
    if find_spec("pandas") is None:
        return f"<p>{escape(headline)}</p>"
    frame = result.to_frame().head(MAX_SHOWN_ROWS)
    return f"<p>{escape(headline)}</p>{frame.to_html(float_format='{:.3g}'.format, border=0)}"
