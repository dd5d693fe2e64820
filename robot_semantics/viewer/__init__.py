"""Pictures and pages of robots and worlds."""
