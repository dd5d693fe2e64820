# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The schemas accept what keeps to the rules of structure, and refuse what breaks them."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from robot_semantics import read_world
from robot_semantics.cli.main import main
from robot_semantics.convert.json_form import world_to_json
from tools.schemas import FORMATS, schema

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "conformance"
VERSIONS = {"urdf": "1.2", "srdf": "1.0", "usdf": "1.0"}
FILES = {**{f"{name}-{VERSIONS[name]}.rng": name for name in FORMATS}, "usdf-1.0.schema.json": "json"}
# libxml2 does not look behind a comment inside a list; a list has no place for the unknown element that U11.4 keeps.
LOOSE = ("U1.5", "U11.4")


@pytest.mark.parametrize("file", FILES)
def test_the_schemas_that_are_installed_are_those_of_the_tables(file: str) -> None:
    assert (ROOT / "spec" / file).read_text(encoding="utf-8") == schema(FILES[file])


@cache
def ready(name: str) -> etree.RelaxNG:
    return etree.RelaxNG(etree.fromstring(schema(name).encode()))


def is_valid(path: Path) -> bool:
    return bool(ready(path.suffix[1:]).validate(etree.parse(path)))


@pytest.mark.parametrize("name", FORMATS)
def test_what_keeps_to_the_rules_is_valid(name: str) -> None:
    accepted = sorted((CASES / name).glob(f"*-accepts-*.{name}"))
    assert len(accepted) > 25
    wrong = [path.stem for path in accepted if not is_valid(path) and not path.stem.startswith(LOOSE)]
    assert wrong == []


@pytest.mark.parametrize(
    "case",
    [
        "usdf/U1.4-rejects-a-robot",
        "usdf/U1.5-rejects-text-between-elements",
        "usdf/U2.1-rejects-two-poses",
        "usdf/U2.2-rejects-a-misspelt-element",
        "usdf/U2.2-rejects-a-wrench-of-a-model",
        "usdf/U2.3-rejects-a-plain-attribute-that-is-not-there",
        "usdf/U2.4-rejects-models-frames-links-and-joints-without-names",
        "usdf/U5.1-rejects-a-comma",
        "usdf/U5.4-rejects-three-and-seven-and-none",
        "usdf/U9.2-rejects-too-few-digits-with-a-warning-and-reads-them",
        "urdf/R1.2-rejects-another-root",
        "urdf/R1.4-rejects-unknown-elements-and-attributes-with-warnings",
        "urdf/R1.6-rejects-two-numbers",
        "urdf/R1.7-rejects-a-joint-without-a-type",
        "urdf/R2.3-rejects-a-cone",
        "srdf/S1.2-rejects-another-root",
        "srdf/S1.4-rejects-unknown-elements-and-attributes-with-warnings",
        "srdf/S1.5-rejects-a-passive-joint-in-a-group",
        "srdf/S1.6-rejects-missing-attributes",
        "srdf/S4.2-rejects-a-word",
        "srdf/S8.1-rejects-two-numbers-and-a-negative-radius",
    ],
)
def test_what_breaks_the_structure_is_not(case: str) -> None:
    (path,) = (CASES / case).parent.glob(f"{Path(case).name}.[us]*df")
    assert not is_valid(path)


def test_the_json_schema_takes_every_state_and_refuses_others() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(schema("json")))
    jsonschema.Draft202012Validator.check_schema(validator.schema)
    states = [json.loads(path.read_text())["answer"].get("state") for path in (CASES / "usdf").glob("*.json")]
    assert len(states) > 100
    for state in filter(None, states):
        validator.validate(state)
    for path in (CASES / "usdf").glob("*-accepts-*.usdf"):
        validator.validate(world_to_json(read_world(path)))
    for path in (CASES / "usdf").glob("*.json_form"):
        with suppress(json.JSONDecodeError):
            # Of a key twice a schema sees one, of 1e999 an infinity; it knows no characters, kept texts and names.
            plain = json.loads(path.read_text(encoding="utf-8"))
            refused = (
                not path.stem.startswith(("U3.6", "U11.1", "U11.3", "U11.4", "U14.1-rejects-a-key", "U14.5"))
                and "-rejects-" in path.stem
            )
            assert validator.is_valid(plain) is not refused, path.stem
    faults: list[dict[str, Any]] = [
        {"models": [{}]},
        {"models": [{"name": "m", "pose": {"xyz_rpy": [1, 2, 3]}}]},
        {"models": [{"name": "m", "twist": "0 0 0 0 0 0"}]},
        {"frames": [{"name": "f", "links": []}]},
        {"time": "12.5"},
        {"unknown": 1},
        {"format": "another"},
        {"engines": [{"name": "e"}]},
    ]
    assert [validator.is_valid(fault) for fault in faults] == [False] * len(faults)


def test_a_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "usdf"]) == 0
    assert capsys.readouterr().out == (ROOT / "spec" / "usdf-1.0.rng").read_text(encoding="utf-8")


def test_what_check_prints_as_json_is_as_its_schema_says(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert main(["schema", "check"]) == 0
    validator = jsonschema.Draft202012Validator(json.loads(capsys.readouterr().out))
    for case in ("usdf/U10.1-rejects-many-things-at-once.usdf", "urdf/R4.3-accepts-one-link.urdf"):
        main(["check", str(CASES / case), "--format", "json"])
        printed = json.loads(capsys.readouterr().out)
        validator.validate(printed)
        assert not validator.is_valid({**printed, "version": 1})
    main(["check", str(CASES / "urdf" / "R4.3-accepts-one-link.urdf"), "--format", "sarif"])
    assert json.loads(capsys.readouterr().out)["runs"][0]["properties"] == {"shape": 2}
