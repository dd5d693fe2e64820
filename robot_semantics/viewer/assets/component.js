// The viewer as an element of a served page: it fetches what it shows, and passes on what happens in it.
import { h } from "vue";
import * as bundle from "nicegui-scene";
import { App, unpacked } from "robot-semantics-viewer";

export default {
  props: { source: String },
  render() { return h("div", { class: "viewer" }); },
  mounted() { return this.reload(); },
  methods: {
    remember(name, value) { document.cookie = `${name}=${encodeURIComponent(value)}; max-age=31536000; path=/; samesite=strict`; },
    tellViewer(name, values) { this.app?.[name](...JSON.parse(values)); },
    // What a person has chosen stays when the content is another one.
    async reload() {
      try {
        const answer = await fetch(this.source);
        if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
        const [data, array] = await unpacked(await answer.arrayBuffer()), kept = this.app?.end();
        this.app = window.viewer = new App(this.$el, bundle, data, array, (name, value) => this.$emit(name, value));
        if (kept) this.app.resume(kept); else this.app.followLink();
        this.$emit("ready", {});
      } catch (error) {
        this.$el.textContent = `This page cannot be shown: ${error.message || error}`;
        console.error(error);
      }
    },
  },
};
