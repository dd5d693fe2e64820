# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Make `.venv`: one Python environment for the package, its demo and its tests.

Only the standard library is used. Each step stores a digest of its inputs and is skipped while the digest is the same.
So an interrupted set-up continues where it stopped, and a complete one takes a moment.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
DISTROS = ("jazzy", "kilted")
OLDEST, NEWEST = (3, 10), (3, 14)

# Packages without wheels: their sources are built here, with locked tools.
WITHOUT_WHEELS = ("empy", "lark-parser", "urdf-parser-py")
# Source files of an interface package, without tests and pages.
INTERFACE_FILES = (".msg", ".srv", ".action", ".txt", ".xml")
# Steps that the demo does not need.
SIMULATORS = ("simulation_interfaces", "controller_manager_msgs", "mujoco_ros2_control_msgs")
"""Interface packages for the tests' simulator servers; the real packages may be installed."""
EARLIER = "simulation_interfaces_1"
"""Folder below the environment with version 1.5 of simulation_interfaces: two versions cannot share one folder."""
FOR_TESTS = (*SIMULATORS, EARLIER, "test")
ROS_PLATFORM = "linux-x86_64"
"""The platform for which the ROS 2 wheels are made."""
OF_ROS = ("paths", "tf2_msgs", "tf2_ros", "interfaces", *SIMULATORS, EARLIER)
"""Steps that need the ROS 2 wheels."""
OFFLINE = "offline"
"""Mark in the environment: it has no ROS 2."""

# A sourced ROS 2 installation would come before the environment's own packages and mix with them. With the last
# variable, the wheels detect that LD_LIBRARY_PATH is set.
FOREIGN_VARIABLES = (
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "COLCON_PREFIX_PATH",
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
)


class SetupError(Exception):
    """The set-up cannot continue; the message says what to do."""


class Step(NamedTuple):
    """One step: its output, the steps and files it depends on, and its action."""

    name: str
    says: str
    after: tuple[str, ...]
    inputs: tuple[Path, ...]
    action: Callable[[], None]


def missing_tools() -> list[str]:
    """Return the missing tools of this machine, one line each with what to install."""
    missing = []
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        missing.append(
            "Python {}.{} to {}.{} is needed, this is {}.{}: install one and name it, "
            "as in `make setup PYTHON=python3.12`".format(*OLDEST, *NEWEST, *sys.version_info[:2])
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        missing.append("Python's venv module is missing: apt install python3-venv, or dnf install python3")
    if not has_ros_wheels():
        return missing
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        missing.append("Python's headers are missing: apt install python3-dev, or dnf install python3-devel")
    for variable, names, language in (("CC", ("cc", "gcc", "clang"), "C"), ("CXX", ("c++", "g++", "clang++"), "C++")):
        chosen = os.environ.get(variable)
        if not any(shutil.which(name) for name in ((chosen.split()[0],) if chosen else names)):
            missing.append(
                f"a {language} compiler is missing: apt install build-essential, or dnf install gcc-c++ make"
            )
    if not shutil.which("make"):
        missing.append("make is missing: apt install make, or dnf install make")
    return missing


def has_ros_wheels() -> bool:
    """Return True if there are ROS 2 wheels for this machine."""
    return sysconfig.get_platform() == ROS_PLATFORM


def own_variables() -> dict[str, str]:
    """Return the process's environment variables without variables of another ROS 2 or Python."""
    return {name: value for name, value in os.environ.items() if name not in FOREIGN_VARIABLES}


def run(command: Iterable[str | Path], log: Path, **variables: str) -> None:
    """Run a command with its output in a log file; after a failure show the end of the log."""
    words = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        result = subprocess.run(
            words,
            check=False,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**own_variables(), **variables},
        )
    if result.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
        raise SetupError(f"{tail}\n\nfailed: {' '.join(words)}\nfull output: {log}")


def files_below(folder: Path) -> tuple[Path, ...]:
    """Return all files below a folder, sorted, without caches of interpreters."""
    return tuple(sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts))


def digest(paths: Iterable[Path], *words: str) -> str:
    """Return the digest of files' names and contents, and of words."""
    total = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        total.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


