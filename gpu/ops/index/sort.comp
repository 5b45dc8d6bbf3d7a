#version 460
// Sorts rows and returns the elements and their indices: a bitonic sorting network (Batcher, "Sorting
// networks and their applications", 1968). Keys have the order of their elements; indices ("places") break
// ties, so the sort is stable. The index is the lower half of the key if the element has 32 bits, else it is
// stored separately (ORDER_APART). Rows that fit into the shared memory of a workgroup are sorted there. Longer rows
// of elements are sorted by radix.comp. Longer rows of given keys are sorted in blocks in shared memory, then
// merged in global memory.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "order.glsl"

layout(constant_id = 2) const uint LENGTH = 256;  // keys that are sorted together: a power of two
layout(constant_id = 3) const bool DESCENDING = false;
layout(constant_id = 4) const uint TYPE = 6;             // type of the elements; kAbsent: keys are given
layout(constant_id = 5) const uint RAW_TYPE = 2;         // an integer type of the same size as the elements
layout(constant_id = 6) const bool ORDER_APART = false;  // indices are stored separately
layout(constant_id = 7) const uint LEVELS = 1;           // the number of steps of a kStep dispatch
layout(constant_id = 8) const bool NAMED = false;        // kWhole: an index is replaced by its entry in `order`

const uint kWhole = 0;   // from the operand to the results
const uint kBlocks = 1;  // sorts blocks of given keys
// LEVELS steps of runs of `run` keys: compares keys at distance `apart`, then at smaller ones
const uint kStep = 2;
const uint kMerge = 3;   // the last steps of a run, inside blocks

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t values, places, operand;
  uint64_t keys, order;  // keys: `padded` for each row; order: indices of the keys, or replacements (NAMED)
  uint kept;             // results of each row
  uint padded;           // a power of two
  uint run, apart;
  Rows rows;  // rows of the operand, then of the results
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint64_t kLast = 0xffffffffffffffffUL;

const uint kTogether = LENGTH < 512 ? 512 : LENGTH;  // several short rows or blocks share a workgroup
shared uint64_t keys[kTogether];
shared uint places[ORDER_APART ? kTogether : 1];

// The positions of a row in the operand and in the results.
int64_t[3] row_at(uint row) {
  int64_t at[3] = int64_t[](0, 0, 0);
  for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
    const uint place = row % arguments.rows.size[d];
    row /= arguments.rows.size[d];
    [[unroll]] for (uint k = 0; k < 3; ++k) at[k] += int64_t(place) * arguments.rows.stride[k][d];
  }
  return at;
}

uint padded_count() {
  return arguments.rows.count * arguments.padded;
}

// Loads kTogether keys from key `from` on. The keys of all rows are numbered consecutively. A row is padded
// with the largest key.
void load(uint from) {
  for (uint i = gl_LocalInvocationID.x; i < kTogether; i += 256) {
    const uint place = from + i & arguments.padded - 1;
    uint64_t key = kLast;
    if (from + i < padded_count() && place < arguments.rows.extent) {
      const int64_t row = row_at((from + i) / arguments.padded)[0];
      key = order_at(arguments.operand, row + int64_t(place) * arguments.rows.step[0], TYPE);
      if (DESCENDING) key = ~key;
      if (!ORDER_APART) key = key << 32 | uint64_t(place);
    }
    keys[i] = key;
    if (ORDER_APART) places[i] = place;
  }
}
uint64_t key_at(uint64_t i) {
  return U64Element(arguments.keys + i * 8).at;
}
uint place_at(uint64_t i) {
  return uint(I32Element(arguments.order + i * 4).at);
}
void store_key(uint64_t i, uint64_t key, uint place) {
  U64Element(arguments.keys + i * 8).at = key;
  if (ORDER_APART) I32Element(arguments.order + i * 4).at = int(place);
}
void load_keys(uint from) {
  for (uint i = gl_LocalInvocationID.x; i < kTogether && from + i < padded_count(); i += 256) {
    keys[i] = key_at(from + i);
    if (ORDER_APART) places[i] = place_at(from + i);
  }
}
void store_keys(uint from) {
  for (uint i = gl_LocalInvocationID.x; i < kTogether && from + i < padded_count(); i += 256)
    store_key(from + i, keys[i], ORDER_APART ? places[i] : 0);
}

