#version 460
// The elements of rows in order, and where they were: a bitonic network (Batcher, "Sorting networks and their
// applications", 1968). A key orders as its element does; of equal ones the place decides, so the order is stable. A
// place is the lower half of the key where the element leaves room for it, else beside it. A row that fits into a work
// group's shared memory is sorted there; of a longer one blocks are sorted there, and merged by steps over all of it.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "order.glsl"

layout(constant_id = 2) const uint LENGTH = 256;  // of what is held together: a power of two
layout(constant_id = 3) const bool DESCENDING = false;
layout(constant_id = 4) const uint TYPE = 6;      // of the elements; kAbsent: the keys are there already
layout(constant_id = 5) const uint RAW_TYPE = 2;  // an integer type of the elements' size
layout(constant_id = 6) const bool WIDE = false;  // places lie beside the keys

const uint kWhole = 0;   // from the operand to the results
const uint kBlocks = 1;  // from the operand to sorted blocks of keys
const uint kStep = 2;    // keys `apart` from each other, in runs of `run`
const uint kMerge = 3;   // the last steps of a run, within blocks
const uint kTake = 4;    // from the keys to the results

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t values, places, operand;
  uint64_t keys, order;  // of all rows, `padded` each; order: the places where they lie beside the keys
  uint kept;             // elements of each row that are wanted
  uint padded;           // a power of two
  uint run, apart;
  Rows rows;             // of the operand, then of the results
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint64_t kLast = 0xffffffffffffffffUL;

shared uint64_t keys[LENGTH];
shared uint places[WIDE ? LENGTH : 1];

// Where a row of the operand and of the results begins.
int64_t[3] row_at(uint row) {
  int64_t at[3] = int64_t[](0, 0, 0);
  for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
    const uint place = row % arguments.rows.size[d];
    row /= arguments.rows.size[d];
    [[unroll]] for (uint k = 0; k < 3; ++k) at[k] += int64_t(place) * arguments.rows.stride[k][d];
  }
  return at;
}

// Elements `first` … of a row, with what never comes before an element behind its end.
void load(int64_t at, uint first) {
  for (uint i = gl_LocalInvocationID.x; i < LENGTH; i += 256) {
    const uint place = first + i;
    uint64_t key = kLast;
    if (place < arguments.rows.extent) {
      key = order_at(arguments.operand, at + int64_t(place) * arguments.rows.step[0], TYPE);
      if (DESCENDING) key = ~key;
      if (!WIDE) key = key << 32 | uint64_t(place);
    }
    keys[i] = key;
    if (WIDE) places[i] = place;
  }
}
void load_keys(uint64_t from) {
  for (uint i = gl_LocalInvocationID.x; i < LENGTH; i += 256) {
    keys[i] = U64Element(arguments.keys + (from + i) * 8).at;
    if (WIDE) places[i] = uint(I32Element(arguments.order + (from + i) * 4).at);
  }
}
void store_keys(uint64_t to) {
  for (uint i = gl_LocalInvocationID.x; i < LENGTH; i += 256) {
    U64Element(arguments.keys + (to + i) * 8).at = keys[i];
    if (WIDE) I32Element(arguments.order + (to + i) * 4).at = int(places[i]);
  }
}

// The steps of a run from `apart` on; `first` is the number of the block's first element in its row.
void steps(uint first, uint run, uint apart) {
  for (; apart > 0; apart /= 2) {
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < LENGTH; i += 256) {
      const uint other = i ^ apart;
      if (other < i) continue;
      const uint64_t a = keys[i], b = keys[other];
      const bool after = a > b || (WIDE && a == b && places[i] > places[other]);
      if (after != ((first + i & run) == 0)) continue;
      keys[i] = b;
      keys[other] = a;
      if (WIDE) {
        const uint place = places[i];
        places[i] = places[other];
        places[other] = place;
      }
    }
  }
  barrier();
}
void sort_block(uint first) {
  for (uint run = 2; run <= LENGTH; run *= 2) steps(first, run, run / 2);
}

void store_result(int64_t at[3], uint i, uint place) {
  store_integer(arguments.values, at[1] + int64_t(i) * arguments.rows.step[1], RAW_TYPE,
                load_integer(arguments.operand, at[0] + int64_t(place) * arguments.rows.step[0], RAW_TYPE));
  store_integer(arguments.places, at[2] + int64_t(i) * arguments.rows.step[2], kI64, int64_t(place));
}

void sort_rows() {
  for (uint row = gl_WorkGroupID.x; row < arguments.rows.count; row += gl_NumWorkGroups.x) {
    const int64_t at[3] = row_at(row);
    barrier();
    load(at[0], 0);
    sort_block(0);
    for (uint i = gl_LocalInvocationID.x; i < arguments.kept; i += 256)
      store_result(at, i, WIDE ? places[i] : uint(keys[i]));
  }
}

void visit_blocks() {
  const uint blocks = arguments.padded / LENGTH;
  for (uint block = gl_WorkGroupID.x; block < arguments.rows.count * blocks; block += gl_NumWorkGroups.x) {
    const uint first = block % blocks * LENGTH;
    const uint64_t from = uint64_t(block) * LENGTH;
    barrier();
    if (MODE == kBlocks && TYPE != kAbsent)
      load(row_at(block / blocks)[0], first);
    else
      load_keys(from);
    if (MODE == kBlocks)
      sort_block(first);
    else
      steps(first, arguments.run, LENGTH / 2);
    store_keys(from);
  }
}

void step_over_rows() {
  const uint half_row = arguments.padded / 2, apart = arguments.apart;
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint pair = gl_GlobalInvocationID.x; pair < arguments.rows.count * half_row; pair += threads) {
    const uint i = pair % half_row / apart * 2 * apart + pair % apart;
    const uint64_t first = uint64_t(pair / half_row) * arguments.padded + i, second = first + apart;
    const uint64_t a = U64Element(arguments.keys + first * 8).at, b = U64Element(arguments.keys + second * 8).at;
    int p = 0, q = 0;
    if (WIDE) {
      p = I32Element(arguments.order + first * 4).at;
      q = I32Element(arguments.order + second * 4).at;
    }
    const bool after = a > b || (WIDE && a == b && p > q);
    if (after != ((i & arguments.run) == 0)) continue;
    U64Element(arguments.keys + first * 8).at = b;
    U64Element(arguments.keys + second * 8).at = a;
    if (WIDE) {
      I32Element(arguments.order + first * 4).at = q;
      I32Element(arguments.order + second * 4).at = p;
    }
  }
}

void take() {
  const uint kept = arguments.kept, threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint n = gl_GlobalInvocationID.x; n < arguments.rows.count * kept; n += threads) {
    const uint row = n / kept, i = n % kept;
    const uint64_t from = uint64_t(row) * arguments.padded + i;
    store_result(row_at(row), i, WIDE ? uint(I32Element(arguments.order + from * 4).at)
                                      : uint(U64Element(arguments.keys + from * 8).at));
  }
}

void main() {
  if (MODE == kWhole)
    sort_rows();
  else if (MODE == kStep)
    step_over_rows();
  else if (MODE == kTake)
    take();
  else
    visit_blocks();
}
