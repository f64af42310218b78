"""Configuration of the site, built by ``make docs``."""

import inspect
import json
import os
import re
import sys
import warnings
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.util.logging import getLogger

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

from addresses import FILES, FOLDERS, REPOSITORY, SITE  # noqa: E402
from inventories import write_inventories  # noqa: E402

import coterie  # noqa: E402

logger = getLogger(__name__)

project = "coterie"
author = copyright = "the coterie developers"
release = coterie.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/backreferences/*"]
nitpicky = True
# In docstrings a name in single backticks is a parameter.
default_role = "literal"
# Code whose language is not said is output.
highlight_language = "none"

# Pages in Markdown.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4

# API pages.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
# Types in docstrings that link to a page. Classes that only functions return are documented on the
# pages of these functions.
RESULTS = {
    "explain": "coterie.report.inspection._explain.Explanation",
    "group_importance": "coterie.report.studies._importance.GroupImportance",
    "representatives": "coterie.report.inspection._representatives.Representatives",
    "stability": "coterie._model_selection.resampling.Stability",
    "tolerance_path": "coterie._model_selection.tuning._path.TolerancePath",
}
autosummary_context = {"results": RESULTS}
numpydoc_xref_aliases = {
    **{path.rpartition(".")[2]: path for path in RESULTS.values()},
    "Axes": "matplotlib.axes.Axes",
    "Comparison": "coterie.report.Comparison",
    "Coterie": "coterie.Coterie",
    "DataArray": "xarray.DataArray",
    "Decision": "coterie.extending.Decision",
    "Family": "coterie.families.Family",
    "Figure": "matplotlib.figure.Figure",
    "GenLinCFA": "coterie.GenLinCFA",
    "Limits": "coterie.extending.Limits",
    "Moments": "coterie.Moments",
    "MutualCFA": "coterie.MutualCFA",
    "NonLinCFA": "coterie.NonLinCFA",
    "PairColumns": "coterie.extending.PairColumns",
    "PairMoments": "coterie.extending.PairMoments",
    "Partition": "coterie.extending.Partition",
    "Path": "pathlib.Path",
    "SearchResult": "coterie.extending.SearchResult",
    "Study": "coterie.report.Study",
    "StudyVerdict": "coterie.report.StudyVerdict",
    "Summary": "coterie.report.Summary",
    "TablePreparer": "coterie.TablePreparer",
    "Verdict": "coterie.extending.Verdict",
}

intersphinx_mapping = write_inventories(ROOT / "build" / "inventories")

# Copied code comes without prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# Warnings of examples are errors of the build.
warnings.filterwarnings("error", module="coterie")
os.environ.setdefault("MPLBACKEND", "agg")
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "abort_on_example_error": True,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("coterie",),
    "reference_url": {"coterie": None},
    "capture_repr": ("__repr__",),
    "ignore_repr_types": r"matplotlib|Axes",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
# A release adds itself to this file; with the second version, a button to switch appears.
VERSIONS = json.loads((HERE / "_static" / "switcher.json").read_text(encoding="utf-8"))
SWITCHER = ["version-switcher"] if len(VERSIONS) > 1 else []
html_title = f"coterie {release}"
html_baseurl = SITE
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": f"coterie {version}"},
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "icon_links": [
        {"name": "Source", "url": REPOSITORY, "icon": "fa-brands fa-github"},
    ],
    "navbar_end": [*SWITCHER, "theme-switcher", "navbar-icon-links"],
    # Each version of the site asks the root which others there are.
    "switcher": {"json_url": f"{SITE}_static/switcher.json", "version_match": version},
    "check_switcher": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "getting-started": []}


def prepare_page(app, docname, source):
    """Links that lead out of docs, such as ../../examples/spark.py, lead to the repository.

    The empty line with which an example ends for doctest is not shown.
    """
    folder = Path(app.env.doc2path(docname)).parent

    def address(match):
        target = (folder / match[2]).resolve()
        if HERE in target.parents or not target.is_relative_to(ROOT) or match[1][0] == "!":
            return match[0]
        base = FOLDERS if target.is_dir() else FILES
        return f"{match[1]}]({base}{target.relative_to(ROOT).as_posix()}{match[3]})"

    links = r"(!?\[[^\]]*)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)"
    source[0] = re.sub(links, address, source[0]).replace("\n\n```\n", "\n```\n")


# Public methods that other rooms of the package call, and users need not.
INTERNAL = {"again", "arrays", "count_batch", "from_plain", "header", "take", "to_plain"}


def skip_foreign(app, what, name, member, skip, options):
    """Leave members of other libraries, such as set_params, to their documentation."""
    if name in INTERNAL:
        return True
    # The function of a property or of a cached property.
    of_property = getattr(member, "fget", None) or getattr(member, "func", None)
    thing = of_property or inspect.unwrap(member)
    home = getattr(thing, "__module__", None) or ""
    return None if home.startswith("coterie") else True


def hide_signature(app, what, name, obj, options, signature, returned):
    """Leave the signature out for protocols, which nobody calls."""
    return ("", None) if getattr(obj, "_is_protocol", False) else None


def public_names():
    """How pages write public names, and the names that they stand for."""
    for name in coterie.__all__:
        thing = getattr(coterie, name)
        if name.startswith("_"):
            continue
        if not inspect.ismodule(thing):
            yield name, f"coterie.{name}"
            continue
        for inner in thing.__all__:
            yield f"{name}.{inner}", f"coterie.{name}.{inner}"
            if name in {"datasets", "plot", "report"}:
                yield inner, f"coterie.{name}.{inner}"


NAMES = dict(public_names())


def link_names(app, doctree):
    """Public names in code, such as `Coterie()` and `report.study`, lead to their API page."""
    docname = app.env.docname
    if docname.startswith(("api/generated", "gallery")):
        return
    for node in list(doctree.findall(nodes.literal)):
        word = node.astext().partition("(")[0].removeprefix("coterie.")
        is_linked = isinstance(node.parent, nodes.reference | nodes.title | addnodes.pending_xref)
        if word in NAMES and not is_linked:
            link = addnodes.pending_xref(
                "",
                refdoc=docname,
                refdomain="py",
                reftype="obj",
                reftarget=NAMES[word],
                refexplicit=True,
                refwarn=True,
            )
            node.replace_self(link)
            link += node


def visit_math(self, node):
    """Formulas as MathML, which browsers show without a script and without a network."""
    is_block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext(), as_block=is_block)
    except MathError as error:
        logger.warning("%s: %s", node.astext(), error, location=node)
        raise nodes.SkipNode from error
    self.body.append(f'<div class="formula">{formula}</div>' if is_block else formula)
    raise nodes.SkipNode


def setup(app):
    """Register the above."""
    app.connect("source-read", prepare_page)
    app.connect("autodoc-process-signature", hide_signature)
    app.connect("doctree-read", link_names)
    app.connect("autodoc-skip-member", skip_foreign)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))


html_math_renderer = "mathml"
