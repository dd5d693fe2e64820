// The panel on the left and what lies over the picture: what there is to choose, and what is known of what was chosen.
import { groupsOfLinks, linkFacts, linkTags } from "./link_facts.js";
import { bidiParts, own, rollPitchYaw } from "./math.js";

export function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key in node) node[key] = value; else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  const shown = (child) => typeof child !== "string" || tag === "option" ? [child] : bidiParts(child).map(([text, sign]) => sign ? make("bdi", { className: "bidi", "data-sign": sign }, document.createTextNode(text)) : text);
  node.append(...children.filter((child) => child !== null && child !== undefined).flatMap(shown));
  return node;
}
const drawing = (tag, attributes, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
// What is smaller than any measure is noise of the arithmetic.
const short = (value) => Math.abs(value) < 1e-12 ? "0" : Number(value.toPrecision(5)).toString();
const css = (colour) => `rgb(${colour.slice(0, 3).map((part) => Math.round(255 * part)).join(",")})`;
const table = (rows, heads = null) => make("table", {},
  ...(heads ? [make("tr", {}, ...heads.map((text) => make("th", {}, text)))] : []),
  ...rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", { className: typeof cell === "number" ? "number" : "" },
    typeof cell === "number" ? short(cell) : cell)))));
// Replace the children of a node. A child that stays is not moved: a moved one is laid out again, with hundreds of sliders.
function replaceOthers(root, nodes) {
  const kept = new Set(nodes);
  for (const old of [...root.childNodes]) if (!kept.has(old)) old.remove();
  nodes.forEach((node, at) => { if (root.childNodes[at] !== node) root.insertBefore(node, root.childNodes[at] ?? null); });
}
// Give a list to choose from these names, the empty one shown as `none`. The options of the names that it has stay.
function offerNames(select, names, none = "") {
  const there = new Map([...select.options].map((option) => [option.value, option]));
  replaceOthers(select, names.map((name) => there.get(name) ?? make("option", { value: name }, name || none)));
}
const VIEWS = [["iso", "3D", "0"], ["front", "front", "1"], ["left", "left", "3"], ["top", "top", "5"]];
const SHOWN = [["frames", "frames", "R"], ["axes", "link axes", "A"], ["names", "names", "N"], ["collision", "collision geometry", "C"], ["spheres", "spheres", "S"], ["yUp", "turn Y_UP", ""], ["forces", "forces", ""], ["degrees", "degrees", ""], ["dark", "dark", "D"]];

export function layout(root, title) {
  root.replaceChildren(
    make("div", { id: "panel" }, make("h1", {}, title), make("input", { type: "search", id: "search", "aria-label": "find in the robot", placeholder: "find a link, joint, group, state   /" }), make("div", { id: "found" }), make("div", { id: "sections" })),
    make("div", { id: "stage" }, make("canvas", { id: "canvas", tabIndex: 0, role: "img", "aria-label": "3D view" }), make("div", { id: "labels" }), make("div", { id: "legend" }), make("div", { id: "bar" }), make("div", { id: "views" }),
      make("div", { id: "info", hidden: true }), make("div", { id: "lost", hidden: true, role: "alert" }, make("div", {})), make("div", { id: "tip", hidden: true }), make("div", { id: "message", hidden: true, role: "status" }), make("div", { id: "time", hidden: true })));
}

export class Panel {
  constructor(app) {
    this.app = app;
    this.root = app.find("sections");
    this.sliders = [];
    this.shown = {};
    app.find("views").replaceChildren(...VIEWS.map(([name, text, key]) => make("button", { onclick: () => app.fit(name), title: `key ${key}`, "data-view": name }, text)),
      make("button", { id: "fit", onclick: () => app.fit(), title: "key F" }, "fit"),
      make("button", { id: "fold", onclick: () => app.fold(), title: "key P: hide or show the panels" }, "panels"));
    app.find("search").oninput = (event) => this.search(event.target.value.trim().toLowerCase());
    this.timeBar();
  }

