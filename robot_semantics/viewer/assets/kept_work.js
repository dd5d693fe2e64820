// What a person has done, kept by the page: it is there while the server is not, and is offered to the next server.
import { h } from "vue";

const DOCUMENT = "robot_semantics document", FIELDS = "robot_semantics fields", TYPED = "robot_semantics typed", TAB = "robot_semantics tab";

const read = (key) => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } };
const write = (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* no room */ } };

export default {
  props: { name: String, text: String, base: String, unsaved: Boolean, tab: String },
  emits: ["kept", "tab"],
  data() { return { lost: false }; },
  mounted() {
    const kept = read(DOCUMENT), fields = read(FIELDS) || {};
    sessionStorage.removeItem(DOCUMENT);
    if (kept?.name === this.name && kept.text !== this.text) this.$emit("kept", kept);
    this.fill(fields);
    const tab = read(TAB);
    if (tab && tab !== this.tab) this.$emit("tab", tab);
    this.lose = () => { this.lost = true; if (this.unsaved) write(DOCUMENT, { name: this.name, text: this.text, base: this.base }); };
    this.find = () => { this.lost = false; sessionStorage.removeItem(DOCUMENT); };
    this.note = ({ target }) => {
      if (target.tagName !== "INPUT" || !target.id || !target.closest(".studio") || target.getAttribute("role") === "combobox" || !/^(text|search)$/.test(target.type)) return;
      const { [target.id]: _, ...others } = read(FIELDS) || {};
      write(FIELDS, target.value ? { ...others, [target.id]: target.value } : others);
    };
    // A page that comes again opens the tab that was clicked, also if the server has not heard of the click.
    this.choose = ({ target }) => { const tab = target.closest("[data-tab]"); if (tab) write(TAB, tab.dataset.tab); };
    this.attach();
    document.addEventListener("click", this.choose, { capture: true });
    document.addEventListener("input", this.note, { capture: true });
  },
  watch: { tab(name) { write(TAB, name); } },
  unmounted() {
    clearTimeout(this.waiting);
    window.socket?.off("disconnect", this.lose);
    window.socket?.off("connect", this.find);
    document.removeEventListener("click", this.choose, { capture: true });
    document.removeEventListener("input", this.note, { capture: true });
  },
  methods: {
    // The page connects after it is built.
    attach() {
      if (!window.socket) { this.waiting = setTimeout(this.attach, 50); return; }
      window.socket.on("disconnect", this.lose);
      window.socket.on("connect", this.find);
    },
    // Fields appear with their tabs: what was typed there before the page came again is typed again.
    fill(fields, tries = 20) {
      const rest = Object.fromEntries(Object.entries(fields).filter(([id, value]) => {
        const field = document.getElementById(id);
        if (!field) return true;
        if (!field.value) { field.value = value; field.dispatchEvent(new Event("input", { bubbles: true })); }
        return false;
      }));
      if (tries && Object.keys(rest).length) setTimeout(() => this.fill(rest, tries - 1), 100);
    },
    load(name, text) {
      const link = document.createElement("a");
      Object.assign(link, { href: URL.createObjectURL(new Blob([text], { type: "application/xml" })), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
  },
  render() {
    if (!this.lost) return null;
    const typed = read(TYPED)?.text;
    const button = (name, words, text) => h("button", { onClick: () => this.load(this.name, text), "data-do": name }, words);
    return h("div", { class: "lost-server", role: "alert", "data-lost-server": "" }, [
      h("div", "The studio's server does not answer. This page keeps your work, and offers it when a server answers again."),
      button("download-document", `download ${this.name}`, this.text),
      typed === undefined ? null : button("download-typed", "download the typed text", typed),
    ]);
  },
};
