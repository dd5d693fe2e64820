# Everything happens in .venv and build/; each target does the set-up that it needs first.
.PHONY: help setup demo demo-engines quick types-linux types-darwin types-win32 test ros docs bench soak fuzz mutants coverage sbom audit release-check release clean lock

# The first Python that is new enough, unless one is named: make PYTHON=python3.12 ...
ifndef PYTHON
fits := import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))
names := python3 python3.14 python3.13 python3.12 python3.11 python3.10
PYTHON := $(shell for name in $(names); do $$name -c '$(fits)' 2>/dev/null && command -v $$name && break; done)
endif
ifeq ($(PYTHON),)
PYTHON = $(error Python 3.10 to 3.14 is needed: apt install python3 python3-venv, or name yours: make PYTHON=/path/to/python3 ...)
endif
DISTRO := jazzy
PREFIX := $(if $(filter jazzy,$(DISTRO)),.venv,.venv-$(DISTRO))
VENV := $(PREFIX)/bin

# A sourced ROS 2 installation and .venv would mix. The nodes that are started here keep to this machine.
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONHOME PYTHONPATH
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE
export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST
export PATH := $(CURDIR)/$(VENV):$(PATH)

# Tests start nodes, browsers and clusters, three files at a time. A test that fails runs once more, alone: what fails
# again is a defect, what passes only then needs a test that does not depend on the machine's load. With CASES=N, at most
# N cases of each test run.
PYTEST := $(VENV)/pytest -n 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 1 $(if $(CASES),--cases $(CASES))
define pytest
$(PYTEST) $(1) || { [ $$? = 1 ] && echo "make: the failed tests run once more, alone" && \
	$(VENV)/pytest --last-failed --last-failed-no-failures none $(1); }
endef

# Where ROS 2 has no wheels, the set-up leaves this mark; then the demo and the tests do the part without ROS.
OFFLINE = $(wildcard $(PREFIX)/setup/offline)
OF_ROS := --ignore test/ros --ignore test/underlay --ignore interfaces/test --ignore test/packaging

help:
	@echo "make setup   build .venv: ROS 2 wheels, libraries, interfaces, this package"
	@echo "make demo    simulate the PR2, save a snapshot, kill the simulator, restore"
	@echo "make demo-engines  one robot falls through MuJoCo and Drake"
	@echo "make quick   sweeps and tests with an oracle, at most 4 cases of each; CASES=20 for more"
	@echo "make test    linters, types, packages, tests"
	@echo "make ros     the tests of the nodes alone; CASES=N for at most N cases of each"
	@echo "make docs    a site of the pages and the library's reference, in build/docs"
	@echo "make bench   benchmarks"
	@echo "make soak    600 kills at random file operations; clocks of several computers; ten minutes of messages"
	@echo "make fuzz    coverage-guided fuzzing of every reader, SECONDS=60 each"
	@echo "make mutants test the tests: 300 small changes of the code; MOST=30 for fewer, SEED=1 for others, FILES=... for other modules"
	@echo "make coverage  branch coverage of the rooms base to convert by their own tests"
	@echo "make sbom    a bill of what is installed, as CycloneDX, in build/sbom.json"
	@echo "make audit   known vulnerabilities of the locked versions; skipped without their lists"
	@echo "make release wheel and sdist in dist/, checked; needs every value of release.toml"
	@echo "make clean   remove build/ and .venv"
	@echo "With DISTRO=kilted each is done on ROS 2 Kilted, in .venv-kilted."

setup:
	@$(PYTHON) tools/setup.py test --distro $(DISTRO)

demo:
	@$(PYTHON) tools/setup.py demo --distro $(DISTRO)
	@$(VENV)/python -m demo

demo-engines: setup
	@$(VENV)/python -m demo.engines

types-linux:
	$(if $(OFFLINE),,$(VENV)/mypy robot_semantics underlay/tf2_ros tools setup.py demo examples test benchmark interfaces/test)

types-darwin types-win32: types-%:
	$(VENV)/mypy --platform $* --cache-dir .mypy_cache/$* robot_semantics

# For a contributor: the sweeps over all elements, states and commands, and the tests with an independent oracle. Of each
# test at most 4 cases run, one of each kind before others; `make quick CASES=1000` runs them all. Browsers, and every
# command once more for another system, are left to `make test`.
QUICK := $(filter-out test/test_other_systems.py,$(wildcard test/test_*.py)) test/spec test/comparison test/xml/test_tables.py test/kinematics/test_forward.py \
	test/kinematics/test_observe.py test/kinematics/test_loops.py test/model/test_moveit_golden.py \
	test/model/test_urdfdom_agreement.py test/usdf/test_every_field.py test/usdf/test_conversions.py \
	test/live/test_fast_path.py test/cli/test_one_word.py test/cli/test_conventions.py test/cli/test_start.py \
	test/collision/test_counting.py test/recording/test_every_series_format.py \
	test/recording/test_round_trip.py test/recording/test_two_clocks.py test/simulation/test_bit_exact_restart.py \
	test/ros/test_rsp_parity.py test/ros/test_live_and_recorded.py
