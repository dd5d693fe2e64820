"""Simulators seen from ROS, and the MuJoCo node."""
