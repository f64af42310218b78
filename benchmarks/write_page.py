"""Write the figures of README.md and docs from benchmarks/results/results.json.

    python benchmarks/write_page.py            # writes them
    python benchmarks/write_page.py --check    # fails where a page has another figure

On a page, ``<!-- figures: NAME -->`` and ``<!-- end -->`` enclose a table or sentences that this
script writes: see BLOCKS. In a sentence, ``<!--= KEY -->1.3<!--=-->`` encloses one figure, and the
comments do not show. README.md has no comments: sentences.toml says which of its sentences are
about speed, and where their figures come from.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
BLOCK = re.compile(r"(<!-- figures: ([\w -]+) -->\n).*?(\n?<!-- end -->)", re.DOTALL)
FIGURE = re.compile(r"(<!--= ([\w.-]+) -->).*?(<!--=-->)")
SPEED = re.compile(
    r"\d[\d.,]*\s*(s|ms|ns|(milli|micro)?seconds?|minutes?|hours?)\b(?! / )"
    r"|\b(half an?|tenth of an?|fraction of an?) (second|minute|hour)\b"
    r"|\b(two|three|four|five|ten|some|few) (second|minute|hour)s\b"
    r"|\btimes (faster|slower|as (long|fast))|products? X'X|thousands of times",
    re.IGNORECASE,
)
NAMES = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy", "pandas": "pandas"}
Results = dict[str, Any]


def read_results(path: Path = HERE / "results" / "results.json") -> Results:
    """What the last run measured, and what compiled_code.py did."""
    results = json.loads(path.read_text(encoding="utf-8"))
    other = path.parent / "compiled_code.json"
    return results | {"compiled code": json.loads(other.read_text(encoding="utf-8"))}


def pages() -> list[Path]:
    """All pages that may have figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rows_of(results: Results, section: str) -> list[dict[str, Any]]:
    return [row for row in results["rows"] if row["section"] == section]


def row_of(results: Results, key: str) -> dict[str, Any]:
    """The row with this key."""
    for row in results["rows"]:
        if row["key"] == key:
            return row
    raise KeyError(f"{key} is not in the results: run make bench")


def number(figure: float) -> str:
    """A figure with three digits at most, without an exponent."""
    if figure >= 100:
        return f"{figure:,.0f}"
    text = f"{figure:.3g}" if figure >= 10 else f"{figure:.2g}"
    return text if "e" not in text else f"{figure:.2g}"


def shown(row: dict[str, Any]) -> str:
    """The figure of a row with its unit, or why there is none."""
    if row["figure"] is None:
        return row["status"]
    return f"{number(row['figure'])} {row['unit']}"


def where_and_when(results: Results) -> str:
    """One sentence on the machine, and one on the versions."""
    versions = ", ".join(f"{NAMES.get(k, k)} {v}" for k, v in results["versions"].items())
    others = results["others"]
    load = f"others took {others['before']:.0%} of the processors before"
    if others["meanwhile"] is not None:
        load += f" and {others['meanwhile']:.0%} meanwhile"
    said = (
        f"Measured on {results['date']} (commit {results['commit']}), {results['machine']};\n"
        f"{load}.\nThe run took {results['seconds'] / 60:.0f} minutes. {versions}."
    )
    if results["idle"] and not results["quick"]:
        return said
    why = " with `--quick`, which takes smaller sizes" if results["quick"] else ""
    why += " and" if results["quick"] and not results["idle"] else ""
    why += " on a machine that was not idle" if not results["idle"] else ""
    return f"**These figures are preliminary: measured{why}.**\n{said}"


def with_targets(section: str) -> Callable[[Results], str]:
    """A table of what was measured beside what was to be reached."""

    def table(results: Results) -> str:
        lines = ["| configuration | what | measured | to reach | reached |", "| --- " * 5 + "|"]
        for row in rows_of(results, section):
            least = "at least " if row["at_least"] else ""
            target = "" if row["target"] is None else f"{least}{row['target']:g}"
            reached = {None: "", True: "yes", False: "no"}[row["reached"]]
            note = f" ({row['note']})" if row["note"] else ""
            name = f"`{row['configuration']}`" if row["configuration"] else ""
            lines.append(f"| {name} | {row['what']} | {shown(row)}{note} | {target} | {reached} |")
        return "\n".join(lines)

    return table


def plain(section: str, *heads: str) -> Callable[[Results], str]:
    """A table of configuration, what, figure and note."""

    def table(results: Results) -> str:
        lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
        for row in rows_of(results, section):
            name = f"`{row['configuration']}`"
            lines.append(f"| {name} | {row['what']} | {shown(row)} | {row['note']} |")
        return "\n".join(lines)

    return table


