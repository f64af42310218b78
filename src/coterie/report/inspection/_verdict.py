"""The answer of a study: a recommendation with its error."""

from __future__ import annotations

from dataclasses import dataclass, field

# What a study may recommend.
USE_GROUPS, USE_RIVAL, KEEP_ALL = "use_groups", "use_rival", "keep_all"
NOTHING, UNSURE = "nothing_predicts", "unsure"
CODES = (USE_GROUPS, USE_RIVAL, KEEP_ALL, NOTHING, UNSURE)


@dataclass(frozen=True)
class Difference:
    """By how much the groups predict better than another method, on the same splits.

    Parameters
    ----------
    rival : str
        The other method.
    metric : str
        The score that is compared.
    gain : float
        Mean of the paired differences; above 0 if the groups are better, also for a log-loss.
    error : float or None
        Half the width of the 95 % interval of the mean; None for one split.
    """

    rival: str
    metric: str
    gain: float
    error: float | None

    @property
    def is_gain(self) -> bool:
        """Whether the groups are surely better."""
        return self.error is not None and self.gain > self.error

    @property
    def is_loss(self) -> bool:
        """Whether the groups are surely worse."""
        return self.error is not None and -self.gain > self.error


@dataclass(frozen=True)
class StudyVerdict:
    """What to do, in words and figures.

    Parameters
    ----------
    code : {"use_groups", "use_rival", "keep_all", "nothing_predicts", "unsure"}
        The recommendation in one word.
    sentence : str
        The recommendation.
    reason : str
        The scores that it rests on, and how they were measured.
    metric : str
        Name of the score.
    score : float
        Mean score of the groups.
    error : float or None
        Half the width of its 95 % interval; None for one split.
    n_columns, n_features : int
        Number of columns after and before.
    n_splits : int
        Number of splits.
    splits : str
        How rows were held out, such as "5 folds of shuffled rows, 3 times".
    differences : list of Difference
        One for each rival and score.
    rival : str
        The method to use instead, for "use_rival"; else empty.

    Examples
    --------
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> verdict = coterie.report.study(X, y).verdict
    >>> verdict.code, verdict.metric, verdict.n_columns, verdict.n_splits
    ('use_groups', 'R2', 3, 15)
    """

    code: str
    sentence: str
    reason: str
    metric: str
    score: float
    error: float | None
    n_columns: int
    n_features: int
    n_splits: int
    splits: str
    differences: list[Difference] = field(repr=False)
    rival: str = ""

    def __post_init__(self) -> None:
        """Check the code, which files may hold."""
        if self.code not in CODES:
            raise ValueError(f"the code of a verdict must be one of {', '.join(CODES)}.")

    def __str__(self) -> str:
        return f"{self.sentence} {self.reason}"
