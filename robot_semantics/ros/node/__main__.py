"""`python -m robot_semantics.ros.node`: the plain node, where no script of it is installed."""

import sys

from robot_semantics.ros.node.plain_node import main

sys.exit(main())
