#version 460
// The first elements of long rows in sorted order, without sorting the rows: a radix selection. The bound is
// the last of the wanted elements. Its digits are found from the highest one on, by counting the digits of
// the elements that agree with the digits so far. Then the elements before the bound, and as many equal
// elements as are still missing, are written in the order of their positions.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "tile.glsl"
#include "row_strides.glsl"
#include "order.glsl"

layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint RAW_TYPE = 2;  // an integer type with the size of the elements

const uint kDigits = 0;  // counts digit `pass`
const uint kCount = 1;   // counts the elements of each tile before the bound, and those equal to it
const uint kAddUp = 2;   // adds up the counts of the earlier tiles
const uint kPut = 3;
const uint kPlace = 4;  // writes only the last of the wanted elements
const uint kEach = 16, kTile = 256 * kEach;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Pairs { uvec2 at[]; };
struct State {
  uint64_t bound;  // its digits so far
  uint missing;    // how many of the elements that agree with it are wanted
  uint padding;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer States { State at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t operand;
  uint64_t chosen;       // [rows, wanted] elements
  Words places;          // and their positions; kPlace: [rows] of each, the positions in i64
  Words digits;          // [rows, passes, 256]
  States states;         // [rows, passes + 1]
  Pairs counts, before;  // [rows, tiles]
  uint wanted;
  uint pass, passes;
  uint tiles, slabs;  // of a row; kDigits has a workgroup for each slab
  uint type;
  uint flipped;          // all bits are set for a descending order, else none
  uint which;
  Rows rows;  // rows of the operand
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

// Values of `which`, as in runtime/ops/index/sort.cpp.
const uint kFirst = 0;      // the bound is the element `wanted`, from 1
const uint kMedian = 1;     // the middle one, or the last one if there is a NaN
const uint kNanmedian = 2;  // the middle one of the elements that are not NaN

shared uint counts[256];
shared uint nans;
// The keys of a tile, so that adjacent invocations load adjacent elements, though each owns kEach adjacent
// ones. 64-bit keys would not fit.
const bool kStaged = RAW_TYPE != kI64;
shared uint staged[kStaged ? kTile + 256 : 1];
shared uint64_t found_bound;
shared uint found_missing;

int64_t first_of(uint row) {
  int64_t at = 0;
  for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
    at += int64_t(row % arguments.rows.size[d]) * arguments.rows.stride[0][d];
    row /= arguments.rows.size[d];
  }
  return at;
}
int64_t raw_at(int64_t first, uint i) {
  return load_integer(arguments.operand, first + int64_t(i) * arguments.rows.step[0], RAW_TYPE);
}
// The element as a number of 8 * passes bits, in the wanted order.
uint64_t key_of(int64_t raw) {
  if (RAW_TYPE == kI64) {
    const uint64_t key = uint64_t(raw) ^ 0x8000000000000000UL;
    return arguments.flipped != 0 ? ~key : key;
  }
  const uint key = order_of_bits(uint(raw & 0xffffffffL), arguments.type) ^ arguments.flipped;
  return uint64_t(arguments.passes >= 4 ? key : key & (1u << 8 * arguments.passes) - 1);
}
bool is_nan(uint64_t key) {
  return arguments.type >= kF16 && arguments.type <= kF32 &&
         uint(key) == (arguments.type == kF32 ? 0xffffffffu : 0xffffu);
}
uint nans_at(uint row) {
  return arguments.rows.count * arguments.passes * 256 + row;
}
// How many elements come up to and including the bound.
uint wanted_of(uint row) {
  if (arguments.which == kFirst) return arguments.wanted;
  const uint extent = arguments.rows.extent, nans = arguments.digits.at[nans_at(row)];
  if (arguments.which == kMedian) return nans > 0 ? extent : (extent - 1) / 2 + 1;
  return (max(extent - nans, 1u) - 1) / 2 + 1;
}
uint shift_of(uint pass) {
  return 8 * (arguments.passes - 1 - pass);
}

// The state after `pass` digits, from the previous state and the counts of the last digit. All invocations of
// the workgroup must call it. With `keeps`, which the first slab or tile of a row sets, it is stored for the
// next dispatch.
State state_after(uint pass, uint row, bool keeps) {
  State state = State(0, 0, 0);
  if (pass == 0) return state;
  const uint at = row * (arguments.passes + 1) + pass;
  if (pass > 1)
    state = arguments.states.at[at - 1];
  else
    state.missing = wanted_of(row);
  const uint me = gl_LocalInvocationID.x;
  const uint here = arguments.digits.at[(row * arguments.passes + pass - 1) * 256 + me];
  const uint before = sum_before_me(uvec2(here, 0)).x;
  if (before < state.missing && state.missing <= before + here) {
    found_bound = state.bound << 8 | uint64_t(me);
    found_missing = state.missing - before;
  }
  barrier();
  state = State(found_bound, found_missing, 0);
  if (keeps && me == 0) arguments.states.at[at] = state;
  return state;
}

void count_digits(uint row, uint slab) {
  const uint me = gl_LocalInvocationID.x, pass = arguments.pass, extent = arguments.rows.extent;
  const uint each = (extent + arguments.slabs - 1) / arguments.slabs;
  const uint begin = min(slab * each, extent), end = min(begin + each, extent);
  const bool counts_nans = pass == 0 && arguments.which != kFirst;
  barrier();
  counts[me] = 0;
  if (me == 0) nans = 0;
  const State state = state_after(pass, row, slab == 0);
  barrier();
  const int64_t first = first_of(row);
  const uint shift = shift_of(pass);
  const uint kTogether = 4;  // loads per invocation
  uint my_nans = 0;
  for (uint from = begin + me; from < end; from += 256 * kTogether) {
    int64_t raw[kTogether];
    [[unroll]] for (uint e = 0; e < kTogether; ++e)
      if (from + e * 256 < end) raw[e] = raw_at(first, from + e * 256);
    [[unroll]] for (uint e = 0; e < kTogether; ++e) {
      if (from + e * 256 >= end) continue;
      const uint64_t key = key_of(raw[e]);
      if (counts_nans && is_nan(key)) ++my_nans;
      if (pass == 0 || key >> shift + 8 == state.bound)
        atomicAdd(counts[uint(key >> shift) & 255], 1);
    }
  }
  if (my_nans > 0) atomicAdd(nans, my_nans);
  barrier();
  if (counts[me] > 0) atomicAdd(arguments.digits.at[(row * arguments.passes + pass) * 256 + me], counts[me]);
  if (me == 0 && nans > 0) atomicAdd(arguments.digits.at[nans_at(row)], nans);
}

// my_key() is the key of this invocation's element e. All invocations of the workgroup must call stage()
// before.
void stage(int64_t first, uint tile) {
  if (!kStaged) return;
  barrier();
  [[unroll]] for (uint e = 0; e < kEach; ++e) {
    const uint place = e * 256 + gl_LocalInvocationID.x, i = tile * kTile + place;
    if (i < arguments.rows.extent) staged[place + place / kEach] = uint(key_of(raw_at(first, i)));
  }
  barrier();
}
uint64_t my_key(int64_t first, uint tile, uint e) {
  const uint me = gl_LocalInvocationID.x;
  if (kStaged) return uint64_t(staged[me * (kEach + 1) + e]);
  return key_of(raw_at(first, tile * kTile + me * kEach + e));
}

// How many of an invocation's adjacent elements of a tile come before the bound, and how many are equal to
// it.
uvec2 count_mine(int64_t first, uint tile, uint64_t bound) {
  stage(first, tile);
  const uint begin = tile * kTile + gl_LocalInvocationID.x * kEach;
  uvec2 mine = uvec2(0);
  [[unroll]] for (uint e = 0; e < kEach; ++e)
    if (begin + e < arguments.rows.extent) {
      const uint64_t key = my_key(first, tile, e);
      mine += uvec2(key < bound ? 1 : 0, key == bound ? 1 : 0);
    }
  return mine;
}

void count_tile(uint row, uint tile) {
  const State state = state_after(arguments.passes, row, tile == 0);
  const uvec2 mine = count_mine(first_of(row), tile, state.bound), before = sum_before_me(mine);
  if (gl_LocalInvocationID.x == 255) arguments.counts.at[row * arguments.tiles + tile] = before + mine;
}

void add_up_row(uint row) {
  const uint tiles = arguments.tiles, each = (tiles + 255) / 256;
  const uint begin = min(gl_LocalInvocationID.x * each, tiles), end = min(begin + each, tiles);
  uvec2 sum = uvec2(0);
  for (uint tile = begin; tile < end; ++tile) sum += arguments.counts.at[row * tiles + tile];
  sum = sum_before_me(sum);
  for (uint tile = begin; tile < end; ++tile) {
    arguments.before.at[row * tiles + tile] = sum;
    sum += arguments.counts.at[row * tiles + tile];
  }
}

void put_tile(uint row, uint tile) {
  const uint work = row * arguments.tiles + tile;
  const State state = arguments.states.at[row * (arguments.passes + 1) + arguments.passes];
  const uvec2 here = arguments.counts.at[work], earlier = arguments.before.at[work];
  const bool has_equal = here.y > 0 && earlier.y < state.missing;
  if (MODE == kPlace ? !has_equal || earlier.y + here.y < state.missing : here.x == 0 && !has_equal) return;
  const int64_t first = first_of(row);
  const uvec2 before = earlier + sum_before_me(count_mine(first, tile, state.bound));
  uint closer = before.x, equal = before.y;
  const uint begin = tile * kTile + gl_LocalInvocationID.x * kEach;
  for (uint i = begin; i < min(begin + kEach, arguments.rows.extent); ++i) {
    const uint64_t key = my_key(first, tile, i - begin);
    if (MODE == kPlace) {
      if (key != state.bound || ++equal != state.missing) continue;
      store_integer(arguments.chosen, int64_t(row), RAW_TYPE, raw_at(first, i));
      I64Element(uint64_t(arguments.places) + uint64_t(row) * 8).at = int64_t(i);
      continue;
    }
    uint to = arguments.wanted;
    if (key < state.bound)
      to = closer++;
    else if (key == state.bound && equal < state.missing)
      to = arguments.wanted - state.missing + equal++;
    if (to == arguments.wanted) continue;
    store_integer(arguments.chosen, int64_t(row) * arguments.wanted + to, RAW_TYPE, raw_at(first, i));
    arguments.places.at[row * arguments.wanted + to] = i;
  }
}

void main() {
  const uint each = MODE == kAddUp ? 1 : MODE == kDigits ? arguments.slabs : arguments.tiles;
  const uint count = arguments.rows.count * each;
  for (uint work = gl_WorkGroupID.x; work < count; work += gl_NumWorkGroups.x) {
    const uint row = work / each, part = work % each;
    if (MODE == kDigits)
      count_digits(row, part);
    else if (MODE == kCount)
      count_tile(row, part);
    else if (MODE == kAddUp)
      add_up_row(row);
    else
      put_tile(row, part);
  }
}
