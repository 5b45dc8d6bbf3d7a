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
layout(constant_id = 2) const uint TYPE = 6;      // type of the elements
layout(constant_id = 3) const uint BITS = 8;      // of a digit: 8 or 11

const uint kDigits = 0;  // counts digit `pass`
// counts the elements of each tile before the bound, and those equal to it, and marks the runs that have some
const uint kCount = 1;
const uint kAddUp = 2;   // adds up the counts of the earlier tiles
const uint kPut = 3;
const uint kPlace = 4;  // writes only the last of the wanted elements
const uint kEach = 16, kTile = 256 * kEach;
const uint kDigitCount = 1 << BITS, kOwn = kDigitCount / 256;  // kOwn: digits of an invocation
const bool kIn64Bits = RAW_TYPE == kI64;

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
  Words digits;          // [rows, passes, digits]
  States states;         // [rows, passes + 1]
  Pairs counts, before;  // [rows, tiles]
  // [rows, tiles, 8]: a bit for each run of kEach elements; for run r bit r / 16 of the half word r % 16
  Words marks;
  uint wanted;
  uint pass, passes;
  uint tiles, slabs, tiles_of_slab;  // of a row; kDigits and kCount have a workgroup for each slab
  uint flipped;  // the bits of an element are set for a descending order, else none
  uint which;
  Rows rows;  // rows of the operand, which is contiguous
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

// Values of `which`, as in runtime/ops/index/sort.cpp.
const uint kFirst = 0;      // the bound is the element `wanted`, from 1
const uint kMedian = 1;     // the middle one, or the last one if there is a NaN
const uint kNanmedian = 2;  // the middle one of the elements that are not NaN

// kDigits: counts of some invocations each, so that equal digits of neighbours are not added to one word.
// kCount: counts and marks of kBatch tiles.
// kPut, kPlace: the keys of a tile, so that adjacent invocations load adjacent elements, though each owns kEach
// adjacent ones. 64-bit keys would not fit.
const uint kCopies = BITS == 8 ? 16 : 2, kCopy = kDigitCount + 1, kBatch = 256;
const bool kStaged = !kIn64Bits;
shared uint pool[kTile + 256];
shared uint nans;
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
  return load_integer(arguments.operand, first + int64_t(i), RAW_TYPE);
}
// The element as a number in the wanted order, with as many bits as the element. Up to 32 bits are compared and
// shifted as such.
uint64_t key_of(int64_t raw) {
  if (kIn64Bits) {
    const uint64_t key = uint64_t(raw) ^ 0x8000000000000000UL;
    return arguments.flipped != 0 ? ~key : key;
  }
  return uint64_t(order_of_bits(uint(raw & 0xffffffffL), TYPE) ^ arguments.flipped);
}
bool is_before(uint64_t key, uint64_t bound) {
  return kIn64Bits ? key < bound : uint(key) < uint(bound);
}
bool is_equal(uint64_t key, uint64_t bound) {
  return kIn64Bits ? key == bound : uint(key) == uint(bound);
}
uint64_t without_bits(uint64_t key, uint bits) {
  return kIn64Bits ? key >> bits : uint64_t(uint(key) >> bits);
}
bool is_nan(uint64_t key) {
  return TYPE >= kF16 && TYPE <= kF32 && uint(key) == (TYPE == kF32 ? 0xffffffffu : 0xffffu);
}
uint nans_at(uint row) {
  return arguments.rows.count * arguments.passes * kDigitCount + row;
}
// How many elements come up to and including the bound.
uint wanted_of(uint row) {
  if (arguments.which == kFirst) return arguments.wanted;
  const uint extent = arguments.rows.extent, nans = arguments.digits.at[nans_at(row)];
  if (arguments.which == kMedian) return nans > 0 ? extent : (extent - 1) / 2 + 1;
  return (max(extent - nans, 1u) - 1) / 2 + 1;
}
uint shift_of(uint pass) {
  return BITS * (arguments.passes - 1 - pass);
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
  uint here[kOwn], sum = 0;
  const uint digits = (row * arguments.passes + pass - 1) * kDigitCount + me * kOwn;
  [[unroll]] for (uint k = 0; k < kOwn; ++k) {
    here[k] = arguments.digits.at[digits + k];
    sum += here[k];
  }
  uint before = sum_before_me(uvec2(sum, 0)).x;
  [[unroll]] for (uint k = 0; k < kOwn; ++k) {
    if (before < state.missing && state.missing <= before + here[k]) {
      found_bound = state.bound << BITS | uint64_t(me * kOwn + k);
      found_missing = state.missing - before;
    }
    before += here[k];
  }
  barrier();
  state = State(found_bound, found_missing, 0);
  if (keeps && me == 0) arguments.states.at[at] = state;
  return state;
}

