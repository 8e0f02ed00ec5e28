"""The site's settings: `make docs` builds it, with warnings as errors."""

from typing import Any

import ggln

project = "ggln"
author = "the ggln developers"
project_copyright = author
version = release = ggln.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
# The pages are plain Markdown that also reads well where it is not built: no other syntax than this.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# Docstrings give shapes as types, "(rows, features)", whose words may also be names: no references are meant.
suppress_warnings = ["ref.python"]

autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    # of scikit-learn's routing of metadata, which these estimators take no part in
    "exclude-members": "get_metadata_routing, set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_score_request",
}
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"ggln {version}"
html_copy_source = False


def setup(app: Any) -> None:
    """Leave out what Python writes about the fields of a named tuple: their numbers."""

    def clear(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
        if lines and lines[0].startswith("Alias for field number"):
            lines.clear()

    app.connect("autodoc-process-docstring", clear)