// Whether the run of key i is sorted upwards. Directions alternate; the run of a whole row is sorted upwards.
bool goes_up(uint i, uint run) {
  return (i & arguments.padded - 1 & run) == 0;
}
bool comes_after(uint64_t key, uint place, uint64_t other, uint other_place) {
  return key > other || (ORDER_APART && key == other && place > other_place);
}

// Runs the steps of a run from distance `apart` on, on the keys in shared memory. The first of these is key
// `from`.
void steps(uint from, uint run, uint apart) {
  for (; apart > 0; apart /= 2) {
    barrier();
    for (uint pair = gl_LocalInvocationID.x; pair < kTogether / 2; pair += 256) {
      const uint i = 2 * pair - (pair & apart - 1), other = i + apart;
      const uint64_t a = keys[i], b = keys[other];
      const uint p = ORDER_APART ? places[i] : 0, q = ORDER_APART ? places[other] : 0;
      if (comes_after(a, p, b, q) != goes_up(from + i, run)) continue;
      keys[i] = b;
      keys[other] = a;
      if (ORDER_APART) {
        places[i] = q;
        places[other] = p;
      }
    }
  }
  barrier();
}
void sort_held(uint from) {
  for (uint run = 2; run <= LENGTH; run *= 2) steps(from, run, run / 2);
}

void store_result(uint row, uint i, uint place) {
  const int64_t at[3] = row_at(row);
  const uint name = NAMED ? place_at(row * arguments.rows.extent + place) : place;
  store_integer(arguments.values, at[1] + int64_t(i) * arguments.rows.step[1], RAW_TYPE,
                load_integer(arguments.operand, at[0] + int64_t(place) * arguments.rows.step[0], RAW_TYPE));
  store_integer(arguments.places, at[2] + int64_t(i) * arguments.rows.step[2], kI64, int64_t(name));
}
void store_results(uint from) {
  for (uint i = gl_LocalInvocationID.x; i < kTogether && from + i < padded_count(); i += 256) {
    const uint rank = from + i & arguments.padded - 1;
    if (rank < arguments.kept)
      store_result((from + i) / arguments.padded, rank, ORDER_APART ? places[i] : uint(keys[i]));
  }
}

void visit_blocks() {
  const uint blocks = (padded_count() - 1) / kTogether + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint from = block * kTogether;
    barrier();
    if (MODE == kWhole)
      load(from);
    else
      load_keys(from);
    if (MODE == kMerge)
      steps(from, arguments.run, LENGTH / 2);
    else
      sort_held(from);
    if (MODE == kWhole)
      store_results(from);
    else
      store_keys(from);
  }
}

// An invocation holds the 2^LEVELS keys that LEVELS steps compare with each other.
void step_over_rows() {
  const uint kMine = 1 << LEVELS, threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  const uint near = arguments.apart >> LEVELS - 1;
  for (uint n = gl_GlobalInvocationID.x; n < padded_count() / kMine; n += threads) {
    const uint first = n * kMine - (n & near - 1) * (kMine - 1);
    const bool up = goes_up(first, arguments.run);
    uint64_t key[kMine];
    uint place[kMine];
    [[unroll]] for (uint e = 0; e < kMine; ++e) {
      key[e] = key_at(first + e * near);
      place[e] = ORDER_APART ? place_at(first + e * near) : 0;
    }
    [[unroll]] for (uint apart = kMine / 2; apart > 0; apart /= 2)
      [[unroll]] for (uint pair = 0; pair < kMine / 2; ++pair) {
        const uint e = 2 * pair - (pair & apart - 1), other = e + apart;
        if (comes_after(key[e], place[e], key[other], place[other]) != up) continue;
        const uint64_t a = key[e];
        const uint p = place[e];
        key[e] = key[other];
        place[e] = place[other];
        key[other] = a;
        place[other] = p;
      }
    [[unroll]] for (uint e = 0; e < kMine; ++e) store_key(first + e * near, key[e], place[e]);
  }
}

void main() {
  if (MODE == kStep)
    step_over_rows();
  else
    visit_blocks();
}
