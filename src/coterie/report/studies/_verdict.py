"""From scores on many splits to a recommendation with its error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from coterie._core.values import FloatArray
from coterie.report.inspection import (
    BETTER,
    KEEP_ALL,
    MARGIN,
    NOTHING,
    UNSURE,
    USE_GROUPS,
    USE_RIVAL,
    WORSE,
    Difference,
    StudyVerdict,
    decisive,
    metric_label,
)
from coterie.report.studies._metrics import AUC, DEVIANCE, LOG_LOSS, LOWER_IS_BETTER, R2

COTERIE, RIDGE, LASSO, PCA = "coterie", "ridge on all columns", "lasso on all columns", "PCA"
MEAN, SHARES = "the mean", "the class shares"
CONFIDENCE = 0.95
# If groups may lose more than this share of what the best method gains over a guess, it is too
# early to say.
MAX_LOSS = 1 / 3

# The score of whoever knows nothing but the mean, or the class shares, of the held-out rows.
NO_SKILL = {R2: 0.0, DEVIANCE: 0.0, AUC: 0.5}

# The scores of a method by name, one value for each split.
ByMetric = Mapping[str, Sequence[float]]


def corrected_error(values: Sequence[float] | FloatArray, test_ratio: float) -> float | None:
    """Half the width of the 95 % interval of a mean over splits that share their rows.

    This is the corrected resampled t-test of Nadeau and Bengio: the variance of the mean of J
    splits is ``(1 / J + n_test / n_train)`` times that of one split, since training rows overlap.
    The usual ``1 / J`` is far too small.

    Parameters
    ----------
    values : array-like of shape (n_splits,)
    test_ratio : float
        Number of test rows for each training row.

    References
    ----------
    Nadeau, Bengio: Inference for the generalization error. Machine Learning 52 (2003).

    Examples
    --------
    >>> round(corrected_error([0.1, 0.2, 0.3], 0.25), 3)
    0.329
    """
    error = standard_error(values, test_ratio)
    if error is None:
        return None
    # Imported late: this imports much of scipy.
    from scipy.special import stdtrit

    return float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * error


def standard_error(values: Sequence[float] | FloatArray, test_ratio: float) -> float | None:
    """The corrected standard error of a mean over splits; None for fewer than two."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if len(known) < 2:
        return None
    return math.sqrt((1 / len(known) + test_ratio) * float(np.var(known, ddof=1)))


