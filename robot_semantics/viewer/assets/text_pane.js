// The whole text of the document. What a person types stays on the page, whatever the server or another page does.
const STORE = "robot_semantics typed";

export default {
  props: { text: String, base: String, typed: Object, page: String },
  emits: ["typed"],
  template: `
    <div class="text-pane">
      <textarea ref="area" id="whole-text" aria-label="text" spellcheck="false" :value="shown" @input="type($event.target.value)"></textarea>
    </div>
  `,
  // own: what was typed, and the hash of the document on which it was typed; null without.
  data() { return { own: null }; },
  computed: { shown() { return this.own ? this.own.text : this.text; } },
  watch: {
    // The server has applied or dropped it: only what the page has sent, never what was typed since.
    typed(now, before) { if (before && !now && this.own?.text === before.text) this.drop(); else if (now && !this.own) this.own = { ...now }; },
  },
  mounted() {
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem(STORE)); } catch { /* no storage, or of somebody else */ }
    // Newer than what the server knows: the page may have lost it meanwhile.
    if (typeof kept?.text === "string" && kept.text !== this.text) {
      this.own = { text: kept.text, base: String(kept.base) };
      this.send(kept.page);
    } else if (this.typed) this.own = { ...this.typed };
  },
  methods: {
    type(text) {
      if (text === this.text) { this.drop(); this.$emit("typed", null); return; }
      this.own = { text, base: this.own ? this.own.base : this.base };
      this.send();
    },
    send(before = "") {
      try { sessionStorage.setItem(STORE, JSON.stringify({ ...this.own, page: this.page })); } catch { /* too long: the server has it */ }
      this.$emit("typed", { ...this.own, before });
    },
    drop() { this.own = null; sessionStorage.removeItem(STORE); },
  },
};
