export { App, unpacked } from "./app.js";
