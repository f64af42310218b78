"""Errors about files name the file, the row and the column."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie import Moments, moments_from
from coterie.datasets import make_groups

N, NAMES = 1200, [f"c{i}" for i in range(6)]


@pytest.fixture(scope="module")
def table():
    X, y, _ = make_groups(N, 6, 2, random_state=0)
    return pa.Table.from_pandas(pd.DataFrame(X, columns=NAMES).assign(y=y), preserve_index=False)


@pytest.fixture
def folder(table, tmp_path):
    """Three files of 400 rows in 4 row groups each."""
    for number in range(3):
        write(table.slice(400 * number, 400), tmp_path / f"{number}.parquet")
    return tmp_path


def write(table, path, **options):
    pq.write_table(table, path, row_group_size=100, use_dictionary=False, **options)


def assert_refused(source, says, **options):
    with pytest.raises(ValueError, match=says) as caught:
        moments_from(source, **{"y": "y", **options})
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text


def overwrite(path, group, column, content, offset=0):
    """Damage some bytes of one column of one row group; the footer does not change."""
    start = pq.ParquetFile(path).metadata.row_group(group).column(column).data_page_offset
    with path.open("r+b") as file:
        file.seek(start + offset)
        file.write(content)


@pytest.mark.parametrize("length", [0, 10, 3000, -1])
def test_a_truncated_file_is_named(folder, length):
    last = folder / "2.parquet"
    content = last.read_bytes()
    last.write_bytes(content[:length])
    assert_refused(
        folder, r"2\.parquet cannot be read: .*Parquet|2\.parquet cannot be read: .*footer"
    )
    assert_refused(last, r"2\.parquet cannot be read")


def test_the_error_names_row_group_and_column_of_a_damaged_page(folder):
    overwrite(folder / "2.parquet", 3, 4, b"\xff" * 24)
    assert_refused(folder, r"2\.parquet cannot be read: row group 3, column 'c4': \w")


def test_changed_pages_are_found_by_their_checksum(table, tmp_path):
    write(table, tmp_path / "rows.parquet", write_page_checksum=True, compression="none")
    overwrite(tmp_path / "rows.parquet", 2, 1, b"12345678", offset=200)
    assert_refused(tmp_path / "rows.parquet", "row group 2, column 'c1': .*(CRC|checksum)")


def test_what_was_counted_before_a_damaged_page_is_saved(folder, tmp_path, table):
    overwrite(folder / "2.parquet", 3, 4, b"\xff" * 24)
    path = tmp_path / "moments.npz"
    assert_refused(folder, "row group 3", checkpoint=path, chunk_rows=100)
    assert Moments.load(path).n_samples_ == 1100
    write(table.slice(800, 400), folder / "2.parquet")
    moments = moments_from(folder, y="y", checkpoint=path)
    np.testing.assert_allclose(moments.scatter(), moments_from(table, y="y").scatter(), rtol=1e-9)


def test_the_error_names_file_and_row_of_a_missing_value(folder, table):
    gap = table.slice(800).to_pandas()
    gap.loc[399, "c3"] = np.nan
    write(pa.Table.from_pandas(gap), folder / "2.parquet")
    says = r"X has NaN in column 'c3' of batch 7, row 399 of 2\.parquet\. Fill the missing"
    assert_refused(folder, says, chunk_rows=150)
    assert_refused(folder, r"of batch 1, row 399 of 2\.parquet\.", chunk_rows=700)
    assert_refused(table.schema.empty_table(), "no rows with a weight above 0")


SIX = [f"p{number:02}.parquet" for number in range(6)]
ROWS_PER_FILE = 50


def six_files(folder, change=lambda frame: frame, n_rows=ROWS_PER_FILE):
    """Six files in row groups of 20 rows, with weights and folds, after a change of all rows."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.standard_normal((6 * n_rows, 3)), columns=["a", "b", "y"])
    frame = change(frame.assign(w=1.0, fold=np.arange(6 * n_rows) % 3))
    for number, name in enumerate(SIX):
        some = frame[n_rows * number : n_rows * (number + 1)]
        table = pa.Table.from_pandas(some, preserve_index=False)
        pq.write_table(table, folder / name, row_group_size=20)
    return folder