def mean_with_error(
    values: Sequence[float] | FloatArray, test_ratio: float
) -> tuple[float, float | None]:
    """Mean over the splits on which a score is defined, and its error."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    return (float(known.mean()) if len(known) else math.nan), corrected_error(known, test_ratio)


def difference(
    metric: str, ours: ByMetric, rival: str, theirs: ByMetric, test_ratio: float
) -> Difference:
    """The paired difference of two methods on the same splits."""
    sign = -1.0 if metric in LOWER_IS_BETTER else 1.0
    gains = sign * np.subtract(ours[metric], theirs[metric])
    return Difference(rival, metric, *mean_with_error(gains, test_ratio))


def judged_metrics(metric: str) -> list[str]:
    """The scores that a recommendation rests on: never accuracy."""
    return [AUC, LOG_LOSS] if metric == AUC else [metric]


def all_differences(metric: str, scores: Mapping[str, ByMetric], ratio: float) -> list[Difference]:
    """Differences between the groups and each rival, for each score that is judged."""
    return [
        difference(one, scores[COTERIE], rival, scores[rival], ratio)
        for rival in scores
        if rival != COTERIE
        for one in judged_metrics(metric)
    ]


def judge(
    metric: str,
    scores: Mapping[str, ByMetric],
    *,
    test_ratio: float,
    n_columns: int,
    n_features: int,
    n_sources: int | None = None,
    splits: str,
) -> StudyVerdict:
    """The recommendation that these scores support.

    Parameters
    ----------
    metric : str
    scores : dict
        For each method, for each score, the values on the splits. The groups are "coterie"; a
        guess is the mean or the class shares.
    test_ratio : float
    n_columns, n_features : int
        Number of columns of the fit, and of the table.
    n_sources : int, optional
        Number of columns of the table, before some were encoded.
    splits : str
        How rows were held out.
    """
    differences = all_differences(metric, scores, test_ratio)
    score, error = mean_with_error(scores[COTERIE][metric], test_ratio)
    n_sources = n_features if n_sources is None else n_sources
    facts = _Facts(metric, scores, differences, test_ratio, n_columns, n_features, n_sources)
    code, sentence, rival = facts.recommendation()
    n_splits = len(scores[COTERIE][metric])
    return StudyVerdict(
        code,
        sentence,
        _reason(metric, score, error, n_splits, splits),
        metric,
        score,
        error,
        n_columns,
        n_features,
        n_splits,
        splits,
        differences,
        rival,
    )


def _reason(metric: str, score: float, error: float | None, n_splits: int, splits: str) -> str:
    label = metric_label(metric)
    label = f"{label[:1].upper()}{label[1:]}"
    if error is None:
        return f"{label} {_number(score)} on {splits}: one split, so its error is unknown."
    return (
        f"{label} {_number(score)} \N{PLUS-MINUS SIGN} {_number(error)} on held-out rows "
        f"(95 % interval over {n_splits} splits: {splits})."
    )


class _Facts:
    """What is known about the methods, and what follows from it."""

    def __init__(
        self,
        metric: str,
        scores: Mapping[str, ByMetric],
        differences: Sequence[Difference],
        test_ratio: float,
        n_columns: int,
        n_features: int,
        n_sources: int,
    ) -> None:
        self.metric, self.scores, self.ratio = metric, scores, test_ratio
        self.differences = differences
        self.n_columns, self.n_features, self.n_sources = n_columns, n_features, n_sources
        self.guess = SHARES if SHARES in scores else MEAN
        # PCA is told in the table: its columns are no more use to a reader than all of them.
        self.rivals = [name for name in scores if name.startswith((RIDGE, LASSO))]
        self.best = max(self.rivals, key=self._mean)

    def _mean(self, name: str) -> float:
        mean = mean_with_error(self.scores[name][self.metric], self.ratio)[0]
        return -math.inf if math.isnan(mean) else mean

    def _predicts(self, name: str) -> bool:
        """Whether a method is surely better than a guess; with one split, better.

        A guess that knows the held-out rows is the stricter one. But in time, where the mean
        drifts, the guess from training rows may be bad in so many ways that nothing is surely
        better, so either one will do.
        """
        over = difference(
            self.metric, self.scores[name], self.guess, self.scores[self.guess], self.ratio
        )
        score, error = mean_with_error(self.scores[name][self.metric], self.ratio)
        if over.error is None or error is None:
            return over.gain > MARGIN
        return over.is_gain or score - error > NO_SKILL[self.metric]

    def _beside(self, rival: str) -> Difference:
        """The difference that counts: a sure loss by any score, else the main score."""
        return decisive([one for one in self.differences if one.rival == rival])

    def recommendation(self) -> tuple[str, str, str]:
        """Code, sentence, and the name of a rival to use instead."""
        if not any(map(self._predicts, (COTERIE, *(n for n in self.scores if n != self.guess)))):
            return NOTHING, self._nothing_sentence(), ""
        lost = [one for one in map(self._beside, self.rivals) if one.word == WORSE]
        if lost:
            beside = max(lost, key=lambda one: self._mean(one.rival))
            return USE_RIVAL, self._rival_sentence(beside), beside.rival
        beside = self._beside(self.best)
        if not self._predicts(COTERIE) and self._predicts(self.best):
            return USE_RIVAL, self._only_sentence(beside), beside.rival
        if self.n_columns == self.n_features:
            return KEEP_ALL, self._keep_sentence(), ""
        most_lost = 0.0 if beside.error is None else beside.error - beside.gain
        is_vague = most_lost > MAX_LOSS * self._worth()
        if is_vague or not self._predicts(COTERIE):
            return UNSURE, self._unsure_sentence(beside), ""
        return USE_GROUPS, self._groups_sentence(beside), ""

    def _worth(self) -> float:
        """How much the best method gains over a guess."""
        guess = max(self._mean(self.guess), NO_SKILL[self.metric])
        return max(self._mean(COTERIE), self._mean(self.best)) - guess

    def _nothing_sentence(self) -> str:
        return (
            "Nothing here predicts the target: on held-out rows, neither the groups nor all "
            f"columns are surely better than {self.guess}."
        )

    def _keep_sentence(self) -> str:
        return f"Keep all {self.n_features:,} columns: none was joined or left out."

    def _rival_sentence(self, beside: Difference) -> str:
        name = beside.rival.replace("all columns", f"all {self.n_features:,} columns")
        name += "," * ("," in name)
        told = _with_error(-beside.gain, beside.error)
        return f"Use {name} instead: it is better by {told} ({metric_label(beside.metric)})."

    def _only_sentence(self, beside: Difference) -> str:
        """A rival is surely better than a guess, and the groups are not."""
        name = beside.rival.replace("all columns", f"all {self.n_features:,} columns")
        name += "," * ("," in name)
        told = _with_error(-beside.gain, beside.error, sign=True)
        return (
            f"Use {name} instead: it is surely better than {self.guess}, and the groups are not "
            f"(the {metric_label(beside.metric)} difference of the two is {told})."
        )

    def _unsure_sentence(self, beside: Difference) -> str:
        told = f"the {metric_label(beside.metric)} difference is "
        told += _with_error(beside.gain, beside.error, sign=True)
        if self.n_columns == 0:
            return f"Too few rows to tell {self.best} from no columns at all: {told}."
        do, are = ("does", "is") if self.n_columns == 1 else ("do", "are")
        unless = ", unless only the score counts" if beside.gain < -MARGIN else ""
        these = "this 1 column" if self.n_columns == 1 else f"these {_columns(self.n_columns)}"
        return (
            f"Too few rows to tell whether {_columns(self.n_columns)} {do} as well as {self.best}: "
            f"{told}. Prefer {these}, which {are} simpler{unless}."
        )

    def _groups_sentence(self, beside: Difference) -> str:
        told = _with_error(beside.gain, beside.error, sign=True)
        label, is_one = metric_label(beside.metric), self.n_columns == 1
        they = "it predicts" if is_one else "they predict"
        if beside.word == BETTER and beside.error is not None:
            how = f"{they} better than {self.best} ({label} difference {told})"
        elif beside.error is None or beside.gain - beside.error >= -2 * MARGIN:
            how = f"{they} as well as {self.best} ({label} difference {told})"
        else:
            how = f"no loss against {self.best} can be shown ({label} difference {told})"
        these = "this 1 column" if is_one else f"these {_columns(self.n_columns)}"
        made = self.n_features > self.n_sources
        source = f" (made from {_columns(self.n_sources)})" if made else ""
        return f"Use {these} instead of {self.n_features:,}{source}: {how}."


def _number(value: float) -> str:
    # Adding 0 turns -0.0 into 0.0.
    return f"{round(value, 3) + 0.0:.3f}"


def _columns(number: int) -> str:
    return f"{number:,} column" + "s" * (number != 1)


def _with_error(value: float, error: float | None, *, sign: bool = False) -> str:
    text = ("+" if sign and value >= 0 else "") + _number(value)
    return text if error is None else f"{text} \N{PLUS-MINUS SIGN} {_number(error)}"
