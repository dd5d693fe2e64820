// All pairs of links as cells of a matrix. Names are text nodes: nothing of a file is ever parsed as HTML.
import { h } from "vue";

const WIDTH = 400, NAMES = 130, LETTER = 7, LARGEST = 18;

export default {
  props: { matrix: Object },
  emits: ["pair"],
  methods: {
    // The collisions that were seen, in the order of the matrix; the arrow keys go from one to the next.
    step(event) {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], seen = this.matrix.cells.filter((cell) => cell[6]);
      if (!by || !seen.length) return;
      event.preventDefault();
      const now = seen.findIndex(([id]) => id === this.at), next = now < 0 ? (by > 0 ? 0 : seen.length - 1) : (now + by + seen.length) % seen.length;
      [this.at] = seen[next];
      this.$emit("pair", this.at);
    },
  },
  render() {
    const { names, cells, legend, risk } = this.matrix, longest = Math.max(0, ...names.map((name) => name.length));
    const room = Math.min(NAMES, LETTER * longest), cell = Math.min(LARGEST, (WIDTH - room) / Math.max(names.length, 1));
    const size = Math.min(11, Math.max(cell, 4)), most = Math.floor(room / LETTER);
    const shown = (name) => name.length <= most ? name : `${name.slice(0, most - 1)}…`;
    const texts = names.map((name, k) => h("text", { x: room - 3, y: (k + 0.5) * cell, "font-size": size, "text-anchor": "end", "dominant-baseline": "central", fill: "currentColor" },
      [shown(name), h("title", name)]));
    const boxes = cells.map(([id, column, line, colour, frame, told]) => h("rect", { x: room + column * cell + 0.5, y: line * cell + 0.5, width: cell - 1, height: cell - 1,
      fill: colour, stroke: frame || "none", "stroke-width": 1.5, "data-pair": id, onClick: () => { this.at = id; this.$emit("pair", id); } }, [h("title", told)]));
    const sign = (style, word) => h("span", { style: "white-space: nowrap; margin-right: 10px" },
      [h("i", { style: { display: "inline-block", width: "11px", height: "11px", marginRight: "4px", ...style } }), word]);
    const width = Math.ceil(room + names.length * cell + 1), height = Math.ceil(names.length * cell + 1);
    return h("div", [
      // A wider panel has larger cells.
      h("svg", { tabindex: 0, role: "application", "aria-label": "pairs of links; the arrow keys show their collisions", onKeydown: this.step, viewBox: `0 0 ${width} ${height}`, style: { display: "block", width: "100%", maxWidth: `${width * LARGEST / cell}px` } }, [...texts, ...boxes]),
      h("div", { style: "font-size: 12px" }, [...legend.map(([word, background]) => sign({ background }, word)), sign({ border: `2px solid ${risk}` }, "collides, not checked")]),
    ]);
  },
};
