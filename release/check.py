"""Is what lies in dist/ fit to be released? Run by `make package`.

With a tag as argument, as in `make package TAG=v0.1.0`, the version must be the tag's and its entry
in the changelog must have a date.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Under version control, and of no use to who unpacks an sdist.
ONLY_IN_GIT = (".ci/",)
# What a wheel has to have besides modules.
IN_WHEEL = (
    "coterie/py.typed",
    "coterie/_persist/model.schema.json",
    "coterie/datasets/tecator.csv.gz",
    "coterie/datasets/tecator.txt",
    "coterie-{version}.dist-info/licenses/LICENSE",
    "coterie-{version}.dist-info/licenses/src/coterie/datasets/tecator.txt",
)


def version() -> str:
    """The version, from the one place that says it."""
    text = (ROOT / "src/coterie/__init__.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE)
    return found


def changelog_faults(text: str, version: str, tag: str | None) -> list[str]:
    """What is wrong with the changelog's entry for a version; for a tag, it needs a date."""
    entry = re.search(rf"^## {re.escape(version)} \((.+)\)$", text, flags=re.MULTILINE)
    if entry is None:
        return [f"CHANGELOG.md has no entry '## {version} (date)'."]
    if tag is None:
        return []
    faults = []
    if tag != f"v{version}":
        faults.append(f"The tag is {tag} and the version {version}.")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", entry[1]):
        faults.append(f"CHANGELOG.md says '{entry[1]}' of {version}; a release needs a date.")
    return faults


def tracked() -> set[str]:
    """The files under version control; none where there is no git."""
    run = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {name for name in run.stdout.split("\0") if name}


def sdist_faults(names: set[str], tracked: set[str]) -> list[str]:
    """What an sdist lacks of the files under version control, or has besides them."""
    wanted = {name for name in tracked if not name.startswith(ONLY_IN_GIT)}
    missing, more = wanted - names, names - wanted - {"PKG-INFO"}
    return [f"The sdist lacks {name}." for name in sorted(missing)] + [
        f"The sdist has {name}, which is not under version control." for name in sorted(more)
    ]


def wheel_faults(names: set[str], version: str) -> list[str]:
    """What a wheel lacks."""
    wanted = [name.format(version=version) for name in IN_WHEEL]
    return [f"The wheel lacks {name}." for name in wanted if name not in names]


def main(tag: str | None = None) -> int:
    """Print what is wrong, one line each; 0 if nothing is."""
    this = version()
    faults = changelog_faults((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), this, tag)
    with tarfile.open(ROOT / "dist" / f"coterie-{this}.tar.gz") as sdist:
        inside = {m.name.partition("/")[2] for m in sdist.getmembers() if m.isfile()}
    if files := tracked():
        faults += sdist_faults(inside, files)
    with zipfile.ZipFile(ROOT / "dist" / f"coterie-{this}-py3-none-any.whl") as wheel:
        faults += wheel_faults(set(wheel.namelist()), this)
    print(*(faults or [f"coterie {this}: {len(inside)} files in the sdist."]), sep="\n")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