  section(title, count, open, ...children) {
    const id = title.toLowerCase().replace(/[^a-z]+/g, "-"), section = this.app.find(id) ?? make("details", { id, open }, make("summary", {}, title, make("small")));
    section.querySelector("summary small").textContent = count === null ? "" : ` ${count}`;
    replaceOthers(section, [section.firstChild, ...children.filter(Boolean)]);
    return section;
  }

  // A closed section that gets its content when it is opened first: thousands of hidden rows slow down the whole page.
  longSection(title, count, content) {
    const section = this.section(title, count, false), fill = () => { if (section.open && section.children.length === 1) section.append(content()); };
    section.ontoggle = fill;
    fill();
    return section;
  }

  // A node for each row of values. A row that was shown before keeps its node: hundreds of new ones slow down each edit.
  nodes(kind, rows, create) {
    const before = this.shown[kind] ?? new Map();
    this.shown[kind] = new Map(rows.map((row) => [JSON.stringify(row), row]).map(([key, row]) => [key, before.get(key) ?? create(...row)]));
    return this.shown[kind].values();
  }

  // Everything, for the chosen robot; sliders keep their places when only positions change.
  build() {
    const { app } = this, { robot } = app;
    const sections = [this.robots(), this.showing(), this.problems(), this.moments()];
    if (robot) {
      const groups = Object.keys(robot.groups);
      if (groups.length) sections.push(this.section("Groups", groups.length, true, ...this.nodes("groups", groups.map((name) => [name, app.groups.indexOf(name)]), (name, number) => this.groupButton(name, number))));
      const states = robot.states.filter((state) => !app.focus || state.group === app.focus), all = states.length ? states : robot.states;
      if (robot.states.length) sections.push(this.section("Named states", all.length, true, ...this.nodes("states", all.map((state) => [state, app.focus === state.group]), (state, isShort) => this.stateButton(state, isShort))));
      sections.push(this.joints(), this.links());
      if (robot.endEffectors.length) sections.push(this.section("End effectors", robot.endEffectors.length, false,
        table(robot.endEffectors.map((item) => [item.name, item.group, item.parentLink, item.parentGroup]), ["name", "group", "mounted on", "of group"])));
      if (robot.passive.length) sections.push(this.section("Passive joints", robot.passive.length, false, ...robot.passive.map((name) => make("div", {}, name))));
      if (robot.disabled.length) sections.push(this.longSection("Disabled collision pairs", robot.disabled.length, () => table(robot.disabled)));
      if (robot.enabled.length) sections.push(this.longSection("Enabled collision pairs", robot.enabled.length, () => table(robot.enabled)));
      if (robot.offByDefault.length) sections.push(this.section("Links with collisions off by default", robot.offByDefault.length, false, ...robot.offByDefault.map((name) => make("div", {}, name))));
      sections.push(this.saving());
    }
    if (app.data.witnesses.length) sections.push(this.witnesses());
    replaceOthers(this.root, sections.filter(Boolean));
    this.legend();
    this.update();
  }

  robots() {
    const { app } = this;
    if (app.robots.length < 2) return null;
    return make("select", { id: "robot", "aria-label": "robot", onchange: (event) => app.choose(Number(event.target.value)) },
      ...app.robots.map((robot, index) => make("option", { value: index, selected: robot === app.robot }, robot.name)));
  }

  showing() {
    const { app } = this, has = (test) => app.robots.some((robot) => robot.parts.some(test));
    const sensible = { forces: app.data.moments.some(({ wrenches }) => Object.keys(wrenches || {}).length), spheres: app.robots.some((robot) => Object.keys(robot.spheres).length), collision: has((part) => part.kind === "collision"), yUp: has((part) => part.yUp) };
    const toggle = ([key, text, letter]) => make("label", { title: letter ? `key ${letter}` : "" },
      make("input", { type: "checkbox", id: key, onchange: (event) => app.setShow(key, event.target.checked) }), ` ${text}`);
    this.toggles ??= make("div", { className: "toggles" });
    replaceOthers(this.toggles, [...this.nodes("toggles", SHOWN.filter(([key]) => sensible[key] ?? true), (...row) => toggle(row))]);
    for (const box of this.toggles.querySelectorAll("input")) box.checked = app.shows[box.id];
    return this.toggles;
  }

