"""World states in other formats, and back; each conversion says what it cannot carry."""
