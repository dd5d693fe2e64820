// The lines of a unified diff; each is a text node.
import { h } from "vue";

const COLOURS = { "+": "#1b7f3b26", "-": "#c3282d26", "@": "#1f6fb226" };

export default {
  props: { lines: Array },
  render() {
    return h("div", { style: "font: 12px/1.5 ui-monospace, monospace; white-space: pre" },
      this.lines.map((line) => h("div", { style: { background: COLOURS[line[0]] || "transparent" } }, line || " ")));
  },
};
