#version 460
// One pass of a stable radix sort of rows, by eight bits of the keys (Satish, Harris, Garland, "Designing
// efficient sorting algorithms for manycore GPUs", 2009). The keys that move are the elements' own bits;
// their order is computed when needed. A row is cut into tiles, which a workgroup takes by the chunk:
//   kCount: counts the elements with each digit in each chunk
//   kAddUp: sums these counts over the chunks before each chunk, and over a row
//   kMove: sorts the elements of a tile by their digits, then moves them to their positions in the row
// 32 invocations own adjacent elements of a tile and rank them in rounds of 32. The invocations with equal
// digits find each other by ballots if the 32 belong to one subgroup, else by the bits that they set in a
// mask of the digit.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_memory_scope_semantics : require
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
layout(constant_id = 7) const uint TYPE = 11;        // type of the elements; kAbsent: unsigned integers
layout(constant_id = 8) const bool INDICES = true;   // the original indices move with the elements

const uint kCount = 0, kAddUp = 1, kMove = 2;
const uint kEach = 16, kTile = 256 * kEach;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t values, places, operand;  // order in the strides of `rows`: operand, values, places
  // elements (upper halves of 64-bit elements apart) and original indices of all rows
  Words keys, upper_keys, order;
  Words new_keys, new_upper_keys, new_order;
  Words counts;  // for each row, digit, chunk
  Words totals;  // for each row, digit
  uint shift;    // position of the digit's bits
  uint chunks;   // chunks of a row
  uint each;     // tiles of a chunk
  uint kept;     // results of a row
  uint along;    // kAddUp: invocations that share a digit of a row
  uint flipped;  // all bits are set for a descending order, else none
  Rows rows;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kDigits = 256, kWarps = 8;
// kCount: counts of some invocations each, so that equal digits of neighbours are not added to one word. Their
// counters of a digit are in different banks.
const uint kCopies = 8, kCopy = kDigits + 1;
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

// What a pass reads of its arguments, loaded once.
struct Source {
  uint64_t operand;
  int64_t step;
  Words keys, upper_keys, order;
  uint first;  // of the row, in keys and order
};
Source source_of(uint row) {
  return Source(arguments.operand, arguments.rows.step[0], arguments.keys, arguments.upper_keys, arguments.order,
                row * arguments.rows.extent);
}

// The lower and upper half of element i of a row. `start`: the row's first element in the operand.
uvec2 element_at(Source from, int64_t start, uint i) {
  if (OPERAND) {
    const int64_t raw = load_integer(from.operand, start + int64_t(i) * from.step, RAW_TYPE);
    return uvec2(uint(raw & 0xffffffffL), IN_64_BITS ? uint(raw >> 32 & 0xffffffffL) : 0);
  }
  return uvec2(from.keys.at[from.first + i], IN_64_BITS ? from.upper_keys.at[from.first + i] : 0);
}
struct Digit {
  uint shift, flipped;
};
// The digit of an element, from the word that holds it.
uint digit_of(Digit digit, uint word) {
  if (!IN_64_BITS)
    word = order_of_bits(word, TYPE);
  else if (digit.shift >= 32)
    word ^= 0x80000000u;  // the sign bit of i64
  return (word ^ digit.flipped) >> (digit.shift & 31) & 255;
}

void count_chunk(uint row, uint chunk) {
  const uint me = gl_LocalInvocationID.x, extent = arguments.rows.extent;
  const uint begin = chunk * arguments.each * kTile, end = min(begin + arguments.each * kTile, extent);
  const int64_t start = OPERAND ? row_at(row)[0] : 0;
  Source from = source_of(row);
  const Digit digit = Digit(arguments.shift, arguments.flipped);
  const bool upper = IN_64_BITS && digit.shift >= 32;
  const uint copy = me % kCopies * kCopy;
  barrier();
  for (uint i = me; i < kCopies * kCopy; i += 256) pool[i] = 0;
  barrier();
  const uint kTogether = 8;  // loads per invocation
  for (uint i = begin + me; i < end; i += 256 * kTogether) {
    uint word[kTogether];
    [[unroll]] for (uint e = 0; e < kTogether; ++e) {
      const uvec2 element = element_at(from, start, min(i + e * 256, end - 1));
      word[e] = upper ? element.y : element.x;
    }
    [[unroll]] for (uint e = 0; e < kTogether; ++e)
      if (i + e * 256 < end) atomicAdd(pool[copy + digit_of(digit, word[e])], 1);
  }
  barrier();
  uint sum = 0;
  [[unroll]] for (uint k = 0; k < kCopies; ++k) sum += pool[k * kCopy + me];
  arguments.counts.at[(row * kDigits + me) * arguments.chunks + chunk] = sum;
}

