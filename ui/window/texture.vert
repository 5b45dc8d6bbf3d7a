#version 450
// Dear ImGui's vertices: pixels become clip coordinates.
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 place;
layout(location = 2) in vec4 tint;
layout(push_constant) uniform Window { vec2 scale, offset; } window;
layout(location = 0) out vec4 color;
layout(location = 1) out vec2 at;

void main() {
  color = tint;
  at = place;
  gl_Position = vec4(position * window.scale + window.offset, 0, 1);
}
