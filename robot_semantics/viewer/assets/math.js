// Rigid transforms as arrays of 16 numbers, row by row, as the descriptions have them: T_a_c = mul(T_a_b, T_b_c).
export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

export function mul(A, B) {
  const C = new Array(16);
  for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) {
    C[4 * i + j] = A[4 * i] * B[j] + A[4 * i + 1] * B[4 + j] + A[4 * i + 2] * B[8 + j] + A[4 * i + 3] * B[12 + j];
  }
  return C;
}

export function invert(T) {
  const p = [T[3], T[7], T[11]];
  const row = (i) => -(T[i] * p[0] + T[4 + i] * p[1] + T[8 + i] * p[2]);
  return [T[0], T[4], T[8], row(0), T[1], T[5], T[9], row(1), T[2], T[6], T[10], row(2), 0, 0, 0, 1];
}

export function translation(x, y, z) { return [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1]; }

export function rotation([x, y, z], angle) {
  const c = Math.cos(angle), s = Math.sin(angle), k = 1 - c;
  return [c + x * x * k, x * y * k - z * s, x * z * k + y * s, 0, y * x * k + z * s, c + y * y * k, y * z * k - x * s, 0,
    z * x * k - y * s, z * y * k + x * s, c + z * z * k, 0, 0, 0, 0, 1];
}

export function fromQuaternion(x, y, z, qx, qy, qz, qw) {
  const n = 2 / (qx * qx + qy * qy + qz * qz + qw * qw);
  return [1 - n * (qy * qy + qz * qz), n * (qx * qy - qz * qw), n * (qx * qz + qy * qw), x,
    n * (qx * qy + qz * qw), 1 - n * (qx * qx + qz * qz), n * (qy * qz - qx * qw), y,
    n * (qx * qz - qy * qw), n * (qy * qz + qx * qw), 1 - n * (qx * qx + qy * qy), z, 0, 0, 0, 1];
}

export function rollPitchYaw(T) {
  const flat = Math.hypot(T[0], T[4]);
  if (flat < 1e-12) return [Math.atan2(-T[6], T[5]), Math.atan2(-T[8], flat), 0];
  return [Math.atan2(T[9], T[10]), Math.atan2(-T[8], flat), Math.atan2(T[4], T[0])];
}

export function apply(T, [x, y, z]) {
  return [T[0] * x + T[1] * y + T[2] * z + T[3], T[4] * x + T[5] * y + T[6] * z + T[7], T[8] * x + T[9] * y + T[10] * z + T[11]];
}

// What an object has under a name of its own; a link may be called "constructor".
export const own = (object, name) => object && Object.hasOwn(object, name) ? object[name] : undefined;

// Signs that turn the direction of writing round would let one name look like another. Each is a part of its own, where it
// has no effect on what follows, with its number shown before it: [[text, number or null]].
export function bidiParts(text) {
  const parts = String(text).split(/([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/);
  return parts.map((part, at) => [part, at % 2 ? `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}` : null]).filter(([part]) => part);
}
