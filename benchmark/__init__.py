"""Benchmarks: each proves equal results, then times; `python -m benchmark` runs all."""