WRONG = {
    "b": (np.nan, "X has NaN in column 'b' of"),
    "a": (np.inf, r"X has infinity \(inf\) in column 'a' of"),
    "y": (np.nan, "y has NaN, None or infinity in"),
    "w": (-2.0, "sample_weight must be 0 or more, got -2 in"),
    "fold": (-1, "fold must be a whole number of 0 or more in each row, got -1 in"),
}


@pytest.mark.parametrize("chunk_rows", [None, 7, ROWS_PER_FILE, 120])
@pytest.mark.parametrize(("number", "row"), [(0, 0), (0, 49), (3, 21), (5, 0), (5, 49)])
@pytest.mark.parametrize("column", WRONG)
def test_errors_name_the_file_and_row(tmp_path, column, number, row, chunk_rows):
    wrong, says = WRONG[column]

    def change(frame):
        # Rows that do not count come before, and are rows nevertheless.
        frame.loc[[1, 2, 60, 152], "w"] = 0.0
        frame.loc[ROWS_PER_FILE * number + row, column] = wrong
        return frame

    six_files(tmp_path, change)
    batch = 0 if chunk_rows is None else (ROWS_PER_FILE * number + row) // chunk_rows
    named = {"y": "y", "sample_weight": "w", "cv": "fold", "chunk_rows": chunk_rows}
    assert_refused(tmp_path, rf"^{says} batch {batch}, row {row} of {SIX[number]}\.", **named)


def test_errors_name_several_files(tmp_path):
    def change(frame):
        frame.loc[[3, 7, 60, 61, 62, 160], "a"] = np.nan
        return frame

    six_files(tmp_path, change)
    rows = "rows 3, 7 of p00.parquet, rows 10 to 12 of p01.parquet and row 10 of p03.parquet"
    named = {"columns": ["a", "b"]}
    assert_refused(tmp_path, rf"column 'a' of batch 0, {rows}\. Fill", **named)
    assert_refused(
        tmp_path, r"of batch 0, rows 3, 7 of p00\.parquet\. Fill", **named, chunk_rows=10
    )
    six_files(tmp_path, lambda frame: frame.assign(a=np.nan))
    last = r"rows 0 to 49 of p02\.parquet and 3 more files\. Fill"
    assert_refused(tmp_path, last, **named)


def test_rows_of_separate_arrays_are_numbered_across_files(tmp_path):
    """Row 7 of the fourth file is row 157 of an array for all of them."""
    folder = tmp_path / "rows"
    folder.mkdir()
    six_files(folder)
    y, ones = np.zeros(6 * ROWS_PER_FILE), np.ones(6 * ROWS_PER_FILE)
    y[157], named = np.nan, {"columns": ["a", "b"]}
    assert_refused(
        folder, r"^y has NaN, None or infinity in batch 0, row 157 of y\.$", y=y, **named
    )
    np.save(tmp_path / "labels.npy", y)
    named |= {"y": tmp_path / "labels.npy", "chunk_rows": 30}
    assert_refused(folder, r"in batch 5, row 157 of labels\.npy\.$", **named)
    named = {"columns": ["a", "b"]}
    ones[157] = -1.0
    assert_refused(
        folder, r"got -1 in batch 0, row 157 of sample_weight\.$", sample_weight=ones, **named
    )
    folds = np.arange(6 * ROWS_PER_FILE) % 2
    folds[157] = -3
    assert_refused(folder, r"got -3 in batch 0, row 157 of cv\.$", cv=folds, **named)


def test_rows_of_other_sources_are_numbered_from_the_first(tmp_path):
    X, y = np.zeros((90, 2)), np.arange(90.0)
    X[57, 1] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    table = pa.Table.from_pandas(frame)
    says = "X has NaN in column {} of batch 5, row 57 of {}\\. Fill"
    for source in (frame, table, table.to_reader(8)):
        assert_refused(source, says.format("'b'", "the source"), chunk_rows=10)
    batches = [(X[start : start + 10], y[start : start + 10]) for start in range(0, 90, 10)]
    assert_refused(batches, says.format(1, "the source"), y=None)
    assert_refused(X, says.format(1, "the source"), y=y, chunk_rows=10)
    np.save(tmp_path / "X.npy", X)
    assert_refused(tmp_path / "X.npy", says.format(1, "X.npy"), y=y, chunk_rows=10)
    weights = np.ones(90)
    y[25], weights[[21, 22, 57]] = np.nan, 0.0
    named = {"y": y, "sample_weight": weights, "chunk_rows": 10}
    assert_refused(tmp_path / "X.npy", r"infinity in batch 2, row 25 of y\.$", **named)


