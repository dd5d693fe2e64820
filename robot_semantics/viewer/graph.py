# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot's links, joints and groups as a graph in SVG with its own layout."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.viewer.shading import group_colour

JOINT_COLOURS: dict[JointType, str] = {
    JointType.FIXED: "#9aa1ab",
    JointType.REVOLUTE: "#2180c7",
    JointType.CONTINUOUS: "#17a2c4",
    JointType.PRISMATIC: "#2aa373",
    JointType.PLANAR: "#b661a8",
    JointType.FLOATING: "#8a56c9",
}

_ROW, _BOX, _GAP, _MARGIN = 40, 32, 46, 16
_LINK_FONT, _JOINT_FONT = 12, 10
_SHARE = 0.6
"""Width of a character of a monospaced font, as a share of its size."""


def svg_graph(model: RobotModel) -> str:
    """Return the robot as a picture: the tree of links from left to right, each with its joint and dots for groups."""
    depths, rows = _layout(model)
    names = list(model.semantics.groups)
    in_groups = _groups_of_links(model)
    widths = [0.0] * (max(depths) + 1)
    for link, joint in zip(model.links, model.joints, strict=True):
        dots = 11 * len(in_groups[link.index])
        width = max(_width(link.name, _LINK_FONT) + dots, _width(_caption(model, joint), _JOINT_FONT)) + 18
        widths[depths[link.index]] = max(widths[depths[link.index]], width)
    lefts = [_MARGIN + sum(widths[:depth]) + _GAP * depth for depth in range(len(widths))]
    legend = 26 if names else 0
    height = 2 * _MARGIN + _ROW * (max(rows) + 1) + legend
    legend_ends = _legend_places(names)
    width = max(lefts[-1] + widths[-1] + _MARGIN, legend_ends[-1] if legend_ends else 0.0)
    body: list[str] = []
    for number, name in enumerate(names):
        body.append(f'<circle cx="{legend_ends[number] + 5:.0f}" cy="{_MARGIN + 4}" r="5" fill="{_colour(number)}"/>')
        body.append(f'<text x="{legend_ends[number] + 14:.0f}" y="{_MARGIN + 8}" class="joint">{escape(name)}</text>')
    for link, joint in zip(model.links, model.joints, strict=True):
        x, y = lefts[depths[link.index]], _MARGIN + legend + _ROW * rows[link.index]
        box = widths[depths[link.index]]
        colour = JOINT_COLOURS[joint.type] if link.parent >= 0 or joint.parent_link else "#3a404a"
        if link.parent >= 0:
            start = lefts[depths[link.parent]] + widths[depths[link.parent]]
            body.append(_edge(start, _MARGIN + legend + _ROW * rows[link.parent], x, y, joint, colour))
        body.append(f"<g><title>{escape(_tip(model, joint))}</title>")
        body.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{box:.0f}" height="{_BOX}" rx="6" stroke="{colour}"/>')
        body.append(f'<text x="{x + 9:.0f}" y="{y + 13:.0f}" class="link">{escape(link.name)}</text>')
        body.append(f'<text x="{x + 9:.0f}" y="{y + 26:.0f}" class="joint">{escape(_caption(model, joint))}</text>')
        for place, number in enumerate(reversed(in_groups[link.index])):
            title = f"<title>{escape(names[number])}</title>"
            cx = x + box - 9 - 11 * place
            body.append(f'<circle cx="{cx:.0f}" cy="{y + 10:.0f}" r="4.5" fill="{_colour(number)}">{title}</circle>')
        body.append("</g>")
    style = (
        f"text{{font-family:ui-monospace,monospace;fill:#2a2f38}}.link{{font-size:{_LINK_FONT}px}}"
        f".joint{{font-size:{_JOINT_FONT}px;fill:#6b7280}}rect{{fill:#fff}}path{{fill:none;stroke-width:1.5}}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img"'
    back = '<rect width="100%" height="100%" style="fill:#fafbfc"/>'
    return "\n".join(
        [f"{head} aria-label={quoteattr(model.name)}>", f"<style>{style}</style>", back, *body, "</svg>", ""]
    )


def _layout(model: RobotModel) -> tuple[list[int], list[float]]:
    """Return column and row of each link: leaves are below each other, another link is in the middle of its
    children.
    """
    depths = [0] * len(model.links)
    rows = [0.0] * len(model.links)
    for link in model.links[1:]:
        depths[link.index] = depths[link.parent] + 1
    leaves = 0
    for link in model.links:
        if not link.children:
            rows[link.index] = float(leaves)
            leaves += 1
    for link in reversed(model.links):
        if link.children:
            rows[link.index] = 0.5 * (rows[link.children[0]] + rows[link.children[-1]])
    return depths, rows


def _edge(start: float, above: float, end: float, below: float, joint: JointModel, colour: str) -> str:
    """Return the line from the right side of a link, at its middle, to the left side of its child."""
    middle, above, below = start + _GAP / 2, above + _BOX / 2, below + _BOX / 2
    dash = ' stroke-dasharray="4 3"' if not joint.position_count else ""
    way = f"M{start:.0f} {above:.1f} C{middle:.0f} {above:.1f} {middle:.0f} {below:.1f} {end:.0f} {below:.1f}"
    return f'<path d="{way}" stroke="{colour}"{dash}/>'


def _legend_places(names: list[str]) -> list[float]:
    """Return the start of each group's name, and the end of the last one."""
    places = [float(_MARGIN)]
    for name in names:
        places.append(places[-1] + _width(name, _JOINT_FONT) + 30)
    return places


def _caption(model: RobotModel, joint: JointModel) -> str:
    if joint is model.root_joint and not joint.parent_link:
        return "root"
    return f"{joint.name} · {_kind(joint)}"


def _kind(joint: JointModel) -> str:
    words = [joint.type.value]
    if joint.virtual:
        words.append(f"from {joint.parent_link}")
    if joint.mimic is not None:
        words.append(f"follows {joint.mimic.joint}")
    if joint.passive:
        words.append("passive")
    return ", ".join(words)


def _tip(model: RobotModel, joint: JointModel) -> str:
    limits = joint.limits
    text = _caption(model, joint)
    return f"{text} [{limits.lower:g}, {limits.upper:g}]" if joint.position_count == 1 else text


def _groups_of_links(model: RobotModel) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in model.links]
    for number, group in enumerate(model.semantics.groups.values()):
        for link in group.links:
            found[model.link_index[link]].append(number)
    return found


def _width(text: str, size: int) -> float:
    return _SHARE * size * len(text)


def _colour(number: int) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in group_colour(number)[:3])