// The elements of a slab, which consists of whole tiles.
uvec2 slab_bounds(uint slab) {
  const uint each = arguments.tiles_of_slab * kTile, extent = arguments.rows.extent;
  const uint begin = min(slab * each, extent);
  return uvec2(begin, begin + min(each, extent - begin));
}

void count_digits(uint row, uint slab) {
  const uint me = gl_LocalInvocationID.x, pass = arguments.pass;
  const uvec2 bounds = slab_bounds(slab);
  const bool counts_nans = pass == 0 && arguments.which != kFirst;
  barrier();
  for (uint i = me; i < kCopies * kCopy; i += 256) pool[i] = 0;
  if (me == 0) nans = 0;
  const State state = state_after(pass, row, slab == 0);
  barrier();
  const int64_t first = first_of(row);
  const uint shift = shift_of(pass), copy = me % kCopies * kCopy;
  const uint kTogether = 8;  // loads per invocation
  uint my_nans = 0;
  for (uint from = bounds.x + me; from < bounds.y; from += 256 * kTogether) {
    int64_t raw[kTogether];
    [[unroll]] for (uint e = 0; e < kTogether; ++e) raw[e] = raw_at(first, min(from + e * 256, bounds.y - 1));
    [[unroll]] for (uint e = 0; e < kTogether; ++e) {
      if (from + e * 256 >= bounds.y) continue;
      const uint64_t key = key_of(raw[e]);
      if (counts_nans && is_nan(key)) ++my_nans;
      if (pass == 0 || is_equal(without_bits(key, shift + BITS), state.bound))
        atomicAdd(pool[copy + (uint(without_bits(key, shift)) & kDigitCount - 1)], 1);
    }
  }
  if (my_nans > 0) atomicAdd(nans, my_nans);
  barrier();
  [[unroll]] for (uint k = 0; k < kOwn; ++k) {
    const uint digit = k * 256 + me;
    uint sum = 0;
    [[unroll]] for (uint c = 0; c < kCopies; ++c) sum += pool[c * kCopy + digit];
    if (sum > 0) atomicAdd(arguments.digits.at[(row * arguments.passes + pass) * kDigitCount + digit], sum);
  }
  if (me == 0 && nans > 0) atomicAdd(arguments.digits.at[nans_at(row)], nans);
}

void count_tiles(uint row, uint slab) {
  const uint me = gl_LocalInvocationID.x;
  const State state = state_after(arguments.passes, row, slab == 0);
  const int64_t first = first_of(row);
  const uint first_tile = slab * arguments.tiles_of_slab;
  const uint end_tile = min(first_tile + arguments.tiles_of_slab, arguments.tiles);
  for (uint batch = first_tile; batch < end_tile; batch += kBatch) {
    const uint count = min(kBatch, end_tile - batch);
    barrier();
    for (uint i = me; i < count * 9; i += 256) pool[i] = 0;
    barrier();
    for (uint tile = 0; tile < count; ++tile) {
      const uint begin = (batch + tile) * kTile, n = min(kTile, arguments.rows.extent - begin);
      int64_t raw[kEach];
      [[unroll]] for (uint e = 0; e < kEach; ++e) raw[e] = raw_at(first, begin + min(e * 256 + me, n - 1));
      uint mine = 0, runs = 0;  // mine: equal elements in the upper 16 bits
      [[unroll]] for (uint e = 0; e < kEach; ++e) {
        const uint64_t key = key_of(raw[e]);
        if (e * 256 + me >= n || is_before(state.bound, key)) continue;
        mine += is_before(key, state.bound) ? 1 : 1 << 16;
        runs |= 1u << e;
      }
      if (mine == 0) continue;
      atomicAdd(pool[tile], mine);
      atomicOr(pool[count + tile * 8 + me / 32], runs << (me & 16));
    }
    barrier();
    const uint at = row * arguments.tiles + batch;
    if (me < count) arguments.counts.at[at + me] = uvec2(pool[me] & 0xffffu, pool[me] >> 16);
    for (uint i = me; i < count * 8; i += 256) arguments.marks.at[at * 8 + i] = pool[count + i];
  }
}