class Environment:
    """The virtual environment, and the installation of each part."""

    def __init__(self, prefix: Path, distro: str) -> None:
        self.prefix = prefix
        self.distro = distro
        self.has_ros = has_ros_wheels()
        self.python = prefix / "bin" / "python"
        self.stamps = prefix / "setup"
        self.logs = prefix / "setup" / "log"
        self.pip: list[str | Path] = [self.python, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps"]
        self.site = prefix / "lib" / "python{}.{}".format(*sys.version_info[:2]) / "site-packages"

    def create(self) -> None:
        """Make an empty environment, unless one of this Python version exists."""
        if self.answers(f"import pip, sys; sys.exit(sys.version_info[:3] != {sys.version_info[:3]!r})"):
            return
        if self.prefix.exists() and not (self.prefix / "pyvenv.cfg").exists() and any(self.prefix.iterdir()):
            raise SetupError(f"{self.prefix} exists and is no Python environment: move it away")
        shutil.rmtree(self.prefix, ignore_errors=True)
        run([sys.executable, "-m", "venv", self.prefix], ROOT / "build" / "venv.log")

    def answers(self, code: str) -> bool:
        """Return True if the environment's Python runs this code without an error."""
        if not self.python.exists():
            return False
        command = [str(self.python), "-c", code]
        return not subprocess.run(command, check=False, env=own_variables(), stderr=subprocess.DEVNULL).returncode

    def install(self, lock: Path) -> None:
        """Install exactly the files whose hashes are in a lock; it already has the wheels' requirements."""
        words = ("--no-compile", "--no-build-isolation", "--require-hashes", "--only-binary=:all:")
        sources = (f"--no-binary={name}" for name in WITHOUT_WHEELS)
        run([*self.pip, *words, *sources, "-r", lock], self.logs / f"{lock.stem}.log")

    def install_demo(self) -> None:
        """Install ROS 2, if it has wheels, and the libraries of the demo; Kilted's wheels have a separate lock."""
        if self.distro == "jazzy" and self.has_ros:
            self.install(REQUIREMENTS / "demo.lock")
            return
        entries = re.split(r"^(?=\S)", (REQUIREMENTS / "demo.lock").read_text(), flags=re.MULTILINE)
        lock = ROOT / "build" / "demo_without_ros.lock"
        lock.write_text("".join(entry for entry in entries if not entry.startswith("ros-")))
        self.install(lock)
        if self.has_ros:
            self.install(REQUIREMENTS / f"{self.distro}.lock")

    def mend_paths(self) -> None:
        """Fix the CMake files in the wheels: they name the Python of their build machine."""
        build_python = re.compile(r"/opt/python/[^;\"]*?/(include/python3\.\d+|lib/python3\.\d+/site-packages)")
        here = {"include": sysconfig.get_path("include"), "lib": str(self.site)}
        for folder in ("share", "lib/cmake"):
            for path in (self.prefix / folder).rglob("*.cmake"):
                text = path.read_text(errors="surrogateescape")
                mended = build_python.sub(lambda found: here[found[1].split("/")[0]], text)
                if mended != text:
                    path.write_text(mended, errors="surrogateescape")

    def build(self, source: Path, below: str = "", *options: str) -> None:
        """Build an interface package and install it beside the packages of the wheels, or `below` the environment."""
        name = below or source.name
        build = ROOT / "build" / self.prefix.name / name
        shutil.rmtree(build, ignore_errors=True)
        # The locked CMake of the environment has priority.
        variables = {
            "AMENT_PREFIX_PATH": str(self.prefix),
            "PATH": f"{self.prefix / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }
        configure: list[str | Path] = [
            "cmake", "-S", source, "-B", build,
            f"-DCMAKE_INSTALL_PREFIX={self.prefix / below}", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DPython3_EXECUTABLE={self.python}", "-DBUILD_TESTING=OFF", "-DPYTHON_ONLY=ON", *options,
        ]  # fmt: skip
        run(configure, self.logs / f"{name}_configure.log", **variables)
        jobs = str(len(os.sched_getaffinity(0)))
        run(
            ["cmake", "--build", build, "--target", "install", "--parallel", jobs],
            self.logs / f"{name}.log",
            **variables,
        )

    def has(self, module: str) -> bool:
        """Return True if the environment has a package that this script did not install."""
        ours = (self.stamps / f"{module}.ours").exists()
        return not ours and self.answers(
            f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
        )

    def build_unless_there(self, name: str) -> None:
        """Build a package of the underlay, unless the real one is installed."""
        if not self.has(name):
            (self.stamps / f"{name}.ours").touch()
            self.build(ROOT / "underlay" / name)

    def copy_tf2_ros(self) -> None:
        """Copy our small tf2_ros, unless tf2_ros is installed."""
        if not self.has("tf2_ros"):
            (self.stamps / "tf2_ros.ours").touch()
            source, target = ROOT / "underlay" / "tf2_ros" / "tf2_ros", self.site / "tf2_ros"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))

    def link_project(self) -> None:
        """Install the package in editable mode, and register it in ROS's index like an installed package."""
        run([*self.pip, "--no-build-isolation", "--editable", ROOT], self.logs / "project.log")
        name = "robot_semantics"
        share, executables = self.prefix / "share" / name, self.prefix / "lib" / name
        # One link a file: `ros2 launch` does not search linked folders.
        for folder in (share / "launch", share / "config"):
            if folder.is_symlink():
                folder.unlink()
        files = (ROOT / "package.xml", *(ROOT / "launch").glob("*.py"), *(ROOT / "config").iterdir())
        links = {share / path.relative_to(ROOT): path for path in files}
        links[self.prefix / "share/ament_index/resource_index/packages" / name] = ROOT / "resource" / name
        scripts = re.findall(r'^\s*"(\w+) = robot_semantics\.', (ROOT / "setup.py").read_text(), re.MULTILINE)
        links.update({executables / script: self.prefix / "bin" / script for script in scripts})
        for link, target in links.items():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(target)

    def steps(self) -> list[Step]:
        """Return the steps in order; a step runs again when its files change or an earlier step runs again."""
        build, demo, test = (REQUIREMENTS / f"{name}.lock" for name in ("build", "demo", "test"))
        ros = (demo,) if self.distro == "jazzy" else (demo, REQUIREMENTS / f"{self.distro}.lock")
        names = ("tf2_msgs", "tf2_ros", "simulation_interfaces")
        tf2_msgs, tf2_ros, entities = (ROOT / "underlay" / name for name in names)
        interfaces, name = ROOT / "interfaces", "robot_semantics"
        own = tuple(file for file in files_below(interfaces) if file.suffix in INTERFACE_FILES)
        linked = (*files_below(ROOT / "launch"), *files_below(ROOT / "config"))
        project = (*(ROOT / file for file in ("setup.py", "setup.cfg", "package.xml")), *linked)
        return [
            Step("venv", "making the environment", (), (), self.create),
            Step("build", "installing what builds packages", ("venv",), (build,), lambda: self.install(build)),
            Step("demo", "installing ROS 2 wheels and libraries", ("build",), ros, self.install_demo),
            Step("paths", "mending paths in the wheels", ("demo",), (), self.mend_paths),
            Step(
                "tf2_msgs",
                "building tf2_msgs",
                ("paths",),
                files_below(tf2_msgs),
                lambda: self.build_unless_there("tf2_msgs"),
            ),
            Step("tf2_ros", "installing tf2_ros", ("demo",), files_below(tf2_ros), self.copy_tf2_ros),
            Step("interfaces", f"building {name}_interfaces", ("paths",), own, lambda: self.build(interfaces)),
            Step(name, f"installing {name} itself", ("demo",), project, self.link_project),
            *(
                Step(
                    name,
                    f"building {name}",
                    ("paths",),
                    files_below(ROOT / "underlay" / name),
                    partial(self.build_unless_there, name),
                )
                for name in SIMULATORS
            ),
            Step(
                EARLIER,
                "building simulation_interfaces 1.5",
                ("paths",),
                files_below(entities),
                lambda: self.build(entities, EARLIER, "-DVERSION_1=ON"),
            ),
            Step("test", "installing checkers and oracles", ("demo",), (test,), lambda: self.install(test)),
        ]

    def set_up(self, wanted: str, only_say: bool = False) -> None:
        """Run each step whose inputs changed since its last run; "demo" skips steps only for tests."""
        keys: dict[str, str] = {}
        for step in self.steps():
            if (step.name in FOR_TESTS and wanted == "demo") or (step.name in OF_ROS and not self.has_ros):
                continue
            keys[step.name] = digest(step.inputs, sys.version, *(keys[name] for name in step.after if name in keys))
            stamp = self.stamps / step.name
            if stamp.exists() and stamp.read_text() == keys[step.name]:
                continue
            if only_say:
                print(f"set-up: needs {step.says}")
                continue
            print(f"set-up: {step.says} ...", end=" ", flush=True)
            started = time.monotonic()
            step.action()
            self.stamps.mkdir(exist_ok=True)
            stamp.write_text(keys[step.name])
            print(f"{time.monotonic() - started:.0f} s", flush=True)
        if not only_say and not self.has_ros:
            (self.stamps / OFFLINE).touch()


