"""What every room needs and none owns: errors, diagnostics, names, whole-or-nothing files."""
