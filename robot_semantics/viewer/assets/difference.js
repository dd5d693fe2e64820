// What differs between robots as they are now and other positions of theirs, the largest difference first.
import { h } from "vue";

const PERIOD_MS = 1000;

export default {
  props: { stances: Object, most: Number },
  data() { return { lines: ["…"] }; },
  mounted() { this.compare(); this.repeating = setInterval(() => this.compare(), PERIOD_MS); },
  unmounted() { clearInterval(this.repeating); },
  methods: {
    compare() {
      if (!window.viewer) return;
      const number = (value) => typeof value === "number" ? Number(value.toPrecision(4)) : value;
      // What is equal as it is printed is no difference.
      const rows = window.viewer.differencesTo(this.stances).filter(([, now, then]) => number(now) !== number(then));
      const words = ([name, now, then, unit = ""]) => `${name}: ${number(now)} → ${number(then)} ${unit}`.trim();
      const more = rows.length - this.most;
      this.lines = rows.length ? [...rows.slice(0, this.most).map(words), ...(more > 0 ? [`and ${more} more`] : [])] : ["as now"];
    },
  },
  render() { return h("div", { class: "difference" }, this.lines.map((line) => h("div", line))); },
};
