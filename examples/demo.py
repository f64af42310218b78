"""Group the features of two problems, and compare with all columns, PCA and Ward clustering.

Run with ``make demo``.
"""

from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from coterie import Coterie
from coterie.datasets import load_tecator, make_paper_data, paper_trial


def show(title, names, X_train, X_test, y_train, y_test):
    reducer = Coterie().fit(X_train, y_train)
    d = reducer.n_groups_
    print(f"\n{title}\n{'=' * len(title)}")
    print(f"{X_train.shape[1]} columns became {d}, learned from {len(y_train)} rows:\n")
    for name, members in zip(reducer.get_feature_names_out(names), reducer.groups_, strict=True):
        print(f"  {len(members):3d}  {name}")
    if len(reducer.rest_):
        print(f"  {len(reducer.rest_):3d}  left out: they add nothing, given the other columns")
    rivals = {
        f"coterie, {d} columns": reducer,
        f"all {X_train.shape[1]} columns": None,
        f"PCA, {d} components": PCA(d),
        f"FeatureAgglomeration, {d} clusters": FeatureAgglomeration(d),
    }
    print(f"\nR2 of least squares on {len(y_test)} test rows:\n")
    for rival, step in rivals.items():
        model = make_pipeline(step, LinearRegression()).fit(X_train, y_train)
        print(f"  {model.score(X_test, y_test):.4f}  {rival}")


tecator = load_tecator()
train, test = slice(172), slice(172, None)  # the conventional split
show(
    "Tecator: fat in meat from near-infrared spectra",
    tecator.feature_names,
    tecator.data[train],
    tecator.data[test],
    tecator.target[train],
    tecator.target[test],
)
show(
    "Synthetic: the paper's linear problem, trial 0",
    None,
    *paper_trial(*make_paper_data(), trial=0),
)
