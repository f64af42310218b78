"""Render the conda recipe for the version of the package, offline; run by `make package`."""

import os
import sys
from pathlib import Path

from rattler_build import Stage0Recipe, VariantConfig

sys.path.insert(0, str(Path(__file__).parent))
from check import ROOT, version

if __name__ == "__main__":
    os.environ["COTERIE_VERSION"] = version()
    path = ROOT / "conda" / "recipe" / "recipe.yaml"
    (variant,) = Stage0Recipe.from_file(str(path)).render(VariantConfig())
    rendered = variant.recipe.to_dict()
    sdist = path.parent / rendered["source"][0]["path"]
    if not sdist.exists():
        sys.exit(f"The recipe builds from {sdist}, which does not exist.")
    print(rendered["package"]["name"], rendered["package"]["version"], "needs:")
    print(*rendered["requirements"]["run"], sep="\n")
