// Rows of parts of the document, each by its name: what does not change stays as it is, and keeps its focus and clicks.
import { Marked, Thumbnail } from "robot-semantics-viewer";

const MOST_CHIPS = 12;

export default {
  components: { Marked, Thumbnail },
  props: { rows: Array, options: Object },
  emits: ["act"],
  template: `
    <div class="part-list">
      <datalist v-for="(names, list) in options" :key="list" :id="listId(list)"><option v-for="name in names" :key="name" :value="name" /></datalist>
      <div v-for="[text, row] in parts" :key="row.key" v-memo="[text, editing === row.key, open[row.key], row.cells && (open[row.key] || !row.folded) ? options : 0]" class="part" v-bind="row.marks">
        <div class="part-head">
          <Thumbnail v-if="row.stances" :stances="row.stances" :about="'robot in the state ' + row.title" />
          <div class="part-words">
            <input v-if="editing === row.key" :id="fieldId" class="part-field" :value="row.title" :aria-label="'new name of ' + row.title" @keydown="key($event, row, null)" @blur="end($event, row, null)">
            <button v-else-if="row.take" class="part-take" :data-take="row.take" @click="act('take', row)" @dblclick="rename(row)" @keydown.f2="rename(row)"><Marked :text="row.take" /></button>
            <span v-else class="part-title" :tabindex="row.renamable || row.shows ? 0 : null" :role="row.renamable ? 'button' : null" :aria-label="row.renamable ? 'rename ' + row.title : null" :title="row.renamable ? 'double click: rename' : null" :data-rename="row.renamable ? row.title : null" :data-shows="row.shows ? row.title : null"
              @dblclick="rename(row)" @keydown.f2="rename(row)" @keydown.enter="rename(row)" @mouseenter="hover(row, true)" @focus="hover(row, true)" @mouseleave="hover(row, false)" @blur="hover(row, false)"><Marked :text="row.title" /></span>
            <div v-if="row.about" class="part-about"><Marked :text="row.about" /></div>
          </div>
          <button v-if="row.renamable" class="part-icon" v-bind="about('change ' + row.title)" :aria-expanded="row.cells ? String(Boolean(open[row.key])) : null" :data-change="row.title" @click="change(row)"><i class="q-icon material-icons" aria-hidden="true">edit</i></button>
          <button v-if="row.visible" class="part-icon" v-bind="about('show ' + row.title)" @click="act('see', row)"><i class="q-icon material-icons" aria-hidden="true">visibility</i></button>
          <button class="part-icon" v-bind="about('remove ' + row.kind + ' ' + row.name.join('/'))" @click="act('remove', row)"><i class="q-icon material-icons" aria-hidden="true">delete</i></button>
        </div>
        <div v-if="row.chips && row.chips.length" class="part-chips">
          <span v-for="chip in chips(row)" :key="chip.kind + chip.name" class="part-chip"><Marked :text="chip.words" /><button :aria-label="'remove ' + chip.words + ' from ' + row.title" :data-cut="chip.name.join(' ')" @click="act('cut', row, { member: chip.kind, members: chip.name })">×</button></span>
          <button v-if="row.chips.length > chips(row).length" class="part-more" @click="open[row.key] = true">{{ row.chips.length - chips(row).length }} more</button>
        </div>
        <div v-if="row.cells && (open[row.key] || !row.folded)" class="part-cells">
          <label v-for="cell in row.cells" :key="cell.key"><span><Marked :text="cell.label" /></span>
            <input v-if="cell.kind === 'box'" type="checkbox" :checked="cell.value" :data-cell="cell.key" @change="act('set', row, { cell: cell.key, value: $event.target.checked })">
            <select v-else-if="cell.kind === 'choice'" :value="cell.value" :data-cell="cell.key" @change="act('set', row, { cell: cell.key, value: $event.target.value })"><option v-for="name in options[cell.list]" :key="name">{{ name }}</option></select>
            <input v-else class="part-field" :value="cell.value" :data-cell="cell.key" :list="cell.list && listId(cell.list)" @keydown="key($event, row, cell)" @blur="end($event, row, cell)">
          </label>
        </div>
        <div v-for="[severity, text] in row.problems" class="part-problem" :data-severity="severity" data-problem><b>{{ severity }}</b> <Marked :text="text" /></div>
      </div>
    </div>
  `,
  created() { this.known = new Map(); },
  computed: {
    // A row with the same text is not read again.
    parts() {
      const parts = this.rows.map((text) => [text, this.known.get(text) ?? JSON.parse(text)]);
      this.known = new Map(parts);
      return parts;
    },
  },
  data() { return { editing: "", open: {}, fieldId: `part-field-${Math.random().toString(36).slice(2)}` }; },
  methods: {
    listId(list) { return `${this.fieldId}-${list}`; },
    chips(row) { return this.open[row.key] ? row.chips : row.chips.slice(0, MOST_CHIPS); },
    act(what, row, more = {}) { this.$emit("act", { what, kind: row.kind, name: row.name, ...more }); },
    about(words) { return { title: words, "aria-label": words }; },
    // A part without values has a name only.
    change(row) { if (row.cells) this.open[row.key] = !this.open[row.key]; else this.rename(row); },
    hover(row, on) { if (row.shows) this.act("hover", row, { on }); },
    rename(row) {
      if (!row.renamable) return;
      this.editing = row.key;
      this.$nextTick(() => { const field = document.getElementById(this.fieldId); field?.focus(); if (field) { field.value = row.name.at(-1); field.select(); } });
    },
    key(event, row, cell) {
      if (event.key === "Escape") { event.target.value = cell ? cell.value : row.title; this.editing = ""; event.stopPropagation(); }
      else if (event.key === "Enter") { event.preventDefault(); this.end(event, row, cell); }
    },
    end({ target }, row, cell) {
      const value = target.value.trim(), before = cell ? cell.value : row.name.at(-1);
      if (!cell) { if (!this.editing) return; this.editing = ""; }
      if (value === before || (!cell && !value)) return;
      if (cell) this.act("set", row, { cell: cell.key, value }); else this.act("rename", row, { value });
    },
  },
};
