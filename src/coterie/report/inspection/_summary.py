"""The summary of a fit, as plain values for reports and plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coterie._core.values import data_frame
from coterie._data.frames import frame_html, frame_text
from coterie.report.inspection._joint_parts import NumberPath, Tree
from coterie.report.inspection._lights import light_word
from coterie.report.inspection._verdict import StudyVerdict


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"a summary must have {what}.")


@dataclass(frozen=True)
class Merge:
    """A feature that joined a group.

    Parameters
    ----------
    feature : int
    price, allowance : float
        The merge was accepted, since the price does not exceed the allowance.
    """

    feature: int
    price: float
    allowance: float


@dataclass(frozen=True)
class Group:
    """One group: a column of the reduced table.

    Parameters
    ----------
    name : str
        As in ``get_feature_names_out``.
    members : list of int
        Features, in the order of the table.
    merges : list of Merge
        The accepted merges, in order. The member that is in no merge opened the group. Fewer than
        members, if some were joined from the start by the parameter ``groups``.
    refused : int or None
        Number of refused merges; None if only accepted merges are known.
    likeness : float or None
        Mean correlation between two members, times their signs; None without data or for one
        member.
    weakest : float or None
        The lowest correlation of a member with the aggregate; None as above.
    weights : list of float
        Coefficients of the aggregate in the linear model, one for each output; empty without
        data.
    effects : list of float
        Coefficients for an aggregate of standard deviation 1, so that groups can be compared.
    stability : float or None
        How well the group was found again from some of the rows, 0 to 1; None if not computed.
    shared : str
        What the names of the members share: a range, words or a beginning; may be empty.
    representative : int or None
        The member that is most correlated with the aggregate; None without data.
    contribution, contribution_error : float or None
        By how much the score on held-out rows falls without the group, and half the width of its
        95 % interval; None if not computed.
    """

    name: str
    members: list[int]
    merges: list[Merge]
    refused: int | None
    likeness: float | None
    weakest: float | None
    weights: list[float]
    effects: list[float]
    stability: float | None
    shared: str = ""
    representative: int | None = None
    contribution: float | None = None
    contribution_error: float | None = None


@dataclass(frozen=True)
class Score:
    """Score of a linear model on held-out rows, fitted to the columns of one method.

    Parameters
    ----------
    name : str
        "coterie", "all columns", "PCA", ...
    n_columns : float
        Number of columns, or its mean over several splits.
    score : float
    std_error : float or None
        Of the mean over splits; None for one split.
        For repeated splits, that of the corrected resampled t-test.
    note : str
        A remark, such as that a solver stopped early; may be empty.
    others : dict of float or None
        Further scores by name: log-loss and accuracy, for classes.
    half_width : float or None
        Half the width of the 95 % interval of the score; None for one split.
    """

    name: str
    n_columns: float
    score: float
    std_error: float | None = None
    note: str = ""
    others: dict[str, float] | None = None
    half_width: float | None = None


@dataclass(frozen=True)
class PathSummary:
    """Groups and scores for each of T tolerances; see ``coterie.tolerance_path``.

    Parameters
    ----------
    tolerances, train_scores, cv_scores, cv_std_errors : list of float, T each
    n_groups : list of int, T
    labels : list of T lists of int
        The group of each feature; empty if there are too many labels.
    best, simplest : int
        Indices of the best mean, and of the fewest groups within one standard error of it.
    """

    tolerances: list[float]
    n_groups: list[int]
    train_scores: list[float]
    cv_scores: list[float]
    cv_std_errors: list[float]
    labels: list[list[int]]
    best: int
    simplest: int

    def check(self, n_features: int, n_groups: int) -> None:
        """Raise if the sizes do not match these numbers of features and groups."""
        n = len(self.tolerances)
        columns = (self.n_groups, self.train_scores, self.cv_scores, self.cv_std_errors)
        _require(n > 0 and all(len(column) == n for column in columns), "a path of equal columns")
        _require(0 <= self.best < n and 0 <= self.simplest < n, "a best step on its path")
        _require(len(self.labels) in (0, n), "labels for all steps of a path, or none")
        for count, labels in zip(self.n_groups, self.labels, strict=False):
            _require(len(labels) == n_features, "labels of all features on its path")
            found = {*labels}
            numbered = found and min(found) == 0 and max(found) == len(found) - 1 == count - 1
            _require(bool(numbered), "groups on its path numbered from 0")


@dataclass(frozen=True)
class Correlation:
    """Correlations of features in the order of their groups, or means over blocks of them.

    Features with sign -1 are multiplied by -1.

    Parameters
    ----------
    thousandths : list of n lists of n int
        From -1000 to 1000.
    groups : list of n int
        The group of each row and column; blocks do not cross groups, unless there are more
        groups than rows.
    features : list of n lists of int
        The features of each row.
    """

    thousandths: list[list[int]]
    groups: list[int]
    features: list[list[int]]

    def check(self, n_features: int, n_groups: int) -> None:
        """Raise if the sizes do not match these numbers of features and groups."""
        n = len(self.thousandths)
        _require(all(len(row) == n for row in self.thousandths), "a square of correlations")
        values = (value for row in self.thousandths for value in row)
        _require(all(-1000 <= value <= 1000 for value in values), "correlations of -1 to 1")
        _require(len(self.groups) == len(self.features) == n, "names of correlations")
        _require(all(0 <= one < n_groups for one in self.groups), "correlations of its groups")
        shown = [one for features in self.features for one in features]
        _require(all(0 <= one < n_features for one in shown), "correlations of its features")
        _require(all(self.features), "features for all its correlations")


@dataclass(frozen=True)
class Spectrum:
    """Features along an axis, such as wavelengths.

    Parameters
    ----------
    axis : str
        Name of the axis, such as "nm"; may be empty.
    positions, mean, low, high : list of float, one for each feature
        Position of the feature; its mean, 5 % and 95 % quantiles over the rows.
    """

    axis: str
    positions: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]

    def check(self, n_features: int, n_groups: int) -> None:
        """Raise if the sizes do not match these numbers of features and groups."""
        columns = (self.positions, self.mean, self.low, self.high)
        _require(all(len(column) == n_features for column in columns), "a spectrum of its features")


@dataclass(frozen=True)
class Map:
    """Features with positions on a plane or on the globe.

    Parameters
    ----------
    across, up : list of float, one for each feature
        Horizontal and vertical coordinate: longitude and latitude.
    across_name, up_name : str
    layers : list of str, one for each feature
        What is measured, such as "uwnd"; each layer has its own map.
    """

    across: list[float]
    up: list[float]
    across_name: str
    up_name: str
    layers: list[str]

    def check(self, n_features: int, n_groups: int) -> None:
        """Raise if the sizes do not match these numbers of features and groups."""
        columns = (self.across, self.up, self.layers)
        _require(all(len(column) == n_features for column in columns), "a map of its features")


@dataclass(frozen=True, repr=False)
class Summary:
    """Summary of a fit, for a reader who did not run it.

    Values that need data, folds or resamples are None or empty if these were not given.

    Parameters
    ----------
    title : str
        Title of the report.
    method : str
        The class of the reducer.
    parameters : dict of str
        The parameters that are not at their default, as text.
    aggregation : str
        Name of the aggregation, such as "mean".
    task : str
        "regression", "classes", "counts", or "" if unknown.
    targets : list of str
        Names of the targets.
    outputs : list of str
        Outputs of the linear model: the targets, or classes.
    n_rows, n_test_rows : int or None
        Rows of the fit, and held-out rows of the scores.
    tolerance, penalty : float or None
        Those of the paper's rules; None if there are none.
    features : list of str, D
        Names of the features.
    labels : list of int, D
        Group of each feature.
    signs : list of int, D
        -1 for features that are multiplied by -1.
    groups : list of Group
        The groups, with their members and what is known of them.
    metric : str
        Name of the score: "R2", "ROC AUC", "share of deviance explained".
    scores : list of Score
        The fit itself first.
    path, correlation, spectrum, map : optional
        What the report draws.
    n_resamples : int or None
        Number of resamples; None if not computed.
    agreement : float or None
        Mean adjusted Rand index between these groups and those of resamples; None if not
        computed.
    notes : list of str
        Further sentences for the reader.
    rest : int or None
        The last number if the last group lists features that are left out; else None.
    verdict : StudyVerdict or None
        What to do, with its error; None if nothing was scored.
    numbers, tree : optional
        For a joint fit: scores for each number of groups, and the tree of likeness.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> summary = coterie.report.summarise(coterie.Coterie().fit(X, y), X, y)
    >>> summary.method, len(summary.groups)
    ('Coterie', 3)
    """

    title: str
    method: str
    parameters: dict[str, str]
    aggregation: str
    task: str
    targets: list[str]
    outputs: list[str]
    n_rows: int | None
    n_test_rows: int | None
    tolerance: float | None
    penalty: float | None
    features: list[str]
    labels: list[int]
    signs: list[int]
    groups: list[Group]
    metric: str
    scores: list[Score]
    path: PathSummary | None
    correlation: Correlation | None
    spectrum: Spectrum | None
    map: Map | None
    n_resamples: int | None
    agreement: float | None
    notes: list[str]
    rest: int | None = None
    verdict: StudyVerdict | None = None
    numbers: NumberPath | None = None
    tree: Tree | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns that the features become."""
        return len(self.groups) - (self.rest is not None)

    def __repr__(self) -> str:
        return frame_text(self._headline, self)

    def _repr_html_(self) -> str:
        return frame_html(self._headline, self)

    @property
    def _headline(self) -> str:
        title = f"{self.title}: " if self.title else ""
        return f"{title}{len(self.features):,} columns became {self.n_columns:,}"

    def to_frame(self) -> Any:
        """The groups as a pandas data frame, one row for each; without what is left out.

        ``contribution_error`` is half the width of the 95 % interval of ``contribution``.
        """
        groups = self.groups[: self.n_columns]
        effects = {
            f"effect on {output}": [one.effects[place] if one.effects else None for one in groups]
            for place, output in enumerate(self.outputs)
        }
        columns = {
            "group": [one.name for one in groups],
            "n_members": [len(one.members) for one in groups],
            "members": [[self.features[member] for member in one.members] for one in groups],
            "shared": [one.shared for one in groups],
            "likeness": [one.likeness for one in groups],
            "weakest": [one.weakest for one in groups],
            "stability": [one.stability for one in groups],
            "light": [light_word(one.stability) for one in groups],
            "contribution": [one.contribution for one in groups],
            "contribution_error": [one.contribution_error for one in groups],
            "representative": [self.name_of(one.representative) for one in groups],
        }
        return data_frame(columns | effects)

    def name_of(self, feature: int | None) -> str | None:
        """The name of a feature; None for None."""
        return None if feature is None else self.features[feature]

    def __post_init__(self) -> None:
        """Check that all parts have the same features and groups."""
        n_features, n_groups = len(self.features), len(self.groups)
        _require(self.rest in (None, n_groups - 1), "features that are left out in the last group")
        _require(len(self.labels) == len(self.signs) == n_features, "labels and signs of features")
        _require(all(sign in (-1, 1) for sign in self.signs), "signs of 1 and -1")
        members = sorted(member for group in self.groups for member in group.members)
        _require(members == list(range(n_features)), "every feature in one group")
        of_members = [(m, number) for number, g in enumerate(self.groups) for m in g.members]
        _require(all(self.labels[m] == number for m, number in of_members), "the labels of groups")
        for group in self.groups:
            joined = [merge.feature for merge in group.merges]
            _require({*joined} <= {*group.members}, "merges of own members")
            _require(len({*joined}) == len(joined), "each merge once")
            _require(len(group.weights) == len(group.effects), "an effect for each weight")
            _require(len(group.weights) in (0, len(self.outputs)), "a weight for each output")
            stands = group.representative
            _require(stands is None or stands in group.members, "representatives of own groups")
        for part in (
            self.path,
            self.correlation,
            self.spectrum,
            self.map,
            self.numbers,
            self.tree,
        ):
            if part is not None:
                part.check(n_features, n_groups)
