#version 460
// One pass of a stable radix sort of rows, by eight bits of the keys (Satish, Harris, Garland, "Designing
// efficient sorting algorithms for manycore GPUs", 2009). The keys that move are the elements' own bits;
// their order is computed when needed. A row is cut into tiles:
//   kCount: counts the elements with each digit in each tile
//   kAddUp: sums these counts over the tiles before each tile, and over a row
//   kMove: sorts the elements of a tile by their digits, then moves them to their positions in the row
// 32 invocations own adjacent elements of a tile and rank them in rounds of 32. The invocations with equal
// digits find each other by ballots if the 32 belong to one subgroup, else by the bits that they set in a
// mask of the digit.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "memory.glsl"
#include "tile.glsl"
#include "row_strides.glsl"
#include "order.glsl"

layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint RAW_TYPE = 2;        // an integer type with the size of the elements
layout(constant_id = 2) const bool IN_64_BITS = false;  // the elements have 64 bits
layout(constant_id = 3) const bool OPERAND = false;     // the elements are read from the operand
// the original index of an element is its position in the row
layout(constant_id = 4) const bool NUMBERED = false;
layout(constant_id = 5) const bool RESULTS = false;  // the elements move to the results
layout(constant_id = 6) const uint SUBGROUP = 0;     // the subgroup size if it is a multiple of 32, else 0

const uint kCount = 0, kAddUp = 1, kMove = 2;
const uint kEach = 16, kTile = 256 * kEach;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t values, places, operand;  // order in the strides of `rows`: operand, values, places
  // elements (upper halves of 64-bit elements apart) and original indices of all rows
  Words keys, upper_keys, order;
  Words new_keys, new_upper_keys, new_order;
  Words counts;  // for each row, digit, tile
  Words totals;  // for each row, digit
  uint shift;    // position of the digit's bits
  uint tiles;    // tiles of a row
  uint kept;     // results of a row
  uint along;    // kAddUp: invocations that share a digit of a row
  uint type;     // type of the elements; kAbsent: unsigned integers
  uint flipped;  // all bits are set for a descending order, else none
  Rows rows;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kDigits = 256, kWarps = 8;
shared uint pool[kTile];  // masks, then one word of each element in the new order
shared uint counts[kWarps * kDigits];
shared uint starts[kDigits];  // where each digit starts in the tile
shared uint ends[kDigits];    // offset from a position in the tile to the position in the row

int64_t[3] row_at(uint row) {
  int64_t at[3] = int64_t[](0, 0, 0);
  for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
    const uint place = row % arguments.rows.size[d];
    row /= arguments.rows.size[d];
    [[unroll]] for (uint k = 0; k < 3; ++k) at[k] += int64_t(place) * arguments.rows.stride[k][d];
  }
  return at;
}

// The lower and upper half of element i of a row. `first`: the row's first element in the operand.
uvec2 element_at(uint row, int64_t first, uint i) {
  if (OPERAND) {
    const int64_t raw = load_integer(arguments.operand, first + int64_t(i) * arguments.rows.step[0], RAW_TYPE);
    return uvec2(uint(raw & 0xffffffffL), IN_64_BITS ? uint(raw >> 32 & 0xffffffffL) : 0);
  }
  const uint at = row * arguments.rows.extent + i;
  return uvec2(arguments.keys.at[at], IN_64_BITS ? arguments.upper_keys.at[at] : 0);
}
// The digit of an element, from the word that holds it.
uint digit_of(uint word) {
  if (!IN_64_BITS)
    word = order_of_bits(word, arguments.type);
  else if (arguments.shift >= 32)
    word ^= 0x80000000u;  // the sign bit of i64
  return (word ^ arguments.flipped) >> (arguments.shift & 31) & 255;
}
bool in_upper_half() {
  return IN_64_BITS && arguments.shift >= 32;
}

