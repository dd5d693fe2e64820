# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""This environment as `pip install robot_semantics[EXTRA]` would have made it: no other distribution can be imported.

`launcher` writes a Python program that runs others in this way; hidden packages are also missing in the metadata.
"""

from __future__ import annotations

import importlib.metadata
import stat
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NAME = "robot-semantics"

_LAUNCHER = '''#!{python}
import importlib.machinery, importlib.metadata, os, runpy, sys
ALLOWED = {allowed!r}
MODULES = {modules!r}
SITES = {sites!r}
class Hiding:
    """Finds what the path finder finds, except what none of the allowed distributions brings."""
    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or "." in name or name in MODULES:
            return spec
        places = [spec.origin or "", *(spec.submodule_search_locations or ())]
        return None if any(os.path.realpath(place).startswith(SITES) for place in places) else spec
    @staticmethod
    def find_distributions(*args, **kwargs):
        for found in importlib.metadata.MetadataPathFinder.find_distributions(*args, **kwargs):
            if found.metadata["Name"].lower().replace("_", "-").replace(".", "-") in ALLOWED:
                yield found
    @staticmethod
    def invalidate_caches():
        importlib.machinery.PathFinder.invalidate_caches()
sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Hiding
{body}
'''
_PYTHON = """
if sys.argv[1] == "-c":
    code, sys.argv = sys.argv[2], ["-c", *sys.argv[3:]]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
else:
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
_COMMAND = """
from robot_semantics.cli.main import main
sys.exit(main())
"""


@cache
def distributions_of_modules() -> Mapping[str, list[str]]:
    """Return the names of the distributions that bring each top-level module; to look takes half a second."""
    return importlib.metadata.packages_distributions()


def brought_by(*extras: str) -> set[str]:
    """Return the canonical names of all distributions that the package with these extras brings, itself among them."""
    found: set[tuple[str, str]] = set()
    waiting = [(NAME, extra) for extra in ("", *extras)]
    while waiting:
        item = waiting.pop()
        if item in found:
            continue
        found.add(item)
        name, extra = item
        try:
            required = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            # For another platform, or not needed with the installed packages.
            continue
        for text in required:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(requirement.name), inner) for inner in ("", *requirement.extras)]
    return {name for name, _ in found}


def launcher(folder: Path, *extras: str) -> Path:
    """Return a new folder with the programs `robot_semantics` and `python`, as with these extras alone."""
    allowed = brought_by(*extras)
    modules = {
        module
        for module, names in distributions_of_modules().items()
        if any(canonicalize_name(name) in allowed for name in names)
    }
    # Editable, the package itself has no files of its own in the environment.
    modules.add("robot_semantics")
    sites = tuple(str(Path(sysconfig.get_path(kind)).resolve()) for kind in ("purelib", "platlib"))
    folder.mkdir(parents=True)
    for name, body in (("robot_semantics", _COMMAND), ("python", _PYTHON)):
        path = folder / name
        path.write_text(
            _LAUNCHER.format(python=sys.executable, allowed=allowed, modules=modules, sites=sites, body=body)
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder
