// What is shown, and what happens when somebody touches it. `tell` says what happened to whoever embeds the viewer.
import { Gizmo } from "./gizmo.js";
import { IDENTITY, apply, own, translation } from "./math.js";
import { layout, make, Panel } from "./panel.js";
import { Robot } from "./robot.js";
import { Scene } from "./scene.js";
import { groupStateText, worldText } from "./world_text.js";

const AXIS = 0xe8590c, SPHERE = 0x2f9e44, UNCOVERED = 0xe60d0d;
const GHOST = [0.35, 0.45, 0.85], EDITED = [0.9, 0.44, 0.13], TOUCHING = [0.83, 0.2, 0.25], MISSING = [0.8, 0.1, 0.6], FADED = [0.62, 0.65, 0.7];
// Thirty frames a second.
const SLOW_MS = 1000 / 30;
// So long the page waits for the server's answer before it asks again.
const OVERDUE_MS = 2000;
// So long the pointer rests before the page looks what is below it.
const REST_MS = 60;
// So long nothing moves before the finer picture is drawn, and so long a shadow may be old without a graphics card.
const STILL_MS = 250, SHADOW_MS = 500;
// A finer picture has four times as many pixels: it must not take longer than half a second.
const FINER_MS = 120;
// So long the page draws before it says that it is slow; a robot of so few triangles is never told.
const PATIENCE_MS = 1000, FEW_TRIANGLES = 50000;
const VIEW_KEYS = { 1: "front", 2: "back", 3: "left", 4: "right", 5: "top", 0: "iso" };

export class App {
  constructor(root, bundle, data, array, tell = null) {
    Object.assign(this, { data, tell: tell || (() => {}), served: Boolean(tell), root });
    layout(root, data.title);
    for (const moment of data.moments) for (const stance of Object.values(moment.stances)) stance.q = Array.from(array(Float64Array, stance.q));
    this.robots = data.actors.map((actor) => new Robot(actor));
    this.robot = this.robots[0] || null;
    this.groups = data.groups.slice();
    this.focus = this.groups[0] || "";
    this.shows = { frames: data.moments.some((moment) => Object.keys(moment.frames).length > 0), axes: false, names: false, collision: data.collision, spheres: Boolean(data.spheres), yUp: false, degrees: false, forces: true, dark: matchMedia("(prefers-color-scheme: dark)").matches };
    this.moment = 0; this.ghost = -1; this.picked = null; this.marks = {}; this.traces = []; this.chosen = new Set(); this.speed = 1; this.sliders = {};
    this.scene = new Scene(this.find("canvas"), bundle);
    for (const shape of data.surfaces) this.scene.addShape(array(Float32Array, shape.corners), array(Int8Array, shape.normals), shape.colours && array(Uint8Array, shape.colours), array(Uint32Array, shape.faces));
    this.shown = new Map(this.robots.map((robot) => [robot, this.scene.addRobot(robot, robot.parts)]));
    this.ghosts = new Map();
    this.panel = new Panel(this);
    this.stances = this.copy(data.moments[0].stances);
    this.arrange();
    this.fit("iso");
    this.scene.controls.addEventListener("change", () => this.redraw());
    this.panel.build();
    this.listen();
    this.sizes = new ResizeObserver(() => { if (this.isFitted) this.fit(); else this.redraw(); });
    this.sizes.observe(this.find("stage"));
    // Until a person turns the view, the whole robot stays in it.
    this.scene.controls.addEventListener("start", () => { this.isFitted = false; });
    this.changed();
  }

  // Say why the picture moves slowly in a browser without a graphics card.
  checkSpeed(time) {
    if (time <= SLOW_MS || this.scene.triangles() < FEW_TRIANGLES) return;
    const rate = time > 500 ? (1000 / time).toPrecision(1) : Math.round(1000 / time), count = this.scene.triangles().toLocaleString("en");
    this.message(`Slow picture: ${rate} frames/s for ${count} triangles, because this browser draws without a graphics card. Switch on hardware acceleration in the browser, or open fewer robots.`);
  }

  // Whether there is a time line: what else a running robot is compared with is none.
  get timed() { return this.data.moments.length > 1 && !this.data.live; }
  find(id) { return this.root.querySelector(`#${id}`); }
  copy(stances) { return Object.fromEntries(Object.entries(stances).map(([name, { q, T }]) => [name, { q: q.slice(), T: T.slice() }])); }
  q(robot) { return own(this.stances, robot.name)?.q; }
  poses(robot) { const { q, T } = this.stances[robot.name]; return robot.poses(q, T); }
  named(name) { return this.robots.find((robot) => robot.name === name); }
  frames() { return this.data.moments[this.moment].frames; }
  // How a measure is shown: angles in degrees on demand.
  shownIn(unit) { return unit === "rad" && this.shows.degrees ? { scale: 180 / Math.PI, unit: "°" } : { scale: 1, unit }; }
  groupColour(number) { const { palette } = this.data; return palette[number % palette.length]; }
  message(text) {
    const box = this.find("message");
    box.textContent = text; box.hidden = !text;
    clearTimeout(this.hiding);
    if (text) this.hiding = setTimeout(() => { box.hidden = true; }, 8000);
  }

