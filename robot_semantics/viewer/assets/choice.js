// A field to choose one or more names of a list. Enter and Tab take the marked match; a text that is no choice is red.

// Longest time in which a browser draws a list.
const PLACE_MS = 10_000;

export default {
  inheritAttrs: false,
  props: { options: Array, modelValue: null, noun: String },
  emits: ["update:model-value"],
  template: `
    <q-select ref="qRef" v-bind="$attrs" :model-value="modelValue" :options="shown" :error="wrong !== ''" :error-message="wrong"
      no-error-icon hide-bottom-space @filter="filter" @input-value="typed" @update:model-value="choose">
      <template v-for="(_, slot) in $slots" v-slot:[slot]="slotProps"><slot :name="slot" v-bind="slotProps || {}" /></template>
    </q-select>
  `,
  data() { return { shown: this.options, wrong: "" }; },
  watch: {
    options() { this.shown = this.matches(this.$attrs.multiple ? this.text() : ""); },
    modelValue() { this.wrong = ""; },
  },
  mounted() {
    this.$el.addEventListener("keydown", (event) => this.enter(event), { capture: true });
    // Earlier than the field's own blur, which waits until its list is closed: a click elsewhere counts what was typed.
    this.$el.addEventListener("focusout", (event) => { if (!event.relatedTarget?.closest(".q-menu")) this.leave(); });
  },
  methods: {
    // A whole name is taken by Enter, also before the list has been drawn: a pasted one for example.
    enter(event) {
      if (event.key !== "Enter" || !this.options.some(({ label }) => label === this.text())) return;
      event.preventDefault(); event.stopImmediatePropagation();
      Object.assign(this, { taken: performance.now(), takenText: this.text() });
      this.leave();
      if (!this.$attrs.multiple) { this.$refs.qRef.hidePopup(); setTimeout(() => this.$refs.qRef?.hidePopup(), 60); }
    },
    text() { return this.$el?.querySelector("input")?.value ?? ""; },
    // The same name first, then names that begin with the text, then all that contain it.
    matches(text) {
      const words = text.toLocaleLowerCase(), name = (option) => String(option.label).toLocaleLowerCase();
      const rank = (option) => name(option) === words ? 0 : name(option).startsWith(words) ? 1 : 2;
      const found = this.options.filter((option) => name(option).includes(words));
      return words ? found.sort((a, b) => rank(a) - rank(b)) : found;
    },
    filter(text, update, abort) {
      if (text && text === this.takenText && performance.now() - this.taken < 1000) { abort(); return; }
      const found = this.matches(text);
      // Nothing is left to choose, and a list would lie over the button below.
      if (found.length === 1 && found[0].label === text) { abort(); return; }
      update(() => { this.shown = found; }, (field) => {
        this.place(field, performance.now() + PLACE_MS);
        if (!text || !this.shown.length) return;
        field.setOptionIndex(-1);
        field.moveOptionSelection(1, true);
      });
    },
    // The list is invisible until it has a place. Quasar tries this for 50 ms, and a slow browser draws the list later.
    place(field, end) {
      field.updateMenuPosition();
      const list = document.getElementById(`${this.$attrs.for}_lb`), isPlaced = list?.style.visibility === "visible";
      if (isPlaced || performance.now() > end || !this.$el?.contains(document.activeElement)) return;
      requestAnimationFrame(() => this.place(field, end));
    },
    typed(text) { this.wrong = text && !this.matches(text).length ? `no such ${this.noun}` : ""; },
    choose(value) {
      this.wrong = "";
      if (this.$attrs.multiple) this.$refs.qRef.updateInputValue("");
      this.$emit("update:model-value", value);
    },
    // A typed name counts without a click on it; anything else that was typed and not chosen is no choice.
    leave() {
      const text = this.text(), { multiple } = this.$attrs, now = multiple ? "" : this.modelValue?.label ?? "";
      if (text === now) { this.wrong = ""; return; }
      if (!text) { this.choose(null); return; }
      const found = this.matches(text), [first] = found;
      if (!first) { this.wrong = `no such ${this.noun}: ${text}`; return; }
      if (first.label !== text && found.length > 1) { this.wrong = `${found.length} names match; choose one`; return; }
      if (multiple) { this.choose([...(this.modelValue || []).filter((option) => option.label !== first.label), first]); return; }
      this.$refs.qRef.updateInputValue(first.label, true);
      this.choose(first);
    },
  },
};
