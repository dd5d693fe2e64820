"""How Sphinx makes a site of these pages: `make docs`, and rosdoc2."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import robot_semantics

project = "robot_semantics"
release = robot_semantics.__version__
author = copyright = "robot_semantics maintainers"  # Sphinx's name for it

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["apsw", "backports", "lz4", "mcap", "rosbags"]
