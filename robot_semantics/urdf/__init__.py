"""URDF: text to frozen values and back."""
