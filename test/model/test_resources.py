# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files named in a description: where they are searched, in which order, and the error if they do not exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_semantics import Diagnostics, Severity
from robot_semantics.model.resources import PackageResolver, ResourceNotFoundError, check_resources
from robot_semantics.urdf.reader import parse_urdf

MANIFEST = "<package><name>{}</name></package>"


def made(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_package_is_found_by_its_folder_s_name(tmp_path: Path) -> None:
    mesh = made(tmp_path / "src" / "arm" / "meshes" / "a b.stl")
    resolver = PackageResolver([tmp_path / "src"], {})
    assert resolver.resolve("package://arm/meshes/a%20b.stl") == mesh
    assert resolver.package("arm") == tmp_path / "src" / "arm"


def test_a_search_path_may_be_the_package_itself(tmp_path: Path) -> None:
    mesh = made(tmp_path / "arm" / "a.stl")
    assert PackageResolver([tmp_path / "arm"], {}).resolve("package://arm/a.stl") == mesh


def test_a_package_in_a_folder_of_another_name_is_found_by_its_manifest(tmp_path: Path) -> None:
    made(tmp_path / "ws" / "repository" / "folder" / "package.xml", MANIFEST.format(" arm "))
    mesh = made(tmp_path / "ws" / "repository" / "folder" / "a.stl")
    assert PackageResolver([tmp_path / "ws"], {}).resolve("package://arm/a.stl") == mesh


@pytest.mark.parametrize("folder", ["build/arm_copy", ".hidden/arm_copy", "1/2/3/4/5/6/arm_copy"])
def test_builds_hidden_folders_and_great_depths_are_not_searched(tmp_path: Path, folder: str) -> None:
    made(tmp_path / folder / "package.xml", MANIFEST.format("arm"))
    with pytest.raises(ResourceNotFoundError):
        PackageResolver([tmp_path], {}).package("arm")


def test_a_broken_manifest_hides_no_other(tmp_path: Path) -> None:
    made(tmp_path / "a" / "package.xml", "<package>")
    made(tmp_path / "b" / "package.xml", MANIFEST.format("arm"))
    assert PackageResolver([tmp_path], {}).package("arm") == tmp_path / "b"


def test_the_order_is_given_paths_then_ros_package_path_then_ament_then_around_the_description(tmp_path: Path) -> None:
    urdf = made(tmp_path / "own" / "arm" / "urdf" / "arm.urdf")
    places = [
        made(tmp_path / "given" / "arm" / "a.stl"),
        made(tmp_path / "ros" / "arm" / "a.stl"),
        made(tmp_path / "prefix" / "share" / "arm" / "a.stl"),
        made(tmp_path / "own" / "arm" / "a.stl"),
    ]
    environment = {
        "ROS_PACKAGE_PATH": f"{tmp_path / 'nowhere'}:{tmp_path / 'ros'}",
        "AMENT_PREFIX_PATH": str(tmp_path / "prefix"),
    }
    for place in places:
        resolver = PackageResolver([tmp_path / "given"], environment)
        assert resolver.resolve("package://arm/a.stl", urdf) == place
        place.unlink()


def test_a_neighbour_of_the_description_s_folders_is_found(tmp_path: Path) -> None:
    urdf = made(tmp_path / "robots" / "arm_description" / "urdf" / "arm.urdf")
    mesh = made(tmp_path / "robots" / "hand_description" / "meshes" / "h.stl")
    assert PackageResolver((), {}).resolve("package://hand_description/meshes/h.stl", urdf) == mesh


def test_the_description_s_own_package_and_its_neighbours_are_found_by_their_manifests(tmp_path: Path) -> None:
    for folder, name in (("src/arm_checkout", "arm_description"), ("src/hand_checkout", "hand_description")):
        (tmp_path / folder / "meshes").mkdir(parents=True)
        (tmp_path / folder / "meshes" / "a.stl").touch()
        (tmp_path / folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    urdf = tmp_path / "src/arm_checkout/urdf/robot.urdf"
    resolver = PackageResolver(environment={})
    found = [resolver.resolve(f"package://{name}_description/meshes/a.stl", urdf) for name in ("arm", "hand")]
    assert found == [tmp_path / "src" / f"{name}_checkout/meshes/a.stl" for name in ("arm", "hand")]
    with pytest.raises(ResourceNotFoundError, match=r"a package\.xml of 'leg_description' beside"):
        resolver.resolve("package://leg_description/meshes/a.stl", urdf)


def test_the_root_folder_s_neighbours_are_no_packages() -> None:
    candidates = list(PackageResolver([], {}).package_candidates("etc", Path("/one/two/robot.urdf"), []))
    assert candidates == [Path("/one/two/etc"), Path("/one/etc")]


@pytest.mark.parametrize("variable", ["GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH"])
def test_models_are_looked_for_where_gazebo_looks(tmp_path: Path, variable: str) -> None:
    mesh = made(tmp_path / "models" / "cup" / "cup.dae")
    assert PackageResolver((), {variable: str(tmp_path / "models")}).resolve("model://cup/cup.dae") == mesh


def test_relative_and_absolute_paths_and_file_uris(tmp_path: Path) -> None:
    urdf = made(tmp_path / "urdf" / "arm.urdf")
    mesh = made(tmp_path / "urdf" / "meshes" / "a b#c.stl")
    resolver = PackageResolver((), {})
    assert resolver.resolve("meshes/a b#c.stl", urdf) == mesh
    assert resolver.resolve(str(mesh)) == mesh
    assert resolver.resolve(mesh.as_uri()) == mesh
    assert resolver.resolve("file://meshes/a%20b%23c.stl", urdf) == mesh


def test_the_network_is_never_used() -> None:
    with pytest.raises(ResourceNotFoundError, match="the network is never used"):
        PackageResolver((), {}).resolve("http://192.0.2.1/a.stl")


def test_what_was_tried_is_listed_in_order(tmp_path: Path) -> None:
    urdf = made(tmp_path / "urdf" / "arm.urdf")
    with pytest.raises(ResourceNotFoundError) as caught:
        PackageResolver([tmp_path / "given"], {"AMENT_PREFIX_PATH": "/opt/x"}).resolve("package://arm/a.stl", urdf)
    tried = caught.value.tried
    assert tried[:3] == (
        f"{tmp_path}/given/arm/a.stl",
        f"a package.xml of 'arm' below {tmp_path}/given",
        "/opt/x/share/arm/a.stl",
    )
    assert f"{tmp_path}/arm/a.stl" in tried
    assert caught.value.uri == "package://arm/a.stl"
    assert all(place in str(caught.value) for place in tried)


@pytest.mark.parametrize(
    "uri", ["", "package://", "package:///a.stl", "file://", "http://[", "\0", "model://x", "a" * 5000]
)
def test_odd_names_are_not_found_and_nothing_worse(uri: str, tmp_path: Path) -> None:
    with pytest.raises(ResourceNotFoundError):
        PackageResolver([tmp_path], {}).resolve(uri, tmp_path / "r.urdf")


def test_missing_meshes_are_warned_of_with_their_place(tmp_path: Path) -> None:
    mesh = '<geometry><mesh filename="{}"/></geometry>'
    there = made(tmp_path / "there.stl")
    text = (
        '<robot name="r"><link name="a">\n'
        f"<visual>{mesh.format('there.stl')}</visual>\n"
        f"<collision>{mesh.format('naQQQme.stl')}</collision>"
        '<collision><geometry><sphere radius="1"/></geometry></collision></link></robot>'
    )
    diagnostics = Diagnostics()
    check_resources(parse_urdf(text), PackageResolver((), {}), diagnostics, there.with_name("r.urdf"))
    (problem,) = diagnostics
    assert (problem.severity, problem.code) == (Severity.WARNING, "missing-mesh")
    assert problem.message == f"mesh 'naQQQme.stl' is not found; tried {tmp_path}/naQQQme.stl"
    assert (problem.place.line, problem.place.column) == (3, len("<collision><geometry><mesh ") + 1)


def test_a_resolver_of_one_s_own_is_used(tmp_path: Path) -> None:
    class Elsewhere(PackageResolver):
        def package_candidates(self, name: str, relative_to: Path | None, tried: list[str]) -> Iterator[Path]:
            yield tmp_path / f"the-{name}"

    mesh = made(tmp_path / "the-arm" / "a.stl")
    assert Elsewhere().resolve("package://arm/a.stl") == mesh


@pytest.fixture
def meshes(tmp_path: Path) -> Path:
    """Return a description in a package with two meshes."""
    (tmp_path / "my_pkg/meshes").mkdir(parents=True)
    (tmp_path / "my_pkg/package.xml").write_text("<package><name>my_pkg</name></package>")
    for name in ("base_link.STL", "Arm 1.dae"):
        (tmp_path / "my_pkg/meshes" / name).touch()
    return tmp_path / "my_pkg/robot.urdf"


@pytest.mark.parametrize(
    ("uri", "nearest"),
    [
        ("package://my_pkg/meshes/Base_Link.STL", "package://my_pkg/meshes/base_link.STL"),
        ("package://my_pkg/Meshes/base_link.stl", "package://my_pkg/meshes/base_link.STL"),
        ("meshes/BASE_LINK.stl", "meshes/base_link.STL"),
        ("meshes\\base_link.STL", "meshes/base_link.STL"),
        ("meshes/bas_link.stl", "meshes/base_link.STL"),
        ("file://meshes/Base_link.STL", "file://meshes/base_link.STL"),
    ],
)
def test_a_file_in_the_wrong_case_is_named(meshes: Path, uri: str, nearest: str) -> None:
    resolver = PackageResolver([meshes.parent.parent], environment={})
    with pytest.raises(ResourceNotFoundError) as caught:
        resolver.resolve(uri, meshes)
    assert str(caught.value) == f"'{uri}' is not found; did you mean '{nearest}'?"
    assert resolver.resolve(nearest, meshes).is_file()


@pytest.mark.parametrize("uri", ["meshes/wheel.stl", "elsewhere/base_link.STL", "meshes/base_link.obj"])
def test_a_file_without_a_similar_one_has_the_searched_places(meshes: Path, uri: str) -> None:
    with pytest.raises(ResourceNotFoundError, match="is not found; tried "):
        PackageResolver(environment={}).resolve(uri, meshes)


@pytest.mark.parametrize(
    "uri", ["C:\\Users\\me\\base_link.STL", "c:/meshes/base.stl", "file:///D:/base.stl", "\\\\server\\base.stl"]
)
def test_a_windows_path_is_called_so(meshes: Path, uri: str) -> None:
    with pytest.raises(ResourceNotFoundError, match="it is a Windows path; write package://PACKAGE/FILE"):
        PackageResolver(environment={}).resolve(uri, meshes)
