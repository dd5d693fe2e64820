// Draws surfaces with WebGL 2: lit, faded, as ghosts; says what is seen at a pixel.
const SHADED = [`#version 300 es
in vec3 position; in vec3 normal; in vec4 tint;
uniform mat4 T_world_part; uniform mat4 T_clip_world; uniform mat4 T_camera_world;
out vec3 n; out vec3 at; out vec4 t;
void main() {
  vec4 p = T_world_part * vec4(position, 1.0);
  n = mat3(T_camera_world) * mat3(T_world_part) * normal; at = (T_camera_world * p).xyz; t = tint; gl_Position = T_clip_world * p;
}`, `#version 300 es
precision highp float;
in vec3 n; in vec3 at; in vec4 t;
uniform vec4 colour; uniform bool tinted; uniform float alpha;
out vec4 seen;
void main() {
  vec3 ray = normalize(at), m = normalize(n);
  if (dot(m, ray) > 0.0) m = -m;
  vec3 lamp = normalize(vec3(-0.45, 0.75, 0.6)), weak = normalize(vec3(0.8, -0.1, 0.4));
  float light = 0.40 + 0.58 * max(dot(m, lamp), 0.0) + 0.24 * max(dot(m, weak), 0.0);
  float shine = 0.16 * pow(max(dot(m, normalize(lamp - ray)), 0.0), 24.0);
  vec4 base = tinted ? t : colour;
  seen = vec4(clamp(base.rgb * light + shine, 0.0, 1.0), base.a * alpha);
}`];
const PLAIN = [`#version 300 es
in vec3 position; in vec3 normal; in vec4 tint;
uniform mat4 T_world_part; uniform mat4 T_clip_world;
out vec4 t;
void main() { t = tint; gl_Position = T_clip_world * T_world_part * vec4(position, 1.0); }`, `#version 300 es
precision highp float;
in vec4 t; uniform vec4 colour; uniform bool tinted;
out vec4 seen;
void main() { seen = tinted ? t : colour; }`];

// Whether there is no graphics card: smooth edges then cost more than they are worth.
function software() {
  const gl = document.createElement("canvas").getContext("webgl2"), info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = this.gl = canvas.getContext("webgl2", { antialias: !software(), alpha: true, premultipliedAlpha: false });
    if (!gl) throw new Error("This browser offers no WebGL 2");
    this.shaded = this.program(SHADED);
    this.plain = this.program(PLAIN);
    this.shapes = [];
    gl.enable(gl.DEPTH_TEST);
    this.camera = { azimuth: 0.6, elevation: 0.35, distance: 3, target: [0, 0, 0] };
  }

  program([vertex, fragment]) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source); gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    ["position", "normal", "tint"].forEach((name, index) => gl.bindAttribLocation(program, index, name));
    gl.linkProgram(program);
    const uniforms = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const name = gl.getActiveUniform(program, i).name;
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms };
  }

  buffer(index, data, size, type, normalised) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, size, type, normalised, normalised ? 4 : 0, 0);
  }

  addShape(corners, normals, colours, lines = false) {
    const gl = this.gl, vertexArray = gl.createVertexArray();
    gl.bindVertexArray(vertexArray);
    this.buffer(0, corners, 3, gl.FLOAT, false);
    if (normals) this.buffer(1, normals, 3, gl.BYTE, true);
    if (colours) this.buffer(2, colours, 4, gl.UNSIGNED_BYTE, true);
    this.shapes.push({ vertexArray, count: corners.length / 3, mode: lines ? gl.LINES : gl.TRIANGLES, tinted: Boolean(colours) });
    return this.shapes.length - 1;
  }

  // The camera's axes are x right, y up, z back.
  views() {
    const { azimuth, elevation, distance, target } = this.camera;
    const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
    const back = [ce * ca, ce * sa, se], right = [-sa, ca, 0], up = [-se * ca, -se * sa, ce];
    const eye = target.map((part, k) => part + distance * back[k]);
    const row = (axis) => [...axis, -(axis[0] * eye[0] + axis[1] * eye[1] + axis[2] * eye[2])];
    const T_camera_world = [...row(right), ...row(up), ...row(back), 0, 0, 0, 1];
    const near = distance / 200, far = distance * 40 + 10, f = 1 / Math.tan(0.36), aspect = this.canvas.width / this.canvas.height;
    const P = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), 2 * far * near / (near - far), 0, 0, -1, 0];
    return { T_camera_world, T_clip_world: mul(P, T_camera_world), right, up };
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio)), height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) { this.canvas.width = width; this.canvas.height = height; }
  }

  // Each item: shape, T (world), colour or null for the shape's own, alpha.
  draw(items, lines) {
    const gl = this.gl;
    this.resize();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const views = this.views();
    gl.disable(gl.BLEND);
    this.pass(this.plain, lines, views);
    this.pass(this.shaded, items.filter((item) => item.alpha >= 1), views);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.pass(this.shaded, items.filter((item) => item.alpha < 1), views);
  }

  pass({ program, uniforms }, items, views) {
    const gl = this.gl;
    if (!items.length) return;
    gl.useProgram(program);
    gl.uniformMatrix4fv(uniforms.T_clip_world, true, views.T_clip_world);
    if (uniforms.T_camera_world) gl.uniformMatrix4fv(uniforms.T_camera_world, true, views.T_camera_world);
    // What stays the same from one item to the next is not said again: that is most of what drawing costs.
    let bound = -1, look = null;
    for (const item of items) {
      const shape = this.shapes[item.shape];
      gl.uniformMatrix4fv(uniforms.T_world_part, true, item.T);
      const own = shape.tinted && !item.colour, now = own ? "own" + item.alpha : `${item.colour} ${item.alpha}`;
      if (now !== look) {
        look = now;
        gl.uniform1i(uniforms.tinted, own ? 1 : 0);
        gl.uniform4fv(uniforms.colour, item.colour || [1, 1, 1, 1]);
        if (uniforms.alpha) gl.uniform1f(uniforms.alpha, item.alpha);
      }
      if (item.shape !== bound) { bound = item.shape; gl.bindVertexArray(shape.vertexArray); }
      gl.drawArrays(shape.mode, 0, shape.count);
    }
  }

  // The number of the item that is seen at a place of the canvas [CSS pixels], -1 where there is none.
  pick(items, x, y) {
    const gl = this.gl, width = this.canvas.width, height = this.canvas.height;
    const frame = gl.createFramebuffer(), texture = gl.createTexture(), depth = gl.createRenderbuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    gl.viewport(0, 0, width, height);
    const ratio = width / this.canvas.clientWidth, column = Math.floor(x * ratio), row = height - 1 - Math.floor(y * ratio);
    // Only this one pixel is of interest.
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(column, row, 1, 1);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.BLEND);
    const coded = items.map((item, index) => {
      const number = index + 1;
      return { ...item, colour: [(number & 255) / 255, ((number >> 8) & 255) / 255, ((number >> 16) & 255) / 255, 1] };
    });
    this.pass(this.plain, coded, this.views());
    const pixel = new Uint8Array(4);
    gl.disable(gl.SCISSOR_TEST);
    gl.readPixels(column, row, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.deleteFramebuffer(frame); gl.deleteTexture(texture); gl.deleteRenderbuffer(depth);
    return pixel[0] + 256 * pixel[1] + 65536 * pixel[2] - 1;
  }
}
