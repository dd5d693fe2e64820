import { IDENTITY, invert, mul, own, rollPitchYaw } from "./math.js";

// World states (USDF) and group states (SRDF) as text. A number's text reads back to the same number.
export const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;" };
export const escaped = (text) => String(text).replace(/[&<>"\n\t\r]/g, (sign) => ESCAPES[sign]);
export const numbers = (values) => Array.from(values, (value) => String(value === 0 ? 0 : value)).join(" ");

export function poseText(T) { return numbers([T[3], T[7], T[11], ...rollPitchYaw(T)]); }

// actors: [{robot, q, base}]; a parent is named where it is one of the frames.
export function worldText(name, time, frames, parents, actors) {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  lines.push(`<world_state xmlns:rs="urn:robot-semantics:usdf:1" name="${escaped(name)}"${time ? ` rs:time="${escaped(time)}"` : ""}>`);
  for (const [frame, T] of Object.entries(frames)) {
    lines.push(`  <frame name="${escaped(frame)}">`, "    <parent>world</parent>", `    <pose>${poseText(T)}</pose>`, "  </frame>");
  }
  for (const { robot, q, base } of actors) {
    const named = own(frames, robot.parent) !== undefined, T_world_parent = named && parents[robot.name] || IDENTITY;
    const T_parent_root = mul(invert(T_world_parent), robot.poses(q, base)[0]);
    const files = (robot.description ? ` rs:description="${escaped(robot.description)}"` : "")
      + (robot.semantic ? ` rs:semantic="${escaped(robot.semantic)}"` : "");
    lines.push(`  <model_state name="${escaped(robot.name)}"${files}>`);
    lines.push(`    <parent>${escaped(named ? robot.parent : "world")}</parent>`, `    <pose>${poseText(T_parent_root)}</pose>`);
    for (const joint of robot.joints) {
      if (!joint.count || joint.virtual) continue;
      const values = q.slice(joint.at, joint.at + joint.count);
      lines.push(`    <joint_state name="${escaped(joint.name)}">`, `      <positions>${numbers(values)}</positions>`, "    </joint_state>");
    }
    lines.push("  </model_state>");
  }
  lines.push("</world_state>", "");
  return lines.join("\n");
}

export function groupStateText(robot, q, group, name) {
  const lines = [`<group_state name="${escaped(name)}" group="${escaped(group)}">`];
  for (const joint of robot.groups[group].active.map((active) => robot.jointByName.get(active))) {
    lines.push(`  <joint name="${escaped(joint.name)}" value="${numbers(q.slice(joint.at, joint.at + joint.count))}"/>`);
  }
  return [...lines, "</group_state>", ""].join("\n");
}
