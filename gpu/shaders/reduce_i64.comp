#version 460
#extension GL_GOOGLE_include_directive : require
#define T int64_t
#define T_IS_INTEGER
#include "reduce.glsl"