def compiled_code(results: Results) -> str:
    """A search by NumPy, numba and Cython: seconds, and what each one costs beside them."""
    found = results["compiled code"]
    versions = found["versions"]
    lines = [
        f"Measured on {found['machine']}, Python {versions['python']}, numba {versions['numba']}"
    ]
    lines[0] += "." if found["idle"] else "; **preliminary: the machine was not idle**."
    lines += ["", "| | NumPy | numba | Cython |", "| --- " * 4 + "|"]
    for size in ("2000x1000", "2000x2000"):
        times = found[size]
        each = (f"{number(1000 * times[name])} ms" for name in ("NumPy", "numba", "Cython"))
        shape = "{} x {}".format(*(f"{int(n):,}" for n in size.split("x")))
        one = f"one X'X {1000 * times['product']:.0f} ms"
        lines.append(f"| the search at {shape} ({one}) | {' | '.join(each)} |")
    full, empty = found["numba: first call, cache full"], found["numba: first call, cache empty"]
    call = 1000 * found["cython: first call"]
    library = found["cython: library, MB"]
    lines += [
        f"| first call of a process | | {full:.1f} s | {call:.1f} ms |",
        f"| the same, not yet compiled | | {empty:.0f} s | |",
        f"| download | | {found['numba: download, MB']:.0f} MB | {library:.2f} MB at most |",
        f"| installed | | {found['numba: installed, MB']:.0f} MB | {library:.2f} MB |",
        f"| compiled by | | each user, once | us, {found['cython: build']:.0f} s for each wheel |",
    ]
    return "\n".join(lines)


def missed(results: Results) -> str:
    """How many targets of the defaults are reached, and which are not."""
    rows = [row for row in rows_of(results, "defaults") if row["target"] is not None]
    n_reached = sum(row["reached"] is True for row in rows)
    return f"{n_reached} of {len(rows)} targets of the defaults are reached."


BLOCKS: dict[str, Callable[[Results], str]] = {
    "compiled code": compiled_code,
    "run": where_and_when,
    "reached": missed,
    "defaults": with_targets("defaults"),
    "first fit": plain("first fit", "configuration", "data", "the first fit", "then"),
    "tables": with_targets("tables"),
    "fixed": with_targets("fixed"),
    "methods": plain("methods", "configuration", "data", "seconds", "peak memory, in units of X"),
}


def written(text: str, results: Results) -> str:
    """A page with the figures of these results."""
    text = BLOCK.sub(lambda m: f"{m[1]}{BLOCKS[m[2]](results)}\n{m[3].lstrip()}", text)
    return FIGURE.sub(lambda m: f"{m[1]}{figure_of(results, m[2])}{m[3]}", text)


def figure_of(results: Results, key: str) -> str:
    """The figure of a row, or its note where the key ends in .note."""
    row = row_of(results, key.removesuffix(".note"))
    if key.endswith(".note"):
        return row["note"]
    return row["status"] if row["figure"] is None else number(row["figure"])


def behind() -> dict[str, Any]:
    """What is behind sentences of README.md, and behind figures on other pages."""
    return tomllib.loads((HERE / "sentences.toml").read_text(encoding="utf-8"))


def without_code(text: str) -> str:
    """A page without code, and without what this script writes on it."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(FIGURE.pattern + r"(\s+times\s+\S+(\s+long)?)?", "", BLOCK.sub("", text))


def about_speed(text: str) -> list[str]:
    """Words of a page that give a time, or how many times faster something is."""
    return [match[0] for match in SPEED.finditer(" ".join(without_code(text).split()))]


def with_sentences(text: str, results: Results) -> str:
    """README.md with these figures in its sentences about speed."""
    for sentence in behind()["sentence"]:
        for name, key in sentence.get("figures", {}).items():
            if row_of(results, key)["figure"] is None:
                raise ValueError(f"{key} has no figure, so README.md needs another sentence")
            figure = figure_of(results, key)

            def put(m: re.Match[str], name: str = name, figure: str = figure) -> str:
                start, end = m.start(name) - m.start(), m.end(name) - m.start()
                return m[0][:start] + figure + m[0][end:]

            text = re.sub(sentence["pattern"], put, text)
    return text


def differing(results: Results) -> dict[Path, str]:
    """Pages that do not have the figures of the results, and what they should be."""
    found = {}
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = written(text, results)
        if page.name == "README.md" and page.parent == ROOT:
            new = with_sentences(new, results)
        if new != text:
            found[page] = new
    return found


def main() -> None:
    for page, text in differing(read_results()).items():
        if "--check" in sys.argv:
            sys.exit(f"{page.relative_to(ROOT)} has other figures: python benchmarks/write_page.py")
        page.write_text(text, encoding="utf-8")
        print(f"Written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
