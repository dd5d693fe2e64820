# Everything happens in .venv and build/; each target does the set-up that it needs first. `make PYTHON=python3.12 ...` names a Python.
.PHONY: help setup demo test bench soak clean lock

PYTHON ?= $(or $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	"$$p" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo "$$p" && break; done),python3)
VENV := .venv/bin

# A sourced ROS 2 installation and .venv would mix; the nodes that are started here keep to this machine.
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONPATH
export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST
export PATH := $(CURDIR)/$(VENV):$(PATH)

help:
	@echo "make setup   build .venv: ROS 2 wheels, libraries, interfaces, this package"
	@echo "make demo    simulate the PR2, save a snapshot, kill the simulator, restore"
	@echo "make test    linters, types, packages, tests"
	@echo "make bench   benchmarks"
	@echo "make soak    ten minutes of good and malformed messages"
	@echo "make clean   remove build/ and .venv"

setup:
	@$(PYTHON) tools/setup.py test

demo:
	@$(PYTHON) tools/setup.py demo
	@$(VENV)/python -m robot_semantics.demo

test: setup
	@$(PYTHON) tools/corpus.py
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy robot_semantics underlay/tf2_ros tools test benchmark
	$(VENV)/python tools/packages.py
	$(VENV)/pytest -n 2

bench: setup
	@$(PYTHON) tools/corpus.py
	$(VENV)/python -m benchmark

soak: setup
	$(VENV)/python -m benchmark.soak

clean:
	rm -rf build .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Maintainers: take newer versions. Needs uv.
lock:
	uv pip compile ...
