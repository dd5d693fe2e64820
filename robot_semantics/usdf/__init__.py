"""World states (USDF): read, written, checked, resolved and compared; exact in every bit of every number."""