  problems() {
    const { problems } = this.app.data;
    if (!problems?.length) return null;
    const count = problems.reduce((sum, item) => sum + item.count, 0);
    return this.section("Warnings", count, false, ...problems.map((item) => make("div", { className: "problem", "data-problem": item.code },
      make("b", {}, `${item.count} × ${item.code}`), make("div", { title: item.whole }, `${item.place}: ${item.text}`), item.remedy ? make("div", { className: "remedy" }, item.remedy) : null)));
  }

  groupButton(name, number) {
    const { app } = this;
    const button = make("button", { onclick: () => app.toggleGroup(name), "data-group": name, className: "chip" }, make("i"), name);
    button.setAttribute("aria-pressed", String(number >= 0));
    if (number >= 0) button.style.setProperty("--chip", css(app.groupColour(number)));
    return button;
  }
  stateButton(state, isShort) {
    return make("button", { onclick: () => this.app.takeUp(state), "data-state": `${state.group}/${state.name}`, title: Object.keys(state.joints).join(", ") },
      isShort ? state.name : `${state.group}/${state.name}`);
  }
  legend() {
    const { app } = this;
    app.find("legend").replaceChildren(...app.groups.map((name, number) => { const line = make("div", {}, make("i"), name); line.style.setProperty("--chip", css(app.groupColour(number))); return line; }),
      make("div", { id: "scale" }, `grid ${Number(app.square.toPrecision(3))} m`), make("div", { id: "extent" }, `size ${app.extent.map((part) => Number(part.toPrecision(3))).join(" × ")} m`));
  }

  // The sliders stay as they are while nothing that they show changes: hundreds of them slow down each edit.
  joints() {
    const { app } = this, { robot } = app, { passive } = robot;
    const key = JSON.stringify([robot.name, robot.variables, passive, own(robot.groups, app.focus)?.joints, app.shows.degrees, app.sliders, Boolean(app.wanted), app.data.live]);
    if (key !== this.jointsKey || !this.jointsNode) { this.sliders = []; this.jointsNode = this.newJoints(); this.jointsKey = key; }
    const choice = this.jointsNode?.querySelector("#joints-of");
    if (choice) { offerNames(choice, ["", ...Object.keys(robot.groups)], "all joints"); choice.value = app.focus; }
    return this.jointsNode;
  }
  // The sliders of the group that is chosen, of all joints where none is.
  newJoints() {
    const { app } = this, { robot } = app, moving = robot.joints.filter((joint) => joint.count), group = own(robot.groups, app.focus);
    if (!moving.length) return null;
    const listed = group ? moving.filter((joint) => group.joints.includes(joint.name)) : moving;
    const choice = make("select", { id: "joints-of", "aria-label": "joints of", onchange: (event) => app.setFocus(event.target.value) });
    return this.section("Joints", listed.length, true, make("div", { className: "line" }, choice, make("button", { onclick: () => app.reset(), id: "default-positions" }, "default positions")),
      robot.dependent.length && !app.served ? make("div", { className: "soft", id: "loops-note" }, "Closed loops: the passive joints do not follow the sliders, and a saved state has open loops. They follow in a page of robot_semantics view without --html.") : null, ...listed.flatMap((joint) => this.joint(joint)));
  }
  joint(joint) {
    const { app } = this, { robot } = app;
    const held = own(own(app.sliders, robot.name)?.held, joint.name);
    const notes = [joint.type, joint.virtual ? "virtual" : "", joint.passive ? "passive" : "", joint.mimic ? `follows ${joint.mimic.leader}` : "", held ? `moved by ${held}` : ""];
    return Array.from({ length: joint.count }, (_, k) => {
      const at = joint.at + k, measured = robot.unit(at), { scale, unit } = app.shownIn(measured);
      const reach = { rad: Math.PI, m: 2 }[measured] || 1, [low, high] = joint.range ?? [-reach, reach], name = robot.variables[at];
      const disabled = app.data.live ? !(app.target(robot) && app.canCommand(robot, joint)) : Boolean(joint.mimic || robot.dependent.includes(joint.name));
      const slider = make("input", { type: "range", min: low, max: high, step: (high - low) / 1000 || 0.001, disabled, oninput: (event) => app.setPosition(robot, name, Number(event.target.value)), "aria-label": name });
      const number = make("input", { type: "number", step: "any", disabled, onchange: (event) => app.setPosition(robot, name, Number(event.target.value) / scale), "data-variable": name, "aria-label": `${name}, number` });
      this.sliders.push({ name, at, slider, number, scale, lower: joint.lower ?? -Infinity, upper: joint.upper ?? Infinity });
      const plot = make("button", { className: "plot", title: "plot over time", onclick: () => { app.chosen.has(name) ? app.chosen.delete(name) : app.chosen.add(name); this.plots(); } }, "∿");
      return make("div", { className: app.timed ? "row timed" : "row" }, make("label", {}, make("span", {}, name), make("small", {}, notes.filter(Boolean).join(", "))), app.timed ? plot : null, slider, make("span", { className: "value" }, number, make("small", {}, unit)));
    });
  }

