"""The answer of a study: a recommendation with its error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

# What a study may recommend.
USE_GROUPS, USE_RIVAL, KEEP_ALL = "use_groups", "use_rival", "keep_all"
NOTHING, UNSURE = "nothing_predicts", "unsure"
BETTER, WORSE = "better", "worse"
CODES = (USE_GROUPS, USE_RIVAL, KEEP_ALL, NOTHING, UNSURE)
# Smaller differences matter to nobody. One split has no error: only larger ones count there.
MARGIN, MARGIN_OF_ONE_SPLIT = 0.005, 0.02
# Within so much of each other, for sure, methods are about the same.
CLOSE = 0.05


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

    @property
    def word(self) -> str:
        """What the groups are beside the other method; a difference below a margin is none."""
        if not math.isfinite(self.gain):
            return ""
        is_sure = self.error is None or self.is_gain or self.is_loss
        margin = MARGIN_OF_ONE_SPLIT if self.error is None else MARGIN
        if is_sure and abs(self.gain) > margin:
            return BETTER if self.gain > 0 else WORSE
        is_close = abs(self.gain) + (self.error or 0.0) <= CLOSE
        return "about the same" if is_close else "not told apart"

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """The ends of the 95 % interval."""
        if self.error is None:
            return None, None
        return self.gain - self.error, self.gain + self.error


def decisive(differences: Sequence[Difference]) -> Difference:
    """The difference to a rival that counts: a sure loss by any score, else by the main score."""
    return next((one for one in differences if one.word == WORSE), differences[0])


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
