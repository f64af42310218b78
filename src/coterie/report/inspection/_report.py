"""A summary as one self-contained HTML page, readable without network and scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from importlib.resources import files
from string import Template

from coterie._persist.files import plain_record, write_whole
from coterie.report.inspection._html import escape, isolate_name
from coterie.report.inspection._lights import FAIR, FIRM, LEAST, lights_sentence
from coterie.report.inspection._rules import rule_html, unlike_sentence
from coterie.report.inspection._sentences import (
    columns_sentence,
    effect_sentence,
    lost_sentence,
    no_score_sentence,
    result_sentence,
    scores_sentence,
    stability_sentence,
)
from coterie.report.inspection._summary import Summary
from coterie.report.inspection._tables import (
    facts_list,
    groups_table,
    notes_list,
    numbers_table,
    path_table,
    scores_table,
    stability_table,
)

# Joined to one script, in this order.
SCRIPTS = ["common", "lists", "positions", "path", "numbers", "correlation", "tree", "export"]


def report_html(summary: Summary) -> str:
    """A summary as one HTML page in ASCII; equal summaries give equal pages.

    The content security policy allows only the style and the script of the page, by their hashes,
    and no requests. Names from the data are never interpreted as markup.
    """
    style = _asset("report.css")
    script = "\n".join(_asset(f"report_{name}.js") for name in SCRIPTS) + _asset("report.js")
    page = _remove_sections(_asset("report.html"), _empty_sections(summary))
    return Template(page).substitute(
        policy=_security_policy(style, script),
        style=style,
        script=script,
        summary=_embedded_json(summary),
        **_template_values(summary),
    )


def write_report(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Write a summary as one self-contained HTML file that needs no network.

    The file is written atomically: if writing fails, an existing file of this name stays as it was.

    Parameters
    ----------
    summary : Summary
        From `coterie.report.study` or `coterie.report.summarise`.
    path : str or path
        The file, such as ``"report.html"``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import coterie
    >>> X, y, _ = coterie.datasets.make_groups(300, 12, 3, noise=3.0, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "report.html")
    ...     coterie.report.write_report(coterie.report.study(X, y).summary, file)
    ...     "12 columns became 3" in file.read_text()
    True
    """
    if not isinstance(summary, Summary):
        raise TypeError(
            f"summary must be a Summary, got {type(summary).__name__}: pass "
            "coterie.report.study(X, y).summary, or coterie.report.summarise(reducer, X, y)."
        )
    write_whole(path, report_html(summary))


def _asset(name: str) -> str:
    return (files("coterie.report.inspection") / name).read_text(encoding="ascii")


def _security_policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _embedded_json(summary: Summary) -> str:
    """The summary as JSON without characters that could end the script element."""
    text = json.dumps(plain_record(summary), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _empty_sections(summary: Summary) -> list[str]:
    """Sections of the page for which the summary has no content."""
    has_positions = summary.spectrum is not None or summary.map is not None
    has_stability = any(group.stability is not None for group in summary.groups)
    present = {
        "path": summary.path is not None,
        "numbers": summary.numbers is not None,
        "places": summary.path is None and summary.numbers is None and has_positions,
        "tree": summary.tree is not None,
        "correlation": summary.correlation is not None and bool(summary.correlation.thousandths),
        "stability": has_stability or summary.agreement is not None,
        "scores": bool(summary.scores),
        "groups": bool(summary.groups),
        "features": bool(summary.features),
    }
    return [name for name, is_there in present.items() if not is_there]


def _remove_sections(page: str, sections: list[str]) -> str:
    for name in sections:
        page = re.sub(rf'<section id="{name}".*?</section>\n', "", page, flags=re.DOTALL)
        page = re.sub(rf'<li[^>]*><a href="#{name}">.*?</li>\n', "", page)
    return page


def _template_values(summary: Summary) -> dict[str, str]:
    """The values of the template, which show without scripts."""
    return {
        "title": escape(
            f"{summary.title}: {columns_sentence(summary)}"
            if summary.title
            else columns_sentence(summary)
        ),
        "name": isolate_name(summary.title) if summary.title else "Feature aggregation",
        "answer": _bold_numbers(escape(result_sentence(summary))),
        "detail": escape(_detail(summary)),
        "scores": scores_table(summary),
        "groups": groups_table(summary),
        "path": path_table(summary),
        "numbers": numbers_table(summary),
        "unlike": escape(unlike_sentence(summary)),
        "rule": rule_html(summary),
        "stability": stability_table(summary),
        "agreement": escape(stability_sentence(summary)),
        "effects": escape(effect_sentence(summary)),
        "lost": _lost_html(summary),
        "lights": escape(lights_sentence()),
        "firm": f"{LEAST[FIRM]}",
        "fair": f"{LEAST[FAIR]}",
        "facts": facts_list(summary),
        "notes": notes_list(summary),
    }


def _lost_html(summary: Summary) -> str:
    lost = escape(lost_sentence(summary))
    return f"<em>Lost</em> is {lost}." if lost else ""


def _detail(summary: Summary) -> str:
    """What the answer rests on."""
    if summary.verdict is not None:
        return f"{columns_sentence(summary)}. {summary.verdict.reason}"
    return scores_sentence(summary) or no_score_sentence(summary)


def _bold_numbers(sentence: str) -> str:
    """Put numbers in bold, and keep "became" and its number on one line."""
    sentence = re.sub(r"became [\d,]+\W", r'<span class="whole">\g<0></span>', sentence)
    return re.sub(r"[-+]?(?<![&#\w])\d[\d,.]*\d|(?<![&#\w])\d", r"<strong>\g<0></strong>", sentence)