quick: setup
	$(VENV)/ruff check .
	$(PYTEST) -n 2 $(if $(CASES),,--cases 4) -m "not slow" $(filter-out $(if $(OFFLINE),test/ros/%),$(QUICK))

test: setup
	@$(VENV)/python -m tools.corpus
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	@$(MAKE) --no-print-directory -j 2 types-linux types-darwin types-win32
	$(if $(OFFLINE),,$(VENV)/colcon --log-base /dev/null list --base-paths . interfaces)
	$(call pytest,$(if $(OFFLINE),$(OF_ROS)))

ros: setup
	$(call pytest,test/ros)

bench: setup
	@$(VENV)/python -m tools.corpus
	$(VENV)/python -m benchmark

# 200 kills of each kind: of a node, of the server of the studio, of a language server; and of the writers of files.
# Publishers with different clocks for 40 s; in the tests, they send for 5 s. Ten times as many random worlds and changes.
soak: setup
	HANG_S=4000 KILLS=200 $(PYTEST) -q test/lsp/test_kills.py test/viewer/test_studio_kills.py \
		test/usdf/test_killed_writers.py test/ros/test_snapshots.py::test_a_node_that_is_killed_before_any_file_operation_loses_and_leaves_nothing
	LONGER=8 $(VENV)/pytest -q -n 0 --timeout 900 test/ros/test_two_clocks.py
	LONGER=10 $(PYTEST) -q --timeout 900 test/usdf/test_round_trip.py test/comparison/test_planted_differences.py test/test_one_state.py
	$(VENV)/python -m benchmark.soak

# In an environment of its own, so that no test depends on it.
DOCS := build/docs-env
docs: $(DOCS)/made
	$(DOCS)/bin/sphinx-build -q -W --keep-going -c doc -d build/docs-env/read -D root_doc=doc/contents \
		-D include_patterns=doc/*,spec/*.md,conformance/README.md,README.md,CONTRIBUTING.md,CHANGELOG.rst . build/docs
	@echo "docs: build/docs/doc/contents.html"

$(DOCS)/made: requirements/docs.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

SECONDS := 60
fuzz: setup
	$(VENV)/python test/fuzz --seconds $(SECONDS)

# In an environment of its own, so that no test depends on it.
MUTANTS := build/mutants-env
MOST := 300
SEED := 0
mutants: setup $(MUTANTS)/made
	$(VENV)/python tools/mutants.py --most $(MOST) --seed $(SEED) $(FILES)

$(MUTANTS)/made: requirements/mutants.lock
	$(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

# test_scaling.py measures time, test_start.py the modules of a bare start. A signal can stop a process for ever inside a lock of
# the coverage tool: tests of signals have no part in it, nor have most tests of pages, simulators and nodes. Failed tests do not
# suppress the figures, but the target fails.
ROOMS := base transforms cdr xml urdf srdf model kinematics usdf live convert
comma := ,
empty :=
space := $(empty) $(empty)
coverage: export COVERAGE_FILE := $(CURDIR)/build/coverage/data
coverage: setup
	@rm -rf build/coverage && mkdir -p build/coverage
	$(VENV)/coverage run -m pytest -q -n 2 --dist loadfile --ignore test/xml/test_scaling.py --ignore test/cli/test_start.py \
		--ignore test/cli/test_ended_commands.py -k "not interrupt" \
		test/base test/transforms test/xml test/urdf test/srdf test/model test/kinematics test/usdf test/live test/spec test/cli \
		test/recording test/bringup test/simulation/test_state_vectors.py test/test_[el]*.py test/test_one_*.py || touch build/coverage/failed
	$(VENV)/coverage combine -q
	$(VENV)/coverage report --skip-covered --include="$(subst $(space),$(comma),$(ROOMS:%=robot_semantics/%/*))"
	@$(VENV)/coverage json -q -o build/coverage.json --include="$(subst $(space),$(comma),$(ROOMS:%=robot_semantics/%/*))"
	@$(VENV)/python -c "import json; t = json.load(open('build/coverage.json'))['totals']; \
		print(f\"branches: {t['covered_branches']} of {t['num_branches']}, {t['percent_branches_covered']:.1f} %\")"
	@! [ -e build/coverage/failed ]

sbom: setup
	@$(VENV)/cyclonedx-py environment $(VENV)/python --output-file build/sbom.json
	@$(VENV)/python -c "import json; print('sbom:', len(json.load(open('build/sbom.json'))['components']), 'packages in build/sbom.json')"

# In an environment of its own, so that no test depends on it.
AUDIT := build/audit-env
audit: $(AUDIT)/made
	$(PYTHON) -m tools.audit

$(AUDIT)/made: requirements/audit.lock
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

release-check:
	@$(PYTHON) -m tools.release --check-filled

release: release-check
	$(PYTHON) -m venv build/release-env
	build/release-env/bin/pip install --quiet --disable-pip-version-check build twine
	rm -rf dist && build/release-env/bin/python -m build
	build/release-env/bin/twine check --strict dist/*

clean:
	rm -rf build .venv .venv-kilted .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

# For maintainers who have uv: `make lock` after a change of the .in files, `make lock UPGRADE=--upgrade` for newer versions.
lock:
	$(PYTHON) tools/lock.py $(UPGRADE)
