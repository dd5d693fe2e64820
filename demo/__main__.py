# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Run the demo: ``python -m demo``. It ends with exit code 0 and the line ``demo: ok``, or with 1 and a reason."""

from __future__ import annotations

import importlib.util
import sys


def main() -> int:
    """Run the demo with nodes, or where ROS is missing, the part without nodes; return the exit code."""
    if importlib.util.find_spec("rclpy") is None:
        from demo.offline import main as run
    else:
        from demo.nodes import main as run
    return run()


if __name__ == "__main__":
    sys.exit(main())
