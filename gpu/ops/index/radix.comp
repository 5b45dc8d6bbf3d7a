#version 460
// One pass of a stable radix sort of rows, by eight bits of the keys (Satish, Harris, Garland, "Designing
// efficient sorting algorithms for manycore GPUs", 2009). The keys that move are the elements' own bits;
// their order is computed when needed. A row is cut into tiles, which a workgroup takes by the chunk:
//   kCount: counts the elements with each digit in each chunk
//   kAddUp: sums these counts over the chunks before each chunk, and over a row
//   kMove: sorts the elements of a tile by their digits, then moves them to their positions in the row
// A tile belongs to warps of at most 32 invocations. A warp owns adjacent elements and ranks them in rounds of
// one element for each invocation. The invocations with equal digits find each other by ballots if a warp belongs
// to one subgroup, else by the bits that they set in a mask of the digit.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
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
layout(constant_id = 6) const uint SUBGROUP = 0;     // the subgroup size if it is 16, 32 or 64, else 0
layout(constant_id = 7) const uint TYPE = 11;        // type of the elements; kAbsent: unsigned integers
layout(constant_id = 8) const bool INDICES = true;   // the original indices move with the elements
layout(constant_id = 9) const uint EACH = 16;        // elements of an invocation in a tile

const uint kCount = 0, kAddUp = 1, kMove = 2;
const uint kTile = 256 * EACH;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t values, places, operand;  // order in the strides of `rows`: operand, values, places
  // elements (the halves of 64-bit elements without the digit apart) and original indices of all rows
  Words keys, halves, order;
  Words new_keys, new_halves, new_order;
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

const uint kDigits = 256;
const uint kLanes = SUBGROUP == 16 ? 16 : 32, kWarps = 256 / kLanes;
// kCount: counts of some invocations each, so that equal digits of neighbours are not added to one word. Their
// counters of a digit are in different banks.
const uint kCopies = 8, kCopy = kDigits + 1;
// kMove: masks of the digits for two rounds unless there are ballots, then the counters of each warp; afterwards
// one word of each element in the new order
const uint kCounters = SUBGROUP == 0 ? 2 * kWarps * kDigits : 0, kRanking = kCounters + kWarps * kDigits;
shared uint pool[kTile > kRanking ? kTile : kRanking];
shared uint ends[kDigits];  // offset from a position in the tile to the position in the row

uint thread() {
  return SUBGROUP > 0 ? gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID : gl_LocalInvocationID.x;
}

// As sum_before_me(). Between two calls there must be a barrier.
const uint kSubgroups = 256 / (SUBGROUP == 0 ? 256 : SUBGROUP);
uvec2 sum_before_thread(uvec2 value) {
  if (SUBGROUP == 0) return sum_before_me(value);
  uvec2 sum = subgroupExclusiveAdd(value);
  if (gl_SubgroupInvocationID == SUBGROUP - 1) meeting_blocks[gl_SubgroupID] = sum + value;
  barrier();
  [[unroll]] for (uint k = 0; k < kSubgroups; ++k)
    if (k < gl_SubgroupID) sum += meeting_blocks[k];
  return sum;
}

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
  uint64_t operand;  // the row's first element
  int64_t step;
  Words keys, halves, order;
  uint first;  // of the row, in these
  uint shift, flipped;
  bool upper;  // the digit is in the upper half
};
Source source_of(uint row, int64_t start) {
  const uint shift = arguments.shift;
  const bool upper = IN_64_BITS && shift >= 32;
  const uint bytes = RAW_TYPE == kI64 ? 8 : RAW_TYPE == kI32 ? 4 : RAW_TYPE == kRaw16 ? 2 : 1;
  return Source(arguments.operand + start * bytes, arguments.rows.step[0], arguments.keys, arguments.halves,
                arguments.order, row * arguments.rows.extent, shift & 31,
                arguments.flipped ^ (upper ? 0x80000000u : 0), upper);  // the sign bit of i64
}
// The word with the digit of element i of a row.
uint key_at(Source from, uint i) {
  if (!OPERAND) return from.keys.at[from.first + i];
  const int64_t at = int64_t(i) * from.step;
  if (IN_64_BITS) return uint(I32Element(from.operand + at * 8 + (from.upper ? 4 : 0)).at);
  return uint(load_integer(from.operand, at, RAW_TYPE) & 0xffffffffL);
}
// The other half of a 64-bit element.
uint half_at(Source from, uint i) {
  if (!OPERAND) return from.halves.at[from.first + i];
  return uint(I32Element(from.operand + int64_t(i) * from.step * 8 + (from.upper ? 0 : 4)).at);
}
uint digit_of(Source from, uint key) {
  if (!IN_64_BITS) key = order_of_bits(key, TYPE);
  return (key ^ from.flipped) >> from.shift & 255;
}

