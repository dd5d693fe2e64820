"""What the command line asks of a running ROS system."""
