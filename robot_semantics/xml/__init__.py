"""XML text in and out: places, reading, editing in place, xacro."""
