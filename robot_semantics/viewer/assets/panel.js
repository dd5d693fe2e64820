// The panel on the left: what there is to choose, and what is known of what was chosen.
function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key in node) node[key] = value; else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const short = (value) => Number(value.toPrecision(5)).toString();
const css = (colour) => `rgb(${colour.slice(0, 3).map((part) => Math.round(255 * part)).join(",")})`;
const table = (rows, heads = null) => make("table", {},
  ...(heads ? [make("tr", {}, ...heads.map((text) => make("th", {}, text)))] : []),
  ...rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", { className: typeof cell === "number" ? "number" : "" },
    typeof cell === "number" ? short(cell) : cell)))));

class Panel {
  constructor(app) {
    this.app = app;
    this.root = document.getElementById("sections");
    this.sliders = [];
  }

  section(title, count, open, ...children) {
    const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
    const before = document.getElementById(id);
    const summary = make("summary", {}, title, count === null ? null : make("small", {}, ` ${count}`));
    return make("details", { id, open: before ? before.open : open }, summary, ...children);
  }

  // Everything, for the chosen robot; sliders keep their places when only positions change.
  build() {
    const { app } = this, { robot } = app;
    this.sliders = [];
    const sections = [this.robots(), app.data.live ? this.live() : null, this.moments(), this.showing()];
    if (robot) {
      const groups = Object.keys(robot.groups), moving = robot.joints.filter((joint) => joint.count);
      if (groups.length) sections.push(this.section("Groups", groups.length, true, ...groups.map((name) => this.groupButton(name))));
      if (robot.states.length) sections.push(this.section("Named states", robot.states.length, true, ...robot.states.map((state) => make("button",
        { onclick: () => app.takeUp(state), "data-state": `${state.group}/${state.name}`, title: Object.keys(state.joints).join(", ") }, `${state.group}/${state.name}`))));
      if (moving.length) sections.push(this.section("Joints", moving.length, true,
        make("button", { onclick: () => app.reset(), id: "default-positions" }, "default positions"), ...moving.flatMap((joint) => this.joint(joint))));
      if (robot.endEffectors.length) sections.push(this.section("End effectors", robot.endEffectors.length, false,
        table(robot.endEffectors.map((item) => [item.name, item.group, item.parentLink, item.parentGroup]), ["name", "group", "mounted on", "of group"])));
      if (robot.passive.length) sections.push(this.section("Passive joints", robot.passive.length, false, ...robot.passive.map((name) => make("div", {}, name))));
      if (robot.disabled.length) sections.push(this.section("Disabled collision pairs", robot.disabled.length, false, table(robot.disabled)));
      sections.push(this.saving());
    }
    if (app.data.witnesses.length) sections.push(this.witnesses());
    this.root.replaceChildren(...sections.filter(Boolean));
    this.update();
  }

  robots() {
    const { app } = this;
    if (app.robots.length < 2) return null;
    return make("select", { id: "robot", onchange: (event) => app.choose(Number(event.target.value)) },
      ...app.robots.map((robot, index) => make("option", { value: index, selected: robot === app.robot }, robot.name)));
  }

  groupButton(name) {
    const { app } = this, number = app.groups.indexOf(name);
    const button = make("button", { onclick: () => app.toggleGroup(name), "data-group": name }, name);
    button.setAttribute("aria-pressed", String(number >= 0));
    if (number >= 0) button.style.setProperty("--chip", css(app.groupColour(number)));
    return button;
  }

  joint(joint) {
    const { app } = this, { robot } = app;
    const notes = [joint.type, joint.virtual ? "virtual" : "", joint.passive ? "passive" : "", joint.mimic ? `follows ${joint.mimic[3]}` : ""];
    return Array.from({ length: joint.count }, (_, k) => {
      const at = joint.at + k, turn = joint.type === "revolute" || joint.type === "continuous" || (joint.type === "planar" && k === 2);
      const reach = turn ? Math.PI : joint.count === 7 && k > 2 ? 1 : 2;
      const low = joint.lower ?? -reach, high = joint.upper ?? reach;
      const change = (event) => app.setPosition(robot, robot.variables[at], Number(event.target.value));
      const slider = make("input", { type: "range", min: low, max: high, step: (high - low) / 1000 || 0.001, disabled: Boolean(joint.mimic), oninput: change, "aria-label": robot.variables[at] });
      const number = make("input", { type: "number", step: "any", disabled: Boolean(joint.mimic), onchange: change, "data-variable": robot.variables[at] });
      this.sliders.push([at, slider, number]);
      return make("div", { className: "row" }, make("label", {}, make("span", {}, robot.variables[at]), make("small", {}, notes.filter(Boolean).join(", "))), slider, number);
    });
  }

