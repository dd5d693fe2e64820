# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The reader in C++, written from the specification alone, passes its cases."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.comparison import cases

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program, built here."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    found = subprocess.run(
        [compiler, "-std=c++17", "-E", "-x", "c++", "-"],
        check=False,
        input="#include <pugixml.hpp>",
        capture_output=True,
        text=True,
    )
    if found.returncode:
        pytest.skip("pugixml is not installed: apt install libpugixml-dev")
    program = tmp_path_factory.mktemp("cpp") / "reader"
    source = ROOT / "interop" / "cpp" / "reader.cpp"
    options = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"]
    built = subprocess.run(
        [compiler, *options, source, "-lpugixml", "-o", program], check=False, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return program


def test_the_cpp_reader_passes_every_case_of_reading_usdf(reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # It only reads: writing, the JSON form and checks against a robot are not supported.
    questions = [case.fields[0] for case in cases(ROOT / "conformance", ("usdf",))]
    count, read = len(questions), questions.count("usdf")
    code = main(["--reader", str(reader), "--format", "usdf"])
    said = f"{read} of {count} cases passed, {count - read} not supported"
    assert capsys.readouterr().out.splitlines()[-1] == said
    assert code == 0


def test_the_cpp_reader_answers_to_every_beginning_of_a_document(reader: Path, tmp_path: Path) -> None:
    text = (ROOT / "conformance" / "usdf" / "U2.2-accepts-every-element.usdf").read_bytes()
    lines = []
    for length in range(0, len(text) - 1, 7):
        path = tmp_path / f"{length}.usdf"
        path.write_bytes(text[:length])
        lines.append(f"usdf\t{path}\t\t\n")
    answers = subprocess.run([reader], input="".join(lines), capture_output=True, text=True, check=True).stdout
    assert answers.count('{"refused": true, "problems": [{"severity": "error"') == len(lines)
