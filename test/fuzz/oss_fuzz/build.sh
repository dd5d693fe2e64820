#!/bin/bash -eu
# The build script of an OSS-Fuzz integration: run in its Python base image, with the checkout as the working directory.
pip3 install .
for seeds in test/fuzz/corpus/*; do
  name=$(basename "$seeds")
  cat > "test/fuzz/fuzz_$name.py" <<PYTHON
import sys

import atheris

with atheris.instrument_imports(include=["robot_semantics"]):
    from targets import TARGETS

atheris.Setup(sys.argv, TARGETS["$name"])
atheris.Fuzz()
PYTHON
  compile_python_fuzzer "test/fuzz/fuzz_$name.py"
  zip --quiet --junk-paths "$OUT/fuzz_${name}_seed_corpus.zip" "$seeds"/*
done
