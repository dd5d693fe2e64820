// What is shown, and what happens when somebody touches it.
const FADED = [0.82, 0.83, 0.85, 1];

class App {
  constructor(data, array) {
    this.data = data;
    this.robots = data.actors.map((actor) => new Robot(actor));
    this.robot = this.robots[0] || null;
    this.groups = data.groups.slice();
    this.shows = { frames: data.moments.some((moment) => Object.keys(moment.frames).length > 0), axes: false, names: false };
    this.moment = 0; this.ghost = -1; this.picked = null; this.playing = 0;
    for (const moment of data.moments) for (const stance of Object.values(moment.stances)) stance.q = Array.from(array(Float64Array, stance.q));
    this.renderer = new Renderer(document.getElementById("canvas"));
    this.shapes = data.surfaces.map((shape) => this.renderer.addShape(array(Float32Array, shape.corners), array(Int8Array, shape.normals), shape.colours && array(Uint8Array, shape.colours)));
    this.boxes = data.surfaces.map((shape) => bounds(array(Float32Array, shape.corners)));
    this.axesShape = this.renderer.addShape(new Float32Array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]), null,
      new Uint8Array([[220, 60, 50], [60, 160, 70], [40, 100, 210]].flatMap((rgb) => [...rgb, 255, ...rgb, 255])), true);
    this.gridShape = this.renderer.addShape(grid(), null, null, true);
    this.panel = new Panel(this);
    this.stances = this.copy(data.moments[0].stances);
    this.fit();
    this.panel.build();
    this.listen();
    if (data.live) this.follow();
    new ResizeObserver(() => this.redraw()).observe(document.getElementById("stage"));
    this.changed();
  }

  copy(stances) { return Object.fromEntries(Object.entries(stances).map(([name, { q, T }]) => [name, { q: q.slice(), T: T.slice() }])); }
  q(robot) { return this.stances[robot.name]?.q; }
  poses(robot) { const { q, T } = this.stances[robot.name]; return robot.poses(q, T); }
  frames() { return this.data.moments[this.moment].frames; }
  groupColour(number) { const { palette } = this.data; return [...palette[number % palette.length], 1]; }
  message(text) {
    const box = document.getElementById("message");
    box.textContent = text; box.hidden = !text;
    clearTimeout(this.hiding);
    if (text) this.hiding = setTimeout(() => { box.hidden = true; }, 8000);
  }

  choose(index) { this.robot = this.robots[index]; this.panel.build(); this.changed(); }
  toggleGroup(name) {
    this.groups = this.groups.includes(name) ? this.groups.filter((other) => other !== name) : [...this.groups, name];
    this.panel.build(); this.changed();
  }
  setPosition(robot, variable, value) {
    const q = this.q(robot), at = robot.variableIndex.get(variable);
    if (!q || at === undefined || !Number.isFinite(value)) return;
    q[at] = value; robot.follow(q); this.changed();
  }
  takeUp(state) {
    const q = this.q(this.robot);
    if (!q) return;
    for (const [name, values] of Object.entries(state.joints)) values.forEach((value, k) => { q[this.robot.jointByName.get(name).at + k] = value; });
    this.robot.follow(q); this.changed();
  }
  reset() { if (this.q(this.robot)) this.stances[this.robot.name].q = this.robot.neutral.slice(); this.changed(); }
  showMoment(index) { this.moment = index; this.stances = this.copy(this.data.moments[index].stances); this.changed(); }
  setGhost(index) { this.ghost = index; this.changed(); }
  pickLink(found) { this.picked = found; this.changed(); }
  showWitness(item) {
    const index = this.robots.findIndex((robot) => robot.name === item.actor), robot = this.robots[index];
    if (!robot || !this.q(robot)) return;
    if (robot !== this.robot) this.choose(index);
    for (const [name, value] of Object.entries(item.positions)) this.q(robot)[robot.variableIndex.get(name)] = value;
    this.witness = item; this.changed();
  }
  play() {
    clearInterval(this.playing);
    const button = document.getElementById("play");
    if (button.textContent === "stop") { button.textContent = "play"; return; }
    button.textContent = "stop";
    this.playing = setInterval(() => this.showMoment((this.moment + 1) % this.data.moments.length), 60);
  }

  // What differs between what is shown and the ghost, the largest difference first.
  differences() {
    const other = this.data.moments[this.ghost];
    if (!other) return [];
    const rows = [];
    for (const robot of this.robots) {
      const now = this.stances[robot.name], then = other.stances[robot.name];
      if (!now || !then) { if (now || then) rows.push([Infinity, [robot.name, now ? "there" : "not there", then ? "there" : "not there"]]); continue; }
      robot.variables.forEach((name, at) => { const d = Math.abs(now.q[at] - then.q[at]); if (d > 1e-9) rows.push([d, [`${robot.name}/${name}`, now.q[at], then.q[at]]]); });
      const [a, b] = [robot.poses(now.q, now.T)[0], robot.poses(then.q, then.T)[0]];
      const distance = Math.hypot(a[3] - b[3], a[7] - b[7], a[11] - b[11]);
      if (distance > 1e-9) rows.push([distance, [`${robot.name} moved [m]`, distance, 0]]);
    }
    return rows.sort((x, y) => y[0] - x[0]).map(([, row]) => row);
  }

  usdf() {
    const { time, parents } = this.data.moments[this.moment];
    const actors = this.robots.filter((robot) => this.stances[robot.name]).map((robot) => ({ robot, q: this.q(robot), base: this.stances[robot.name].T }));
    return worldText(this.data.title || "world", time, this.frames(), parents || {}, actors);
  }
  groupState(group, name) { return groupStateText(this.robot, this.q(this.robot), group, name); }
  download(name, text) {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "application/xml" })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // A running node: the server tells positions, and takes wishes.
  follow() {
    const source = new EventSource("events"), state = () => document.getElementById("live-state");
    source.onmessage = (event) => {
      const told = JSON.parse(event.data);
      Object.assign(this.data.moments[0], { frames: told.frames, stances: told.stances, label: told.time });
      this.stances = this.copy(told.stances);
      if (state()) state().textContent = told.time;
      this.changed();
    };
    source.onerror = () => { if (state()) state().textContent = "the connection is lost"; };
  }
  async ask(what, values) {
    try {
      const answer = await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values) });
      this.message((await answer.json()).message);
    } catch (error) { this.message(String(error)); }
  }

  // Everything that is drawn: [items, lines, labels].
  items() {
    const items = [], lines = [], labels = [];
    const add = (robot, poses, alpha, ghost) => {
      const here = this.groups.filter((name) => name in robot.groups);
      const coloured = new Map(here.flatMap((name) => robot.groups[name].links.map((link) => [link, this.groupColour(this.groups.indexOf(name))])));
      const touching = this.witness && this.witness.actor === robot.name ? [this.witness.link1, this.witness.link2] : [];
      for (const part of robot.parts) {
        let colour = part.rgba;
        if (this.groups.length) colour = coloured.get(part.link) || FADED;
        if (touching.includes(robot.links[part.link].name)) colour = [0.83, 0.2, 0.25, 1];
        if (ghost) colour = [0.35, 0.45, 0.85, 1];
        if (this.picked && !ghost && this.picked.robot === robot && this.picked.link === part.link) colour = (colour || [0.7, 0.7, 0.7, 1]).map((x, k) => k < 3 ? 0.55 * x + 0.45 * [1, 0.85, 0.1][k] : x);
        const own = (colour || [0, 0, 0, 1])[3] * alpha;
        items.push({ shape: this.shapes[part.surface], box: this.boxes[part.surface], T: mul(poses[part.link], part.T), colour: colour && [...colour.slice(0, 3), 1], alpha: own, robot, link: part.link, ghost });
      }
    };
    const length = this.size * 0.07;
    const axes = (T, factor = 1) => lines.push({ shape: this.axesShape, T: mul(T, [length * factor, 0, 0, 0, 0, length * factor, 0, 0, 0, 0, length * factor, 0, 0, 0, 0, 1]), colour: null, alpha: 1 });
    for (const robot of this.robots) {
      if (!this.stances[robot.name]) continue;
      const poses = this.poses(robot);
      add(robot, poses, 1, false);
      if (this.shows.axes) poses.forEach((T) => axes(T, 0.5));
      if (this.shows.names) robot.links.forEach((link, index) => labels.push([link.name, poses[index]]));
    }
    const then = this.data.moments[this.ghost];
    if (then) for (const robot of this.robots) if (then.stances[robot.name]) add(robot, robot.poses(then.stances[robot.name].q, then.stances[robot.name].T), 0.35, true);
    if (this.shows.frames) for (const [name, T] of Object.entries(this.frames())) { axes(T); labels.push([name, T]); }
    const step = 10 ** Math.floor(Math.log10(Math.max(this.size, 1e-6)));
    lines.push({ shape: this.gridShape, T: [step / 2, 0, 0, 0, 0, step / 2, 0, 0, 0, 0, 1, this.floor - 0.001 * this.size, 0, 0, 0, 1], colour: [0.84, 0.86, 0.89, 1], alpha: 1 });
    return [items, lines, labels];
  }

  fit() {
    this.size = 1; this.floor = 0;
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const take = (point) => point.forEach((part, k) => { low[k] = Math.min(low[k], part); high[k] = Math.max(high[k], part); });
    for (const { box, T, ghost } of this.items()[0]) if (!ghost) for (let corner = 0; corner < 8; corner++) take(apply(T, [0, 1, 2].map((k) => box[corner >> k & 1][k])));
    if (!Number.isFinite(low[0])) { take([-0.5, -0.5, 0]); take([0.5, 0.5, 1]); }
    this.size = Math.max(...high.map((part, k) => part - low[k]), 1e-6);
    this.floor = low[2];
    Object.assign(this.renderer.camera, { target: low.map((part, k) => (part + high[k]) / 2), distance: 1.4 * Math.hypot(...high.map((part, k) => part - low[k])) });
  }

  changed() { this.stale = true; this.redraw(); }
  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.stale) { this.stale = false; this.panel.update(); }
      this.drawNow();
    });
  }
  drawNow() {
    const [items, lines, labels] = this.items();
    this.renderer.draw(items, lines);
    this.drawn = items;
    const { T_clip_world } = this.renderer.views(), { clientWidth, clientHeight } = this.renderer.canvas;
    document.getElementById("labels").replaceChildren(...labels.map(([name, T]) => {
      const at = mul(T_clip_world, T), w = at[15];
      return make("span", { hidden: w <= 0, style: `left:${(at[3] / w + 1) / 2 * clientWidth}px;top:${(1 - at[7] / w) / 2 * clientHeight}px` }, name);
    }));
    this.frameCount = (this.frameCount || 0) + 1;
  }

  listen() {
    const { canvas, camera } = this.renderer, touches = new Map();
    let moved = 0, pinch = 0;
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); touches.set(event.pointerId, event); moved = 0; pinch = 0; });
    canvas.addEventListener("pointermove", (event) => {
      const before = touches.get(event.pointerId);
      if (!before) return;
      const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
      touches.set(event.pointerId, event);
      moved += Math.abs(dx) + Math.abs(dy);
      if (touches.size === 2) {
        const [a, b] = [...touches.values()], apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
        if (pinch) camera.distance *= pinch / apart;
        pinch = apart;
      }
      if (event.buttons & 6 || event.shiftKey || touches.size === 2) {
        const { right, up } = this.renderer.views(), k = 0.75 * camera.distance / canvas.clientHeight;
        camera.target = camera.target.map((part, i) => part - k * dx * right[i] + k * dy * up[i]);
      } else {
        camera.azimuth -= 0.008 * dx;
        camera.elevation = Math.max(-1.55, Math.min(1.55, camera.elevation + 0.008 * dy));
      }
      this.redraw();
    });
    canvas.addEventListener("pointerup", (event) => {
      touches.delete(event.pointerId);
      if (moved < 4 && event.button === 0) this.pickAt(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointercancel", (event) => touches.delete(event.pointerId));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); camera.distance *= Math.exp(0.001 * event.deltaY); this.redraw(); }, { passive: false });
  }
  pickAt(x, y) {
    const solid = (this.drawn || []).filter((item) => !item.ghost), item = solid[this.renderer.pick(solid, x, y)];
    const index = item ? this.robots.indexOf(item.robot) : -1;
    if (item && item.robot !== this.robot) { this.robot = this.robots[index]; this.panel.build(); }
    this.pickLink(item ? { robot: item.robot, link: item.link } : null);
  }
}

function bounds(corners) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < corners.length; i++) { const k = i % 3; if (corners[i] < low[k]) low[k] = corners[i]; if (corners[i] > high[k]) high[k] = corners[i]; }
  return [low, high];
}

function grid() {
  const lines = [];
  for (let i = -10; i <= 10; i++) lines.push(i, -10, 0, i, 10, 0, -10, i, 0, 10, i, 0);
  return new Float32Array(lines);
}

async function unpacked() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(4, true);
  const data = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  // Arrays of eight-byte numbers may begin at any multiple of four: copy.
  const array = (Kind, [start, count]) => new Kind(bytes.slice(8 + length + start, 8 + length + start + count * Kind.BYTES_PER_ELEMENT));
  return [data, array];
}

unpacked().then(([data, array]) => { window.viewer = new App(data, array); }).catch((error) => {
  const box = document.getElementById("message");
  box.textContent = `This page cannot be shown: ${error.message || error}`; box.hidden = false;
  console.error(error);
});
