// The whole text of the document. What a person types stays on the page, whatever the server or another page does.
const STORE = "robot_semantics typed";
// The framework sends no message of a million signs or more, and a sign may be written with seven.
const PIECES = /[^]{1,100000}/gu;

export default {
  props: { text: String, base: String, typed: Object, page: String, settled: Object, longest: Number },
  emits: ["typed"],
  template: `
    <div class="text-pane">
      <textarea ref="area" id="whole-text" aria-label="text" spellcheck="false" :value="shown" @input="type(whole($event.target.value))"></textarea>
    </div>
  `,
  // own: what was typed, its number, and the hash of the document on which it was typed; null without.
  data() { return { own: null }; },
  created() { this.number = 0; },
  // A field has the line ends of one kind only; with others, each key would put the caret at the end.
  computed: { shown() { return (this.own ? this.own.text : this.text).replace(/\r\n?/g, "\n"); } },
  watch: {
    typed(now) { if (now && !this.own) this.own = { ...now, number: this.number }; },
    // The server has applied or dropped it: only what it had received, never what was typed since.
    settled({ number }) { if (this.own?.number <= number) this.drop(); },
  },
  mounted() {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(STORE)); } catch { /* no storage, or of somebody else */ }
    // Newer than what the server knows: the page may have lost it meanwhile.
    if (typeof kept?.text === "string" && kept.text !== this.text) {
      this.own = { text: kept.text, base: String(kept.base) };
      this.send(kept.page);
    } else if (this.typed) this.own = { ...this.typed, number: this.number };
  },
  methods: {
    // What is typed, with the line ends of the document, and without halves of signs, which no message can have.
    whole(text) {
      const lines = this.text.includes("\r\n") ? text.replace(/\r?\n/g, "\r\n") : text;
      return lines.toWellFormed?.() ?? lines;
    },
    type(text) {
      if (text === this.text) { this.drop(); this.number += 1; this.emit({ piece: null }); return; }
      this.own = { text, base: this.own ? this.own.base : this.base };
      this.send();
    },
    send(before = "") {
      const { text, base } = this.own;
      this.number += 1;
      this.own.number = this.number;
      try { sessionStorage.setItem(STORE, JSON.stringify({ text, base, page: this.page })); } catch { sessionStorage.removeItem(STORE); /* no room: the server has it */ }
      if (text.length > this.longest) { this.emit({ piece: "", is_too_long: true, base, before }); return; }
      const pieces = text.match(PIECES) || [""];
      pieces.forEach((piece, at) => this.emit({ piece, is_last: at === pieces.length - 1, base, before }));
    },
    emit(typed) { this.$emit("typed", { number: this.number, ...typed }); },
    drop() { this.own = null; sessionStorage.removeItem(STORE); },
  },
};
