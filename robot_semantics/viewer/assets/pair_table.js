import { Marked } from "robot-semantics-viewer";

// The table of pairs of links. Its rows have one height, and only those in sight exist: thousands of pairs scroll smoothly.
const HEIGHT = 28, MARGIN = 8;
// In pixels: the column of boxes, the space in a cell, a scroll bar, and the arrow of a sorted column.
const BOXES = 40, PADDING = 12, SCROLL = 15, SORTED = 16;
// Largest width of the columns beside the names [pixels]: a person may write a long reason.
const MOST = { state: 130, evidence: 170 };

export default {
  components: { Marked },
  inheritAttrs: false,
  props: { columns: Array, rows: Array, filter: String, selected: Array },
  emits: ["pair", "selection", "update:pagination", "needs"],
  template: `
    <q-table ref="qRef" v-bind="$attrs" :style="{ '--state': widths.state + 'px', '--evidence': widths.evidence + 'px' }" :columns="headed" :rows="shown" row-key="id" selection="multiple" :selected="selected"
      v-model:pagination="sorting" :sort-method="(rows) => rows" :rows-per-page-options="[0]">
      <template #header-selection><q-checkbox dense aria-label="all pairs" :model-value="all" @update:model-value="choose(found, $event)" /></template>
      <template #top-row><tr v-if="first" aria-hidden="true" :style="{ height: first * ${HEIGHT} + 'px' }" /></template>
      <template #body="{ key, row, cols, selected }">
        <tr :key="key" class="cursor-pointer" :class="{ selected }" @click="$emit('pair', key)">
          <td @click.stop><input type="checkbox" :checked="selected" :aria-label="row.link1 + ' ' + row.link2"
            @change="choose([row], $event.target.checked)" @keydown.enter="$emit('pair', key)"></td>
          <td v-for="{ name, value } in cols" :title="value"><Marked :text="name.startsWith('link') ? cut(value) : name === 'evidence' ? brief(value) : value" /></td>
        </tr>
      </template>
      <template #bottom-row><tr v-if="last < found.length" aria-hidden="true" :style="{ height: (found.length - last) * ${HEIGHT} + 'px' }" /></template>
    </q-table>
  `,
  data() { return { sorting: { sortBy: null, descending: false, rowsPerPage: 0 }, first: 0, last: 0, room: 0 }; },
  beforeCreate() {
    this.names = new Map();
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    // A page may round the width of each letter up.
    this.width = (text) => 1.06 * pen.measureText(text).width;
  },
  computed: {
    found() {
      const words = (this.filter || "").toLowerCase(), { sortBy, descending } = this.sorting, names = this.columns.map(({ field }) => field);
      const found = this.rows.filter((row) => names.some((name) => row[name].toLowerCase().includes(words)));
      const order = sortBy === "evidence" ? (a, b) => b.share - a.share : (a, b) => a[sortBy].localeCompare(b[sortBy]);
      return sortBy ? found.sort((a, b) => (descending ? -1 : 1) * order(a, b)) : found;
    },
    // The words that all names begin with say nothing: they are left out.
    prefix() {
      const names = this.rows.flatMap(({ link1, link2 }) => [link1, link2]), [first = ""] = names;
      const end = names.reduce((length, name) => { while (!name.startsWith(first.slice(0, length))) length -= 1; return length; }, first.length);
      return first.slice(0, first.slice(0, end).search(/[_\-/.:][^_\-/.:]*$/) + 1);
    },
    // From which letter on each name differs from all others.
    differs() {
      const names = [...new Set(this.rows.flatMap(({ link1, link2 }) => [link1, link2]))].sort(), from = new Map();
      const common = (a, b) => { let at = 0; while (at < a.length && a[at] === b[at]) at += 1; return at; };
      names.forEach((name, k) => from.set(name, Math.max(...[names[k - 1], names[k + 1]].map((other) => other === undefined ? 0 : common(name, other)))));
      return from;
    },
    headed() { return this.columns.map((column) => column.name.startsWith("link") && this.prefix ? { ...column, label: `${this.prefix}…` } : column); },
    // What the columns need so that nothing is cut [pixels]: states and evidence have it, and the names share the rest.
    widths() {
      const widest = (texts, least) => Math.ceil(Math.max(least, ...[...new Set(texts)].map(this.width)) + PADDING);
      const [state, evidence] = ["state", "evidence"].map((name) => Math.min(MOST[name], widest(this.rows.map((row) => this.brief(row[name])), this.width(name) + SORTED)));
      const name = widest(this.rows.flatMap(({ link1, link2 }) => [link1, link2]).map((name) => name.slice(this.prefix.length)), this.width(this.prefix) + SORTED);
      return { state, evidence, all: BOXES + 2 * name + state + (this.rows.some((row) => row.evidence) ? evidence : 0) + SCROLL };
    },
    shown() { return this.found.slice(this.first, this.last); },
    all() {
      const chosen = new Set(this.selected.map(({ id }) => id)), count = this.found.filter(({ id }) => chosen.has(id)).length;
      return count > 0 && (count === this.found.length || null);
    },
  },
  watch: { widths() { this.tell(); }, found() { this.look(); }, prefix() { this.names = new Map(); }, differs() { this.names = new Map(); } },
  mounted() {
    this.box = this.$el.querySelector(".q-table__middle");
    this.box.addEventListener("scroll", () => this.look(), { passive: true });
    const name = this.$el.querySelector("th:nth-child(2)");
    this.sizes = new ResizeObserver(() => {
      const room = name.clientWidth - PADDING;
      if (room !== this.room) { this.names = new Map(); this.room = room; }
      this.look();
    });
    for (const part of [this.box, name]) this.sizes.observe(part);
    this.tell();
  },
  unmounted() { this.sizes.disconnect(); },
  methods: {
    // The width of the panel in which no name is cut.
    tell() {
      const panel = this.$el?.closest(".panel"), { paddingLeft, paddingRight } = panel ? getComputedStyle(panel) : {};
      if (panel) this.$emit("needs", this.widths.all + panel.offsetWidth - panel.clientWidth + parseFloat(paddingLeft) + parseFloat(paddingRight));
    },
    // Steps of several rows: most frames only scroll.
    look() {
      if (!this.box) return;
      const at = Math.floor(this.box.scrollTop / HEIGHT / MARGIN) * MARGIN, end = Math.max(0, this.found.length - MARGIN);
      this.first = Math.max(0, Math.min(at, end) - MARGIN);
      this.last = Math.min(this.found.length, at + Math.ceil(this.box.clientHeight / HEIGHT) + 2 * MARGIN);
    },
    // The hits without what follows from them; all of it on hover.
    brief(words) { return words.replace(/adjacent: .*/, "adjacent").replace("does not collide", "free").replace(", but a search found a collision", " *").split(/, (?:probability|and in)/)[0]; },
    // One text for a cell is laid out faster than parts that CSS cuts. Cut is what other names have too, then the middle.
    cut(name) {
      const rest = name.slice(this.prefix.length);
      if (this.room <= 0) return rest;
      let text = this.names.get(name);
      if (text !== undefined) return text;
      text = rest;
      const letters = [...rest], from = Math.max(0, Math.min((this.differs.get(name) || 0) - this.prefix.length, letters.length - 4));
      for (let head = from; head >= 1 && this.width(text) > this.room; head -= 1) text = `${letters.slice(0, head - 1).join("")}…${letters.slice(from).join("")}`;
      if (this.width(text) > this.room) {
        const left = [...text];
        for (let kept = left.length - 1; kept > 1 && this.width(text) > this.room; kept -= 1) {
          const end = Math.min(9, kept >> 1);
          text = `${left.slice(0, kept - end).join("")}…${left.slice(-end).join("")}`;
        }
      }
      this.names.set(name, text);
      return text;
    },
    choose(rows, added) {
      const chosen = new Set(this.selected.map(({ id }) => id)), changed = rows.filter(({ id }) => chosen.has(id) !== added);
      this.$emit("selection", { added, rows: changed, keys: changed.map(({ id }) => id) });
    },
  },
};
