"""Bad input gets one clear sentence and nothing else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, LeaveOneOut
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from coterie import Coterie, GenLinCFA, LinCFA, MutualCFA, NonLinCFA

X = np.random.default_rng(0).normal(size=(20, 4))
y = X.sum(axis=1) + np.random.default_rng(1).normal(size=20)
FRAME = pd.DataFrame(X, columns=["age", "income", "height", "weight"])


def holed(value, columns=(1,)):
    frame = FRAME.copy()
    for column in columns:
        frame.iloc[3, column] = value
    return frame


TEXT = FRAME.assign(city="Rome")
PARAMETERS = [
    (NonLinCFA(-0.1), "tolerance must be 0 or more, got -0.1."),
    (NonLinCFA(np.nan), "tolerance must be 0 or more, got nan."),
    (NonLinCFA("small"), "must be one of 'auto', 'aic', 'bic', 'ric' or a number, got 'small'."),
    (GenLinCFA("bci"), "Did you mean 'bic'?"),
    (NonLinCFA(missing="pairwis"), "Did you mean 'pairwise'?"),
    (NonLinCFA(missing=None), "missing must be one of 'error', 'pairwise', got None."),
    (NonLinCFA(missing="pairwise", aggregation="principal"), "no aggregation='principal' of the"),
    (NonLinCFA(missing="pairwise", aggregation=np.max), "no aggregation='max' of the"),
    (NonLinCFA(missing="pairwise", signs=True), "missing='pairwise' goes without signs"),
    (
        NonLinCFA(missing="pairwise", initial_groups=[[0, 1]]),
        "missing='pairwise' goes without initial_groups",
    ),
    (NonLinCFA(target_weights=[1, 2]), "one number per target, 1, got [1, 2]."),
    (NonLinCFA(target_weights=[0]), "target_weights must be 0 or more and not all 0, got [0]."),
    (NonLinCFA(target_weights=["a"]), "target_weights must list numbers, got ['a']."),
    (GenLinCFA(family="negative_binomial"), "write family=coterie.families.negative_binomial("),
    (GenLinCFA(family=3), "family must be one of 'gaussian', "),
    (NonLinCFA(None), "tolerance must be a number, got None."),
    (NonLinCFA(True), "tolerance must be a number, got True."),
    (GenLinCFA(-1), "tolerance must be 0 or more, got -1.0."),
    (NonLinCFA(search="foward"), "Did you mean 'forward'?"),
    (NonLinCFA(search=3), "search must be one of 'forward', 'restart', 'best' or a search, got 3."),
    (NonLinCFA(aggregation="average"), "aggregation must be one of 'mean', "),
    (NonLinCFA(aggregation="medain"), "Did you mean 'median'?"),
    (GenLinCFA(family="bernouli"), "Did you mean 'bernoulli'?"),
    (GenLinCFA(family="gausian"), "Did you mean 'gaussian'?"),
    (GenLinCFA(bound="generall"), "Did you mean 'general'?"),
    (GenLinCFA(curvature="nul"), "curvature must be one of 'zero', 'null' or a number, got 'nul'"),
    (GenLinCFA(curvature=0), "curvature must be more than 0, got 0.0."),
    (GenLinCFA(curvature=None), "curvature must be a number, got None."),
    (NonLinCFA(scale="yes"), "scale must be True or False, got 'yes'."),
    (NonLinCFA(covariance="grams"), "Did you mean 'gram'?"),
    (NonLinCFA(max_bytes=-1), "max_bytes must be 0 or more, got -1.0."),
    (
        NonLinCFA(covariance="gram", max_bytes=100),
        "covariance='gram' needs 1,000 bytes for 4 columns",
    ),
    (NonLinCFA(max_group_size=0), "max_group_size must be 1 or more, got 0."),
    (NonLinCFA(max_group_size=2.5), "max_group_size must be None or an int, got 2.5."),
    (
        NonLinCFA(keep=[False, False, True, False]),
        "columns, got False. Of a boolean mask, give np.",
    ),
    (LinCFA(keep=np.array([True, False, True, False])), "keep must name or number columns, got"),
    (GenLinCFA(initial_groups=[[True, False]]), "initial_groups must name or number columns, got"),
    (MutualCFA(separate=[[True, False], [3]]), "separate must name or number columns, got True."),
    (Coterie(keep=[False, True, False, False]), "keep must name or number columns, got False."),
    (Coterie(initial_groups=[[True, False]]), "initial_groups must name or number columns, got"),
    (Coterie(separate=[np.array([True, False]), [3]]), "separate must name or number columns, got"),
    (NonLinCFA(connectivity=np.ones((3, 3))), "shape (4, 4), got (3, 3)."),
    (NonLinCFA(connectivity=sparse.eye_array(5)), "shape (4, 4), got (5, 5)."),
    (NonLinCFA(connectivity="all"), "connectivity must have one row and one column per input"),
    (NonLinCFA(0.01, cv=1), "n_splits=2 or more"),
    (NonLinCFA(0.01, cv=21), "greater than the number of samples"),
    (NonLinCFA(0.01, cv="five"), "cross-validation object"),
    (NonLinCFA(0.01, cv=[]), "cv must give at least one pair"),
    (NonLinCFA(0.01, cv=[([], [1, 2])]), "cv must give non-empty lists of row numbers"),
    (NonLinCFA(0.01, cv=[([0, 1], [25])]), "cv gives row 25, but X has rows 0 to 19."),
    (NonLinCFA(0.01, cv=[1, 2]), "cv must give pairs of (train, test) rows, got 1."),
    (NonLinCFA(0.01, cv=[([0, 1],)]), "cv must give pairs of (train, test) rows, got"),
    (NonLinCFA(0.01, cv=LeaveOneOut), "cv must be an instance, got a class: write LeaveOneOut()."),
    (NonLinCFA(aggregation=lambda Z: Z[:, 0].astype(str)), "must return real numbers, got"),
    (NonLinCFA(aggregation=lambda Z: Z[:, 0] + 1j), "must return real numbers, got"),
    (NonLinCFA(0.01, cv=LeaveOneOut()), "y is constant within each of the 20 test folds"),
    (NonLinCFA(0.01, cv=GroupKFold(2)), "groups"),
    (NonLinCFA(inputs=3), "inputs must be None, a function of the columns or a scikit-learn"),
    (NonLinCFA(inputs=StandardScaler), "write StandardScaler()"),
    (NonLinCFA(inputs=lambda X: X[:, 0]), "inputs must give a table of 20 rows, got shape (20,)."),
    (NonLinCFA(inputs=lambda X: X[:, :1]), "inputs must give 2 or more columns to group, got 1."),
    (NonLinCFA(inputs=lambda X: X.astype(str)), "inputs must give real numbers"),
    (NonLinCFA(inputs=lambda X: np.where(X > 0, X, np.nan)), "What inputs makes of X has NaN"),
    (NonLinCFA(inputs=FunctionTransformer(lambda X: X / 0 * 0)), "What inputs makes of X has"),
    (NonLinCFA(aggregation=lambda Z: Z[:3, 0]), "expected 20 values, got an array of shape (3,)."),
    (NonLinCFA(aggregation=lambda Z: Z.mean()), "expected 20 values, got an array of shape ()."),
    (NonLinCFA(aggregation=lambda Z: Z[:, 0] * np.nan), "returned NaN or infinity"),
]


@pytest.mark.parametrize(("reducer", "sentence"), PARAMETERS, ids=[p[1] for p in PARAMETERS])
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_bad_parameters(reducer, sentence):
    with pytest.raises((ValueError, TypeError)) as error:
        reducer.fit(FRAME.to_numpy(), y)
    message = str(error.value)
    assert sentence in message
    assert "\n" not in message


DATA = [
    (holed(np.nan), y, "X has NaN in column 'income'. Fill the missing values first, for example"),
    (holed(np.nan, (0, 2)), y, "X has NaN in columns 'age', 'height'."),
    (holed(np.inf).to_numpy(), y, "X has infinity (inf) in column 1."),
    (TEXT, y, "X has text in column 'city'."),
    (TEXT.to_numpy(dtype=object), y, "X has text in column 4."),
    (X, y[:-1], "inconsistent numbers of samples: [20, 19]"),
    (X, np.full(20, 3.0), "y is constant, 3 in every row"),
    (X, np.where(np.arange(20) == 4, np.nan, y), "y contains NaN"),
    (X, None, "requires y to be passed"),
    (X[:0], y[:0], "0 sample(s)"),
    (X, np.array([None, *y[1:]], dtype=object), "y"),
    (X, 1 + 2.2e-16 * (y > 0), "y is constant, 1 in every row"),
    (X, np.arange("2000-01", "2001-09", dtype="datetime64[M]"), "needs a target of numbers"),
    (FRAME.assign(day=pd.Timestamp("2000-01-01")), y, "X has dates in column 'day'."),
    (FRAME.assign(kind=pd.Categorical(["a"] * 20)), y, "X has categories in column 'kind'."),
    (X.astype("datetime64[s]"), y, "X has dates in columns 0, 1, 2, 3."),
    (pd.DataFrame(X, columns=list("aabc")), y, "X has several column 'a': names must be unique"),
    (pl.DataFrame(X).lazy().with_columns(t=pl.lit("a")), y, "X has text in column 't'."),
    (pl.DataFrame(X).with_columns(t=pl.lit("text")), y, "X has text in column 't'."),
    (np.ma.masked_greater(X, 1), y, "X is a masked array"),
    (X[:, :1], y, "1 feature(s)"),
    (X[:, 0], y, "Expected 2D array"),
    (X, np.column_stack([y, np.ones(20)]), "y"),
    (X, np.ones((20, 2, 2)), "y"),
    (sparse.csr_array(np.where(X > 2, np.nan, X)), y, "Imputer, or drop those columns."),
    (pd.DataFrame(), [], "X has no columns: give a table with 2 or more."),
    (pl.DataFrame(), [], "X has no columns: give a table with 2 or more."),
    (sparse.coo_array(np.where(X > 2, np.inf, X)), y, "X has infinity (inf) in column"),
    (X + 1j, y, "Complex data not supported"),
]


@pytest.mark.parametrize("reducer", [NonLinCFA(), GenLinCFA(), LinCFA()], ids=str)
@pytest.mark.parametrize(("bad_X", "bad_y", "sentence"), DATA, ids=[d[2] for d in DATA])
def test_bad_data(reducer, bad_X, bad_y, sentence):
    with pytest.raises((ValueError, TypeError)) as error:
        reducer.fit(bad_X, bad_y)
    assert sentence in str(error.value)
    if "Expected 2D" not in sentence:  # scikit-learn's own, over three lines
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("reducer", "bad_y", "sentence"),
    [
        (NonLinCFA(), ["a"] * 20, "NonLinCFA needs y with 2 classes or more, got 1 class."),
        (NonLinCFA(), np.column_stack([y, np.ones(20)]), "y is constant in column 1"),
        (LinCFA(), ["a", "b"] * 10, "LinCFA needs a target of numbers, got text"),
        (GenLinCFA(), ["a", "b"] * 10, "family 'gaussian' needs a target of numbers, got text"),
        (LinCFA(), ["a", 1.0] * 10, "got text (labels '1.0', 'a')"),
        (LinCFA(), np.column_stack([y, y]), "y should be a 1d array"),
        (GenLinCFA(family="bernoulli"), ["a", None] * 10, "y has None or NaN in rows 1, 3, 5,"),
        (GenLinCFA(family="bernoulli"), ["a"] * 20, "needs y with 2 classes or more, got 1"),
        (
            GenLinCFA(family="poisson"),
            y,
            "family 'poisson' needs y to be numbers of 0 or more, got",
        ),
        (
            GenLinCFA(family="gamma"),
            np.abs(y) - np.abs(y).min(),
            "y to be numbers above 0, got 0 in",
        ),
        (GenLinCFA(family="inverse_gaussian"), y, "y to be numbers above 0, got"),
        (GenLinCFA(family="binomial"), np.abs(y), "y to be proportions from 0 to 1"),
        (GenLinCFA(0.5, family="gamma"), np.abs(y), "no curvature at zero; use curvature='null'"),
        (GenLinCFA(family="poisson"), np.zeros(20), "y is constant, 0 in every row"),
    ],
)
def test_bad_targets(reducer, bad_y, sentence):
    with pytest.raises(ValueError) as error:
        reducer.fit(X, bad_y)
    assert sentence in str(error.value)


def test_lincfa_says_that_it_needs_four_samples():
    with pytest.raises(ValueError, match=r"n_samples - 3 degrees of freedom and got 3 samples"):
        LinCFA().fit(X[:3], y[:3])


def test_transform_refuses_what_fit_did_not_see():
    reducer = NonLinCFA().fit(FRAME, y)
    with pytest.raises(ValueError, match="feature names"):
        reducer.transform(FRAME.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="feature names"):
        reducer.transform(FRAME[["income", "age", "height", "weight"]])
    with pytest.raises(ValueError, match="X has NaN in column 'income'"):
        reducer.transform(holed(np.nan))
    with pytest.raises(ValueError, match=r"X must have one column per group"):
        reducer.inverse_transform(np.zeros((2, 9)))
    with pytest.raises(NotFittedError):
        NonLinCFA().transform(X)


def test_no_parameter_is_checked_before_fit():
    NonLinCFA(tolerance=-1, search="?", cv="?", aggregation="?", scale="?")
