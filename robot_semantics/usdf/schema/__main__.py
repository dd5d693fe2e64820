"""Write the schema's file anew: ``python -m robot_semantics.usdf.schema``."""

from robot_semantics.usdf.schema import SCHEMA_PATH, schema_text

SCHEMA_PATH.write_text(schema_text())
