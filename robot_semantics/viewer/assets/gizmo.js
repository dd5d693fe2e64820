// Three arrows and three rings that a hand is dragged by. T_world_gizmo is an array of 16 numbers, row by row.
import { mul, rotation, translation } from "./math.js";

const AXES = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], COLOURS = [0xd64533, 0x2f9e44, 0x2f6fd6];

export class Gizmo {
  constructor(scene, size, moved) {
    const { THREE } = scene;
    Object.assign(this, { scene, moved, root: new THREE.Group(), grip: null });
    this.root.matrixAutoUpdate = false;
    const part = (geometry, axis, kind) => {
      const mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ color: COLOURS[axis], depthTest: false, transparent: true, opacity: 0.85 }));
      mesh.renderOrder = 10; mesh.userData = { axis, kind };
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, kind === "move" ? 1 : 0, kind === "move" ? 0 : 1), new THREE.Vector3(...AXES[axis]));
      this.root.add(mesh);
      return mesh;
    };
    this.handles = AXES.flatMap((direction, axis) => {
      const shaft = part(new THREE.CylinderGeometry(0.025 * size, 0.025 * size, size, 8).translate(0, size / 2, 0), axis, "move");
      const head = part(new THREE.ConeGeometry(0.08 * size, 0.22 * size, 16).translate(0, 1.1 * size, 0), axis, "move");
      return [shaft, head, part(new THREE.TorusGeometry(0.7 * size, 0.025 * size, 8, 48), axis, "turn")];
    });
    scene.scene.add(this.root);
  }
  place(T) { this.T = T; this.scene.put(this.root, T); }
  remove() { this.scene.scene.remove(this.root); }

  axis(k) { return [this.T[k], this.T[4 + k], this.T[8 + k]]; }
  origin() { return [this.T[3], this.T[7], this.T[11]]; }

  // How far along, or round, the gripped axis the pointer is.
  reading(x, y) {
    const { THREE } = this.scene, { ray } = this.scene.ray(x, y), { axis, kind, start } = this.grip;
    const o = new THREE.Vector3(start[3], start[7], start[11]), column = (k) => new THREE.Vector3(start[k], start[4 + k], start[8 + k]), d = column(axis);
    if (kind === "move") {
      const w = o.clone().sub(ray.origin), b = d.dot(ray.direction), denominator = 1 - b * b;
      return denominator < 1e-6 ? null : (b * w.dot(ray.direction) - w.dot(d)) / denominator;
    }
    const hit = ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(d, o), new THREE.Vector3());
    if (!hit) return null;
    hit.sub(o);
    return Math.atan2(hit.dot(column((axis + 2) % 3)), hit.dot(column((axis + 1) % 3)));
  }
  press(x, y) {
    const hit = this.T && this.scene.ray(x, y).intersectObjects(this.handles, false)[0];
    if (!hit) return false;
    this.grip = { ...hit.object.userData, start: this.T };
    this.grip.from = this.reading(x, y);
    return true;
  }
  drag(x, y) {
    const now = this.reading(x, y), { start, axis, kind, from } = this.grip;
    if (now === null || from === null) return;
    const local = AXES[axis];
    this.place(mul(start, kind === "move" ? translation(...local.map((part) => part * (now - from))) : rotation(local, now - from)));
    this.moved(this.T, false);
  }
  release() { this.grip = null; this.moved(this.T, true); }
}