  choose(index) { this.robot = this.robots[index]; this.focus = ""; if (this.wanted) this.setJogging(true); else { this.panel.build(); this.changed(); } }
  toggleGroup(name) {
    const on = !this.groups.includes(name);
    this.groups = on ? [...this.groups, name] : this.groups.filter((other) => other !== name);
    this.focus = on ? name : this.groups[this.groups.length - 1] || "";
    this.panel.build(); this.changed();
  }
  setFocus(name) { this.focus = name; this.panel.build(); }
  setPosition(robot, variable, value) {
    if (Number.isFinite(value)) this.assign(robot, { [variable]: value });
  }
  // Put variables where they are wanted; a running robot is only asked to go there, and only where that is switched on.
  assign(robot, values) {
    const q = this.q(robot), known = Object.entries(values).filter(([name]) => robot.variableIndex.has(name));
    if (!q || !known.length) return;
    if (this.data.live) { this.command(robot, Object.fromEntries(known)); return; }
    this.stances[robot.name].closed ||= q.slice();
    for (const [name, value] of known) q[robot.variableIndex.get(name)] = value;
    this.posed(robot);
  }
  command(robot, values) {
    const target = this.target(robot);
    if (!target) return;
    const moved = Object.fromEntries(Object.entries(values).filter(([name]) => this.canCommand(robot, robot.jointOfVariable.get(name))));
    Object.assign(target, moved);
    this.pending = { ...this.pending, ...moved };
    this.changed();
    this.commanding ||= setTimeout(() => { this.tell("jogged", { actor: robot.name, positions: this.pending }); this.pending = {}; this.commanding = 0; }, 50);
  }
  // Where the sliders want a running robot, by variable; null where they only show it.
  target(robot) { return own(this.sliders, robot.name)?.values || this.wanted || null; }
  // Sliders that publish joint states move every joint that no other publisher moves; a command moves single joints.
  canCommand(robot, joint) {
    const sliders = own(this.sliders, robot.name);
    if (sliders) return Boolean(joint?.count && !joint.mimic && !robot.dependent.includes(joint.name) && !own(sliders.held, joint.name));
    return Boolean(joint && joint.count === 1 && !joint.mimic && !joint.virtual && !joint.passive);
  }
  // A person has put the robot into another pose.
  posed(robot) {
    robot.follow(this.q(robot)); this.changed();
    if (this.closes(robot)) this.close(robot); else this.tellPosed(robot);
  }
  // Whether the server lets the passive joints of closed loops follow.
  closes(robot) { return this.served && !this.data.live && robot.dependent.length > 0; }
  // One request at a time: what is moved meanwhile is asked when the answer is there, or when it is overdue.
  close(robot) {
    const stance = this.stances[robot.name], now = performance.now();
    stance.late = now - stance.asked < OVERDUE_MS;
    if (stance.late) return;
    this.requests = (this.requests || 0) + 1;
    Object.assign(stance, { asked: now, request: this.requests });
    this.tell("opened", { actor: robot.name, q: stance.q, before: stance.closed, request: stance.request });
  }
  closed(actor, request, q, problem) {
    const robot = this.named(actor), stance = own(this.stances, actor);
    if (stance?.request !== request) return;
    const { late } = stance;
    Object.assign(stance, { closed: q, asked: -Infinity, late: false });
    if (late) {
      for (const { at, count } of robot.dependent.map((name) => robot.jointByName.get(name))) stance.q.splice(at, count, ...q.slice(at, at + count));
      robot.follow(stance.q); this.changed(); this.close(robot);
      return;
    }
    stance.q = q.slice();
    if (problem || this.isOpen) this.message(problem);
    this.isOpen = Boolean(problem);
    this.changed(); this.tellPosed(robot);
  }
  tellPosed(robot) {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.tell("posed", { actor: robot.name, q: this.q(robot) }), 60);
  }
  takeUp(state) {
    const { robot } = this, places = Object.entries(state.joints).flatMap(([name, values]) => values.map((value, k) => [robot.variables[robot.jointByName.get(name).at + k], value]));
    this.assign(robot, Object.fromEntries(places));
  }
  reset() { const { robot } = this; this.assign(robot, Object.fromEntries(robot.variables.map((name, k) => [name, robot.neutral[k]]))); }
  showMoment(index) { this.moment = index; this.stances = this.copy(this.data.moments[index].stances); this.changed(); }
  setGhost(index) { this.ghost = index; this.changed(); }
  pickLink(found, shift = false) {
    this.picked = found;
    if (found) this.tell("picked", { actor: found.robot.name, link: found.robot.links[found.link].name, joint: found.robot.joints[found.link].name, shift });
    this.changed();
  }
  showWitness(item) {
    const robot = this.named(item.actor);
    if (!robot || !this.q(robot)) return;
    if (robot !== this.robot) this.choose(this.robots.indexOf(robot));
    this.marks = { [item.actor]: { [item.link1]: TOUCHING, [item.link2]: TOUCHING } };
    this.assign(robot, item.positions);
  }
  // Look at two links from where the camera is; the others are a ghost. Without links, all are solid again.
  playPair(actor, links) {
    this.played = links.length ? { actor, links } : null;
    this.arrange();
    const robot = this.named(actor), shown = robot && this.shown.get(robot);
    if (shown && links.length) {
      const box = this.scene.bounds([{ links: shown.links, meshes: shown.meshes.filter((mesh) => links.includes(robot.links[mesh.userData.link].name)) }]);
      if (box) this.scene.glide(...box, () => this.redraw());
    }
    this.changed();
  }
  // { actor: { link: [r, g, b] } }
  mark(marks) { this.marks = marks; this.changed(); }

  // Time runs as it ran, times the speed; without times a state is shown for a fifth of a second.
  play() {
    this.playing = !this.playing;
    const times = this.times(), last = times.length - 1;
    if (this.playing && this.moment === last) this.showMoment(0);
    let before = performance.now(), now = times[this.moment];
    const step = (stamp) => {
      if (!this.playing) return;
      now += this.speed * Math.max(0, stamp - before) / 1000; before = stamp;
      let at = this.moment;
      while (at < last && times[at + 1] <= now) at++;
      if (at !== this.moment) this.showMoment(at);
      if (at === last) this.playing = false;
      this.panel.update();
      if (this.playing) requestAnimationFrame(step);
    };
    if (this.playing) requestAnimationFrame(step);
    this.panel.update();
  }
  times() {
    const { moments } = this.data;
    const stated = moments.every((moment) => moment.time !== null);
    return moments.map((moment, index) => stated ? Number(moment.time) - Number(moments[0].time) : 0.2 * index);
  }

  // What differs between what is shown and the ghost, the largest difference first.
  differences() {
    const other = this.data.moments[this.ghost];
    return other ? this.differencesTo(other.stances) : [];
  }
  differencesTo(stances) {
    const rows = [];
    for (const robot of this.robots) {
      const now = own(this.stances, robot.name), then = own(stances, robot.name);
      if (!now || !then) { if (now || then) rows.push([Infinity, [robot.name, now ? "there" : "not there", then ? "there" : "not there"]]); continue; }
      robot.variables.forEach((name, at) => {
        const d = Math.abs(now.q[at] - then.q[at]), { scale, unit } = this.shownIn(robot.unit(at));
        if (d > 1e-9) rows.push([d, [`${robot.name}/${name}`, scale * now.q[at], scale * then.q[at], unit]]);
      });
      const [a, b] = [robot.poses(now.q, now.T)[0], robot.poses(then.q, then.T)[0]];
      const distance = Math.hypot(a[3] - b[3], a[7] - b[7], a[11] - b[11]);
      if (distance > 1e-9) rows.push([distance, [`${robot.name} moved`, 0, distance, "m"]]);
    }
    return rows.sort((x, y) => y[0] - x[0]).map(([, row]) => row);
  }

  usdf() {
    const { time, parents } = this.data.moments[this.moment];
    const actors = this.robots.filter((robot) => own(this.stances, robot.name)).map((robot) => ({ robot, q: this.q(robot), base: this.stances[robot.name].T }));
    return worldText(this.data.title || "world", time, this.frames(), parents || {}, actors);
  }
  groupState(group, name) { return groupStateText(this.robot, this.q(this.robot), group, name); }
  download(name, text) {
    const content = text instanceof Blob ? text : new Blob([text], { type: "application/xml" });
    const link = make("a", { href: URL.createObjectURL(content), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // --- what whoever embeds the viewer says

  setPositions(actor, q) { const robot = this.named(actor); this.stances[actor] = { q: robot.follow(q.slice()), T: this.stances[actor].T }; this.changed(); }
  follow({ label, stances, frames }) {
    Object.assign(this.data.moments[0], { frames, stances, label });
    this.stances = this.copy(stances);
    this.changed();
    // The robot is somewhere else than the page thought.
    if (!this.hasFollowed && this.isFitted) { this.hasFollowed = true; this.drawNow(); this.fit(); }
  }
  // What else is to be compared with what is live: a saved snapshot.
  compareWith(moment) { this.data.moments = [this.data.moments[0], moment]; this.ghost = 1; this.panel.build(); this.changed(); }
  endComparison() { this.data.moments = this.data.moments.slice(0, 1); this.ghost = -1; this.panel.build(); this.changed(); }
  // Say over the whole scene that it is out of date; without a text it is not.
  setLost(text) { const box = this.find("lost"); box.hidden = !text; box.querySelector("div").textContent = text; }
  // Whether the sliders of a running robot command its joints; they then stand where the joints are to go.
  setJogging(on) {
    const { robot } = this, q = this.q(robot) || robot.neutral;
    this.wanted = on ? Object.fromEntries(robot.joints.filter((joint) => this.canCommand(robot, joint)).map(({ name, at }) => [name, q[at]])) : null;
    this.panel.build(); this.changed();
  }
  // The sliders of a robot publish its joint states: their changed values by variable, and the joints that another publisher moves.
  setSliders(actor, moved, held) {
    const before = own(this.sliders, actor);
    this.sliders[actor] = { values: { ...before?.values, ...moved }, held };
    if (JSON.stringify(before?.held) !== JSON.stringify(held)) this.panel.build();
    this.changed();
  }
  setSemantics(actor, semantics) {
    const robot = this.named(actor);
    Object.assign(robot, semantics);
    this.groups = this.groups.filter((name) => this.robots.some((other) => own(other.groups, name)));
    if (!own(robot.groups, this.focus)) this.focus = "";
    this.panel.build();
    this.stale = true; this.redraw(this.scene.finer);
  }
  setGroups(names) { this.groups = names; this.focus = names[names.length - 1] || ""; this.panel.build(); this.changed(); }
  showGizmo(actor, T) {
    this.gizmo?.remove();
    this.gizmo = T && new Gizmo(this.scene, 0.12 * this.size, (moved, done) => { this.redraw(); this.dragged(actor, moved, done); });
    this.gizmo?.place(T);
    this.redraw();
  }
  // Spheres of a link while they are typed; without rows none.
  setTypedSpheres(actor, link, rows) { this.typed = rows?.length && this.named(actor).linkIndex.has(link) ? { actor, link, rows } : null; this.changed(); }
  // Parts of a link that none of its spheres holds, as corners of triangles in the link's frame.
  setUncovered(actor, link, corners) { this.uncovered = corners.length && this.named(actor).linkIndex.has(link) ? { actor, link, corners } : null; this.changed(); }
  // Show a joint by its axis and its child link; without a name none.
  showJoint(actor, name) {
    const robot = this.named(actor), joint = robot.jointByName.get(name);
    this.shownJoint = joint ? { actor, name } : null;
    this.mark(joint ? { [actor]: { [robot.links[robot.joints.indexOf(joint)].name]: EDITED } } : {});
  }
  showLink(actor, name) { this.shownJoint = null; this.mark(name ? { [actor]: { [name]: EDITED } } : {}); }
  // Leave the tab where joints, links and their spheres are edited.
  showNothingEdited() { if (this.shownJoint) this.marks = {}; this.typed = this.shownJoint = null; this.changed(); }
  show(key, on) { const box = this.find(key); if (box) box.checked = on; this.setShow(key, on); }
  // A small picture of robots with other positions, in their own colours, as a data address.
  thumbnail(stances) {
    const near = (name) => { const robot = this.named(name), links = own(robot?.groups || {}, stances[name].group)?.links; return links?.length ? links : null; };
    const key = JSON.stringify([stances, Object.keys(stances).map(near)]);
    this.pictures ||= new Map();
    if (this.pictures.has(key)) return this.pictures.get(key);
    const kept = { stances: this.stances, ghost: this.ghost, groups: this.groups, marks: this.marks, picked: this.picked, hovered: this.hovered };
    Object.assign(this, { stances: { ...this.stances }, ghost: -1, groups: [], marks: {}, picked: null, hovered: null });
    for (const [name, { q, T }] of Object.entries(stances)) {
      const robot = this.named(name);
      if (robot) this.stances[name] = { q: robot.follow(q.slice()), T: T || own(kept.stances, name)?.T || IDENTITY };
    }
    this.arrange();
    // Of a state of a group: the group.
    const parts = [...this.shown].filter(([, shown]) => shown.root.visible).map(([{ name }, { links, meshes }]) => {
      const group = own(stances, name) ? near(name) : null;
      return { links, meshes: group ? meshes.filter((mesh) => group.includes(mesh.userData.link)) : meshes };
    });
    const box = this.scene.bounds(parts) || this.scene.bounds([...this.shown.values()].filter((shown) => shown.root.visible));
    const address = box ? this.scene.picture(...box, 168, 126) : undefined;
    Object.assign(this, kept);
    this.stale = true; this.drawNow();
    this.pictures.set(key, address);
    return address;
  }
  placeGizmo(T) { if (this.gizmo && !this.gizmo.grip) { this.gizmo.place(T); this.redraw(); } }
  dragged(actor, T, done) {
    const now = performance.now();
    if (!done && now - (this.toldAt || 0) < 40) return;
    this.toldAt = now;
    this.tell("dragged", { actor, T, done });
  }

  // --- drawing

  // Put everything where it is, in the colours that it has now.
  arrange() {
    const lines = [], labels = [], length = 0.07 * (this.size || 1);
    this.drawn = [];
    for (const robot of this.robots) {
      const shown = this.shown.get(robot), here = Boolean(own(this.stances, robot.name));
      shown.root.visible = here;
      if (!here) continue;
      const poses = this.poses(robot);
      this.scene.move(shown, poses);
      this.colour(robot, shown);
      if (this.shows.axes) lines.push(...poses.map((T) => this.scene.axes(T, 0.5 * length)));
      if (this.shows.names) robot.links.forEach((link, index) => labels.push([link.name, poses[index]]));
      lines.push(...this.forces(robot, poses, labels), ...this.balls(robot, poses), ...this.axis(robot, poses));
    }
    this.arrangeGhost();
    if (this.shows.frames) for (const [name, T] of Object.entries(this.frames())) { lines.push(this.scene.axes(T, length)); labels.push([name, T]); }
    for (const points of this.traces.map((trace) => this.trace(trace))) if (points.length > 3) lines.push(this.scene.segments(points, 0xd64533));
    this.scene.setLines(lines);
    this.labels = labels;
  }
  // The spheres of all links on demand, and those that a person is typing.
  balls(robot, poses) {
    const typed = this.typed?.actor === robot.name ? { [this.typed.link]: this.typed.rows } : {};
    const spheres = { ...(this.shows.spheres ? robot.spheres : {}), ...typed };
    const balls = Object.entries(spheres).flatMap(([link, rows]) => rows.map((row) => this.scene.ball(poses[robot.linkIndex.get(link)], row, SPHERE)));
    const bare = this.shows.spheres && this.uncovered?.actor === robot.name && this.scene.triangleMesh(poses[robot.linkIndex.get(this.uncovered.link)], this.uncovered.corners, UNCOVERED);
    return bare ? [bare, ...balls] : balls;
  }
  // The axis of the joint that a person edits.
  axis(robot, poses) {
    const joint = this.shownJoint?.actor === robot.name && robot.jointByName.get(this.shownJoint.name);
    if (!joint) return [];
    const T = poses[robot.joints.indexOf(joint)], length = 0.15 * (this.size || 1);
    return this.scene.arrow([T[3], T[7], T[11]], apply(T, joint.axis.map((part) => part * length)), AXIS);
  }
  colour(robot, shown) {
    const here = this.groups.filter((name) => own(robot.groups, name)), marks = own(this.marks, robot.name);
    const coloured = new Map(here.flatMap((name) => robot.groups[name].links.map((link) => [link, this.groupColour(this.groups.indexOf(name))])));
    for (const mesh of shown.meshes) {
      const { part } = mesh.userData, name = robot.links[part.link].name, is = (one) => one?.robot === robot && one.link === part.link, picked = is(this.picked), hovered = is(this.hovered);
      mesh.visible = part.kind === "both" || (part.kind !== "uncovered" && (part.kind === "collision") === this.shows.collision) || (part.kind === "missing") || (part.kind === "uncovered" && this.shows.spheres);
      let colour = part.rgba ? part.rgba.slice(0, 3) : null, alpha = part.rgba ? part.rgba[3] : 1;
      if (part.kind === "missing") { colour = MISSING; }
      if (this.groups.length && part.kind !== "uncovered") { colour = coloured.get(part.link) || FADED; alpha = coloured.has(part.link) ? 1 : 0.22; }
      if (this.played?.actor === robot.name && !this.played.links.includes(name)) { colour = FADED; alpha = 0.16; }
      if (own(marks, name)) { colour = marks[name]; alpha = 1; }
      if (picked) alpha = Math.max(alpha, 0.6);
      this.scene.paint(mesh, colour, alpha, { wire: part.kind === "missing", glow: picked ? 0.45 : hovered ? 0.22 : 0 });
      if (mesh.visible) this.drawn.push({ robot, link: part.link, colour, alpha, ghost: false });
    }
  }
  arrangeGhost() {
    const then = this.data.moments[this.ghost];
    for (const robot of this.robots) {
      const stance = own(then?.stances, robot.name);
      if (stance && !this.ghosts.has(robot)) this.ghosts.set(robot, this.scene.addRobot(robot, robot.parts.filter((part) => part.kind !== "collision" && part.kind !== "uncovered"), true));
      if (this.ghosts.has(robot)) this.scene.turn(this.ghosts.get(robot).meshes, this.shows.yUp);
      const shown = this.ghosts.get(robot);
      if (!shown) continue;
      shown.root.visible = Boolean(stance);
      if (!stance) continue;
      this.scene.move(shown, robot.poses(stance.q, stance.T));
      for (const mesh of shown.meshes) { this.scene.paint(mesh, GHOST, 0.35); this.drawn.push({ robot, link: mesh.userData.link, colour: GHOST, alpha: 0.35, ghost: true }); }
    }
  }
  // Forces that the state has on links, at their origins, in their axes: the longest of all times is a third of the robot.
  forces(robot, poses, labels) {
    if (!this.shows.forces) return [];
    const all = this.data.moments[this.moment].wrenches || {}, size = (wrench) => Math.hypot(...wrench.slice(0, 3)), arrows = [];
    const sizes = this.data.moments.flatMap(({ wrenches }) => Object.values(wrenches || {}).flatMap((here) => Object.values(here).map(size)));
    const longest = sizes.reduce((most, one) => Math.max(most, one), 1e-9);
    for (const [name, f] of Object.entries(own(all, robot.name) || {})) {
      if (!size(f)) continue;
      const T = poses[robot.linkIndex.get(name)], k = 0.33 * this.size / longest;
      const end = [0, 1, 2].map((row) => T[4 * row + 3] + k * (T[4 * row] * f[0] + T[4 * row + 1] * f[1] + T[4 * row + 2] * f[2]));
      arrows.push(...this.scene.arrow([T[3], T[7], T[11]], end, 0xc2255c));
      labels.push([`${size(f).toPrecision(3)} N`, translation(...end)]);
    }
    return arrows;
  }
  trace({ robot, link }) {
    const points = [];
    let before = null;
    for (const { stances } of this.data.moments) {
      const stance = own(stances, robot.name);
      if (!stance) { before = null; continue; }
      const T = robot.poses(stance.q, stance.T)[link], here = [T[3], T[7], T[11]];
      if (before) points.push(...before, ...here);
      before = here;
    }
    return points;
  }
  toggleTrace(found) {
    const same = (other) => other.robot === found.robot && other.link === found.link;
    this.traces = this.traces.some(same) ? this.traces.filter((other) => !same(other)) : [...this.traces, found];
    this.changed();
  }

  fit(view = null) {
    const box = this.scene.bounds([...this.shown.values()].filter((shown) => shown.root.visible)) || [[-0.5, -0.5, 0], [0.5, 0.5, 1]];
    this.extent = box[1].map((part, k) => part - box[0][k]);
    this.size = Math.max(...this.extent, 1e-6);
    this.isFitted = true;
    this.scene.look(...box, view);
    this.ground();
    this.redraw();
  }
  ground() {
    this.square = this.scene.setGround(this.size, this.shows.dark ? { fine: 0x59636f, main: 0x798492 } : { fine: 0xd3d9e0, main: 0xb4bdc8 });
    this.panel.legend();
  }
  setShow(key, value) {
    this.shows[key] = value;
    if (key === "dark") { this.ground(); this.tell("dark", { on: value }); }
    if (key === "degrees") this.panel.build();
    if (key === "yUp") { for (const { meshes } of this.shown.values()) this.scene.turn(meshes, value); this.fit(); }
    this.changed();
  }

  changed() { this.stale = true; this.redraw(); }
  // `finer`: as for the scene. At rest it stays as it is: to resize the canvas holds up the page.
  redraw(finer = 1) {
    this.finer = Math.min(finer, this.waiting ? this.finer : finer);
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.drawNow(); });
  }
  drawNow() {
    const begin = performance.now();
    if (this.stale) { this.stale = false; this.arrange(); this.panel.update(); this.hasOldShadow = true; }
    this.root.classList.toggle("dark", this.shows.dark);
    if (begin - (this.shadowAt ?? -Infinity) >= (this.scene.weak ? SHADOW_MS : 0)) this.castShadow();
    this.scene.draw(this.finer);
    if (this.scene.weak && this.scene.finer === 1) this.measure(begin);
    this.finer = 1;
    this.drawLabels();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), STILL_MS);
  }
  castShadow() {
    if (!this.hasOldShadow) return;
    this.hasOldShadow = false; this.shadowAt = performance.now();
    this.scene.castShadow([...this.shown.values()]);
  }
  // What was drawn together takes a second: say so if it is slow.
  measure(begin) {
    this.scene.finish();
    this.drawing ||= { spent: 0, count: 0 };
    const time = performance.now() - begin;
    this.drawing.spent += time; this.drawing.count += 1;
    // The first drawing also compiles.
    this.fastest = Math.min(this.fastest ?? Infinity, time);
    if (this.drawing.spent < PATIENCE_MS) return;
    this.checkSpeed(this.drawing.spent / this.drawing.count);
    this.drawing = null;
  }
  // Nothing moves: the newest shadow, and smooth edges.
  settle() {
    if (this.waiting || this.playing) return;
    this.castShadow();
    if (this.fastest > FINER_MS) { const begin = performance.now(); this.scene.draw(); this.measure(begin); }
    if (!(this.fastest > FINER_MS)) this.scene.draw(2);
  }
  // Names of what is nearest first; one that would cover another is left out.
  drawLabels() {
    const taken = [], spans = [];
    const placed = (this.labels || []).map(([name, T]) => [name, this.scene.project([T[3], T[7], T[11]])]).filter(([, at]) => at).sort((a, b) => a[1][2] - b[1][2]);
    for (const [name, [x, y]] of placed) {
      const box = [x + 4, y - 8, x + 10 + 6.4 * name.length, y + 8];
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      spans.push(make("span", { style: `left:${box[0]}px;top:${box[1]}px` }, name));
    }
    this.find("labels").replaceChildren(...spans);
    const [length, pixels] = this.scene.bar(), bar = this.find("bar");
    bar.textContent = `${Number(length.toPrecision(3))} m`; bar.style.width = `${pixels}px`;
  }

  // Leave the page to another one; what it returns lets that go on where a person was.
  end() {
    // A drawing after the end would use what is disposed.
    clearTimeout(this.settling); cancelAnimationFrame(this.waiting);
    this.settle = this.drawNow = () => {};
    this.listening.abort(); this.sizes.disconnect(); this.scene.renderer.dispose(); this.redraw = () => {}; this.playing = false;
    return this.view();
  }
  view() {
    const { shows, groups, focus, moment, scene } = this;
    const positions = Object.fromEntries(this.robots.filter((robot) => this.q(robot)).map((robot) => [robot.name, robot.variables.map((name, k) => [name, this.q(robot)[k]])]));
    return { shows, groups, focus, moment, positions, eye: scene.camera.position.toArray(), target: scene.controls.target.toArray() };
  }
  resume({ shows, groups, focus, moment, positions, eye, target }) {
    const has = (name) => this.robots.some((robot) => own(robot.groups, name));
    Object.assign(this, { shows, groups: groups.filter(has), focus: has(focus) ? focus : "" });
    if (this.timed) this.showMoment(Math.min(moment, this.data.moments.length - 1));
    else for (const robot of this.robots) for (const [name, value] of own(positions, robot.name) || []) if (robot.variableIndex.has(name)) this.q(robot)[robot.variableIndex.get(name)] = value;
    for (const robot of this.robots) if (this.closes(robot) && this.q(robot)) { this.stances[robot.name].closed = this.q(robot).slice(); this.posed(robot); }
    for (const mesh of this.shown.values()) this.scene.turn(mesh.meshes, shows.yUp);
    this.scene.camera.position.set(...eye); this.scene.controls.target.set(...target); this.scene.controls.update();
    this.isFitted = false;
    this.ground(); this.panel.build(); this.changed();
  }

  // Hide or show what is beside the picture.
  fold() { for (const part of [this.root, this.root.closest(".page")]) part?.classList.toggle("folded"); }
  // The address of what is shown: positions that a person has changed, groups and camera.
  link() {
    const { groups, focus, moment, positions, eye, target } = this.view(), { stances } = this.data.moments[this.moment];
    for (const robot of this.robots) if (own(positions, robot.name)) positions[robot.name] = positions[robot.name].filter(([, value], k) => value !== own(stances, robot.name)?.q[k]);
    const state = { groups, focus, moment, positions: this.data.live ? {} : positions, eye, target };
    return `${location.href.split("#")[0].split("?")[0]}#shown=${encodeURIComponent(JSON.stringify(state))}`;
  }
  copyLink() {
    const link = this.link(), inBar = () => { history.replaceState(null, "", link); this.message("The address of this page is the link."); };
    if (!navigator.clipboard) { inBar(); return; }
    navigator.clipboard.writeText(link).then(() => this.message("The link is copied."), inBar);
  }
  // Show what the address of the page says; an address that is damaged says nothing.
  followLink() {
    try {
      const { groups, focus, moment, positions, eye, target } = JSON.parse(decodeURIComponent(location.hash.match(/^#shown=(.*)$/)[1]));
      const numbers = (list) => Array.isArray(list) && list.length === 3 && list.every(Number.isFinite), texts = (list) => Array.isArray(list) && list.every((one) => typeof one === "string");
      const pairs = (list) => Array.isArray(list) && list.every((pair) => Array.isArray(pair) && typeof pair[0] === "string" && Number.isFinite(pair[1]));
      if (!numbers(eye) || !numbers(target) || !texts(groups) || typeof focus !== "string" || !Number.isInteger(moment) || moment < 0 || !Object.values(positions).every(pairs)) return;
      this.resume({ shows: this.shows, groups, focus, moment, positions, eye, target });
    } catch { /* another address */ }
  }
  savePicture() {
    const paint = (context, width, height) => {
      const style = getComputedStyle(this.root), sky = context.createLinearGradient(0, 0, 0, height);
      ["--sky", "--ground"].forEach((name, end) => sky.addColorStop(end, style.getPropertyValue(name)));
      context.fillStyle = sky; context.fillRect(0, 0, width, height);
    };
    return this.scene.wholePicture(paint).then((picture) => this.download(`${this.data.title || "robot"}.png`, picture));
  }

  listen() {
    this.listening = new AbortController();
    const { canvas } = this.scene;
    let pressed = null;
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    // The gizmo comes before the camera.
    canvas.addEventListener("pointerdown", (event) => {
      pressed = at(event);
      if (event.button === 0 && this.gizmo?.press(...pressed)) { this.scene.controls.enabled = false; canvas.setPointerCapture(event.pointerId); event.stopImmediatePropagation(); }
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (this.gizmo?.grip) this.gizmo.drag(...at(event));
      clearTimeout(this.resting);
      if (event.buttons) this.hover(null); else this.resting = setTimeout(() => this.hoverAt(...at(event)), REST_MS);
    }, { capture: true });
    canvas.addEventListener("pointerleave", () => { clearTimeout(this.resting); this.hover(null); });
    canvas.addEventListener("pointerup", (event) => {
      const now = at(event);
      if (this.gizmo?.grip) { this.gizmo.release(); this.scene.controls.enabled = true; }
      else if (pressed && Math.hypot(now[0] - pressed[0], now[1] - pressed[1]) < 4 && event.button === 0) this.pickAt(...now, event.shiftKey);
      pressed = null;
    });
    this.root.addEventListener("keydown", (event) => this.key(event), { signal: this.listening.signal });
    document.addEventListener("keydown", (event) => { if (!this.root.contains(event.target)) this.key(event); }, { signal: this.listening.signal });
  }
  key(event) {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "p") { this.fold(); return; }
    const toggles = { a: "axes", n: "names", r: "frames", c: "collision", s: "spheres", d: "dark" };
    if (event.key in VIEW_KEYS) this.fit(VIEW_KEYS[event.key]);
    else if (event.key in toggles) { const box = this.find(toggles[event.key]); if (!box) return; box.checked = !box.checked; this.setShow(toggles[event.key], box.checked); }
    else if (event.key === "f") this.fit();
    else if (event.key === " " && this.timed) { event.preventDefault(); this.play(); }
    else if (event.key === "Escape") { this.played = null; this.pickLink(null); }
    else if (event.key === "/") { event.preventDefault(); this.find("search").focus(); }
  }
  meshAt(x, y) { return this.scene.pick([...this.shown.values()].filter((shown) => shown.root.visible).flatMap((shown) => shown.meshes), x, y); }
  hoverAt(x, y) {
    const mesh = this.meshAt(x, y);
    this.hover(mesh && { robot: mesh.userData.robot, link: mesh.userData.link }, [x, y]);
  }
  // Show which link is meant, and beside the pointer what it is; without a place only the link.
  hover(found, at = null) {
    const same = this.hovered?.robot === found?.robot && this.hovered?.link === found?.link;
    this.panel.tip(found, at);
    if (same) return;
    this.hovered = found;
    this.changed();
  }
  pickAt(x, y, shift = false) {
    const mesh = this.meshAt(x, y);
    if (mesh && mesh.userData.robot !== this.robot) this.choose(this.robots.indexOf(mesh.userData.robot));
    this.pickLink(mesh && { robot: mesh.userData.robot, link: mesh.userData.link }, shift);
  }
}

// A page's content, as the server or the page itself has it: [data, array], array making a typed array of a place.
export async function unpacked(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(4, true);
  const data = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  // Arrays of eight-byte numbers may begin at any multiple of four: copy.
  const array = (Kind, [start, count]) => new Kind(bytes.slice(8 + length + start, 8 + length + start + count * Kind.BYTES_PER_ELEMENT));
  return [data, array];
}
