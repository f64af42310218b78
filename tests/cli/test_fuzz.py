"""Whatever is in the files, a command ends well or with one line; never with a bug of ours."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coterie
from coterie._persist.models import save_with_summary
from coterie.datasets import make_groups

# A note such as the one about constant columns goes to stderr beside the answer.
pytestmark = pytest.mark.filterwarnings("ignore::coterie.FitWarning")

CELLS = st.one_of(
    st.floats(width=32).map(repr),
    st.integers(-3, 3).map(str),
    st.sampled_from(
        ["", "NA", "x", "1e400", "-0", "0x1", '"', "1,5", "true", "2020-01-01", "1e308"]
    ),
    st.text(max_size=4),
)
EVERY = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def ends_well(result):
    """Done, or one line for wrong words, input or output; 1 would be a bug."""
    assert result.exit_code in (0, 2, 3, 4), result.stderr
    if result.exit_code:
        assert result.stderr.count("\n") == 1
        assert len(result.stderr) < 400
    assert "Traceback" not in result.output


@pytest.mark.slow
@EVERY
@given(data=st.data())
def test_any_cells_are_an_answer_or_a_line(run, tmp_path, data):
    n_columns = data.draw(st.integers(1, 4))
    head = data.draw(st.lists(CELLS, min_size=n_columns, max_size=n_columns + 1))
    line = st.lists(CELLS, min_size=n_columns, max_size=n_columns + 1)
    rows = data.draw(st.lists(line, min_size=0, max_size=12))
    separator = data.draw(st.sampled_from(",;\t|"))
    text = "\n".join(separator.join(row) for row in [[*head, "y"], *([*row, "1"] for row in rows)])
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    ends_well(run("fit", file, "-t", "y", "-q", "--no-path", "-o", tmp_path / "out"))


NUMBERS = st.one_of(st.integers(-2, 3), st.floats(-1e100, 1e100), st.sampled_from([0.0, 1e-300]))


@pytest.mark.slow
@EVERY
@given(data=st.data())
def test_any_numbers_are_an_answer_or_a_line(run, tmp_path, data):
    """Tables that can be read, with few rows, constant columns, large and tiny numbers."""
    n_columns, n_rows = data.draw(st.integers(2, 4)), data.draw(st.integers(4, 14))
    column = st.lists(NUMBERS, min_size=n_rows, max_size=n_rows) | NUMBERS.map(
        lambda one: [one] * n_rows
    )
    columns = data.draw(st.lists(column, min_size=n_columns, max_size=n_columns))
    target = data.draw(column | st.lists(st.sampled_from("ab"), min_size=n_rows, max_size=n_rows))
    lines = [",".join([*(f"c{k}" for k in range(n_columns)), "y"])]
    lines += [",".join(map(str, row)) for row in zip(*columns, target)]
    file = tmp_path / "data.csv"
    file.write_text("\n".join(lines))
    words = data.draw(
        st.sampled_from(
            [
                [],
                ["--signs"],
                ["--scale"],
                ["--task", "counts"],
                ["--search", "best"],
                ["--groups", "2"],
            ]
        )
    )
    ends_well(run("fit", file, "-t", "y", "-q", "-o", tmp_path / "out", *words))


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    X, y, _ = make_groups(60, 6, 2, noise=2.0, random_state=0)
    told = coterie.report.study(X, y)
    path = tmp_path_factory.mktemp("model") / "model.json"
    save_with_summary(told.reducer, told.summary, path)
    return path.read_text()


def places(value, at=()):
    """Every place in a document."""
    yield at
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in list(pairs)[:20]:
        yield from places(one, (*at, key))


ODD = st.sampled_from([None, True, -1, 0, 2**60, 1e300, "", "NaN", "<b>", [], {}, [[]], [None]])


@EVERY
@given(data=st.data())
def test_a_broken_summary_is_a_line(run, tmp_path, document, data):
    broken = json.loads(document)
    at = data.draw(st.sampled_from([one for one in places(broken["summary"]) if one]))
    inside = broken["summary"]
    for key in at[:-1]:
        inside = inside[key]
    if data.draw(st.booleans()):
        inside[at[-1]] = data.draw(ODD)
    else:
        del inside[at[-1]]
    file = tmp_path / "model.json"
    file.write_text(json.dumps(broken))
    ends_well(run("inspect", file))
    ends_well(run("report", file, "-o", tmp_path / "report.html"))


@EVERY
@given(cut=st.floats(0, 1), noise=st.binary(max_size=5))
def test_a_model_that_is_cut_is_a_line(run, tmp_path, document, cut, noise):
    content = document.encode()
    at = int(cut * len(content))
    file = tmp_path / "model.json"
    file.write_bytes(content[:at] + noise)
    ends_well(run("inspect", file))
