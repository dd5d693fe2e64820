# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Endings of bags; models and frames in the metadata of our own recordings: the `custom_data` of a rosbag2."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from robot_semantics.recording.columns import NONSENSE
from robot_semantics.usdf.world_state import WORLD

KEY = "robot_semantics"

ROS1_ENDINGS = (".bag", ".bag.active")
"""Endings of the files of ROS 1."""

ENDINGS = (".mcap.zstd", ".db3.zstd", ".mcap", ".db3", *ROS1_ENDINGS)
"""Endings of the files with messages; a longer ending comes before a shorter one."""


class RecordedModel(NamedTuple):
    """A model of a recording that `bag` wrote.

    Attributes:
        name: its name in the world states.
        namespace: of its topics, ``""`` or ``"/left_arm"``.
        joints: the joints whose position at least one state has.
    """

    name: str
    namespace: str
    joints: frozenset[str]


def free_frame(name: str, taken: Container[str]) -> str:
    """Return the TF name of a frame: NAME, or ``NAME_frame`` if a link has this TF name; `taken`: TF names of links."""
    while name in taken:
        name += "_frame"
    return name


def metadata_text(models: Iterable[RecordedModel], frames: Mapping[str, str]) -> str:
    """Return the text under `KEY`: the models, and frames that have another name on TF (TF name → name)."""
    entries = [{"name": m.name, "namespace": m.namespace, "joints": sorted(m.joints)} for m in models]
    return json.dumps({"version": 1, "models": entries, "frames": dict(frames)}, ensure_ascii=False)


class OwnMetadata(ABC):
    """The part of a bag's source that reads the metadata that this package writes."""

    @property
    @abstractmethod
    def _custom_data(self) -> Mapping[str, str] | None:
        """The custom data of the bag."""

    @property
    def models(self) -> tuple[RecordedModel, ...]:
        """The models in the metadata, if this package wrote the bag."""
        return models_of_metadata(self._custom_data)

    @property
    def frames(self) -> dict[str, str]:
        """The names of frames by their TF names, if they differ and this package wrote the bag."""
        return frames_of_metadata(self._custom_data)


def models_of_metadata(custom: Mapping[str, str] | None) -> tuple[RecordedModel, ...]:
    """Return the models in the custom data of a bag; none if another program wrote the bag."""
    try:
        entries = json.loads((custom or {})[KEY])["models"]
        models = tuple(
            RecordedModel(str(entry["name"]), str(entry["namespace"]), frozenset(map(str, entry["joints"])))
            for entry in entries
        )
    except NONSENSE:
        return ()
    names, namespaces = {model.name for model in models}, {model.namespace for model in models}
    usable = all(name.strip() and name != WORLD for name in names)
    return models if usable and len(names) == len(namespaces) == len(models) else ()


def frames_of_metadata(custom: Mapping[str, str] | None) -> dict[str, str]:
    """Return the frames that have another name on TF (TF name → name); none if another program wrote the bag."""
    try:
        frames = json.loads((custom or {})[KEY])["frames"]
        found = {str(tf_name): str(name) for tf_name, name in frames.items()}
    except NONSENSE:
        return {}
    usable = all(name.strip() and tf_name != WORLD for tf_name, name in found.items())
    return found if usable and len(set(found.values())) == len(found) else {}
