export { App, unpacked } from "./app.js";
export { default as Thumbnail } from "./thumbnail.js";
