/** The programs of the graphics card: halve a film, bring a part of it to screen size, and window it. */

export const VERTEX = `#version 300 es
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);
}`;

const HEADER = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
`;

/** Half size, as 16-bit numbers; u_gain brings 8-bit films up so that their averages keep a fraction. */
export const HALVE = `${HEADER}
uniform usampler2D u_film;
uniform float u_gain;
out uint result;
void main() {
  ivec2 last = textureSize(u_film, 0) - 1;
  ivec2 at = ivec2(gl_FragCoord.xy) * 2;
  uint sum = 0u;
  for (int i = 0; i < 4; i++) sum += texelFetch(u_film, min(at + ivec2(i & 1, i >> 1), last), 0).r;
  result = uint(float(sum) * u_gain / 4.0 + 0.5);
}`;

/**
 * A part of the film at screen size, in 256ths of a grey value. Smaller than the film: the average over the area of
 * the screen pixel, so at 1:1 the film's own pixel, exactly. Larger: a cubic between the pixels, held within the
 * four nearest ones, so that no edge rings.
 */
export const RESAMPLE = `${HEADER}
uniform usampler2D u_film;
uniform vec2 u_origin;
uniform float u_step;
uniform float u_gain;
out uint result;

float grey(ivec2 at) {
  return float(texelFetch(u_film, clamp(at, ivec2(0), textureSize(u_film, 0) - 1), 0).r);
}

float average(vec2 centre, vec2 size) {
  vec2 near = max(centre - u_step * 0.5, 0.0);
  vec2 far = min(centre + u_step * 0.5, size);
  ivec2 first = ivec2(floor(near));
  float sum = 0.0;
  for (int j = 0; j < 3; j++) {
    float down = min(far.y, float(first.y + j + 1)) - max(near.y, float(first.y + j));
    if (down <= 0.0) break;
    float line = 0.0;
    for (int i = 0; i < 3; i++) {
      float across = min(far.x, float(first.x + i + 1)) - max(near.x, float(first.x + i));
      if (across <= 0.0) break;
      line += across * grey(first + ivec2(i, j));
    }
    sum += down * line;
  }
  return sum / ((far.x - near.x) * (far.y - near.y));
}

vec4 cubic(float t) {
  return 0.5 * vec4(((2.0 - t) * t - 1.0) * t, (3.0 * t - 5.0) * t * t + 2.0,
                    ((4.0 - 3.0 * t) * t + 1.0) * t, (t - 1.0) * t * t);
}

float between(vec2 centre) {
  vec2 at = centre - 0.5;
  ivec2 first = ivec2(floor(at));
  vec4 across = cubic(at.x - floor(at.x));
  vec4 down = cubic(at.y - floor(at.y));
  float sum = 0.0;
  float least = 1e9;
  float most = 0.0;
  for (int j = 0; j < 4; j++) {
    vec4 line = vec4(grey(first + ivec2(-1, j - 1)), grey(first + ivec2(0, j - 1)),
                     grey(first + ivec2(1, j - 1)), grey(first + ivec2(2, j - 1)));
    sum += down[j] * dot(across, line);
    if (j == 1 || j == 2) {
      least = min(least, min(line.y, line.z));
      most = max(most, max(line.y, line.z));
    }
  }
  return clamp(sum, least, most);
}

void main() {
  vec2 size = vec2(textureSize(u_film, 0));
  vec2 centre = u_origin + gl_FragCoord.xy * u_step;
  float value = u_step >= 1.0 ? average(centre, size) : between(centre);
  result = uint(value * u_gain + 0.5);
}`;

/** Window, level and mirror image of the screen-sized part, bottom row first as the screen has it; the formula is
 *  window.js's. */
export const WINDOW = `${HEADER}
uniform usampler2D u_sheet;
uniform ivec2 u_last;
uniform float u_low;
uniform float u_high;
uniform bool u_inverted;
uniform bool u_flipped;
out vec4 colour;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float value = float(texelFetch(u_sheet, ivec2(u_flipped ? u_last.x - at.x : at.x, u_last.y - at.y), 0).r) / 256.0;
  float share = clamp((value - u_low) / (u_high - u_low), 0.0, 1.0);
  if (u_inverted) share = 1.0 - share;
  colour = vec4(vec3(floor(share * 255.0 + 0.5) / 255.0), 1.0);
}`;
