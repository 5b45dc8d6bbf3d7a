#version 460
#extension GL_GOOGLE_include_directive : require
#define COMPLEX
#include "solve.glsl"
