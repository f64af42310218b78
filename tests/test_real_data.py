"""Real data of every kind, with bounds that could fail.

They are not part of the project. Name their folder in COTERIE_DATA, or have it at ../shared/data.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.sparse.csgraph import connected_components
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from coterie import GenLinCFA, NonLinCFA, field_to_graph

FOLDER = Path(os.environ.get("COTERIE_DATA", Path(__file__).parents[2] / "shared" / "data"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="COTERIE_DATA names no folder"),
]


def load(name):
    frame = pd.read_parquet(FOLDER / f"{name}.parquet")
    return frame.drop(columns="target"), frame["target"].to_numpy()


def halves(y, **options):
    return train_test_split(np.arange(len(y)), test_size=0.25, random_state=0, **options)


def normal_scores():
    return QuantileTransformer(n_quantiles=200, output_distribution="normal", random_state=0)


@pytest.mark.parametrize("bound", ["general", "fitted"])
def test_murders_per_inhabitant(bound):
    X, murders = load("count_crime_murders")
    people = X.pop("population").to_numpy()
    train, test = halves(murders)
    reducer = GenLinCFA(family="poisson", bound=bound, inputs=normal_scores())
    reducer.fit(X.iloc[train], murders[train], exposure=people[train])
    assert reducer.n_groups_ <= 40
    Z, rate = reducer.transform(X), murders / people
    model = make_pipeline(StandardScaler(), PoissonRegressor(alpha=1e-3, solver="newton-cholesky"))
    weights = people / people.mean()
    model.fit(Z[train], rate[train], poissonregressor__sample_weight=weights[train])
    assert model.score(Z[test], rate[test], sample_weight=weights[test]) > 0.3


def test_influenza_of_the_next_week():
    X, cases = load("count_flu_bybw")
    X, train, test = np.log1p(X.to_numpy()), slice(310), slice(310, None)
    reducer = GenLinCFA(family="poisson", bound="fitted").fit(X[train], cases[train])
    assert reducer.n_groups_ <= 60
    Z = reducer.transform(X)
    model = make_pipeline(StandardScaler(), PoissonRegressor(alpha=1e-3, solver="newton-cholesky"))
    assert model.fit(Z[train], cases[train]).score(Z[test], cases[test]) > 0.4


@pytest.mark.parametrize(
    ("name", "labels", "most_columns"),
    [
        ("nir_fruit", ["D", "HA", "M"], 130),
        ("ir_coffee_origin", ["Brasil", "Ethiopia", "Vietnam"], 250),
    ],
)
@pytest.mark.parametrize("reducer", [NonLinCFA(), GenLinCFA(family="bernoulli")], ids=str)
def test_spectra_of_three_classes(name, labels, most_columns, reducer):
    X, y = load(name)
    names = np.array(labels)[y.astype(int)]
    train, test = halves(y, stratify=y)
    model = make_pipeline(reducer, StandardScaler(), LogisticRegression(max_iter=5000))
    model.fit(X.iloc[train], names[train])
    assert model[0].classes_.tolist() == labels
    assert model[0].n_groups_ <= most_columns
    assert model.score(X.iloc[test], names[test]) > 0.9


def test_bankruptcies_with_their_gaps():
    X, bankrupt = load("bankruptcy_polish_1year")
    assert X.isna().any(axis=1).mean() > 0.5  # complete rows would be less than half of them
    train, test = halves(bankrupt, stratify=bankrupt)
    model = make_pipeline(
        GenLinCFA(family="bernoulli", missing="pairwise", inputs=normal_scores()),
        SimpleImputer(),
        StandardScaler(),
        LogisticRegression(class_weight="balanced"),
    )
    model.fit(X.iloc[train], bankrupt[train])
    assert model[0].n_groups_ <= 15
    chance = model.predict_proba(X.iloc[test])[:, 1]
    assert roc_auc_score(bankrupt[test], chance) > 0.75


def test_winds_on_their_grid():
    X, soi = load("climate_pacific_winds_soi")
    place = X.columns.str.extract(r"_lon([\d.]+)_lat(-?[\d.]+)").astype(float)
    lon, lat = np.unique(place[0]), np.unique(place[1])
    time = pd.date_range("1982-01", periods=len(X), freq="MS")
    values = X.to_numpy().reshape(len(X), 2, len(lat), len(lon))
    winds = xr.Dataset(
        {name: (("time", "lat", "lon"), values[:, k]) for k, name in enumerate(["u", "v"])},
        {"time": time, "lat": lat, "lon": lon},
    )
    train, test = slice(96), slice(96, None)
    graph = field_to_graph(winds)
    reducer = NonLinCFA(connectivity=graph).fit(winds.isel(time=train), soi[train])
    assert reducer.n_groups_ <= 200
    for group in reducer.groups_:
        assert connected_components(graph[group][:, group])[0] == 1
    shown = reducer.as_field()
    assert shown["u"].sizes == {"lat": 25, "lon": 69}
    assert len(np.unique([shown["u"], shown["v"]])) == reducer.n_groups_
    Z = reducer.transform(winds)
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 5, 20)))
    assert model.fit(Z[train], soi[train]).score(Z[test], soi[test]) > 0.3
