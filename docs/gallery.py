"""Run the scripts of examples/gallery and write each as a page with its output and pictures.

Run with ``make gallery``.
"""

import re
from pathlib import Path

import jupytext
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "gallery"


def page(script):
    """Write the page of one script, and its pictures beside it."""
    notebook = jupytext.read(script)
    NotebookClient(notebook, kernel_name="python3", timeout=600, coalesce_streams=True).execute()
    text, resources = MarkdownExporter().from_notebook_node(notebook)
    # The value of a last line is not what a reader looks for beside a picture.
    text = re.sub(r"\n    (<Axes|\[Text|Text\().*\n", "\n", text)
    for number, (name, data) in enumerate(sorted(resources["outputs"].items()), start=1):
        picture = f"{script.stem}_{number}.png"
        (PAGES / picture).write_bytes(data)
        text = text.replace(f"![png]({name})", f"![{script.stem}, picture {number}]({picture})")
    source = f"[The script](../../examples/gallery/{script.name}) makes this page."
    (PAGES / f"{script.stem}.md").write_text(f"{without_gaps(text).strip()}\n\n{source}\n")


def without_gaps(text):
    """The text with one empty line at a time, but for those inside code."""
    parts = text.split("```")
    parts[::2] = [re.sub(r"\n(\s*\n){2,}", "\n\n", part) for part in parts[::2]]
    return "```".join(parts)


if __name__ == "__main__":
    PAGES.mkdir(exist_ok=True)
    for path in sorted((ROOT / "examples" / "gallery").glob("*.py")):
        page(path)
        print(path.stem)
