#version 450
layout(location = 0) in vec4 color;
layout(location = 1) in vec2 at;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(location = 0) out vec4 result;

void main() { result = color * texture(picture, at); }
