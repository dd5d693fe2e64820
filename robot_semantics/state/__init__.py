"""A robot at run time, without ROS: its newest values, and what is kept of them."""
