"""How Sphinx makes a site of these pages: `make docs`, and rosdoc2."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "robot_semantics"
author = copyright = "robot_semantics maintainers"  # Sphinx's name for it
(release,) = re.findall(r"<version>(.+)</version>", (ROOT / "package.xml").read_text(encoding="utf-8"))

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["apsw", "backports", "lz4", "mcap", "rosbags"]
