#version 460
// Samples from rows of n weights, one for each category, with the random words and the double precision of
// the CPU (runtime/ops/random/random.cpp). With replacement: the position of a uniform number among the running
// sums. Without: the categories with the smallest -log(u) / w, which sort.comp sorts.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"
#include "philox.glsl"
#include "doubles.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;  // type of the weights
layout(constant_id = 2) const bool REPLACEMENT = false;

const uint kCheck = 0;  // a workgroup for each row: notes weights that are not a distribution; adds them up
const uint kPick = 1;   // an invocation for each sample, with replacement
const uint kKeys = 2;   // an invocation for each key
const uint kTake = 3;   // an invocation for each sample, from the sorted keys

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Doubles { double at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, weights;
  Doubles sums;
  uint64_t keys;
  Words order;  // order of the keys
  uint64_t fault;
  uvec2 seed, stream;
  uint rows, n, samples, padded;
  uint weight_fault, total_fault, few_fault;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

// A tile of weights: adjacent invocations load adjacent weights, then each owns kEach adjacent ones.
const uint kEach = 16;
const uint kTile = 256 * kEach;
shared float staged[kTile + 256];
shared double part[256], block_part[16];
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

// The sum of the numbers of the invocations before this one; `all`: of all invocations. All invocations of
// the workgroup must call it.
double sum_before_me(double mine, out double all) {
  const uint me = gl_LocalInvocationID.x, block = me / 16;
  part[me] = mine;
  barrier();
  double before = 0.0lf;
  for (uint k = block * 16; k < me; ++k) before += part[k];
  if (me % 16 == 15) block_part[block] = before + mine;
  barrier();
  double blocks_before = 0.0lf;
  all = 0.0lf;
  for (uint k = 0; k < 16; ++k) {
    if (k == block) blocks_before = all;
    all += block_part[k];
  }
  return blocks_before + before;
}

// How many running sums a row stores: the sum before every kEach weights, then the sum of all.
uint sums_of_row() {
  return (arguments.n - 1) / kEach + 2;
}
void check_row(uint row) {
  const uint me = gl_LocalInvocationID.x, n = arguments.n, first = row * sums_of_row();
  if (me == 0) possible = 0;
  double before = 0.0lf;
  uint positive = 0;
  for (uint tile = 0; tile < n; tile += kTile) {
    barrier();
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint place = e * 256 + me;
      const float w = tile + place < n ? weight_at(row, tile + place) : 0.0;
      const bool finite = (floatBitsToUint(w) & 0x7f800000u) != 0x7f800000u;
      if (!(finite && w >= 0.0)) note(arguments.weight_fault, floatBitsToInt(w), 0);
      if (w > 0.0) ++positive;
      staged[place + place / kEach] = w;
    }
    barrier();
    double mine = 0.0lf, all;
    [[unroll]] for (uint e = 0; e < kEach; ++e) mine += double(staged[me * (kEach + 1) + e]);
    const double at = before + sum_before_me(mine, all);
    if (REPLACEMENT && tile + me * kEach < n) arguments.sums.at[first + tile / kEach + me] = at;
    before += all;
  }
  atomicAdd(possible, positive);
  barrier();
  if (me != 0) return;
  if (!(before > 0.0lf)) note(arguments.total_fault, 0, 0);
  if (REPLACEMENT)
    arguments.sums.at[first + sums_of_row() - 1] = before;
  else if (possible > 0 && possible < arguments.samples)
    note(arguments.few_fault, int(arguments.samples), possible);
}

void pick(uint i) {
  const uint n = arguments.n, row = i / arguments.samples, parts = sums_of_row() - 1, first = row * (parts + 1);
  const double wanted = uniform_at(i) * arguments.sums.at[first + parts];
  // Finds the last part that does not begin above the number, and in it the first category whose running sum
  // is above. Because of rounding there may be none, or its weight may be 0: then the last category before it
  // with a positive weight is taken.
  uint low = 0, high = parts;
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (arguments.sums.at[first + middle] > wanted)
      high = middle;
    else
      low = middle;
  }
  double sum = arguments.sums.at[first + low];
  uint category = low * kEach;
  const uint last = min(category + kEach, n) - 1;
  for (; category < last; ++category) {
    sum += double(weight_at(row, category));
    if (sum > wanted) break;
  }
  while (category > 0 && weight_at(row, category) == 0.0) --category;
  store_integer(arguments.result, int64_t(i), kI64, int64_t(category));
}

void make_key(uint i) {
  const uint row = i / arguments.padded, category = i % arguments.padded;
  uint64_t key = 0xffffffffffffffffUL;
  if (category < arguments.n) {
    const float w = weight_at(row, category);
    key = 0x7ff0000000000000UL;  // infinity; positive numbers have the order of their bits
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
