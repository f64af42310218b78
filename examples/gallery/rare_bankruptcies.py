"""
Bankruptcies: rare classes, missing values, ratios that are alike
=================================================================

Financial ratios of 3,000 companies, of which about 4 % go bankrupt within a year. Ratios come
in families (profitability, debt, liquidity, size), have heavy tails and gaps. The table is
made, with the families known, so that one can see whether they come out. Accuracy is useless
here: who says "never bankrupt" is right in 96 of 100 cases. We look at the area under the ROC
curve and the log-loss.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie

rng = np.random.default_rng(7)
n = 3_000
families = {"profit": 6, "debt": 5, "liquidity": 5, "size": 4, "growth": 5}
shared = {name: rng.standard_normal(n) for name in families}
columns = {}
for name, size in families.items():
    for number in range(size):
        ratio = 0.9 * shared[name] + 0.4 * rng.standard_normal(n)
        # Ratios have heavy tails: some denominators are nearly 0.
        columns[f"{name}_{number}"] = np.sinh(ratio) if name != "size" else ratio
for number in range(8):
    columns[f"other_{number}"] = rng.standard_t(3, n)
X = pd.DataFrame(columns).mask(rng.random((n, len(columns))) < 0.05)
risk = -4.2 - 1.1 * shared["profit"] + 0.9 * shared["debt"] - 0.6 * shared["liquidity"]
bankrupt = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "bankrupt", "alive")
print(f"{np.mean(bankrupt == 'bankrupt'):.1%} bankrupt, {X.isna().mean().mean():.0%} missing")

# %%
# Nothing has to be set up: classes are found by their labels, a rare one counts as much as a
# frequent one, missing values are filled from the other members of the group, and heavy tails
# become ranks or are clipped if that predicts better on held-out rows.

X_train, X_test, y_train, y_test = train_test_split(
    X, bankrupt, test_size=0.4, stratify=bankrupt, random_state=0
)
reducer = coterie.Coterie().set_output(transform="pandas").fit(X_train, y_train)
print(f"Inputs: {reducer.inputs_}. {reducer.choice_}")
for name, members in zip(reducer.get_feature_names_out(), reducer.groups_, strict=True):
    print(f"{len(members):3d}  {name}")
print("left out:", ", ".join(X.columns[reducer.rest_]))

# %%

rivals = {
    f"{reducer.n_groups_} columns of coterie": make_pipeline(
        coterie.Coterie(), StandardScaler(), LogisticRegression()
    ),
    f"all {X.shape[1]} ratios": make_pipeline(
        SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=2_000)
    ),
}
for name, model in rivals.items():
    model.fit(X_train, y_train)
    chance = model.predict_proba(X_test)[:, list(model.classes_).index("bankrupt")]
    area, loss = roc_auc_score(y_test == "bankrupt", chance), log_loss(y_test == "bankrupt", chance)
    print(f"AUC {area:.3f}  log-loss {loss:.4f}  {name}")
share = np.full(len(y_test), np.mean(y_train == "bankrupt"))
print(f"AUC 0.500  log-loss {log_loss(y_test == 'bankrupt', share):.4f}  base rate")

# %%
# The tree of likeness shows the families, and which of them the target needs.

figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
coterie.plot.plot_tree(reducer, ax=axes)
