"""Robot descriptions (URDF), what their parts mean (SRDF) and where they are (USDF), checked and exact."""

__version__ = "0.1.0"
