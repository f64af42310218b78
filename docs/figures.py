"""Write the measured figures into the pages, from the results that are committed.

    python docs/figures.py          write them
    python docs/figures.py --check  say which pages are out of date, or have unsourced numbers

A figure in a page stands between two comments. The first names its source and how it is written:

    <!--=assumptions/one_test/nominal:.1%-->2.7 %<!--=-->

is the value ``one_test``, ``nominal`` of ``assumptions.json``, in experiments/results or
benchmarks/results. A whole table stands between two comments of its own:

    <!--table gpu/tall-->
    <!--/table-->

and is a value with ``columns`` and ``rows``, or one that experiments/for_docs.py computes from the
larger files of results. Numbers that are no figures but definitions or examples are listed in
docs/figures.toml.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
RESULTS = (ROOT / "experiments" / "results", ROOT / "benchmarks" / "results")
FIGURE = re.compile(
    r"<!--=(?P<path>\w+/[^:>]*?)(?::(?P<form>[^>]*?))?-->(?P<text>.*?)<!--=-->", re.S
)
TABLE = re.compile(r"<!--table (?P<path>\S+)-->\n(?P<text>.*?)<!--/table-->", re.S)
# Figures of speed have a script of their own, benchmarks/write_page.py.
OF_SPEED = re.compile(r"<!--= .*?<!--=-->|<!-- figures: .*?<!-- end -->", re.S)
# What is looked at for numbers without a source: cells of tables, and what was measured elsewhere.
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--(?!=).*?-->", re.S)
NUMBER = re.compile(r"(?<![\w.^/-])[-+±]?\d[\d,]*(?:\.\d+)?|(?<![\w.])\.\d+")
MEASURED = re.compile(
    r"(?:\d[\d,]*(?:\.\d+)?|\.\d+)\s(?:s|ms|ns|GB|GiB|MB|%|times|seconds|minutes)(?!\w)"
    r"|(?<![\w.,])0?\.\d\d+(?!\w)"
)


def pages() -> list[Path]:
    """The README and all pages of docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@cache
def source(name: str) -> Any:
    """The results of a name: a file of JSON, or what is computed from larger files."""
    for folder in RESULTS:
        if (folder / f"{name}.json").is_file():
            return json.loads((folder / f"{name}.json").read_text("utf-8"))
    from experiments.for_docs import COMPUTED

    if name not in COMPUTED:
        raise KeyError(f"there are no results {name!r}")
    return COMPUTED[name]()


def value(path: str) -> Any:
    """What stands at a path such as ``assumptions/one_test/nominal``."""
    name, *keys = path.split("/")
    found = source(name)
    for key in keys:
        found = found[int(key)] if isinstance(found, list) else found[key]
    return found


def written(found: Any, form: str = "") -> str:
    """A value in words: by a format of Python, with a space before the sign of per cent."""
    return format(found, form).replace("%", " %")


def table(found: dict[str, Any]) -> str:
    """A table of Markdown."""
    lines = [found["columns"], ["---"] * len(found["columns"]), *found["rows"]]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines).replace("|  |", "| |")


def rewritten(text: str) -> str:
    """A page with its figures as the results have them."""
    text = FIGURE.sub(
        lambda found: (
            f"<!--={found['path']}{':' + found['form'] if found['form'] else ''}-->"
            f"{written(value(found['path']), found['form'] or '')}<!--=-->"
        ),
        text,
    )
    return TABLE.sub(
        lambda found: f"<!--table {found['path']}-->\n{table(value(found['path']))}<!--/table-->",
        text,
    )


def plain(text: str) -> str:
    """A page without code, and without the figures that have a source."""
    text = OF_SPEED.sub("", TABLE.sub("", FIGURE.sub("", text)))
    text = re.sub(r"^ {4}.*$", "", text, flags=re.M)
    return CODE.sub(lambda found: "\n" * found.group().count("\n"), text)


def without_source(text: str, allowed: list[str]) -> Iterator[str]:
    """Lines with a number in a table, or a measured one elsewhere, that no results back."""
    for line in plain(text).split("\n"):
        if any(words in line for words in allowed) or line.startswith("| --"):
            continue
        wanted = NUMBER if line.lstrip().startswith("|") else MEASURED
        if wanted.search(line):
            yield line


def unsourced() -> dict[str, list[str]]:
    """By page, the lines whose numbers have no source and are not allowed.

    The gallery is made by the build of the site, output included.
    """
    known = tomllib.loads((ROOT / "docs" / "figures.toml").read_text("utf-8"))
    found = {}
    for page in pages():
        name = page.relative_to(ROOT).as_posix()
        if page.name in known["later"]["pages"] or page.parent.name == "gallery":
            continue
        lines = list(without_source(page.read_text("utf-8"), known["allowed"].get(page.name, [])))
        if lines:
            found[name] = lines
    return found


def main() -> int:
    """Write all pages, or say what is wrong with them."""
    is_check, wrong = "--check" in sys.argv[1:], 0
    for page in pages():
        text = page.read_text("utf-8")
        new = rewritten(text)
        if new != text:
            print(f"{page.relative_to(ROOT)} {'is out of date' if is_check else 'is written anew'}")
            wrong += is_check
            if not is_check:
                page.write_text(new, "utf-8")
    for name, lines in unsourced().items():
        print(f"{name} has numbers without a source:", *lines, sep="\n    ")
        wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
