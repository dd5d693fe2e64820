"""World states as ROS messages, and back."""
