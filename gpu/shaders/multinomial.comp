#version 460
// Samples from rows of n weights, one for each category, with the random words and the double precision of the CPU
// (runtime/ops/random.cpp). With replacement: the position of a uniform number among the running sums. Without: the
// categories with the smallest -log(u) / w, which sort.comp sorts.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"
#include "philox.glsl"
#include "doubles.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;  // of the weights
layout(constant_id = 2) const bool REPLACEMENT = false;

const uint kCheck = 0;  // a work group for each row: notes weights that are not a distribution; makes running sums
const uint kPick = 1;   // a thread for each sample, with replacement
const uint kKeys = 2;   // a thread for each key
const uint kTake = 3;   // a thread for each sample, from the sorted keys

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Doubles { double at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, weights;
  Doubles sums;
  uint64_t keys;
  Words order;  // of the keys
  uint64_t fault;
  uvec2 seed, stream;
  uint rows, n, samples, padded;
  uint weight_fault, total_fault, few_fault;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared double part[256];
shared uint possible;

void note(uint kind, int value, uint size) {
  note_fault(arguments.fault, kind, 0, value, size);
}
float weight_at(uint row, uint i) {
  return load_float(arguments.weights, int64_t(row) * arguments.n + i, TYPE);
}
double uniform_at(uint element) {
  const uvec4 words = philox(arguments.seed, arguments.stream, element / 2);
  const uint pair = element % 2 * 2;
  return uniform_f64(words[pair], words[pair + 1]);
}

// Each thread owns one contiguous part of the row.
void check_row(uint row) {
  const uint me = gl_LocalInvocationID.x, n = arguments.n, each = (n + 255) / 256;
  const uint begin = min(me * each, n), end = min(begin + each, n);
  if (me == 0) possible = 0;
  barrier();
  double sum = 0.0lf;
  uint positive = 0;
  for (uint i = begin; i < end; ++i) {
    const float w = weight_at(row, i);
    const bool finite = (floatBitsToUint(w) & 0x7f800000u) != 0x7f800000u;
    if (!(finite && w >= 0.0)) note(arguments.weight_fault, floatBitsToInt(w), 0);
    sum += double(w);
    if (w > 0.0) ++positive;
  }
  part[me] = sum;
  atomicAdd(possible, positive);
  barrier();
  double before = 0.0lf;
  for (uint k = 0; k < me; ++k) before += part[k];
  if (me == 255 && !(before + sum > 0.0lf)) note(arguments.total_fault, 0, 0);
  if (!REPLACEMENT) {
    if (me == 0 && possible > 0 && possible < arguments.samples)
      note(arguments.few_fault, int(arguments.samples), possible);
    return;
  }
  for (uint i = begin; i < end; ++i) {
    before += double(weight_at(row, i));
    arguments.sums.at[row * n + i] = before;
  }
}

void pick(uint i) {
  const uint n = arguments.n, row = i / arguments.samples, first = row * n;
  const double total = arguments.sums.at[first + n - 1], wanted = uniform_at(i) * total;
  // The first sum above the number. Because of rounding it may be past the end, or belong to a category of weight 0 at
  // the start of a thread's part: then the last category before it with a positive weight is taken.
  uint low = 0, high = n;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (arguments.sums.at[first + middle] > wanted)
      high = middle;
    else
      low = middle + 1;
  }
  low = min(low, n - 1);
  while (low > 0 && weight_at(row, low) == 0.0) --low;
  store_integer(arguments.result, int64_t(i), kI64, int64_t(low));
}

void make_key(uint i) {
  const uint row = i / arguments.padded, category = i % arguments.padded;
  uint64_t key = 0xffffffffffffffffUL;
  if (category < arguments.n) {
    const float w = weight_at(row, category);
    key = 0x7ff0000000000000UL;  // infinity; positive numbers order as their bits do
    if (w > 0.0) {
      // abs(log u), not -log u: u may be rounded to 1, and a key of -0 would be sorted last.
      const double u = uniform_at(row * arguments.n + category) + 5.5511151231257827e-17lf;
      const uvec2 bits = unpackDouble2x32(abs(log_of(u)) / double(w));
      key = uint64_t(bits.y) << 32 | bits.x;
    }
  }
  U64Element(arguments.keys + uint64_t(i) * 8).at = key;
  arguments.order.at[i] = category;
}

void take(uint i) {
  const uint row = i / arguments.samples, rank = i % arguments.samples;
  store_integer(arguments.result, int64_t(i), kI64, int64_t(arguments.order.at[row * arguments.padded + rank]));
}

void main() {
  if (MODE == kCheck) {
    for (uint row = gl_WorkGroupID.x; row < arguments.rows; row += gl_NumWorkGroups.x) {
      barrier();
      check_row(row);
    }
    return;
  }
  const uint count = arguments.rows * (MODE == kKeys ? arguments.padded : arguments.samples);
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    if (MODE == kPick)
      pick(i);
    else if (MODE == kKeys)
      make_key(i);
    else
      take(i);
  }
}