void count_chunk(uint row, uint chunk) {
  const uint me = gl_LocalInvocationID.x, extent = arguments.rows.extent;
  const uint begin = chunk * arguments.each * kTile, end = min(begin + arguments.each * kTile, extent);
  Source from = source_of(row, OPERAND ? row_at(row)[0] : 0);
  const uint copy = me % kCopies * kCopy;
  barrier();
  for (uint i = me; i < kCopies * kCopy; i += 256) pool[i] = 0;
  barrier();
  const uint kTogether = 8;  // loads per invocation
  for (uint i = begin + me; i < end; i += 256 * kTogether) {
    uint key[kTogether];
    [[unroll]] for (uint e = 0; e < kTogether; ++e) key[e] = key_at(from, min(i + e * 256, end - 1));
    [[unroll]] for (uint e = 0; e < kTogether; ++e)
      if (i + e * 256 < end) atomicAdd(pool[copy + digit_of(from, key[e])], 1);
  }
  barrier();
  uint sum = 0;
  [[unroll]] for (uint k = 0; k < kCopies; ++k) sum += pool[k * kCopy + me];
  arguments.counts.at[(row * kDigits + me) * arguments.chunks + chunk] = sum;
}

// Each of the `along` invocations of a digit owns one contiguous part of the chunks.
void add_up() {
  const uint along = arguments.along, lines = arguments.rows.count * kDigits, chunks = arguments.chunks;
  const uint me = thread(), part = me % along, each = (chunks + along - 1) / along;
  const uint begin = min(part * each, chunks), end = min(begin + each, chunks), together = 256 / along;
  Words counts = arguments.counts;
  for (uint first = gl_WorkGroupID.x * together; first < lines; first += gl_NumWorkGroups.x * together) {
    const uint line = first + me / along;
    const uint at = line * chunks;
    uint sum = 0;
    if (line < lines)
      for (uint chunk = begin; chunk < end; ++chunk) sum += counts.at[at + chunk];
    pool[me] = sum_before_thread(uvec2(sum, 0)).x;
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

// A barrier for shared memory alone: subgroupBarrier() would also wait for the loads of elements.
void meet_in_subgroup() {
  controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// Of an invocation in its warp: its first element in a tile and, below, its elements' ranks: a rank counts the
// earlier elements of the warp with the same digit. The digit itself is in the upper 16 bits.
struct Owner {
  uint thread, warp, lane, first;
};
// An element behind the end of the row has the last digit. So it comes after all others.
uint digit_in_tile(Source from, uint key, uint i, uint n) {
  return i < n ? digit_of(from, key) : kDigits - 1;
}

// The bits of a warp in a ballot. A constant index lets a compiler leave out the other words.
uint warp_bits(uvec4 ballot) {
  return SUBGROUP == 64 && gl_SubgroupInvocationID >= 32 ? ballot.y : ballot.x;
}
// Bit mask of the invocations of this warp that have an element with the same digit.
uint equals_of(uint digit) {
  uint equals = kLanes == 32 ? 0xffffffffu : (1u << kLanes % 32) - 1;
  [[unroll]] for (uint bit = 0; bit < 8; ++bit) {
    const bool set = (digit >> bit & 1u) != 0;
    const uint others = warp_bits(subgroupBallot(set));
    equals &= set ? others : ~others;
  }
  return equals;
}
void rank_by_ballots(Source from, uint key[EACH], uint n, Owner owner, out uint rank[EACH]) {
  const uint counters = kCounters + owner.warp * kDigits;
  [[unroll]] for (uint i = 0; i < kDigits; i += kLanes) pool[counters + i + owner.lane] = 0;
  // First what needs no counter, so that the rounds below are short: they wait for each other.
  const uint kLast = 1 << 8;  // the last of the invocations with equal digits
  [[unroll]] for (uint e = 0; e < EACH; ++e) {
    const uint digit = digit_in_tile(from, key[e], owner.first + e * kLanes, n);
    const uint equals = equals_of(digit), before = bitCount(equals & (1u << owner.lane) - 1);
    rank[e] = digit << 16 | (equals >> owner.lane == 1 ? kLast : 0) | before;
  }
  meet_in_subgroup();
  [[unroll]] for (uint e = 0; e < EACH; ++e) {
    const uint at = counters + (rank[e] >> 16), here = pool[at] + (rank[e] & kLast - 1);
    meet_in_subgroup();
    if ((rank[e] & kLast) != 0) pool[at] = here + 1;
    meet_in_subgroup();
    rank[e] = rank[e] & 0xffff0000u | here;
  }
}
void rank_by_masks(Source from, uint key[EACH], uint n, Owner owner, out uint rank[EACH]) {
  for (uint i = owner.thread; i < kRanking; i += 256) pool[i] = 0;
  barrier();
  // from the previous round: elements that this invocation counts, and where
  uint leads = 0, counter = 0, mask_at = 0;
  [[unroll]] for (uint e = 0; e < EACH; ++e) {
    if (leads > 0) {
      pool[kCounters + counter] += leads;
      pool[mask_at] = 0;
    }
    const uint digit = digit_in_tile(from, key[e], owner.first + e * kLanes, n);
    counter = owner.warp * kDigits + digit;
    mask_at = (e & 1) * (kWarps * kDigits) + counter;
    atomicOr(pool[mask_at], 1u << owner.lane);
    barrier();
    const uint mask = pool[mask_at], before = bitCount(mask & (1u << owner.lane) - 1);
    rank[e] = digit << 16 | pool[kCounters + counter] + before;
    leads = before == 0 ? bitCount(mask) : 0;
    barrier();
  }
  if (leads > 0) pool[kCounters + counter] += leads;
}

// Where a pass writes.
struct Target {
  Words keys, halves, order;
  uint first;  // of the row, in these
  uint64_t values, places;
  int64_t value, place;  // the row's first results
  int64_t value_step, place_step;
  uint kept;
};
Target target_of(uint row, int64_t[3] start) {
  return Target(arguments.new_keys, arguments.new_halves, arguments.new_order, row * arguments.rows.extent,
                arguments.values, arguments.places, start[1], start[2], arguments.rows.step[1],
                arguments.rows.step[2], arguments.kept);
}
// Writes the word with the digit, or the other half, of the element that moves to position i of a row.
// `upper`: it is the upper half.
void put_word(Target to, bool is_key, bool upper, uint i, uint word) {
  if (!RESULTS) {
    if (is_key)
      to.keys.at[to.first + i] = word;
    else
      to.halves.at[to.first + i] = word;
  } else if (i < to.kept) {
    const int64_t at = to.value + int64_t(i) * to.value_step;
    if (IN_64_BITS)
      I32Element(to.values + at * 8 + (upper ? 4 : 0)).at = int(word);
    else
      store_integer(to.values, at, RAW_TYPE, int64_t(word));
  }
}

// Words go through shared memory one by one, so that adjacent invocations write adjacent elements.
void exchange(uint rank[EACH], uint word[EACH]) {
  barrier();
  [[unroll]] for (uint e = 0; e < EACH; ++e) pool[rank[e]] = word[e];
  barrier();
}

void move_chunk(uint row, uint chunk) {
  const uint me = thread(), lane = me % kLanes, warp = me / kLanes;
  const Owner owner = Owner(me, warp, lane, warp * kLanes * EACH + lane);
  const uint extent = arguments.rows.extent, first_tile = chunk * arguments.each;
  const uint end_tile = min(first_tile + arguments.each, (extent + kTile - 1) / kTile);
  const int64_t start[3] = row_at(row);
  Source from = source_of(row, start[0]);
  Target target = target_of(row, start);
  const bool alone = arguments.chunks == 1 && arguments.each == 1;  // the row is one tile
  const uint line = row * kDigits + me;
  // Where the next element with digit `me` goes in the row: as yet without the smaller digits.
  uint next = alone ? 0 : arguments.counts.at[line * arguments.chunks + chunk];
  const uint in_row = alone ? 0 : arguments.totals.at[line];

  for (uint tile = first_tile; tile < end_tile; ++tile) {
    const uint begin = tile * kTile, n = min(kTile, extent - begin);
    uint key[EACH], rank[EACH];
    [[unroll]] for (uint e = 0; e < EACH; ++e) {
      const uint i = owner.first + e * kLanes;
      key[e] = i < n ? key_at(from, begin + i) : 0;
    }
    barrier();  // the words of the previous tile were read
    if (SUBGROUP > 0)
      rank_by_ballots(from, key, n, owner, rank);
    else
      rank_by_masks(from, key, n, owner, rank);
    // Loaded here, so that the barriers hide the time it takes.
    uint other[EACH], name[EACH];  // the other half; the original index
    [[unroll]] for (uint e = 0; e < EACH; ++e) {
      const uint i = owner.first + e * kLanes, at = begin + min(i, n - 1);
      if (IN_64_BITS) other[e] = half_at(from, at);
      if (INDICES) name[e] = NUMBERED ? at : from.order.at[from.first + at];
    }
    barrier();

    uint here[kWarps], total = 0;  // elements with digit `me` in each warp, and in the tile
    [[unroll]] for (uint w = 0; w < kWarps; ++w) {
      here[w] = pool[kCounters + w * kDigits + me];
      total += here[w];
    }
    const bool begins = tile == first_tile;
    const uvec2 before = sum_before_thread(uvec2(total, begins && !alone ? in_row : total));
    if (begins) next += before.y;
    ends[me] = next - before.x;
    next += total;
    uint position = before.x;
    [[unroll]] for (uint w = 0; w < kWarps; ++w) {
      pool[kCounters + w * kDigits + me] = position;
      position += here[w];
    }
    barrier();
    [[unroll]] for (uint e = 0; e < EACH; ++e)
      rank[e] = (rank[e] & 0xffffu) + pool[kCounters + warp * kDigits + (rank[e] >> 16)];

    exchange(rank, key);
    uint to[EACH];
    [[unroll]] for (uint e = 0; e < EACH; ++e) {
      const uint i = e * 256 + me, word = pool[i];
      to[e] = ends[digit_of(from, word)] + i;
      if (i < n) put_word(target, true, from.upper, to[e], word);
    }
    if (IN_64_BITS) {
      exchange(rank, other);
      [[unroll]] for (uint e = 0; e < EACH; ++e) {
        const uint i = e * 256 + me;
        if (i < n) put_word(target, false, !from.upper, to[e], pool[i]);
      }
    }
    if (!INDICES) continue;
    exchange(rank, name);
    [[unroll]] for (uint e = 0; e < EACH; ++e) {
      const uint i = e * 256 + me;
      if (i >= n) continue;
      if (!RESULTS)
        target.order.at[target.first + to[e]] = pool[i];
      else if (to[e] < target.kept)
        store_integer(target.places, target.place + int64_t(to[e]) * target.place_step, kI64, int64_t(pool[i]));
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
