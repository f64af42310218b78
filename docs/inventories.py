"""What these pages link to in the documentation of other projects.

Sphinx usually downloads a list of every object of every project. The lists here have only the
objects that are linked. So the site is built without a network and always with the same links,
and a reference to a name that is in no list is an error of the build.
"""

import zlib
from pathlib import Path

# Project: address, the page of an object, and the objects by role. A page of its own comes after a
# bar: "int|library/functions.html#int".
PROJECTS = {
    "python": (
        "https://docs.python.org/3/",
        "library/stdtypes.html#{0}",
        {
            "py:class": [
                "dict",
                "list",
                "str",
                "tuple",
                "int|library/functions.html#int",
                "float|library/functions.html#float",
                "pathlib.Path|library/pathlib.html#pathlib.Path",
            ],
            "py:data": [
                "None|library/constants.html#None",
                "True|library/constants.html#True",
                "False|library/constants.html#False",
            ],
            "py:function": ["callable|library/functions.html#callable"],
            "std:label": ["bltin-boolean-values|library/stdtypes.html#boolean-type-bool"],
            "std:term": [
                "iterable|glossary.html#term-iterable",
                "sequence|glossary.html#term-sequence",
            ],
        },
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        "reference/generated/{0}.html#{0}",
        {
            "py:class": [
                "numpy.ndarray",
                "numpy.ufunc",
                "numpy.random.RandomState|reference/random/legacy.html#numpy.random.RandomState",
            ],
            "py:function": [
                "numpy.arange",
                "numpy.asarray",
                "numpy.mean",
                "numpy.meshgrid",
                "numpy.where",
                "numpy.random.default_rng|reference/random/generator.html#numpy.random.default_rng",
            ],
            "py:data": ["numpy.exp", "numpy.expm1", "numpy.sinh", "numpy.sqrt", "numpy.square"],
            "std:term": ["array_like|glossary.html#term-array_like"],
        },
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        "reference/generated/{0}.html#{0}",
        {"py:class": ["scipy.sparse.csr_array"], "py:function": ["scipy.ndimage.gaussian_filter"]},
    ),
    "sklearn": (
        "https://scikit-learn.org/stable/",
        "modules/generated/{0}.html#{0}",
        {
            "py:class": [
                "sklearn.cluster.FeatureAgglomeration",
                "sklearn.compose.ColumnTransformer",
                "sklearn.cross_decomposition.PLSRegression",
                "sklearn.decomposition.PCA",
                "sklearn.feature_selection.SelectKBest",
                "sklearn.impute.SimpleImputer",
                "sklearn.linear_model.LinearRegression",
                "sklearn.linear_model.LogisticRegression",
                "sklearn.linear_model.PoissonRegressor",
                "sklearn.model_selection.GridSearchCV",
                "sklearn.model_selection.GroupKFold",
                "sklearn.model_selection.RepeatedKFold",
                "sklearn.model_selection.TimeSeriesSplit",
                "sklearn.pipeline.Pipeline",
                "sklearn.preprocessing.OneHotEncoder",
                "sklearn.preprocessing.StandardScaler",
                "sklearn.preprocessing.TargetEncoder",
            ],
            "py:function": [
                "sklearn.datasets.load_breast_cancer",
                "sklearn.metrics.d2_tweedie_score",
                "sklearn.metrics.log_loss",
                "sklearn.metrics.roc_auc_score",
                "sklearn.model_selection.cross_val_score",
                "sklearn.model_selection.train_test_split",
                "sklearn.pipeline.make_pipeline",
            ],
        },
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        "api/_as_gen/{0}.html#{0}",
        {
            "py:class": [
                "matplotlib.axes.Axes|api/_as_gen/matplotlib.axes.Axes.html",
                "matplotlib.figure.Figure|api/_as_gen/matplotlib.figure.Figure.html",
            ],
            "py:function": ["matplotlib.pyplot.subplots"],
        },
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        "reference/api/{0}.html#{0}",
        {"py:class": ["pandas.DataFrame", "pandas.Series"]},
    ),
    "xarray": (
        "https://docs.xarray.dev/en/stable/",
        "generated/{0}.html#{0}",
        {"py:class": ["xarray.DataArray", "xarray.Dataset"]},
    ),
}
HEADER = (
    "# Sphinx inventory version 2\n# Project: {}\n# Version: \n"
    "# The remainder of this file is compressed using zlib.\n"
)


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write an inventory file for each project, and say what ``intersphinx_mapping`` should be."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, page, roles) in PROJECTS.items():
        lines = [
            f"{name} {role} 1 {uri or page.format(name)} -\n"
            for role, names in roles.items()
            for name, uri in (entry.split("|") if "|" in entry else (entry, "") for entry in names)
        ]
        path = folder / f"{project}.inv"
        path.write_bytes(HEADER.format(project).encode() + zlib.compress("".join(lines).encode()))
        mapping[project] = (address, str(path))
    return mapping
