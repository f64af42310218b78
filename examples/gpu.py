"""Group columns that lie on a GPU, or in any array that follows the array API standard.

Needs PyTorch and coterie[gpu]. Coterie copies X to the host once. NonLinCFA computes where X is,
and with numba-cuda its search is as fast as the products. Without a GPU the example runs on the
CPU.
"""

from __future__ import annotations

import torch

from coterie import Coterie, NonLinCFA


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"

    # 12 latent series, each with noisy copies, and a target that depends on three of them.
    generator = torch.Generator(device=device).manual_seed(0)
    series = torch.randn(2000, 12, device=device, generator=generator)
    copies = series.repeat(1, 25)
    X = copies + 0.3 * torch.randn(copies.shape, device=device, generator=generator)
    y = series[:, 0] - 2 * series[:, 1] + 0.5 * series[:, 2]

    reducer = Coterie().fit(X, y)
    reduced = reducer.transform(X)
    print(f"{X.shape[1]} columns on {X.device} became {reduced.shape[1]} on {reduced.device}")

    # transform gives a tensor on the same device, so training continues there.
    design = torch.cat([reduced, torch.ones_like(reduced[:, :1])], dim=1)
    solution = torch.linalg.lstsq(design, y[:, None]).solution
    left = y - (design @ solution)[:, 0]
    print(f"they explain {1 - float(left.var() / y.var()):.2f} of the target's variance")

    # The reducer is not bound to the device: it transforms NumPy arrays too.
    print(f"a NumPy array gives a {type(reducer.transform(X.cpu().numpy())).__name__}")

    # For very many columns: products and search on the device, and only decisions on the host.
    paper = NonLinCFA(search="forward").fit(X, y)
    print(f"the rule of the paper, computed on {X.device}: {paper.n_groups_} groups")


if __name__ == "__main__":
    main()
