import { IDENTITY, fromQuaternion, mul, rotation, translation } from "./math.js";

// A robot's forward kinematics. Positions q have one number for each position variable, as the library orders them.
export const MOTIONS = {
  fixed: () => IDENTITY,
  revolute: (joint, q) => rotation(joint.axis, q[joint.at]),
  continuous: (joint, q) => rotation(joint.axis, q[joint.at]),
  prismatic: (joint, q) => translation(...joint.axis.map((part) => part * q[joint.at])),
  planar: (joint, q) => {
    const R = joint.plane, [x, y, theta] = [q[joint.at], q[joint.at + 1], q[joint.at + 2]];
    return mul(translation(R[0] * x + R[1] * y, R[3] * x + R[4] * y, R[6] * x + R[7] * y), rotation(joint.axis, theta));
  },
  floating: (joint, q) => fromQuaternion(...q.slice(joint.at, joint.at + 7)),
};

export class Robot {
  constructor(data) {
    Object.assign(this, data);
    this.linkIndex = new Map(this.links.map((link, index) => [link.name, index]));
    this.jointByName = new Map(this.joints.map((joint) => [joint.name, joint]));
    this.variableIndex = new Map(this.variables.map((name, index) => [name, index]));
    this.jointOfVariable = new Map(this.joints.flatMap((joint) => Array.from({ length: joint.count }, (_, k) => [this.variables[joint.at + k], joint])));
  }

  // What a position variable is measured in: rad, m, or nothing for a part of a quaternion.
  unit(at) {
    const joint = this.joints.find((other) => at >= other.at && at < other.at + other.count), k = at - joint.at;
    if (joint.count === 7 && k > 2) return "";
    return joint.type === "revolute" || joint.type === "continuous" || (joint.type === "planar" && k === 2) ? "rad" : "m";
  }

  // Let mimic joints follow their leaders, in place.
  follow(q) {
    for (const joint of this.joints) {
      joint.mimic?.parts.forEach(([source, factor, offset], k) => { q[joint.at + k] = factor * q[source] + offset; });
    }
    return q;
  }

  // The poses of all links, where the root link stands at T_world_base when the virtual joint is at zero.
  poses(q, T_world_base) {
    const found = new Array(this.links.length);
    this.links.forEach((link, index) => {
      const joint = this.joints[index];
      const above = link.parent < 0 ? T_world_base : found[link.parent];
      found[index] = mul(above, mul(joint.T, MOTIONS[joint.type](joint, q)));
    });
    return found;
  }
}
