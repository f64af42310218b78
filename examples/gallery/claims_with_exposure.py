"""
Counts with exposure: claims of car policies
============================================

Policies run for a part of a year, so twice the exposure means twice the claims. A box in the
car records thirty numbers about the way of driving, most of them alike: several measures each
of speed, braking, night driving and mileage. The table is made. The question of the actuary:
which few factors may go into the tariff, and what does each do to the claim frequency?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.preprocessing import StandardScaler

import coterie

rng = np.random.default_rng(3)
n = 6_000
habits = {"speed": 8, "braking": 7, "night": 6, "mileage": 5}
shared = {name: rng.standard_normal(n) for name in habits}
X = pd.DataFrame(
    {
        f"{name}_{number}": 0.9 * shared[name] + 0.45 * rng.standard_normal(n)
        for name, size in habits.items()
        for number in range(size)
    }
    | {f"sensor_{number}": rng.standard_normal(n) for number in range(4)}
)
exposure = rng.uniform(0.1, 1.0, n)
rate = 0.25 * np.exp(0.35 * shared["speed"] + 0.25 * shared["braking"] + 0.15 * shared["mileage"])
claims = rng.poisson(exposure * rate)
print(f"{claims.sum()} claims in {exposure.sum():.0f} years of exposure")

# %%
# The exposure goes into ``fit``, as it goes into the model behind as a weight.

train, test = slice(0, 4_000), slice(4_000, None)
reducer = coterie.Coterie(task="counts").set_output(transform="pandas")
reducer.fit(X[train], claims[train], exposure=exposure[train])
scaler = StandardScaler().set_output(transform="pandas")
Z, Z_test = (reducer.transform(part) for part in (X[train], X[test]))
model = PoissonRegressor(alpha=1e-4)
model.fit(scaler.fit_transform(Z), (claims / exposure)[train], sample_weight=exposure[train])
for name, effect in zip(Z.columns, model.coef_, strict=True):
    print(f"{np.expm1(effect):+5.0%} claims per standard deviation of {name}")
print("left out:", ", ".join(X.columns[reducer.rest_]))

# %%
factors = [name.removeprefix("mean(").split("_")[0] for name in Z.columns]
figure, axes = plt.subplots(figsize=(7.5, 2.6), layout="constrained")
axes.barh(factors, 100 * np.expm1(model.coef_), color="#4477aa")
axes.invert_yaxis()
label = axes.set_xlabel("More claims per standard deviation of the factor (%)")

# %%
# Night driving has no effect of its own, so it is left out. Is the prediction as good as with all
# thirty numbers?

frequency, weight = (claims / exposure)[test], exposure[test]
every = PoissonRegressor(alpha=1e-4).fit(
    X[train], (claims / exposure)[train], sample_weight=exposure[train]
)
for name, predicted in {
    f"{reducer.n_groups_} factors": model.predict(scaler.transform(Z_test)),
    "all 30 numbers": every.predict(X[test]),
    "the true rate": rate[test],
}.items():
    share = d2_tweedie_score(frequency, predicted, sample_weight=weight, power=1)
    print(f"{share:.4f} of the deviance explained by {name}")
