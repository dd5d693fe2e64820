// The viewer as an element of a served page: it fetches what it shows, and passes on what happens in it.
import * as bundle from "nicegui-scene";
import { App, unpacked } from "robot-semantics-viewer";

export default {
  template: `<div class="viewer"></div>`,
  props: { source: String },
  async mounted() {
    try {
      const answer = await fetch(this.source);
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      const [data, array] = await unpacked(await answer.arrayBuffer());
      this.app = window.viewer = new App(this.$el, bundle, data, array, (name, value) => this.$emit(name, value));
      this.$emit("ready", {});
    } catch (error) {
      this.$el.textContent = `This page cannot be shown: ${error.message || error}`;
      console.error(error);
    }
  },
  methods: { tellViewer(name, ...values) { this.app?.[name](...values); } },
};
