"""Simulators whose state is a USDF world state: capture, exact restart, and a report of what could not be restored."""
