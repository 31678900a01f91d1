"""How the site is built: ``make docs``, which runs ``sphinx-build -W docs docs/_build/html``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import parloop

project = "Parloop"
copyright = "the Parloop authors"
version = release = parloop.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "parloop_site",
]
exclude_patterns = ["_build", "_ext", "README.md"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
autodoc_preserve_defaults = True
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
# `name` in a docstring is code.
default_role = "literal"

# Types in docstrings, such as `set`, are looked up by name; one that several classes have is not linked.
suppress_warnings = ["ref.python"]

html_theme = "pydata_sphinx_theme"
html_title = "Parloop"
html_static_path = ["_static"]
html_css_files = ["parloop.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Parloop"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"howto": [], "index": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
