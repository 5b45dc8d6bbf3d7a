#version 460
// Random numbers and dropout, bit for bit the same as on the CPU. An invocation computes one block of four
// words, for elements 4 i … 4 i + 3, or for two elements of two words each. Four elements are stored at once
// where their addresses allow it: by one invocation if they fill 16 bytes, else (IN_PAIRS) by two
// invocations, so that adjacent invocations write adjacent memory.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;          // type of the result
layout(constant_id = 2) const bool IN_FOURS = false;  // four elements of i32 or floats are moved at once
layout(constant_id = 3) const bool IN_PAIRS = false;  // for kInteger: two elements of i64 are moved at once

const uint kDropout = 0;    // word < threshold ? 0 : operand * scale
const uint kUniform = 1;    // the upper 24 bits as a number in [0, 1)
const uint kNormal = 2;     // Box-Muller in pairs (runtime/ops/random/cpu/random.h), times factor
const uint kInteger = 3;    // low + the upper half of word * range
const uint kBernoulli = 4;  // word / 2^32 < operand
const uint kTwoWords = 5;   // like kInteger, for a range above 2^32

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer BernoulliArguments {
  uint64_t fault;
  uint fault_kind;
};
layout(push_constant, scalar) uniform Push {
  BernoulliArguments arguments;  // for kBernoulli
  uint64_t result, operand;
  uvec2 seed, stream;
  uint count;
  uint threshold;
  float factor;
  uint first_block;
  int64_t low;
  uint64_t range;
};

vec2 normals(uint first, uint second) {
  int e;
  const float m = mantissa_of_normal(float((first >> 8) + 1u) * 5.9604644775390625e-8, e);
  const float radius = sqrt(-2.0 * log_of_parts(e, m - 1.0, 1.0, 0.693359375, -2.12194440e-4));
  // The angle in units of 2^-24 turns, split into the nearest quarter turn and the rest.
  const uint turn = second >> 8, quarter = (turn + 0x200000u) >> 22;
  const float rest = float(int(turn) - int(quarter << 22)) * 3.7450702829238410e-7;
  const float z = rest * rest;
  const float sine = rest + rest * z * (-0.166666641831398 + z * (8.332747966051102e-3 + z * -1.9587890710681677e-4));
  const float cosine =
      1.0 - 0.5 * z + z * z * (0.0416666641831398 + z * (-1.388830249197781e-3 + z * 2.454794230288826e-5));
  const bool swapped = (quarter & 1u) != 0;
  const float x = swapped ? sine : cosine, y = swapped ? cosine : sine;
  return radius * vec2(((quarter + 1u) & 2u) != 0 ? -x : x, (quarter & 2u) != 0 ? -y : y);
}
vec4 normals(uvec4 words) {
  return vec4(normals(words.x, words.y), normals(words.z, words.w)) * factor;
}

void note_probability(uint i, float p) {
  note_fault(arguments.fault, arguments.fault_kind, i, floatBitsToInt(p), 0);
}

// The upper 64 bits of the product of two 64-bit numbers.
uint64_t upper_half(uint64_t a, uint64_t b) {
  const uint64_t low = 0xffffffffUL;
  const uint64_t cross = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  const uint64_t other = (a & low) * (b >> 32) + (cross & low);
  return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
}

// A number in [0, 1). Types with fewer bits take only as many upper bits as they can hold, so that nothing is
// rounded to 1.
float below_one(uint word) {
  if (TYPE == kF16) return float(word >> 21) * 4.8828125e-4;
  if (TYPE == kBF16) return float(word >> 24) * 3.90625e-3;
  return float(word >> 8) * 5.9604644775390625e-8;
}

vec4 below_one(uvec4 words) {
  return vec4(below_one(words.x), below_one(words.y), below_one(words.z), below_one(words.w));
}