// A barrier for shared memory alone: subgroupBarrier() would also wait for the loads of elements.
void meet_in_subgroup() {
  controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
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

// Each of the `along` invocations of a digit owns one contiguous part of the chunks.
void add_up() {
  const uint along = arguments.along, lines = arguments.rows.count * kDigits, chunks = arguments.chunks;
  const uint me = gl_LocalInvocationID.x, part = me % along, each = (chunks + along - 1) / along;
  const uint begin = min(part * each, chunks), end = min(begin + each, chunks), together = 256 / along;
  Words counts = arguments.counts;
  for (uint first = gl_WorkGroupID.x * together; first < lines; first += gl_NumWorkGroups.x * together) {
    const uint line = first + me / along;
    const uint at = line * chunks;
    uint sum = 0;
    if (line < lines)
      for (uint chunk = begin; chunk < end; ++chunk) sum += counts.at[at + chunk];
    pool[me] = sum_before_me(uvec2(sum, 0)).x;
    barrier();
    uint before = pool[me] - pool[me - part];
    if (line < lines) {
      if (part == along - 1) arguments.totals.at[line] = before + sum;
      for (uint chunk = begin; chunk < end; ++chunk) {
        const uint here = counts.at[at + chunk];
        counts.at[at + chunk] = before;
        before += here;
      }
    }
    barrier();
  }
}

// Where a pass writes.
struct Target {
  Words keys, upper_keys, order;
  uint first;  // of the row, in these
  uint64_t values, places;
  int64_t value, place;  // the row's first results
  int64_t value_step, place_step;
  uint kept;
};
Target target_of(uint row, int64_t[3] start) {
  return Target(arguments.new_keys, arguments.new_upper_keys, arguments.new_order, row * arguments.rows.extent,
                arguments.values, arguments.places, start[1], start[2], arguments.rows.step[1],
                arguments.rows.step[2], arguments.kept);
}
// Writes half of the element that moves to position i of a row.
void put_word(Target to, bool upper, uint i, uint word) {
  if (!RESULTS) {
    if (upper)
      to.upper_keys.at[to.first + i] = word;
    else
      to.keys.at[to.first + i] = word;
  } else if (i < to.kept) {
    const int64_t at = to.value + int64_t(i) * to.value_step;
    if (IN_64_BITS)
      I32Element(to.values + at * 8 + (upper ? 4 : 0)).at = int(word);
    else
      store_integer(to.values, at, RAW_TYPE, int64_t(word));
  }
}

void move_chunk(uint row, uint chunk) {
  const uint me = gl_LocalInvocationID.x;
  const uint owner = SUBGROUP > 0 ? gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID : me;
  const uint lane = owner % 32, warp = owner / 32;
  const uint extent = arguments.rows.extent, first_tile = chunk * arguments.each;
  const uint end_tile = min(first_tile + arguments.each, (extent + kTile - 1) / kTile);
  const int64_t start[3] = row_at(row);
  Source from = source_of(row);
  Target target = target_of(row, start);
  const Digit digit = Digit(arguments.shift, arguments.flipped);
  const bool upper = IN_64_BITS && digit.shift >= 32;
  const bool alone = arguments.chunks == 1 && arguments.each == 1;  // the row is one tile
  const uint line = row * kDigits + me;
  uint next = 0;  // where the next element with digit `me` goes in the row

  for (uint tile = first_tile; tile < end_tile; ++tile) {
    const uint begin = tile * kTile, n = min(kTile, extent - begin);
    const uint rounds = (n + 255) / 256, mine = warp * 32 * rounds + lane;
    barrier();
    if (SUBGROUP == 0)
      for (uint i = me; i < kTile; i += 256) pool[i] = 0;
    for (uint i = me; i < kWarps * kDigits; i += 256) counts[i] = 0;
    barrier();

    // The rank of an element counts the earlier elements with its digit, among the elements of its 32
    // invocations.
    uvec2 element[kEach];
    [[unroll]] for (uint e = 0; e < kEach; ++e)
      if (e < rounds && mine + e * 32 < n) element[e] = element_at(from, start[0], begin + mine + e * 32);
    uint rank[kEach];
    // from the previous round: elements that this invocation counts, and where
    uint leads = 0, counter = 0, mask_at = 0;
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      if (SUBGROUP > 0 && e < rounds) {
        const bool has_element = mine + e * 32 < n;
        const uint value = has_element ? digit_of(digit, upper ? element[e].y : element[e].x) : 0;
        const uint equals = equals_of(value, has_element), before = bitCount(equals & (1u << lane) - 1);
        counter = warp * kDigits + value;
        if (has_element) rank[e] = counts[counter] + before;
        meet_in_subgroup();
        if (has_element && before == 0) counts[counter] += bitCount(equals);
        meet_in_subgroup();
      } else if (e < rounds) {
        const uint i = mine + e * 32;
        if (leads > 0) {
          counts[counter] += leads;
          pool[mask_at] = 0;
        }
        leads = 0;
        if (i < n) {
          counter = warp * kDigits + digit_of(digit, upper ? element[e].y : element[e].x);
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
    [[unroll]] for (uint w = 0; w < kWarps; ++w) {
      const uint here = counts[w * kDigits + me];
      counts[w * kDigits + me] = total;
      total += here;
    }
    const bool begins = tile == first_tile;
    const uvec2 before = sum_before_me(uvec2(total, begins && !alone ? arguments.totals.at[line] : 0));
    if (begins) next = alone ? before.x : before.y + arguments.counts.at[line * arguments.chunks + chunk];
    starts[me] = before.x;
    ends[me] = next - before.x;
    next += total;
    barrier();

    // Words go through shared memory one by one, first the word with the digit, so that adjacent invocations
    // write adjacent elements.
    [[unroll]] for (uint e = 0; e < kEach; ++e)
      if (mine + e * 32 < n && e < rounds) {
        const uint word = upper ? element[e].y : element[e].x, value = digit_of(digit, word);
        rank[e] += starts[value] + counts[warp * kDigits + value];
        pool[rank[e]] = word;
      }
    uint name[kEach];  // the original index; loaded here, so that the stores below hide the time it takes
    if (INDICES)
      [[unroll]] for (uint e = 0; e < kEach; ++e) {
        const uint i = begin + mine + e * 32;
        if (mine + e * 32 < n && e < rounds) name[e] = NUMBERED ? i : from.order.at[from.first + i];
      }
    barrier();
    uint to[kEach];
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint i = e * 256 + me;
      if (i < n) {
        const uint word = pool[i];
        to[e] = ends[digit_of(digit, word)] + i;
        put_word(target, upper, to[e], word);
      }
    }
    if (IN_64_BITS) {
      barrier();
      [[unroll]] for (uint e = 0; e < kEach; ++e)
        if (mine + e * 32 < n && e < rounds) pool[rank[e]] = upper ? element[e].x : element[e].y;
      barrier();
      [[unroll]] for (uint e = 0; e < kEach; ++e) {
        const uint i = e * 256 + me;
        if (i < n) put_word(target, !upper, to[e], pool[i]);
      }
    }
    if (!INDICES) continue;
    barrier();
    [[unroll]] for (uint e = 0; e < kEach; ++e)
      if (mine + e * 32 < n && e < rounds) pool[rank[e]] = name[e];
    barrier();
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint i = e * 256 + me;
      if (i < n) {
        if (!RESULTS)
          target.order.at[target.first + to[e]] = pool[i];
        else if (to[e] < target.kept)
          store_integer(target.places, target.place + int64_t(to[e]) * target.place_step, kI64, int64_t(pool[i]));
      }
    }
  }
}

void main() {
  if (MODE == kAddUp) {
    add_up();
    return;
  }
  const uint chunks = arguments.rows.count * arguments.chunks;
  for (uint work = gl_WorkGroupID.x; work < chunks; work += gl_NumWorkGroups.x) {
    const uint row = work / arguments.chunks, chunk = work % arguments.chunks;
    if (MODE == kCount)
      count_chunk(row, chunk);
    else
      move_chunk(row, chunk);
  }
}
