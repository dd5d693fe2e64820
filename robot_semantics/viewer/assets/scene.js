// What is drawn, by three.js: links that move as one, ghosts, frames, names, the ground, the camera.
import { apply, mul, rotation, translation } from "./math.js";

const UP_VIEWS = { iso: [1, -1.1, 0.75], front: [1, 0, 0], back: [-1, 0, 0], left: [0, 1, 0], right: [0, -1, 0], top: [0, 0, 1] };

// A shadow has so many pixels on a side, and is blurred so far [pixels].
const SHADOW = 96, BLUR = 4;

// Black would show no shape: what is darker than this [sRGB] is lifted to it.
const DARKEST = 0.2;

// Whether there is no graphics card: smooth edges and shadows then cost more than they are worth.
function software() {
  const gl = document.createElement("canvas").getContext("webgl2"), info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

// The mean around each pixel, three times: nearly a bell curve.
function blurred(values) {
  let now = values;
  for (const step of [1, SHADOW, 1, SHADOW, 1, SHADOW]) {
    const next = new Float32Array(now.length), across = step === 1 ? SHADOW : 1;
    for (let line = 0; line < SHADOW; line++) {
      let sum = 0;
      const value = (at) => at >= 0 && at < SHADOW ? now[line * across + at * step] : 0;
      for (let at = -BLUR; at < SHADOW; at++) {
        sum += value(at + BLUR) - value(at - BLUR - 1);
        if (at >= 0) next[line * across + at * step] = sum / (2 * BLUR + 1);
      }
    }
    now = next;
  }
  return now;
}

export class Scene {
  constructor(canvas, bundle) {
    const { THREE } = bundle;
    Object.assign(this, { THREE, canvas, shapes: [], frames: 0 });
    this.weak = software();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.weak, alpha: true, preserveDrawingBuffer: false });
    this.renderer.setClearColor(0, 0);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new bundle.OrbitControls(this.camera, canvas);
    Object.assign(this.controls, { enableDamping: false, zoomSpeed: 1.2, screenSpacePanning: true });
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x7c8796, 1.35), this.camera);
    const key = new THREE.DirectionalLight(0xffffff, 1.85), fill = new THREE.DirectionalLight(0xdfe8ff, 0.35);
    key.position.set(-0.7, 1.0, 0.9); fill.position.set(1.2, -0.3, 0.5);
    this.camera.add(key, fill, key.target, fill.target);
    key.target.position.set(0, 0, -1); fill.target.position.set(0, 0, -1);
    this.lines = new THREE.Group();
    this.scene.add(this.lines);
    this.picker = new THREE.Raycaster();
    this.matrix = new THREE.Matrix4();
  }

  addShape(corners, normals, colours, faces) {
    const { THREE } = this, geometry = new THREE.BufferGeometry();
    geometry.setIndex(new THREE.BufferAttribute(faces, 1));
    geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 4, true));
    if (colours) {
      const linear = new Float32Array(colours.length);
      for (let i = 0; i < colours.length; i++) linear[i] = i % 4 === 3 ? colours[i] / 255 : Math.max(colours[i] / 255, DARKEST) ** 2.2;
      geometry.setAttribute("color", new THREE.BufferAttribute(linear, 4));
    }
    geometry.computeBoundingBox(); geometry.computeBoundingSphere();
    this.shapes.push(geometry);
    return this.shapes.length - 1;
  }

  // One group for each link; a part is a mesh in it that says whose it is.
  addRobot(robot, parts, ghost = false) {
    const { THREE } = this, root = new THREE.Group();
    const links = robot.links.map(() => { const link = new THREE.Group(); link.matrixAutoUpdate = false; root.add(link); return link; });
    const meshes = parts.map((part) => {
      const Material = this.weak ? THREE.MeshLambertMaterial : THREE.MeshPhongMaterial;
      const material = new Material({ side: THREE.DoubleSide, vertexColors: part.own });
      if (!this.weak) { material.shininess = 30; material.specular = new THREE.Color(0x222222); }
      const mesh = new THREE.Mesh(this.shapes[part.surface], material);
      mesh.matrixAutoUpdate = false;
      this.put(mesh, part.T);
      Object.assign(mesh.userData, { robot, link: part.link, part, ghost });
      links[part.link].add(mesh);
      return mesh;
    });
    this.scene.add(root);
    return { root, links, meshes };
  }
  remove(shown) { shown.meshes.forEach((mesh) => mesh.material.dispose()); this.scene.remove(shown.root); }

  put(object, T) { object.matrix.set(...T); object.matrixWorldNeedsUpdate = true; }
  // Files that say that y is up, as RViz draws them, or turned as they say.
  turn(meshes, on) {
    for (const mesh of meshes) {
      const { T, yUp } = mesh.userData.part;
      this.put(mesh, on && yUp ? mul(T, rotation([1, 0, 0], Math.PI / 2)) : T);
    }
  }
  move(shown, poses) { poses.forEach((T, index) => this.put(shown.links[index], T)); }

  // colour: [r, g, b], or null for what the surface has itself.
  paint(mesh, colour, alpha, { wire = false, glow = 0 } = {}) {
    const { material } = mesh, own = Boolean(colour === null && mesh.geometry.attributes.color);
    if (material.vertexColors !== own) { material.vertexColors = own; material.needsUpdate = true; }
    if (own) material.color.setRGB(1, 1, 1); else material.color.setRGB(...(colour || [0.75, 0.76, 0.78]).map((part) => Math.max(part, DARKEST)), this.THREE.SRGBColorSpace);
    material.emissive.setRGB(glow, 0.75 * glow, 0.1 * glow);
    if (material.transparent !== alpha < 1) { material.transparent = alpha < 1; material.needsUpdate = true; }
    Object.assign(material, { opacity: alpha, depthWrite: alpha >= 1, wireframe: wire });
    mesh.renderOrder = alpha < 1 ? 2 : 0;
  }

  segments(points, colours, width = 1) {
    const { THREE } = this, geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
    const plain = typeof colours === "number";
    if (!plain) geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(colours), 3));
    const line = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: !plain, color: plain ? colours : 0xffffff, linewidth: width }));
    return line;
  }
  // A force: an arrow from the place that it acts on, with a point there.
  arrow(from, to, colour) {
    const { THREE } = this, direction = new THREE.Vector3(...to).sub(new THREE.Vector3(...from)), length = direction.length();
    const material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true }), thick = 0.02 * length, head = 0.2 * length;
    const parts = [new THREE.SphereGeometry(2 * thick, 12, 8), new THREE.CylinderGeometry(thick, thick, length - head, 8).translate(0, (length - head) / 2, 0), new THREE.ConeGeometry(3.5 * thick, head, 16).translate(0, length - head / 2, 0)];
    return parts.map((geometry) => {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.position.set(...from); mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), direction.clone().normalize()); mesh.renderOrder = 6;
      return mesh;
    });
  }
  // A sphere of the approximation of a link.
  ball(T, [x, y, z, radius], colour) {
    const { THREE } = this, material = new THREE.MeshLambertMaterial({ color: colour, transparent: true, opacity: 0.4, depthWrite: false });
    const mesh = new THREE.Mesh(new THREE.SphereGeometry(Math.max(radius, 1e-4), 20, 14), material);
    mesh.matrixAutoUpdate = false; mesh.renderOrder = 4;
    this.put(mesh, mul(T, translation(x, y, z)));
    return mesh;
  }
  // Triangles of one colour, by their corners in a frame.
  triangleMesh(T, corners, colour) {
    const { THREE } = this, geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
    const mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ color: colour, side: THREE.DoubleSide }));
    mesh.matrixAutoUpdate = false;
    this.put(mesh, T);
    return mesh;
  }
  axes(T, length) {
    const line = this.segments([0, 0, 0, length, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, 0, 0, 0, length],
      [0.85, 0.2, 0.15, 0.85, 0.2, 0.15, 0.2, 0.6, 0.25, 0.2, 0.6, 0.25, 0.15, 0.4, 0.85, 0.15, 0.4, 0.85]);
    // Frames lie inside of links: they are seen through them.
    Object.assign(line, { matrixAutoUpdate: false, renderOrder: 5 });
    Object.assign(line.material, { depthTest: false, transparent: true });
    this.put(line, T);
    return line;
  }
  // Lines that change with every drawing.
  setLines(objects) {
    this.lines.children.forEach((line) => { line.geometry.dispose(); line.material.dispose(); });
    this.lines.clear();
    if (objects.length) this.lines.add(...objects);
  }

  // The ground at z = 0: a grid of half a metre (or of half a fitting power of ten), every second line stronger. Return the side of its squares [m].
  setGround(size, colours) {
    if (this.ground) { this.ground.children.forEach((line) => { line.geometry.dispose(); line.material.dispose(); }); this.scene.remove(this.ground); }
    const { THREE } = this, step = 10 ** Math.floor(Math.log10(Math.max(size, 1e-6))) / 2, count = 10, fine = [], main = [];
    // A line ends at each crossing: without a graphics card a line that passes behind the camera is not drawn.
    for (let i = -count; i <= count; i++) for (let j = -count; j < count; j++) (i % 2 ? fine : main).push(i * step, j * step, 0, i * step, (j + 1) * step, 0, j * step, i * step, 0, (j + 1) * step, i * step, 0);
    this.ground = new THREE.Group();
    this.ground.add(this.segments(fine, colours.fine), this.segments(main, colours.main));
    this.scene.add(this.ground);
    return step;
  }

  // A soft shadow below the solid parts of robots, darkest where they are low, as if light came from all of the sky.
  castShadow(shown) {
    const { THREE, renderer, scene } = this, solid = shown.filter(({ root }) => root.visible).map(({ links, meshes }) => ({ links, meshes: meshes.filter((mesh) => mesh.material.opacity >= 0.5) }));
    const box = this.bounds(solid);
    if (!this.shadow) this.shadow = this.newShadow();
    this.shadow.plane.visible = Boolean(box);
    if (!box) return;
    const [low, high] = box, { plane, target, camera, pixels, texture } = this.shadow, half = 0.75 * Math.max(high[0] - low[0], high[1] - low[1], 0.3 * (high[2] - low[2]), 1e-6), depth = 0.6 * (high[2] - low[2]) + 1e-6;
    Object.assign(camera, { left: -half, right: half, top: half, bottom: -half, near: 0, far: depth });
    camera.position.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]);
    camera.lookAt(camera.position.x, camera.position.y, low[2] + 1);
    camera.updateProjectionMatrix();
    const parts = new Set(solid.flatMap(({ meshes }) => meshes)), roots = new Set(shown.map(({ root }) => root)), hidden = [];
    const hide = (object) => { if (object.visible) { object.visible = false; hidden.push(object); } };
    scene.children.filter((object) => !roots.has(object)).forEach(hide);
    shown.flatMap(({ meshes }) => meshes).filter((mesh) => !parts.has(mesh)).forEach(hide);
    scene.overrideMaterial = this.shadow.material;
    renderer.setRenderTarget(target);
    renderer.clear();
    renderer.render(scene, camera);
    renderer.readRenderTargetPixels(target, 0, 0, SHADOW, SHADOW, pixels);
    renderer.setRenderTarget(null);
    scene.overrideMaterial = null;
    hidden.forEach((object) => { object.visible = true; });
    const dark = blurred(Float32Array.from({ length: SHADOW * SHADOW }, (_, k) => pixels[4 * k]));
    dark.forEach((value, k) => { texture.image.data[4 * k + 3] = 0.5 * value; });
    texture.needsUpdate = true;
    // The camera sees from below: its right is the left of what is seen from above.
    plane.scale.set(-2 * half, 2 * half, 1);
    plane.position.set(camera.position.x, camera.position.y, low[2] - 1e-3 * half);
  }
  newShadow() {
    const { THREE } = this, texture = new THREE.DataTexture(new Uint8Array(4 * SHADOW * SHADOW), SHADOW, SHADOW);
    texture.magFilter = texture.minFilter = THREE.LinearFilter;
    const plane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.MeshBasicMaterial({ map: texture, transparent: true, depthWrite: false, side: THREE.DoubleSide }));
    plane.renderOrder = -1;
    this.scene.add(plane);
    return { plane, texture, target: new THREE.WebGLRenderTarget(SHADOW, SHADOW), camera: new THREE.OrthographicCamera(), pixels: new Uint8Array(4 * SHADOW * SHADOW), material: new THREE.MeshDepthMaterial({ side: THREE.DoubleSide }) };
  }

  // [low, high] of what is solid, null where there is nothing.
  bounds(shown) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const { meshes, links } of shown) for (const mesh of meshes) {
      if (!mesh.visible) continue;
      const { min, max } = mesh.geometry.boundingBox, corners = [min.toArray(), max.toArray()];
      const T = this.matrix.multiplyMatrices(links[mesh.userData.link].matrix, mesh.matrix).clone().transpose().elements;
      for (let c = 0; c < 8; c++) apply(T, [0, 1, 2].map((k) => corners[c >> k & 1][k])).forEach((part, k) => { low[k] = Math.min(low[k], part); high[k] = Math.max(high[k], part); });
    }
    return Number.isFinite(low[0]) ? [low, high] : null;
  }

  // Look at a box from a side, near enough that it fills the picture.
  look(low, high, name = null) {
    const { THREE, camera, controls } = this, centre = low.map((part, k) => (part + high[k]) / 2);
    const corners = Array.from({ length: 8 }, (_, c) => new THREE.Vector3(...low.map((part, k) => (c >> k & 1 ? high[k] : part) - centre[k])));
    const radius = Math.max(corners[0].length(), 1e-3), tan = Math.tan(camera.fov * Math.PI / 360);
    this.resize();
    const direction = name ? new THREE.Vector3(...UP_VIEWS[name]) : camera.position.clone().sub(controls.target);
    if (direction.lengthSq() < 1e-12) direction.set(...UP_VIEWS.iso);
    // From straight above the camera needs a hint of which way is up.
    if (name === "top") direction.x -= 1e-4;
    direction.normalize();
    const right = camera.up.clone().cross(direction).normalize(), up = direction.clone().cross(right);
    // Each corner is inside of the picture from where it is this far away, and a bit of space is around it.
    const far = Math.max(...corners.map((at) => at.dot(direction) + 1.12 * Math.max(Math.abs(at.dot(up)), Math.abs(at.dot(right)) / camera.aspect) / tan));
    controls.target.set(...centre);
    camera.position.copy(direction.multiplyScalar(far)).add(controls.target);
    Object.assign(camera, { near: radius / 100, far: radius * 200 });
    camera.updateProjectionMatrix();
    controls.update();
  }

  // Move the camera in half a second so that it looks at a box from the same side, with room around it.
  glide(low, high, drawn) {
    const { camera, controls } = this, from = [camera.position.clone(), controls.target.clone()];
    const reach = low.map((part, k) => 0.2 * (high[k] - part) + 0.02), near = camera.near, far = camera.far;
    this.look(low.map((part, k) => part - reach[k]), high.map((part, k) => part + reach[k]));
    Object.assign(camera, { near: Math.min(near, camera.near), far: Math.max(far, camera.far) });
    const to = [camera.position.clone(), controls.target.clone()], begin = performance.now(), number = this.gliding = (this.gliding || 0) + 1;
    const step = () => {
      if (number !== this.gliding) return;
      const share = Math.min(1, (performance.now() - begin) / 500), eased = share * share * (3 - 2 * share);
      camera.position.lerpVectors(from[0], to[0], eased); controls.target.lerpVectors(from[1], to[1], eased);
      camera.updateProjectionMatrix(); controls.update(); drawn();
      if (share < 1) requestAnimationFrame(step);
    };
    step();
  }

  // The whole picture, as the page shows it, in twice as many pixels; `paint` paints what is behind it.
  wholePicture(paint) {
    this.draw(2);
    const { width, height } = this.canvas, page = Object.assign(document.createElement("canvas"), { width, height }), context = page.getContext("2d");
    paint(context, width, height);
    context.drawImage(this.canvas, 0, 0);
    return new Promise((done) => page.toBlob(done));
  }
  // A picture of a box and what is in it, as a data address; what the page shows stays.
  picture(low, high, width, height) {
    const { camera, controls, renderer } = this, kept = [camera.position.clone(), controls.target.clone(), camera.near, camera.far];
    this.resize();
    renderer.setPixelRatio(1); renderer.setSize(width, height, false);
    camera.aspect = width / height;
    this.look(low, high, "iso");
    renderer.render(this.scene, camera);
    const address = this.canvas.toDataURL();
    [camera.near, camera.far] = kept.slice(2);
    camera.position.copy(kept[0]); controls.target.copy(kept[1]);
    // The next drawing has the size of the page again.
    this.width = this.height = 0;
    controls.update();
    return address;
  }
  triangles() { return this.renderer.info.render.triangles; }

  // `finer`: so many times as many pixels along each side.
  resize(finer = 1) {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement, ratio = finer * (this.weak ? 1 : Math.min(window.devicePixelRatio || 1, 2));
    if (!width || !height || (this.width === width && this.height === height && this.ratio === ratio)) return;
    Object.assign(this, { width, height, ratio });
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  draw(finer = 1) { this.finer = finer; this.resize(finer); this.renderer.render(this.scene, this.camera); this.frames++; }
  // Length of a scale bar at the centre of the view [m], and on the page [pixels].
  bar() {
    const { camera, controls, height } = this, pixels = height / (2 * Math.tan(camera.fov * Math.PI / 360) * camera.position.distanceTo(controls.target));
    const power = 10 ** Math.floor(Math.log10(120 / pixels)), length = power * [5, 2, 1].find((step) => step * power * pixels <= 120);
    return [length, length * pixels];
  }
  // Wait until the picture is drawn: to read a pixel does.
  finish() {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  // Where on the canvas a point of the world is [CSS pixels], and how far away; null behind the camera.
  project(point) {
    const at = new this.THREE.Vector3(...point), depth = -at.clone().applyMatrix4(this.camera.matrixWorldInverse).z;
    if (depth <= 0) return null;
    at.project(this.camera);
    return [(at.x + 1) / 2 * this.width, (1 - at.y) / 2 * this.height, depth];
  }
  ray(x, y) {
    this.camera.updateMatrixWorld();
    this.picker.setFromCamera(new this.THREE.Vector2(2 * x / this.width - 1, 1 - 2 * y / this.height), this.camera);
    return this.picker;
  }
  // The mesh at a place of the canvas: what is clear before what is faded.
  pick(meshes, x, y) {
    const hits = this.ray(x, y).intersectObjects(meshes.filter((mesh) => mesh.visible), false);
    return (hits.find((hit) => hit.object.material.opacity >= 0.5) || hits[0])?.object || null;
  }
}