void count_tile(uint row, uint tile) {
  const uint me = gl_LocalInvocationID.x, begin = tile * kTile, n = min(kTile, arguments.rows.extent - begin);
  const int64_t first = OPERAND ? row_at(row)[0] : 0;
  barrier();
  counts[me] = 0;
  barrier();
  for (uint i = me; i < n; i += 256) {
    const uvec2 element = element_at(row, first, begin + i);
    atomicAdd(counts[digit_of(in_upper_half() ? element.y : element.x)], 1);
  }
  barrier();
  arguments.counts.at[(row * kDigits + me) * arguments.tiles + tile] = counts[me];
}

// Bit mask of those among these 32 invocations that have an element with the same digit. All invocations of
// the subgroup must call it.
uint equals_of(uint digit, bool has_element) {
  const uint word = gl_SubgroupInvocationID / 32;
  uint equals = subgroupBallot(has_element)[word];
  [[unroll]] for (uint bit = 0; bit < 8; ++bit) {
    const bool set = (digit >> bit & 1u) != 0;
    const uint others = subgroupBallot(set)[word];
    equals &= set ? others : ~others;
  }
  return equals;
}

// Each of the `along` invocations of a digit owns one contiguous part of the tiles.
void add_up() {
  const uint along = arguments.along, lines = arguments.rows.count * kDigits, tiles = arguments.tiles;
  const uint me = gl_LocalInvocationID.x, part = me % along, each = (tiles + along - 1) / along;
  const uint begin = min(part * each, tiles), end = min(begin + each, tiles), together = 256 / along;
  for (uint first = gl_WorkGroupID.x * together; first < lines; first += gl_NumWorkGroups.x * together) {
    const uint line = first + me / along;
    const uint at = line * tiles;
    uint sum = 0;
    if (line < lines)
      for (uint tile = begin; tile < end; ++tile) sum += arguments.counts.at[at + tile];
    pool[me] = sum_before_me(uvec2(sum, 0)).x;
    barrier();
    uint before = pool[me] - pool[me - part];
    if (line < lines) {
      if (part == along - 1) arguments.totals.at[line] = before + sum;
      for (uint tile = begin; tile < end; ++tile) {
        const uint here = arguments.counts.at[at + tile];
        arguments.counts.at[at + tile] = before;
        before += here;
      }
    }
    barrier();
  }
}

// Writes half of the element that moves to position i of a row. The row begins at `first` in the new keys and
// at `first_result` in the results.
void put_word(bool upper, uint first, int64_t first_result, uint i, uint word) {
  if (!RESULTS) {
    if (upper)
      arguments.new_upper_keys.at[first + i] = word;
    else
      arguments.new_keys.at[first + i] = word;
  } else if (i < arguments.kept) {
    const int64_t at = first_result + int64_t(i) * arguments.rows.step[1];
    if (IN_64_BITS)
      I32Element(arguments.values + at * 8 + (upper ? 4 : 0)).at = int(word);
    else
      store_integer(arguments.values, at, RAW_TYPE, int64_t(word));
  }
}

