"""SRDF: text to frozen values, and edits in place."""
