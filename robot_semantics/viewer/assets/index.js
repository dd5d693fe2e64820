export { App, unpacked } from "./app.js";
export { default as Thumbnail } from "./thumbnail.js";
export { Marked } from "./marked.js";