  moments() {
    const { app } = this, { moments } = app.data;
    if (moments.length < 2) return null;
    const label = make("span", { id: "moment-label" });
    const slider = make("input", { type: "range", id: "moment", min: 0, max: moments.length - 1, step: 1, value: app.moment, oninput: (event) => app.showMoment(Number(event.target.value)) });
    const play = make("button", { id: "play", onclick: () => app.play() }, "play");
    const ghost = make("select", { id: "ghost", onchange: (event) => app.setGhost(Number(event.target.value)) }, make("option", { value: -1 }, "nothing"),
      ...moments.map((moment, index) => make("option", { value: index, selected: index === app.ghost }, moment.label)));
    return this.section("Time", moments.length, true, make("div", {}, play, label), slider, make("div", {}, "compare with ", ghost), make("div", { id: "differences" }));
  }

  showing() {
    const { app } = this;
    const toggle = (key, text) => make("label", {}, make("input", { type: "checkbox", id: key, checked: app.shows[key], onchange: (event) => { app.shows[key] = event.target.checked; app.changed(); } }), ` ${text} `);
    return make("div", {}, toggle("frames", "frames"), toggle("axes", "link axes"), toggle("names", "names"), make("button", { id: "fit", onclick: () => { app.fit(); app.changed(); } }, "fit"));
  }

  saving() {
    const { app } = this;
    const text = make("textarea", { id: "saved", readOnly: true, hidden: true });
    const show = (content) => { text.value = content; text.hidden = false; };
    const groups = make("select", { id: "state-group" }, ...Object.keys(app.robot.groups).map((name) => make("option", {}, name)));
    const name = make("input", { type: "text", id: "state-name", placeholder: "name of the state", size: 16 });
    const state = make("div", {}, groups, name, make("button", { id: "save-state", onclick: () => show(app.groupState(groups.value, name.value || "new_state")) }, "as group state"));
    return this.section("Save", null, false,
      make("button", { id: "save-usdf", onclick: () => { const content = app.usdf(); show(content); app.download(`${app.data.title || "world"}.usdf`, content); } }, "as world state (USDF)"),
      Object.keys(app.robot.groups).length ? state : null, text);
  }

  witnesses() {
    const { app } = this;
    return this.section("Colliding pairs", app.data.witnesses.length, true, ...app.data.witnesses.map((item, index) => make("button",
      { "data-witness": index, onclick: () => app.showWitness(item), title: item.text || "" }, `${item.link1} × ${item.link2}`)));
  }

  live() {
    const { app } = this;
    const name = make("input", { type: "text", id: "snapshot-name", placeholder: "name (by time)", size: 14 });
    const ask = (what) => app.ask(what, { name: name.value });
    return this.section("Running node", null, true, make("div", { id: "live-state", className: "soft" }, "waiting for the node"), name,
      make("button", { id: "snapshot-save", onclick: () => ask("save") }, "save"), make("button", { id: "snapshot-restore", onclick: () => ask("restore") }, "restore"));
  }

  // Numbers that change with every position.
  update() {
    const { app } = this;
    for (const [at, slider, number] of this.sliders) {
      const value = app.robot && app.q(app.robot) ? app.q(app.robot)[at] : 0;
      slider.value = value;
      if (document.activeElement !== number) number.value = short(value);
    }
    const label = document.getElementById("moment-label"), slider = document.getElementById("moment"), differences = document.getElementById("differences");
    if (label) label.textContent = app.data.moments[app.moment].label;
    if (slider) slider.value = app.moment;
    if (differences) {
      const rows = app.differences();
      differences.replaceChildren(app.ghost < 0 ? "" : rows.length ? table(rows.slice(0, 60), ["differs", "now", "then"]) : "no difference");
    }
    this.info();
  }

  info() {
    const { app } = this, box = document.getElementById("info"), { picked } = app;
    box.hidden = !picked;
    if (!picked) return;
    const { robot, link } = picked, T = app.poses(robot)[link], name = robot.links[link].name, joint = robot.joints[link];
    const groups = Object.keys(robot.groups).filter((group) => robot.groups[group].links.includes(link));
    const pairs = robot.disabled.filter(([a, b]) => a === name || b === name).map(([a, b, reason]) => [a === name ? b : a, reason || "(no reason)"]);
    box.replaceChildren(make("h2", {}, name), make("div", { className: "soft" }, robot.name),
      table([["position [m]", [T[3], T[7], T[11]].map(short).join("  ")], ["roll pitch yaw [rad]", rollPitchYaw(T).map(short).join("  ")], ["parent joint", `${joint.name} (${joint.type})`], ["groups", groups.join(", ") || "none"]]),
      make("h3", {}, `pairs not checked for collision: ${pairs.length}`), table(pairs), make("button", { onclick: () => app.pickLink(null) }, "close"));
  }
}
