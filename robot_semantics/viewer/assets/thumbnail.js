// A small picture of robots in other places than now, drawn by the page's viewer when it has time.
import { h } from "vue";

const RETRY_MS = 200;

export default {
  props: { stances: Object, about: String },
  data() { return { address: undefined }; },
  watch: { stances() { this.wait(); } },
  mounted() { this.wait(); },
  unmounted() { clearTimeout(this.waiting); },
  methods: {
    wait() {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => { if (window.viewer) this.address = window.viewer.thumbnail(this.stances); else this.wait(); }, RETRY_MS);
    },
  },
  render() { return h("img", { src: this.address, alt: this.about, class: "thumbnail" }); },
};