// The upper half of word * range, for a range of at most 2^32.
uint scaled(uint word) {
  uint upper, lower;
  umulExtended(word, uint(range), upper, lower);
  return uint(range) == 0 ? word : upper;
}

void store_four_at(uint block, uvec4 words) {
  if (MODE == kInteger) {
    const ivec4 values = ivec4(scaled(words.x), scaled(words.y), scaled(words.z), scaled(words.w)) + int(low);
    U32x4Elements(result + uint64_t(block) * 16).at = uvec4(values);
  } else if (MODE == kDropout) {
    const vec4 kept = load_four(operand, block, TYPE) * factor;
    store_four(result, block, TYPE, mix(kept, vec4(0.0), lessThan(words, uvec4(threshold))));
  } else {
    store_four(result, block, TYPE, MODE == kUniform ? below_one(words) : normals(words));
  }
}

void store_single(uint block, uint each, uvec4 words) {
  const vec4 drawn = MODE == kNormal ? normals(words) : vec4(0.0);
  for (uint j = 0; j < each; ++j) {
    const int64_t i = int64_t(block) * each + int64_t(j);
    if (i >= int64_t(count)) break;
    if (MODE == kDropout)
      store_float(result, i, TYPE, words[j] < threshold ? 0.0 : load_float(operand, i, TYPE) * factor);
    else if (MODE == kUniform)
      store_float(result, i, TYPE, below_one(words[j]));
    else if (MODE == kNormal)
      store_float(result, i, TYPE, drawn[j]);
    else if (MODE == kInteger)
      store_integer(result, i, TYPE, low + int64_t(uint64_t(scaled(words[j]))));
    else if (MODE == kTwoWords)
      store_integer(result, i, TYPE,
                    low + int64_t(upper_half(uint64_t(words[2 * j]) << 32 | words[2 * j + 1], range)));
    else {
      // Exact: a power of two scales the probability.
      const float p = load_float(operand, i, TYPE), edge = ceil(p * 4294967296.0);
      const bool is_chance = p >= 0.0 && p <= 1.0;
      if (!is_chance) note_probability(uint(i) + 4 * first_block, p);
      const bool met = is_chance && (edge == 4294967296.0 || words[j] < uint(edge));
      store_float(result, i, TYPE, met ? 1.0 : 0.0);
    }
  }
}

// The invocations of a workgroup exchange their words.
shared uvec4 exchanged[IN_PAIRS ? 256 : 1];
uint exchanged_word(uint i) {
  return exchanged[i / 4][i % 4];
}
void store_in_pairs(uint first_block, uvec4 words) {
  const uint me = gl_LocalInvocationID.x;
  barrier();
  exchanged[me] = words;
  barrier();
  [[unroll]] for (uint turn = 0; turn < 2; ++turn) {
    const uint here = 2 * (turn * 256 + me), i = 4 * first_block + here;
    if (i >= count) return;
    const int64_t a = low + int64_t(uint64_t(scaled(exchanged_word(here))));
    const int64_t b = low + int64_t(uint64_t(scaled(exchanged_word(here + 1))));
    if (i + 1 < count)
      U32x4Elements(result + uint64_t(i) * 8).at =
          uvec4(unpackUint2x32(uint64_t(a)), unpackUint2x32(uint64_t(b)));
    else
      I64Element(result + uint64_t(i) * 8).at = a;
  }
}

void main() {
  const uint each = MODE == kTwoWords ? 2 : 4;
  const uint blocks = (count - 1) / each + 1;
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  // All invocations of a workgroup run the same number of rounds, since these have barriers.
  for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < blocks; first += threads) {
    const uint block = first + gl_LocalInvocationID.x;
    const uvec4 words = philox(seed, stream, first_block + block);
    if (IN_PAIRS)
      store_in_pairs(first, words);
    else if (IN_FOURS && block < count / 4)
      store_four_at(block, words);
    else if (block < blocks)
      store_single(block, each, words);
  }
}