void move_tile(uint row, uint tile) {
  const uint me = gl_LocalInvocationID.x;
  const uint owner = SUBGROUP > 0 ? gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID : me;
  const uint lane = owner % 32, warp = owner / 32;
  const uint extent = arguments.rows.extent, begin = tile * kTile, n = min(kTile, extent - begin);
  const uint rounds = (n + 255) / 256, mine = warp * 32 * rounds + lane;
  const int64_t row_from[3] = row_at(row);
  const uint row_first = row * extent;

  barrier();
  for (uint i = me; i < kTile; i += 256) pool[i] = 0;
  for (uint i = me; i < kWarps * kDigits; i += 256) counts[i] = 0;
  barrier();

  // The rank of an element counts the earlier elements with its digit, among the elements of its 32
  // invocations.
  uvec2 element[kEach];
  [[unroll]] for (uint e = 0; e < kEach; ++e)
    if (e < rounds && mine + e * 32 < n) element[e] = element_at(row, row_from[0], begin + mine + e * 32);
  uint rank[kEach];
  // from the previous round: elements that this invocation counts, and where
  uint leads = 0, counter = 0, mask_at = 0;
  [[unroll]] for (uint e = 0; e < kEach; ++e) {
    if (SUBGROUP > 0 && e < rounds) {
      const bool has_element = mine + e * 32 < n;
      const uint digit = has_element ? digit_of(in_upper_half() ? element[e].y : element[e].x) : 0;
      const uint equals = equals_of(digit, has_element), before = bitCount(equals & (1u << lane) - 1);
      counter = warp * kDigits + digit;
      if (has_element) rank[e] = counts[counter] + before;
      subgroupBarrier();
      if (has_element && before == 0) counts[counter] += bitCount(equals);
      subgroupBarrier();
    } else if (e < rounds) {
      const uint i = mine + e * 32;
      if (leads > 0) {
        counts[counter] += leads;
        pool[mask_at] = 0;
      }
      leads = 0;
      if (i < n) {
        counter = warp * kDigits + digit_of(in_upper_half() ? element[e].y : element[e].x);
        mask_at = (e & 1) * (kWarps * kDigits) + counter;
        atomicOr(pool[mask_at], 1u << lane);
      }
      barrier();
      if (i < n) {
        const uint mask = pool[mask_at], before = bitCount(mask & (1u << lane) - 1);
        rank[e] = counts[counter] + before;
        if (before == 0) leads = bitCount(mask);
      }
      barrier();
    }
  }
  if (leads > 0) counts[counter] += leads;
  barrier();

  uint total = 0;  // elements with digit `me` in this tile
  for (uint w = 0; w < kWarps; ++w) {
    const uint here = counts[w * kDigits + me];
    counts[w * kDigits + me] = total;
    total += here;
  }
  const uint line = row * kDigits + me;
  const bool alone = arguments.tiles == 1;
  const uvec2 before = sum_before_me(uvec2(total, alone ? 0 : arguments.totals.at[line]));
  starts[me] = before.x;
  ends[me] =
      alone ? 0 : before.y + arguments.counts.at[line * arguments.tiles + tile] - before.x;
  barrier();

  // Words go through shared memory one by one, first the word with the digit, so that adjacent invocations
  // write adjacent elements.
  [[unroll]] for (uint e = 0; e < kEach; ++e)
    if (mine + e * 32 < n && e < rounds) {
      const uint word = in_upper_half() ? element[e].y : element[e].x, digit = digit_of(word);
      rank[e] += starts[digit] + counts[warp * kDigits + digit];
      pool[rank[e]] = word;
    }
  barrier();
  uint to[kEach];
  [[unroll]] for (uint e = 0; e < kEach; ++e) {
    const uint i = e * 256 + me;
    if (i < n) {
      const uint word = pool[i];
      to[e] = ends[digit_of(word)] + i;
      put_word(in_upper_half(), row_first, row_from[1], to[e], word);
    }
  }
  if (IN_64_BITS) {
    barrier();
    [[unroll]] for (uint e = 0; e < kEach; ++e)
      if (mine + e * 32 < n && e < rounds) pool[rank[e]] = in_upper_half() ? element[e].x : element[e].y;
    barrier();
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint i = e * 256 + me;
      if (i < n) put_word(!in_upper_half(), row_first, row_from[1], to[e], pool[i]);
    }
  }
  barrier();
  [[unroll]] for (uint e = 0; e < kEach; ++e) {
    const uint i = mine + e * 32;
    if (i < n && e < rounds) pool[rank[e]] = NUMBERED ? begin + i : arguments.order.at[row_first + begin + i];
  }
  barrier();
  [[unroll]] for (uint e = 0; e < kEach; ++e) {
    const uint i = e * 256 + me;
    if (i < n) {
      if (!RESULTS)
        arguments.new_order.at[row_first + to[e]] = pool[i];
      else if (to[e] < arguments.kept)
        store_integer(arguments.places, row_from[2] + int64_t(to[e]) * arguments.rows.step[2], kI64, int64_t(pool[i]));
    }
  }
}

void main() {
  if (MODE == kAddUp) {
    add_up();
    return;
  }
  const uint tiles = arguments.rows.count * arguments.tiles;
  for (uint work = gl_WorkGroupID.x; work < tiles; work += gl_NumWorkGroups.x) {
    const uint row = work / arguments.tiles, tile = work % arguments.tiles;
    if (MODE == kCount)
      count_tile(row, tile);
    else
      move_tile(row, tile);
  }
}