def main() -> int:
    """Set up the environment; return 1 after a failure, with the reason on standard error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "wanted", nargs="?", choices=("demo", "test"), default="test", help="purpose of the environment (default: test)"
    )
    parser.add_argument("--distro", choices=DISTROS, default=DISTROS[0], help="of ROS 2 (default: jazzy)")
    parser.add_argument("--venv", type=Path, help="where (default: .venv, for Kilted .venv-kilted)")
    parser.add_argument("--only-say", action="store_true", help="print the steps to do, and do nothing")
    options = parser.parse_args()
    missing = missing_tools()
    for line in missing:
        print(f"set-up: {line}", file=sys.stderr)
    if missing:
        return 1
    if not has_ros_wheels():
        print(
            f"set-up: without ROS 2, which has no wheels for {sysconfig.get_platform()}: nodes and live page "
            "are left out; a ROS 2 installation and colcon bring them (README, Install in a ROS 2 workspace)"
        )
    (ROOT / "build").mkdir(exist_ok=True)
    default = ".venv" if options.distro == "jazzy" else f".venv-{options.distro}"
    prefix = (options.venv or ROOT / default).absolute()
    with (ROOT / "build" / f"{prefix.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            Environment(prefix, options.distro).set_up(options.wanted, options.only_say)
        except SetupError as error:
            print(f"\nset-up: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nset-up: interrupted; the next one goes on from here", file=sys.stderr)
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
