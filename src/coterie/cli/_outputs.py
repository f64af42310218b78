"""The files that a fit writes: a model, a reduced table and a report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coterie._data.tables import KNOWN_SUFFIXES, write_table
from coterie._persist.files import whole_files, write_whole
from coterie._persist.models import save_with_summary
from coterie.cli._apply import reduce_table
from coterie.cli._errors import guard_writing
from coterie.cli._frames import select_columns
from coterie.cli._options import ColumnOptions, TableOptions
from coterie.cli._roles import PreparedTable
from coterie.report.inspection import Summary, report_html

OUTPUT_SUFFIXES = {".tsv", ".parquet", ".feather", ".arrow", ".jsonl", ".ndjson", ".json", ".xlsx"}


def json_of(summary: Summary) -> dict[str, Any]:
    """A summary for JSON: what is left out has label -1 and is listed in `rest`, not in a group."""
    document = asdict(summary)
    if summary.rest is None:
        return document | {"rest": []}
    left_out = document["groups"].pop()
    labels = [-1 if label == summary.rest else label for label in summary.labels]
    return document | {"labels": labels, "rest": left_out["members"]}


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Create the output folder, and remove it again if the command fails and it is empty."""
    is_new = not folder.exists()
    with guard_writing():
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def base_name(data: str) -> str:
    """The name of a file without its suffixes."""
    path = Path("stdin" if data == "-" else data)
    while path.suffix.lower() in KNOWN_SUFFIXES and path.stem:
        path = path.with_suffix("")
    return path.name


def output_suffix(source: TableOptions) -> str:
    """The suffix of the reduced table: that of the input, or .csv if compressed or piped."""
    suffix = Path(source.data).suffix.lower()
    return suffix if suffix in OUTPUT_SUFFIXES else ".csv"


def write_outputs(
    folder: Path,
    suffix: str,
    reducer: Any,
    summary: Summary,
    data: PreparedTable,
    columns: ColumnOptions,
) -> dict[str, Path]:
    """Write the model, the reduced table and the report: all three or none."""
    files = {
        "model": folder / "model.json",
        "reduced": folder / f"reduced{suffix}",
        "report": folder / "report.html",
    }
    carried = select_columns(data.frame, [*columns.target, *filter(None, [columns.time])])
    table = reduce_table(reducer, data.X, carried)
    with guard_writing(), whole_files() as opener:
        save_with_summary(reducer, summary, files["model"], opener, data.preparer)
        write_table(table, files["reduced"], opener=opener)
        write_whole(files["report"], report_html(summary), opener)
    return files
