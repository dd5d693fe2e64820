# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Build description of the ament_python package robot_semantics, for colcon and for pip."""

import re
from glob import glob
from pathlib import Path

import setuptools
from setuptools import find_packages, setup

NAME = "robot_semantics"
# Resolve links: `colcon build --symlink-install` runs a link to this file in another folder.
HERE = Path(__file__).resolve().parent
# Version, maintainer and addresses come from package.xml; the release tools of ROS raise the version there.
MANIFEST = (HERE / "package.xml").read_text(encoding="utf-8")
(VERSION,) = re.findall(r"<version>(.+)</version>", MANIFEST)
((EMAIL, MAINTAINER),) = re.findall(r'<maintainer email="(.+)">(.+)</maintainer>', MANIFEST)
URLS = {kind.capitalize(): url for kind, url in re.findall(r'<url type="(.+)">(.+)</url>', MANIFEST)}
# Older versions of setuptools, as in ROS 2 Jazzy, do not know licence expressions.
LICENCE = "license_expression" if int(setuptools.__version__.partition(".")[0]) >= 77 else "license"
# Files beside the modules: schemas, examples, the parts of the viewer's page.
DATA = ("urdf", "srdf", "usdf", "xml", "yaml", "html", "css", "js", "md")

MUJOCO = ["mujoco>=4.0", "trimesh>=4.6", "scipy>=1.11", "pycollada>=0.9"]
# MuJoCo and trimesh read the geometry.
DRAKE = ["drake>=1.51", *MUJOCO]
BAG = ["rosbags>=0.10", "mcap>=1.2", "mcap-protobuf-support>=0.5"]
VIEW = ["nicegui>=3.10", "trimesh>=4.6", "pillow>=10", "pycollada>=0.9"]
COLLISION = ["mujoco>=3.3", "python-fcl>=0.7", "trimesh>=4.6", "networkx>=3", "pycollada>=0.9", "scipy>=1.11"]
DECOMPOSITION = ["coacd>=1.0"]
SPHERES = ["morphit-rs>=0.2", *COLLISION]
CLUSTER = ["dask[distributed]>=2024.8"]
FAST = ["msgspec>=0.18"]
PLOT = ["matplotlib>=3.8"]
PARQUET = ["pyarrow>=15"]
LSP = ["pygls>=2.0,<3"]
# Without a ROS 2 installation, its client library, middleware and interfaces come as wheels.
ROS = [
    "ros-jazzy-rclpy",
    "ros-jazzy-rmw-fastrtps-cpp",
    "ros-jazzy-action-msgs",
    "ros-jazzy-builtin-interfaces",
    "ros-jazzy-diagnostic-msgs",
    "ros-jazzy-geometry-msgs",
    "ros-jazzy-lifecycle-msgs",
    "ros-jazzy-nav-msgs",
    "ros-jazzy-rcl-interfaces",
    "ros-jazzy-rosgraph-msgs",
    "ros-jazzy-sensor-msgs",
    "ros-jazzy-std-msgs",
    "ros-jazzy-std-srvs",
]
TEST = ["hypothesis", "mypy", "pytest<9", "pytest-timeout", "pytest-xdist", "ruff"]

setup(
    name=NAME,
    version=VERSION,
    description="The semantics of a robot for ROS 2: planning groups, virtual joints, states and snapshots of worlds",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=MAINTAINER,
    author_email=EMAIL,
    maintainer=MAINTAINER,
    maintainer_email=EMAIL,
    project_urls=URLS,
    keywords=["ROS", "URDF", "SRDF", "USDF", "tf2"],
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: OS Independent",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)),
        "Programming Language :: Python :: 3 :: Only",
        "Topic :: Scientific/Engineering",
        "Typing :: Typed",
    ],
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed", *(f"**/*.{kind}" for kind in DATA)]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        ("share/man/man1", ["doc/robot_semantics.1"]),
        (f"share/{NAME}/launch", sorted(glob("launch/*.py"))),
        (f"share/{NAME}/config", sorted(glob("config/*"))),
        *(
            (f"share/{NAME}/{folder}", files)
            for folder in ("spec", "conformance", *sorted(glob("conformance/*/")))
            if (files := [path for path in sorted(glob(f"{folder}/*")) if Path(path).is_file()])
        ),
    ],
    python_requires=">=3.10",
    install_requires=[
        *("argcomplete>=3", "filelock>=3.13", "lxml>=4.9", "numpy>=1.24", "psutil>=5.9", "pyyaml>=6", "rich>=13"),
        *("ruamel-yaml>=0.18", "xacro>=2.0"),
    ],
    extras_require={
        "ros": ROS,
        "mujoco": MUJOCO,
        "drake": DRAKE,
        "bag": BAG,
        "view": VIEW,
        "collision": COLLISION,
        "decomposition": DECOMPOSITION,
        "spheres": SPHERES,
        "cluster": CLUSTER,
        "plot": PLOT,
        "parquet": PARQUET,
        "fast": FAST,
        "lsp": LSP,
        "test": TEST,
        "all": sorted(
            {
                *ROS,
                *MUJOCO,
                *DRAKE,
                *BAG,
                *VIEW,
                *COLLISION,
                *DECOMPOSITION,
                *SPHERES,
                *CLUSTER,
                *PLOT,
                *PARQUET,
                *FAST,
                *LSP,
                *TEST,
            }
        ),
    },
    entry_points={
        "ros2cli.command": ["semantics = robot_semantics.cli.ros2_command:SemanticsCommand"],
        "console_scripts": [
            "robot_semantics = robot_semantics.cli.main:main",
            "robot_semantics_node = robot_semantics.ros.__main__:robot_semantics_node",
            "robot_semantics_lifecycle_node = robot_semantics.ros.__main__:robot_semantics_lifecycle_node",
            "bag_to_usdf = robot_semantics.cli.export:main",
            "mujoco_world = robot_semantics.ros.__main__:mujoco_world",
        ],
    },
    zip_safe=True,
    **{LICENCE: "Apache-2.0"},
)