def test_a_verified_batch_is_named_by_its_number(tmp_path, table):
    """With a checkpoint, batches are verified from the first one on."""
    frame, path = table.slice(0, 400).to_pandas(), tmp_path / "moments.npz"
    pieces = [frame[start : start + 100] for start in range(0, 400, 100)]
    moments_from(pieces, y="y", checkpoint=path)
    pieces[1] = pieces[1].assign(c2=np.nan)
    says = "X has NaN in column 'c2' of batch 1, rows 100 to 199 of the source"
    assert_refused(pieces, says, checkpoint=path)


def test_the_error_names_the_file_with_weights_or_folds_as_text(tmp_path):
    six_files(tmp_path)
    names = {"y": "y", "columns": ["a", "b"]}
    for column, option in {"w": "sample_weight", "fold": "cv"}.items():
        some = pq.read_table(tmp_path / SIX[3])
        place = some.schema.get_field_index(column)
        text = some.set_column(place, column, pa.array(["x"] * ROWS_PER_FILE))
        pq.write_table(text, tmp_path / SIX[3])
        says = rf"p03\.parquet holds string in column '{column}', not numbers: {option} must name"
        assert_refused(tmp_path, says, **names, **{option: column})


def test_the_error_names_the_file_where_the_target_has_another_type(tmp_path):
    six_files(tmp_path)
    some = pq.read_table(tmp_path / SIX[4])
    place = some.schema.get_field_index("y")
    pq.write_table(some.set_column(place, "y", pa.array(["x"] * ROWS_PER_FILE)), tmp_path / SIX[4])
    for chunk_rows in (None, 7, ROWS_PER_FILE):
        says = r"p04\.parquet holds string in column 'y', and p00\.parquet holds double"
        assert_refused(tmp_path, says, columns=["a", "b"], chunk_rows=chunk_rows)


def test_a_column_without_any_value_is_missing_values(folder, table):
    nothing = table.slice(800).set_column(2, "c2", pa.nulls(400))
    write(nothing, folder / "2.parquet")
    assert_refused(folder, r"X has NaN in column 'c2' of batch 0, .*2\.parquet")
    assert_refused(nothing, "X has NaN in column 'c2'")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.drop_columns("c3"), r"1\.parquet has no column 'c3', and 0\.parquet has"),
        (lambda t: t.rename_columns(["d", *t.schema.names[1:]]), "1.parquet has no column 'c0'"),
        (
            lambda t: t.append_column("d", t["y"]),
            r"1\.parquet has column 'd', and 0\.parquet has not",
        ),
        (lambda t: t.drop_columns("y"), r"1\.parquet has no column 'y'"),
        (
            lambda t: t.set_column(0, "c0", pa.array(["a"] * 400)),
            r"1\.parquet holds string in column 'c0', not numbers",
        ),
        (
            lambda t: t.set_column(6, "y", pa.array(["a"] * 400)),
            r"1\.parquet holds string in column 'y', and 0\.parquet holds double: a target must be",
        ),
        (
            lambda t: t.set_column(6, "y", pa.array([None] * 400)),
            r"y has NaN, None or infinity in batch 1, rows 0 to 399 of 1\.parquet\.",
        ),
        (lambda t: t.append_column("c0", t["y"]), r"1\.parquet has column 'c0' more than once"),
    ],
)
def test_a_file_with_other_columns_is_named(folder, table, change, says):
    write(change(table.slice(400, 400)), folder / "1.parquet")
    assert_refused(folder, says, chunk_rows=400)


