// Keys of the whole page. Keys that a field needs for its own text stay with the field.
export default {
  props: { keys: Object },
  emits: ["shortcut"],
  mounted() {
    this.listen = (event) => {
      const { target, key } = event, ctrl = event.ctrlKey || event.metaKey;
      const name = `${ctrl ? "ctrl+" : ""}${event.altKey ? "alt+" : ""}${event.shiftKey && (ctrl || key.length > 1) ? "shift+" : ""}${key.toLowerCase()}`;
      if (!Object.hasOwn(this.keys, name)) return;
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.type !== "checkbox" && target.type !== "range";
      if (typing && (key.length === 1 && !ctrl && !event.altKey || /^ctrl\+(shift\+)?[zy]$/.test(name))) return;
      event.preventDefault();
      // A dialog is answered first.
      if (!document.querySelector(".q-dialog__inner")) this.$emit("shortcut", this.keys[name]);
    };
    document.addEventListener("keydown", this.listen, { capture: true });
  },
  unmounted() { document.removeEventListener("keydown", this.listen, { capture: true }); },
  methods: {
    // A tab that has just been opened has its fields a little later, and a new list its buttons.
    // No animation frames: a picture that is drawn without a graphics card delays them, and the focus would come too late.
    focus(id, tries = 100) {
      setTimeout(() => {
        const field = document.getElementById(id);
        if (field?.offsetParent) { field.focus(); field.select?.(); } else if (tries) this.focus(id, tries - 1);
      }, 20);
    },
    // A text that a person has typed since then stays.
    clear(id, text) {
      const field = document.getElementById(id);
      if (field?.value === text) { field.value = ""; field.dispatchEvent(new Event("input", { bubbles: true })); }
    },
    show(selector) { this.$nextTick(() => document.querySelector(selector)?.scrollIntoView({ block: "nearest" })); },
  },
  render() { return null; },
};
