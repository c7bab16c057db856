"""The site of the documents: ``make docs`` builds it with Sphinx. Pages stay plain Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.version import VERSION

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS: Final = Path(__file__).parent

project = "Eddyline"
version = release = VERSION
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# The anchors of a repository's pages: links are written for both places.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "fieldlist"]
# A page may begin below its first level; Pygments does not know windows and patterns of rows.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"Eddyline {VERSION}"
html_show_copyright = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
pygments_style = "tango"
pygments_dark_style = "monokai"
copybutton_prompt_text = "$ "

#: Pages below a page in the navigation, besides those of the front page's lists.
BELOW: Final = {
    "cookbook": ["cookbook/*"],
    "decisions": ["decisions/*"],
    "figures/papers": ["*/claims"],
    "sql/index": ["statements", "select", "from", "expressions"],
}


def setup(app: Sphinx) -> None:
    """Let the navigation follow the lists of links that readers of the repository see."""
    app.connect("source-read", _add_navigation)


def _add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    if page == "index":
        source[0] += "".join(_section_trees(source[0]))
    elif page in BELOW:
        source[0] += _tree(None, BELOW[page])


def _section_trees(text: str) -> list[str]:
    """A tree for each section with a list: the pages to which its items lead, in their order."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        caption = section.splitlines()[0]
        pages = re.findall(r"^- \[[^\]]+\]\(([^)#:]+)\.(?:md|rst)\)", section, flags=re.M)
        if pages:
            trees.append(_tree(caption, pages))
    return trees


def _tree(caption: str | None, pages: list[str]) -> str:
    title = [f":caption: {caption}"] if caption else []
    return "\n\n" + "\n".join(["```{toctree}", ":hidden:", ":glob:", *title, "", *pages, "```"])