def test_files_may_differ_in_column_order_and_number_type(folder, table):
    turned = table.slice(400, 400).select([*reversed(NAMES), "y"])
    single = turned.set_column(0, "c5", turned["c5"].cast("float32"))
    write(single, folder / "1.parquet")
    expected = np.vstack([table.select(NAMES).to_pandas().to_numpy()])
    expected[400:800, 5] = expected[400:800, 5].astype(np.float32)
    moments = moments_from(folder, y="y", chunk_rows=300)
    assert moments.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(moments.scatter(), N * np.cov(expected.T, ddof=0), rtol=1e-9)


def test_extra_columns_of_some_files_may_be_left_out(folder, table):
    write(table.slice(400, 400).append_column("d", table["y"][:400]), folder / "1.parquet")
    assert moments_from(folder, y="y", columns=NAMES).n_samples_ == N


def test_a_folder_without_parquet(tmp_path):
    assert_refused(tmp_path, "contains no Parquet file .*parquet")
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n")
    (tmp_path / "_metadata.parquet").write_text("hidden")
    assert_refused(tmp_path, "contains no Parquet file .*parquet")


def test_files_without_rows_add_nothing(folder, table):
    write(table.slice(0, 0), folder / "1a.parquet")
    assert moments_from(folder, y="y").n_samples_ == N
    for number in range(3):
        (folder / f"{number}.parquet").unlink()
    assert_refused(folder, "The source has no rows with a weight above 0")


def test_a_text_partition_is_not_a_feature(table, tmp_path):
    for name in ("north", "south"):
        (tmp_path / f"region={name}").mkdir()
        write(table, tmp_path / f"region={name}" / "rows.parquet")
    assert_refused(tmp_path, "holds string in column 'region', not numbers: .*columns=")
    moments = moments_from(tmp_path, y="region", columns=NAMES)
    assert moments.target_columns[0].values == ("north", "south")


def test_the_hive_null_is_a_missing_value(table, tmp_path):
    for name in ("year=2001", "year=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / name).mkdir()
        write(table, tmp_path / name / "rows.parquet")
    assert_refused(tmp_path, "X has NaN in column 'year'")


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_truncated_npy_file_raises_value_error(table, tmp_path, order):
    path, y = tmp_path / "X.npy", table["y"].to_numpy()
    np.save(path, np.asarray(table.select(NAMES).to_pandas(), order=order))
    content = path.read_bytes()
    for length in (0, 50, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        assert_refused(path, r"X\.npy cannot be read: it is not a NumPy array, or", y=y)

    def truncate(done, _):
        path.write_bytes(content[: len(content) // 2] if done > 2 else content)

    path.write_bytes(content)
    says = r"X\.npy cannot be read: it was truncated while"
    assert_refused(path, says, y=y, chunk_rows=100, progress=truncate)


def test_npy_files_with_other_content(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert_refused(tmp_path / "objects.npy", "not a NumPy array", y=[1.0])
    np.save(tmp_path / "flat.npy", np.ones(3))
    assert_refused(tmp_path / "flat.npy", r"must have 2 dimensions, got shape \(3,\)", y=[1.0])
    np.save(tmp_path / "none.npy", np.ones((0, 3)))
    assert_refused(tmp_path / "none.npy", "no rows with a weight above 0", y=np.ones(0))
    np.save(tmp_path / "swapped.npy", np.eye(4).astype(">f4"))
    assert moments_from(tmp_path / "swapped.npy", np.arange(4)).mean.tolist() == [0.25] * 4


def test_the_error_names_the_chunk_with_other_columns(table):
    chunks = [table.slice(0, 500).to_pandas(), table.slice(500).drop_columns("c1").to_pandas()]
    assert_refused(chunks, "no column 'c1' in batch 1, rows 500 to 1,199")
    chunks[1] = table.slice(500).append_column("d", table["y"][500:]).to_pandas()
    assert_refused(chunks, "column 'd', which earlier batches lack, in batch 1")


def test_a_failed_query_raises_value_error():
    duckdb = pytest.importorskip("duckdb")
    query = duckdb.connect().sql("select range as a, error('no such row') as y from range(10)")
    assert_refused(query, "The source cannot be read: .*no such row")
