"""The nodes that publish a robot and answer questions about it."""