// How many of an invocation's adjacent elements of a tile come before the bound, and how many are equal to it.
// `marked`: there are some. my_key() is the key of its element e. All invocations of the workgroup must call
// count_mine() before.
uint64_t my_key(int64_t first, uint tile, uint e) {
  const uint me = gl_LocalInvocationID.x;
  if (kStaged) return uint64_t(pool[me * (kEach + 1) + e]);
  return key_of(raw_at(first, tile * kTile + me * kEach + e));
}
uvec2 count_mine(int64_t first, uint row, uint tile, uint64_t bound, out bool marked) {
  const uint me = gl_LocalInvocationID.x, extent = arguments.rows.extent;
  const uint marks = (row * arguments.tiles + tile) * 8;
  if (kStaged) {
    barrier();
    const uint runs = arguments.marks.at[marks + me / 32] >> (me & 16);
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint place = e * 256 + me, i = tile * kTile + place;
      if (i < extent && (runs >> e & 1) != 0) pool[place + place / kEach] = uint(key_of(raw_at(first, i)));
    }
    barrier();
  }
  marked = (arguments.marks.at[marks + me % 16 / 2] >> me / 16 + me % 2 * 16 & 1) != 0;
  uvec2 mine = uvec2(0);
  if (!marked) return mine;
  const uint begin = tile * kTile + me * kEach;
  [[unroll]] for (uint e = 0; e < kEach; ++e)
    if (begin + e < extent) {
      const uint64_t key = my_key(first, tile, e);
      mine += uvec2(is_before(key, bound) ? 1 : 0, is_equal(key, bound) ? 1 : 0);
    }
  return mine;
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
  bool marked;
  const uvec2 before = earlier + sum_before_me(count_mine(first, row, tile, state.bound, marked));
  if (!marked) return;
  uint closer = before.x, equal = before.y;
  const uint begin = tile * kTile + gl_LocalInvocationID.x * kEach;
  for (uint i = begin; i < min(begin + kEach, arguments.rows.extent); ++i) {
    const uint64_t key = my_key(first, tile, i - begin);
    if (MODE == kPlace) {
      if (!is_equal(key, state.bound) || ++equal != state.missing) continue;
      store_integer(arguments.chosen, int64_t(row), RAW_TYPE, raw_at(first, i));
      I64Element(uint64_t(arguments.places) + uint64_t(row) * 8).at = int64_t(i);
      continue;
    }
    uint to = arguments.wanted;
    if (is_before(key, state.bound))
      to = closer++;
    else if (is_equal(key, state.bound) && equal < state.missing)
      to = arguments.wanted - state.missing + equal++;
    if (to == arguments.wanted) continue;
    store_integer(arguments.chosen, int64_t(row) * arguments.wanted + to, RAW_TYPE, raw_at(first, i));
    arguments.places.at[row * arguments.wanted + to] = i;
  }
}

void main() {
  const bool by_slab = MODE == kDigits || MODE == kCount;
  const uint each = MODE == kAddUp ? 1 : by_slab ? arguments.slabs : arguments.tiles;
  const uint count = arguments.rows.count * each;
  for (uint work = gl_WorkGroupID.x; work < count; work += gl_NumWorkGroups.x) {
    const uint row = work / each, part = work % each;
    if (MODE == kDigits)
      count_digits(row, part);
    else if (MODE == kCount)
      count_tiles(row, part);
    else if (MODE == kAddUp)
      add_up_row(row);
    else
      put_tile(row, part);
  }
}
