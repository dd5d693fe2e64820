// What the semantics say of a link, in words: for the pointer, the tree of links and the box about a link.
import { own } from "./math.js";

// The groups of each link, by its name: hundreds of groups are not searched for each link.
export function groupsOfLinks(robot) {
  const of = new Map();
  for (const [name, { links }] of Object.entries(robot.groups)) for (const link of links) { if (!of.has(link)) of.set(link, []); of.get(link).push(name); }
  return of;
}

// [[title, text]]: each only where there is something to say.
export function linkFacts(robot, link, groupsOf = groupsOfLinks(robot)) {
  const { name } = robot.links[link], joint = robot.joints[link], groups = groupsOf.get(link) || [];
  const carries = robot.endEffectors.filter((item) => item.parentLink === name).map((item) => `carries ${item.name}`);
  const parts = robot.endEffectors.filter((item) => groups.includes(item.group)).map((item) => `part of ${item.name}`);
  const properties = Object.entries(own(robot.properties, joint.name) || {}).map(([key, value]) => `${key} = ${value}`);
  const spheres = own(robot.spheres, name)?.length;
  const facts = [
    ["groups", groups.join(", ")],
    ["end effector", [...carries, ...parts].join(", ")],
    ["passive joint", robot.passive.includes(joint.name) ? joint.name : ""],
    ["virtual joint", joint.virtual && joint.name ? `${joint.name} (${joint.type}) in ${robot.frame}` : ""],
    ["joint properties", properties.join(", ")],
    ["spheres", spheres ? String(spheres) : ""],
  ];
  return facts.filter(([, text]) => text);
}

// Words behind a link in the tree: what makes it special.
export function linkTags(robot, link, groupsOf) {
  return linkFacts(robot, link, groupsOf).filter(([title]) => title !== "groups").map(([title, text]) => title === "end effector" ? text : title);
}
