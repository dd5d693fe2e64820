// A text in which signs that turn the direction of writing round are marked.
import { h } from "vue";
import { bidiParts } from "./math.js";

export const Marked = ({ text }) => bidiParts(text ?? "").map(([part, sign]) => sign ? h("bdi", { class: "bidi", "data-sign": sign }, part) : part);
Marked.props = ["text"];
