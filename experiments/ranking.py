"""Methods compared over data sets: scores, ranks, and how probable it is that one is better."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.comparison import tidy

# A hundredth of R2 or accuracy: less makes no difference to anyone.
ALIKE = 0.01
# The test supposes half a data set on which both are equal (Benavoli et al. 2017, section 4.2).
PRIOR = 0.5


def scores(results: pd.DataFrame, plan: str = "beyond") -> pd.DataFrame:
    """Scores, data sets and trials by methods; gaps where a method did not run."""
    runs = _honest(results, plan)
    return runs.pivot_table(index=["dataset", "trial"], columns="method", values="score")


def by_data_set(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the trials of each data set; 0 where they are below.

    Nobody uses a model that is worse than the mean of y: how much worse is of no account.
    """
    return table.groupby(level="dataset").mean().clip(lower=0)


def measures(results: pd.DataFrame, plan: str = "beyond") -> pd.DataFrame:
    """Over trials, by data set and method: score, columns, features, seconds, stability."""
    runs = _honest(results, plan).groupby(["dataset", "method"])
    columns = ["score", "n_groups", "n_measured", "stability", "agreement"]
    # The first run of some methods compiles them; the one in the middle tells how long they take.
    return runs[columns].mean().assign(seconds=runs["seconds"].median()).reset_index()


def ranks(table: pd.DataFrame, chosen: str) -> pd.DataFrame:
    """Mean rank of each method that ran on all data sets (1 is best), and how many others ran on.

    Of our own methods, which are much alike, one takes part at a time: the chosen one, or for the
    rank of another, that one in its place.
    """
    means = by_data_set(table)
    complete = means.columns[means.notna().all()]
    peers = [method for method in complete if not is_ours(method)]
    found = {}
    for method in complete:
        rivals = [*peers, method] if is_ours(method) else [*peers, *({chosen} & {*complete})]
        found[method] = means[rivals].rank(axis=1, ascending=False)[method].mean()
    ranked = pd.DataFrame({"rank": pd.Series(found, dtype=float), "datasets": means.notna().sum()})
    return ranked.sort_values("rank")


def probabilities(
    differences: np.ndarray, *, alike: float = ALIKE, n_draws: int = 20_000, seed: int = 0
) -> tuple[float, float, float]:
    """Probability that the first method is better, practically equal, worse.

    The Bayesian signed-rank test of Benavoli et al. (2017): weights of the data sets are drawn from
    a Dirichlet distribution; the mean of two data sets drawn with them lies above, within or below
    the region of practical equivalence; each draw goes to the likeliest of the three.

    Parameters
    ----------
    differences : ndarray of shape (n_datasets,)
        Score of the first method less that of the second.
    """
    with_prior = np.concatenate([[0.0], differences])
    pair_means = np.add.outer(with_prior, with_prior) / 2
    concentration = np.concatenate([[PRIOR], np.ones(len(differences))])
    weights = np.random.default_rng(seed).dirichlet(concentration, n_draws)
    # Half a hair more, so that differences of exactly a hundredth count as alike.
    border = alike * (1 + 1e-9)
    better = _weight_of_pairs(weights, pair_means > border)
    worse = _weight_of_pairs(weights, pair_means < -border)
    shares = np.column_stack([better, 1 - better - worse, worse])
    # Where two of the three are exactly alike, each has half of the draw.
    likeliest = np.isclose(shares, shares.max(axis=1, keepdims=True), rtol=0, atol=1e-12)
    return tuple((likeliest / likeliest.sum(axis=1, keepdims=True)).mean(axis=0).tolist())


def against_each(table: pd.DataFrame, chosen: str, *, alike: float = ALIKE) -> pd.DataFrame:
    """The chosen method against every other, on the trials both ran on."""
    rows = []
    for other in table.columns.drop(chosen):
        both = by_data_set(table[[chosen, other]].dropna())
        differences = (both[chosen] - both[other]).to_numpy()
        if not len(differences):
            continue
        better, equal, worse = probabilities(differences, alike=alike)
        rows.append(
            {
                "method": other,
                "datasets": len(differences),
                "difference": differences.mean(),
                "better": better,
                "alike": equal,
                "worse": worse,
            }
        )
    columns = ["method", "datasets", "difference", "better", "alike", "worse"]
    return pd.DataFrame(rows, columns=columns).sort_values("difference", ascending=False)


def losses(table: pd.DataFrame, ours: list[str], *, alike: float = ALIKE) -> pd.DataFrame:
    """Data sets on which the best other method beats the best of ours by more than a hundredth."""
    table = by_data_set(table)
    peers = table.columns.difference(ours)
    if table.empty or not len(peers) or not ours:
        return pd.DataFrame(columns=["dataset", "method", "score", "peer", "peer_score", "lost"])
    both = table[table[ours].notna().any(axis=1) & table[peers].notna().any(axis=1)]
    lost = pd.DataFrame(
        {
            "dataset": both.index,
            "method": both[ours].idxmax(axis=1).to_numpy(),
            "score": both[ours].max(axis=1).to_numpy(),
            "peer": both[peers].idxmax(axis=1).to_numpy(),
            "peer_score": both[peers].max(axis=1).to_numpy(),
        }
    )
    lost["lost"] = lost["peer_score"] - lost["score"]
    return lost[lost["lost"] > alike].sort_values("lost", ascending=False)


def is_ours(method: str) -> bool:
    """Whether a method belongs to this library."""
    return "CFA" in method


def _honest(results: pd.DataFrame, plan: str) -> pd.DataFrame:
    runs = tidy(results)
    kept = (runs["plan"] == plan) & (runs["protocol"] == "honest") & runs["score"].notna()
    return runs[kept].drop_duplicates(["dataset", "method", "trial"], keep="last")


def _weight_of_pairs(weights: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    return np.einsum("di,ij,dj->d", weights, pairs.astype(float), weights, optimize=True)