  // The tree of links; behind each what makes it special.
  links() {
    const { app } = this, { robot } = app, depth = [], groups = groupsOfLinks(robot);
    const rows = () => robot.links.map(({ name, parent }, link) => {
      depth[link] = parent < 0 ? 0 : depth[parent] + 1;
      const found = { robot, link }, facts = linkFacts(robot, link, groups).map(([title, text]) => `${title}: ${text}`);
      const row = make("button", { className: "link", title: facts.join("\n"), "data-link": name, onclick: () => app.pickLink(found), onpointerenter: () => app.hover(found), onpointerleave: () => app.hover(null), onfocus: () => app.hover(found), onblur: () => app.hover(null) },
        ...this.chips(robot, link), name, ...linkTags(robot, link, groups).map((tag) => make("small", {}, tag)));
      row.style.setProperty("--depth", Math.min(depth[link], 12));
      return row;
    });
    return this.longSection("Links", robot.links.length, () => make("div", {}, ...rows()));
  }
  // A square in the colour of each chosen group that has the link.
  chips(robot, link) {
    const { app } = this;
    return app.groups.map((name, number) => [own(robot.groups, name), number]).filter(([group]) => group?.links.includes(link)).map(([, number]) => {
      const chip = make("i"); chip.style.setProperty("--chip", css(app.groupColour(number)));
      return chip;
    });
  }
  // What is known of the link below the pointer.
  tip(found, at) {
    const box = this.app.find("tip"), stage = this.app.find("stage");
    box.hidden = !found || !at;
    if (box.hidden) return;
    const { robot, link } = found, joint = robot.joints[link];
    box.replaceChildren(make("b", {}, robot.links[link].name), make("div", { className: "soft" }, `${joint.name} (${joint.type})`),
      ...linkFacts(robot, link).map(([title, text]) => make("div", {}, `${title}: ${text}`)));
    const [x, y] = at;
    Object.assign(box.style, { left: `${Math.max(0, Math.min(x + 14, stage.clientWidth - box.offsetWidth - 4))}px`, top: `${Math.max(0, Math.min(y + 14, stage.clientHeight - box.offsetHeight - 4))}px` });
  }

