"""Studies of frames with text, categories and dates."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

from coterie import NonLinCFA
from coterie.report import compare, study
from coterie.report.studies._splits import Samples

RNG = np.random.default_rng(0)
N = 200
CITY = RNG.choice(["Rome", "Oslo", "Bonn"], N)
SIZE = RNG.normal(size=N)
FRAME = pd.DataFrame(
    {
        "size": SIZE + 0.1 * RNG.normal(size=N),
        "rooms": SIZE + 0.1 * RNG.normal(size=N),
        "city": pd.Categorical(CITY),
        "day": pd.date_range("2020-01-01", periods=N),
        "name": [f"row {k}" for k in range(N)],
    }
)
Y = SIZE + 2 * (CITY == "Rome") + 0.3 * RNG.normal(size=N)


def test_a_study_prepares_the_frame_and_says_so():
    result = study(FRAME, Y, path=False)
    assert "city=Rome" in result.summary.features
    assert "Left out (text that differs in every row): 'name'." in result.summary.notes
    new = result.preparer.transform(FRAME.head(3).assign(city="Lima"))
    assert result.reducer.transform(new).shape == (3, result.reducer.n_groups_)


def test_a_study_is_that_of_the_prepared_frame():
    first = study(FRAME, Y, path=False)
    # The dates of the frame are in order.
    again = study(first.preparer.transform(FRAME), Y, path=False, by_time=True)
    assert again.preparer is None
    assert first.summary.groups == again.summary.groups
    assert first.summary.scores == again.summary.scores


def test_a_comparison_takes_the_frame():
    assert compare(FRAME, Y, cv=3).scores[0].score > 0.5


def test_transformers_of_the_estimator_get_the_columns_as_they_are():
    encoder = NonLinCFA(inputs=OneHotEncoder())
    samples, preparer = Samples.from_any_table(FRAME, Y, encoder)
    assert preparer is None
    assert samples.X is FRAME
