# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The language server: the checks, the renaming and the derived facts for an editor. Needs the extra `lsp`."""

from robot_semantics.base.errors import MissingExtraError

try:
    import pygls  # noqa: F401
except ImportError as error:
    raise MissingExtraError("pygls", "lsp", "the language server") from error