  moments() {
    const { app } = this, { moments } = app.data;
    if (moments.length < 2) return null;
    const ghost = make("select", { id: "ghost", "aria-label": "compare with", onchange: (event) => app.setGhost(Number(event.target.value)) }, make("option", { value: -1 }, "nothing"),
      ...moments.map((moment, index) => make("option", { value: index, selected: index === app.ghost }, moment.label)).slice(app.data.live ? 1 : 0));
    return this.section("Compare", null, true, make("div", { className: "line" }, "with ", ghost), make("div", { id: "differences" }));
  }
  timeBar() {
    const { app } = this, { moments } = app.data, bar = app.find("time");
    if (moments.length < 2) return;
    bar.hidden = false; app.find("bar").hidden = true;
    bar.replaceChildren(make("div", { id: "plots" }), make("div", { className: "line" },
      make("button", { id: "play", onclick: () => app.play(), title: "space" }, "play"),
      make("select", { id: "speed", "aria-label": "speed", onchange: (event) => { app.speed = Number(event.target.value); } }, ...[0.1, 0.25, 0.5, 1, 2, 5, 10].map((speed) => make("option", { value: speed, selected: speed === 1 }, `${speed}×`))),
      make("input", { type: "range", id: "moment", "aria-label": "moment", min: 0, max: moments.length - 1, step: 1, value: 0, oninput: (event) => app.showMoment(Number(event.target.value)) }),
      make("span", { id: "moment-label" })));
  }
  // The chosen joints over the time line, with a mark where it is now.
  plots() {
    const { app } = this, box = app.find("plots"), times = app.times(), span = times[times.length - 1] || 1, { robot } = app;
    if (!box) return;
    box.replaceChildren(...[...app.chosen].filter((name) => robot.variableIndex.has(name)).map((name) => {
      const values = app.data.moments.map((moment) => own(moment.stances, robot.name)?.q[robot.variableIndex.get(name)]);
      const known = values.filter((value) => value !== undefined), low = Math.min(...known), high = Math.max(...known), reach = high - low || 1;
      const points = values.map((value, k) => value === undefined ? "" : `${(100 * times[k] / span).toFixed(2)},${(22 - 20 * (value - low) / reach).toFixed(2)}`).join(" ");
      const plot = make("div", { className: "curve", "data-plot": name });
      plot.append(drawing("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none" }, drawing("polyline", { points }), drawing("line", { class: "now", y1: 0, y2: 24 })));
      const { scale, unit } = app.shownIn(robot.unit(robot.variableIndex.get(name)));
      plot.prepend(make("span", {}, `${name}  ${short(scale * low)} … ${short(scale * high)} ${unit}`));
      return plot;
    }));
    this.update();
  }

  // Built once: a name that is typed here stays.
  saving() {
    this.savingNode ??= this.newSaving();
    const names = Object.keys(this.app.robot.groups), groups = this.savingNode.querySelector("#state-group");
    offerNames(groups, names);
    groups.parentElement.hidden = !names.length;
    return this.savingNode;
  }
  newSaving() {
    const { app } = this;
    const text = make("textarea", { id: "saved", "aria-label": "text to save", readOnly: true, hidden: true });
    const show = (content) => { text.value = content; text.hidden = false; };
    const groups = make("select", { id: "state-group", "aria-label": "group of the state" });
    const name = make("input", { type: "text", id: "state-name", "aria-label": "name of the state", placeholder: "name of the state", size: 16 });
    const state = make("div", {}, groups, name, make("button", { id: "save-state", onclick: () => show(app.groupState(groups.value, name.value || "new_state")) }, "as group state"));
    return this.section("Save", null, false,
      make("button", { id: "save-picture", onclick: () => app.savePicture() }, "picture"), make("button", { id: "copy-link", onclick: () => app.copyLink() }, "copy link"),
      make("button", { id: "save-usdf", onclick: () => { const content = app.usdf(); show(content); app.download(`${app.data.title || "world"}.usdf`, content); } }, "as world state (USDF)"),
      state, text);
  }
  witnesses() {
    const { app } = this;
    return this.section("Colliding pairs", app.data.witnesses.length, true, ...app.data.witnesses.map((item, index) => make("button",
      { "data-witness": index, onclick: () => app.showWitness(item), title: item.text || "" }, `${item.link1} × ${item.link2}`)));
  }

  search(words) {
    const { app } = this, { robot } = app, rows = [];
    const add = (kind, name, act) => { if (words && rows.length < 30 && name.toLowerCase().includes(words)) rows.push(make("button", { onclick: act, "data-found": name }, make("small", {}, kind), ` ${name}`)); };
    if (robot) {
      Object.keys(robot.groups).forEach((name) => add("group", name, () => app.toggleGroup(name)));
      robot.states.forEach((state) => add("state", `${state.group}/${state.name}`, () => app.takeUp(state)));
      robot.links.forEach((link, index) => add("link", link.name, () => app.pickLink({ robot, link: index })));
      robot.joints.forEach((joint, index) => add("joint", joint.name, () => app.pickLink({ robot, link: index })));
    }
    app.find("found").replaceChildren(...rows);
  }

  // Numbers that change with every position.
  update() {
    const { app } = this, q = app.robot && app.q(app.robot);
    for (const { name, at, slider, number, scale, lower, upper } of this.sliders) {
      const value = (slider.disabled ? null : app.target(app.robot)?.[name]) ?? (q ? q[at] : 0);
      slider.value = value;
      if (document.activeElement !== number) number.value = short(scale * value);
      number.classList.toggle("outside", value < lower - 1e-9 || value > upper + 1e-9);
    }
    const label = app.find("moment-label"), slider = app.find("moment"), differences = app.find("differences"), times = app.times();
    if (label) {
      label.textContent = app.data.moments[app.moment].label;
      slider.value = app.moment;
      app.find("play").textContent = app.playing ? "stop" : "play";
      const now = 100 * times[app.moment] / (times[times.length - 1] || 1);
      app.find("time").querySelectorAll(".now").forEach((line) => { line.setAttribute("x1", now); line.setAttribute("x2", now); });
    }
    if (differences) {
      const printed = (value) => typeof value === "number" ? short(value) : value;
      const rows = app.differences().filter(([, now, then]) => printed(now) !== printed(then));
      differences.replaceChildren(app.ghost < 0 ? "" : rows.length ? table(rows.slice(0, 60), ["differs", "now", "then", ""]) : "no difference");
    }
    this.info();
  }

  info() {
    const { app } = this, box = app.find("info"), { picked } = app;
    box.hidden = !picked || !own(app.stances, picked.robot.name);
    if (box.hidden) return;
    const { robot, link } = picked, T = app.poses(robot)[link], name = robot.links[link].name, joint = robot.joints[link];
    const { scale: angle, unit } = app.shownIn("rad");
    const pairs = robot.disabled.filter(([a, b]) => a === name || b === name).map(([a, b, reason]) => [a === name ? b : a, reason || "(no reason)"]);
    const traced = app.traces.some((other) => other.robot === robot && other.link === link);
    const parts = [make("h2", {}, name), make("div", { className: "soft" }, robot.name),
      table([["position [m]", [T[3], T[7], T[11]].map(short).join("  ")], [`roll pitch yaw [${unit}]`, rollPitchYaw(T).map((part) => short(angle * part)).join("  ")], ["parent joint", `${joint.name} (${joint.type})`], ...linkFacts(robot, link)]),
      app.timed ? make("button", { id: "trace", onclick: () => app.toggleTrace(picked) }, traced ? "hide its path" : "show its path") : null,
      make("h3", {}, `pairs not checked for collision: ${pairs.length}`), table(pairs), make("button", { onclick: () => app.pickLink(null) }, "close")];
    box.replaceChildren(...parts.filter(Boolean));
  }
}
