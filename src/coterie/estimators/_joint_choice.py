"""Why a Coterie has as many groups as it has, in words."""

from __future__ import annotations

from coterie._core.joint import Path, Scored, most_groups

# What the scores are of.
SCORES = {
    "regression": "cross-validated R2",
    "classes": "cross-validated R2 of the class indicators",
    "counts": "cross-validated R2 of the square roots of the counts",
}


def explained_choice(
    path: Path, n_rows: float, scored: Scored, number: int, task: str, *, is_asked: bool
) -> str:
    """The reason for a number of groups, and how it scores, in a sentence or two."""
    word, top = SCORES[task], float(scored.score.max())
    counted = f"{number} group{'s' * (number != 1)}"
    if is_asked:
        return f"{counted}, as asked. The best {word}, {top:.3f}, has {scored.best}."
    score = float(scored.score[scored.numbers == number][0])
    told = f"{counted}: {_reason(path, n_rows, number)}. The {word} is {score:.3f}"
    if top <= 0:
        return f"{told}: no number of groups predicts held-out rows better than the mean does."
    if number == scored.best:
        return f"{told}, the best of the numbers tried."
    return f"{told}; the best, {top:.3f}, has {scored.best}."


def _reason(path: Path, n_rows: float, number: int) -> str:
    fewest, most = min(path.numbers), most_groups(path, n_rows)
    if number == fewest > 1:
        return "min_correlation and the other limits allow no fewer"
    if number == 1:
        return "more would explain no more of the target than noise does"
    if number == most < len(path.start):
        return "there are no more than a third as many as rows"
    return "fewer would cost the target more than noise explains"
