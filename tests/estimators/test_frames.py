"""Columns of every kind that a frame may have, treated as a user would expect."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from coterie import Coterie, Moments, NonLinCFA, ToleranceCV, stability, tolerance_path
from coterie.report import compare, study

N = 60
RNG = np.random.default_rng(0)
A = RNG.normal(size=N)
TABLE = {
    "number": A + 0.1 * RNG.normal(size=N),
    "whole": np.round(3 * A + RNG.normal(size=N)),
    "flag": A + RNG.normal(size=N) > 0,
    "small": (3 * A).astype(np.int8),
    "float32": (A + 0.2 * RNG.normal(size=N)).astype(np.float32),
}
Y = A + RNG.normal(size=N)
AS_FLOAT = np.column_stack([np.asarray(column, dtype=float) for column in TABLE.values()])


def pandas_plain():
    frame = pd.DataFrame(TABLE)
    return frame.assign(whole=frame["whole"].astype(int))


def in_duckdb():
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(FRAMES["polars"]().to_arrow())


FRAMES = {
    "pandas": pandas_plain,
    "pandas nullable": lambda: pandas_plain().convert_dtypes(),
    "pandas pyarrow": lambda: pandas_plain().convert_dtypes(dtype_backend="pyarrow"),
    "pandas object": lambda: pandas_plain().astype(object),
    "polars": lambda: pl.DataFrame(TABLE).with_columns(pl.col("whole").cast(pl.Int64)),
    "polars lazy": lambda: FRAMES["polars"]().lazy(),
    "arrow": lambda: FRAMES["polars"]().to_arrow(),
    "arrow batch": lambda: FRAMES["polars"]().to_arrow().to_batches()[0],
    "duckdb": in_duckdb,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_numbers_and_flags_are_numbers(kind):
    frame = FRAMES[kind]()
    expected = NonLinCFA().fit(AS_FLOAT, Y)
    reducer = NonLinCFA().fit(frame, Y)
    assert reducer.feature_names_in_.tolist() == list(TABLE)
    np.testing.assert_array_equal(reducer.labels_, expected.labels_)
    np.testing.assert_allclose(reducer.transform(frame), expected.transform(AS_FLOAT), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Nothing in X predicts y")
@pytest.mark.parametrize("kind", ["polars lazy", "arrow", "duckdb"])
def test_tables_of_other_libraries_go_wherever_frames_go(kind):
    """Everything gives for them what it gives for a frame of polars."""
    table, frame = FRAMES[kind](), FRAMES["polars"]()
    for reducer in (Coterie(), ToleranceCV(NonLinCFA())):
        reducer.fit(table, Y)
        assert reducer.feature_names_in_.tolist() == list(TABLE)
        expected = reducer.transform(frame)
        np.testing.assert_array_equal(reducer.transform(table), expected)
    assert Moments().update(table, Y).feature_names_in_.tolist() == list(TABLE)
    again = [tolerance_path(one, Y, n_tolerances=3, cv=3).n_groups for one in (table, frame)]
    np.testing.assert_array_equal(*again)
    found = [stability(one, Y, n_resamples=3, random_state=0).labels for one in (table, frame)]
    np.testing.assert_array_equal(*found)
    told = [study(one, Y, path=False).summary for one in (table, frame)]
    assert told[0] == told[1]
    assert told[0].features == list(TABLE)
    scores = [compare(one, Y, cv=3).scores for one in (table, frame)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("module", ["pandas", "polars"])
@pytest.mark.parametrize("kind", ["polars lazy", "arrow"])
def test_a_frame_comes_out_of_other_tables_where_asked_for(kind, module):
    table = FRAMES[kind]()
    Z = Coterie().set_output(transform=module).fit(table, Y).transform(table)
    assert type(Z).__module__.startswith(module)
    assert list(Z.columns) == list(Coterie().fit(table, Y).get_feature_names_out())


def test_a_target_of_arrow_is_a_target():
    table = FRAMES["arrow"]().append_column("y", [Y])
    labels = NonLinCFA().fit(table.drop(["y"]), table["y"]).labels_
    np.testing.assert_array_equal(labels, NonLinCFA().fit(AS_FLOAT, Y).labels_)


@pytest.mark.parametrize(("kind", "module"), [("pandas", "pandas"), ("polars", "polars")])
def test_the_same_class_comes_out(kind, module):
    frame = FRAMES[kind]()
    Z = NonLinCFA().set_output(transform=module).fit(frame, Y).transform(frame)
    assert type(Z).__module__.startswith(module)
    assert list(Z.columns) == list(NonLinCFA().fit(frame, Y).get_feature_names_out())


@pytest.mark.parametrize("kind", ["pandas nullable", "pandas pyarrow", "polars"])
def test_gaps_of_every_kind_are_named(kind):
    frame = FRAMES[kind]()
    if kind == "polars":
        gap = pl.int_range(pl.len()) == 3
        frame = frame.with_columns(
            *(pl.when(gap).then(None).otherwise(pl.col(c)).alias(c) for c in ("whole", "flag"))
        )
    else:
        frame.loc[3, ["whole", "flag"]] = pd.NA
    with pytest.raises(ValueError, match=r"X has NaN in columns 'whole', 'flag'\. Fill"):
        NonLinCFA().fit(frame, Y)
    holed = AS_FLOAT.copy()
    holed[3, [1, 2]] = np.nan
    expected = NonLinCFA(missing="pairwise").fit(holed, Y).labels_
    np.testing.assert_array_equal(NonLinCFA(missing="pairwise").fit(frame, Y).labels_, expected)


COLOURS = ["red", "blue"] * (N // 2)
CATEGORIES = {
    "pandas": lambda: pandas_plain().assign(colour=pd.Categorical(COLOURS)),
    "pandas numbers": lambda: pandas_plain().assign(colour=pd.Categorical([1, 2] * (N // 2))),
    "polars": lambda: FRAMES["polars"]().with_columns(
        colour=pl.Series(COLOURS, dtype=pl.Categorical)
    ),
    "polars enum": lambda: FRAMES["polars"]().with_columns(
        colour=pl.Series(COLOURS, dtype=pl.Enum(["red", "blue"]))
    ),
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_are_refused_and_encoders_named(kind):
    with pytest.raises(ValueError) as error:
        NonLinCFA().fit(CATEGORIES[kind](), Y)
    message = str(error.value)
    assert message.startswith("X has categories in column 'colour'.")
    assert "coterie.TablePreparer" in message
    assert "OneHotEncoder" in message
    assert "TargetEncoder" in message


@pytest.mark.parametrize("kind", ["pandas text", "polars text", "pandas string"])
def test_text_is_refused_and_encoders_named(kind):
    frame = FRAMES["polars"]() if kind == "polars text" else pandas_plain()
    if kind == "polars text":
        frame = frame.with_columns(colour=pl.Series(COLOURS))
    else:
        dtype = "string" if kind == "pandas string" else object
        frame = frame.assign(colour=pd.Series(COLOURS, dtype=dtype))
    with pytest.raises(ValueError, match=r"X has text in column 'colour'\. .*TablePreparer"):
        NonLinCFA().fit(frame, Y)
