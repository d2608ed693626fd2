"""Configuration of the documentation site (Sphinx, MyST Markdown, Furo).

    python -m sphinx --fail-on-warning --builder html docs OUTPUT

`.ci/check` builds the site in this way: a link or an anchor that leads nowhere, or a page outside of the four
folders, fails it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

_CARGO = tomllib.loads((Path(__file__).parents[1] / "Cargo.toml").read_text())

project = "faultwire"
author = "the faultwire authors"
project_copyright = author
release = version = _CARGO["workspace"]["package"]["version"]

extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True
smartquotes = False  # `--flag` stays two hyphens in prose as well

myst_heading_anchors = 4  # links such as `tapes.md#seals` work here as they do on GitHub
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = "faultwire"
html_theme_options = {
    "source_repository": "https://github.com/faultwire/faultwire/",
    "source_branch": "main",
    "source_directory": "docs/",
    "navigation_with_keys": True,
}
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
