// Scans along rows, for any associative operation. The including shader defines what an Item is:
//   Item none(), both(Item earlier, Item later)        the neutral item, and the operation
//   Item item_at(starts, uint i)                       item i of a row that starts there in result, operand and third tensor
//   void put(starts, uint i, Item before, Item with)   writes result i, from the items before i and those up to i, combined
//   Item item_of(float), float value_of(before, with)  the same if rows of type kFloats are accessed in fours (FOURS)
//   void share(uint i, Item), Item shared_at(uint i)   272 * kRuns items in shared memory
//   void keep(uint i, Item), Item kept_at(uint i)      items in global memory
// A tile has RUNS times 1024 items, RUNS <= kRuns.
// With TWO_OPERANDS and FOURS it defines instead of item_of(): Four items_at(starts, uint i), the items i ...
// i + 3, and vec4 stored(vec4 values, to), the values to store at the address. With OWN_FOURS it defines items_at(),
// which may call floats_at(), and put_items(), which writes results i ... i + 3 and may call put_floats().
// With IN_STEPS it defines kInSubgroups, which asks for a whole number of subgroups, and before_in_subgroup().
//
// Short rows have ALONG invocations each, which own contiguous parts. Long rows are cut into tiles. If many
// rows keep the device busy, a workgroup processes the tiles of a row one after the other (kRow). Otherwise
// three dispatches combine each tile (kSums), then the tiles before each one (kBefore), then write (kTiles). Up to 256
// tiles of a row take two: each workgroup combines the tiles before its own, then writes (kFewTiles).
// Rows that lie side by side have an invocation each, and are cut into pieces in the same way (kSideSums,
// kSideBefore, kSide).
const uint kParts = 0, kRow = 1, kSums = 2, kBefore = 3, kTiles = 4, kSideSums = 5, kSideBefore = 6, kSide = 7;  // STAGE
const uint kFewTiles = 8;

const int64_t kFloatBytes = kFloats == kF32 ? 4 : 2;

struct Four {
  Item at[4];
};
const uint kTile = 1024 * RUNS;  // an invocation has four adjacent items of each run

uint length() {
  return arguments.rows.extent;
}
uint tiles() {
  return (length() + kTile - 1) / kTile;
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

struct Runs {
  Item at[kRuns];
};
// Returns for each run the combination of the invocations before this one; `totals`: of all invocations. All
// invocations of the workgroup must call it. An invocation combines the items of earlier invocations in its
// block of 16, then the earlier blocks. With IN_STEPS, for operations that take longer than a barrier, it combines
// its items with another invocation's in each of eight steps (Hillis, Steele, 1986).
#ifdef IN_STEPS
Runs meet(Runs own, out Runs totals) {
  const uint me = thread();
  if (kInSubgroups) {
    Runs before;
    barrier();
    [[unroll]] for (uint r = 0; r < RUNS; ++r) {
      before.at[r] = before_in_subgroup(own.at[r]);
      if (gl_SubgroupInvocationID == SUBGROUP - 1) share(r * 256 + gl_SubgroupID, both(before.at[r], own.at[r]));
    }
    barrier();
    [[unroll]] for (uint r = 0; r < RUNS; ++r) {
      Item sum = none(), earlier = none();
      for (uint s = 0; s < 256 / SUBGROUP; ++s) {
        if (s == gl_SubgroupID) earlier = sum;
        sum = both(sum, shared_at(r * 256 + s));
      }
      before.at[r] = both(earlier, before.at[r]);
      totals.at[r] = sum;
    }
    return before;
  }
  for (uint apart = 1; apart <= 256; apart *= 2) {
    barrier();
    [[unroll]] for (uint r = 0; r < RUNS; ++r) share(r * 256 + me, own.at[r]);
    barrier();
    if (apart < 256 && me >= apart)
      [[unroll]] for (uint r = 0; r < RUNS; ++r) own.at[r] = both(shared_at(r * 256 + me - apart), own.at[r]);
  }
  Runs before;
  [[unroll]] for (uint r = 0; r < RUNS; ++r) {
    before.at[r] = none();
    if (me > 0) before.at[r] = shared_at(r * 256 + me - 1);
    totals.at[r] = shared_at(r * 256 + 255);
  }
  return before;
}
#else
Runs meet(Runs own, out Runs totals) {
  const uint me = thread(), block = me / 16, blocks = 256 * kRuns;
  barrier();
  [[unroll]] for (uint r = 0; r < RUNS; ++r) share(r * 256 + me, own.at[r]);
  barrier();
  Runs before;
  [[unroll]] for (uint r = 0; r < RUNS; ++r) before.at[r] = none();
  [[unroll]] for (uint k = 0; k < 15; ++k)
    [[unroll]] for (uint r = 0; r < RUNS; ++r) {
      const Item item = shared_at(r * 256 + block * 16 + k);
      if (k < me % 16) before.at[r] = both(before.at[r], item);
    }
  if (me % 16 == 15)
    [[unroll]] for (uint r = 0; r < RUNS; ++r) share(blocks + r * 16 + block, both(before.at[r], own.at[r]));
  barrier();
  [[unroll]] for (uint r = 0; r < RUNS; ++r) {
    Item sum = none();
    Item mine = none();
    [[unroll]] for (uint b = 0; b < 16; ++b) {
      if (b == block) mine = sum;
      sum = both(sum, shared_at(blocks + r * 16 + b));
    }
    before.at[r] = both(mine, before.at[r]);
    totals.at[r] = sum;
  }
  return before;
}
#endif

#ifdef TWO_OPERANDS
Four items_at(int64_t starts[3], uint i);
vec4 stored(vec4 values, uint64_t to);
#else
Four floats_at(int64_t starts[3], uint i) {
  const int64_t four = int64_t((arguments.reverse ? length() - 4 - i : i) / 4);
  vec4 x = load_four(arguments.operand + starts[1] * kFloatBytes, four, kFloats);
  if (arguments.reverse) x = x.wzyx;
  return Four(Item[](item_of(x[0]), item_of(x[1]), item_of(x[2]), item_of(x[3])));
}
vec4 stored(vec4 values, uint64_t to) {
  return values;
}
#endif
void put_floats(int64_t starts[3], uint i, Item before, Four with) {
  vec4 y;
  [[unroll]] for (uint v = 0; v < 4; ++v) {
    y[v] = value_of(before, with.at[v]);
    before = with.at[v];
  }
  if (arguments.reverse) y = y.wzyx;
  const uint64_t to = arguments.result + (starts[0] + int64_t(arguments.reverse ? length() - 4 - i : i)) * kFloatBytes;
  store_four(to, 0, kFloats, stored(y, to));
}
#ifdef OWN_FOURS
Four items_at(int64_t starts[3], uint i);
void put_items(int64_t starts[3], uint i, Item before, Four with);
#else
#ifndef TWO_OPERANDS
Four items_at(int64_t starts[3], uint i) {
  return floats_at(starts, i);
}
#endif
void put_items(int64_t starts[3], uint i, Item before, Four with) {
  put_floats(starts, i, before, with);
}
#endif

// Items i ... i + 3 of a row; none() past its end.
Four four_at(int64_t starts[3], uint i) {
  Four four = Four(Item[](none(), none(), none(), none()));
  if (FOURS) {
    if (i < length()) four = items_at(starts, i);
    return four;
  }
  [[unroll]] for (uint v = 0; v < 4; ++v)
    if (i + v < length()) four.at[v] = item_at(starts, i + v);
  return four;
}
// Writes results i ... i + 3. `with`: the combinations up to each of these items; `before`: of the items
// before i.
void put_four(int64_t starts[3], uint i, Item before, Four with) {
  if (FOURS) {
    if (i < length()) put_items(starts, i, before, with);
    return;
  }
  [[unroll]] for (uint v = 0; v < 4; ++v) {
    if (i + v < length()) put(starts, i + v, before, with.at[v]);
    before = with.at[v];
  }
}

// Writes a tile. `carry`: the combination of the row before the tile; returns the combination after it.
Item write_tile(int64_t starts[3], uint tile, Item carry) {
  const uint first = tile * kTile + thread() * 4;
  Four items[kRuns];
  Runs own, totals;
  [[unroll]] for (uint r = 0; r < RUNS; ++r) {
    items[r] = four_at(starts, first + r * 1024);
    own.at[r] = both(both(items[r].at[0], items[r].at[1]), both(items[r].at[2], items[r].at[3]));
  }
  const Runs before = meet(own, totals);
  [[unroll]] for (uint r = 0; r < RUNS; ++r) {
    const Item begin = both(carry, before.at[r]);
    Item item = begin;
    [[unroll]] for (uint v = 0; v < 4; ++v) {
      item = both(item, items[r].at[v]);
      items[r].at[v] = item;
    }
    put_four(starts, first + r * 1024, begin, items[r]);
    carry = both(carry, totals.at[r]);
  }
  return carry;
}

Item combine_tile(int64_t starts[3], uint tile) {
  const uint first = tile * kTile + thread() * 4;
  Runs own, totals;
  [[unroll]] for (uint r = 0; r < RUNS; ++r) {
    const Four four = four_at(starts, first + r * 1024);
    own.at[r] = both(both(four.at[0], four.at[1]), both(four.at[2], four.at[3]));
  }
  meet(own, totals);
  Item sum = totals.at[0];
  [[unroll]] for (uint r = 1; r < RUNS; ++r) sum = both(sum, totals.at[r]);
  return sum;
}

// Replaces the kept item of each tile of a row by the combination of the tiles before it.
void add_up_row(uint row) {
  const uint count = tiles(), each = (count + 255) / 256;
  const uint begin = min(thread() * each, count), end = min(begin + each, count);
  Runs own, totals;
  [[unroll]] for (uint r = 0; r < RUNS; ++r) own.at[r] = none();
  const uint kAhead = 8;  // loads in flight
  Item items[kAhead];
  for (uint tile = begin; tile < end; tile += kAhead) {
    [[unroll]] for (uint k = 0; k < kAhead; ++k) items[k] = kept_at(row * count + min(tile + k, end - 1));
    [[unroll]] for (uint k = 0; k < kAhead; ++k)
      if (tile + k < end) own.at[0] = both(own.at[0], items[k]);
  }
  Item item = meet(own, totals).at[0];
  for (uint tile = begin; tile < end; tile += kAhead) {
    [[unroll]] for (uint k = 0; k < kAhead; ++k) items[k] = kept_at(row * count + min(tile + k, end - 1));
    [[unroll]] for (uint k = 0; k < kAhead; ++k)
      if (tile + k < end) {
        keep(row * count + tile + k, item);
        item = both(item, items[k]);
      }
  }
}

// The combination of the tiles of a row before one of the first 256.
Item before_tile(uint row, uint tile) {
  Runs own, totals;
  [[unroll]] for (uint r = 0; r < RUNS; ++r) own.at[r] = none();
  if (thread() < tile) own.at[0] = kept_at(row * tiles() + thread());
  meet(own, totals);
  return totals.at[0];
}

// Rows with ALONG invocations each.
void write_parts() {
  const uint each = (length() + ALONG - 1) / ALONG, rounds = (arguments.rows.count + kRowsPerGroup - 1) / kRowsPerGroup;
  for (uint round = gl_WorkGroupID.x; round < rounds; round += gl_NumWorkGroups.x) {
    const uint row = round * kRowsPerGroup + beside();
    const int64_t starts[3] = row_at(row);
    const uint begin = min(along() * each, length()), end = row < arguments.rows.count ? min(begin + each, length()) : begin;
    Item item = none();
    for (uint i = begin; i < end; ++i) item = both(item, item_at(starts, i));
    barrier();
    share(gl_LocalInvocationID.x, item);
    barrier();
    item = none();
    for (uint k = 0; k < along(); ++k) item = both(item, shared_at(beside() * ALONG + k));
    for (uint i = begin; i < end; ++i) {
      const Item with = both(item, item_at(starts, i));
      put(starts, i, item, with);
      item = with;
    }
  }
}

// Adjacent invocations have adjacent rows. Kept items are ordered by piece, then by row.
void visit_side_by_side() {
  const uint count = arguments.rows.count, pieces = STAGE == kSideBefore ? 1 : arguments.pieces;
  const uint each = ((length() + arguments.pieces - 1) / arguments.pieces + 3) / 4 * 4;
  for (uint n = gl_GlobalInvocationID.x; n < count * pieces; n += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint row = n % count, piece = n / count;
    Item item = none();
    if (STAGE == kSideBefore) {
      for (uint p = 0; p < arguments.pieces; ++p) {
        const Item here = kept_at(p * count + row);
        keep(p * count + row, item);
        item = both(item, here);
      }
      continue;
    }
    const int64_t starts[3] = row_at(row);
    const uint begin = min(piece * each, length()), end = min(begin + each, length());
    if (STAGE == kSide && pieces > 1) item = kept_at(piece * count + row);
    for (uint i = begin; i < end; i += 4) {
      Four four = four_at(starts, i);
      const Item before = item;
      [[unroll]] for (uint v = 0; v < 4; ++v) {
        item = both(item, four.at[v]);
        four.at[v] = item;
      }
      if (STAGE == kSide) put_four(starts, i, before, four);
    }
    if (STAGE == kSideSums) keep(piece * count + row, item);
  }
}

void scan_rows() {
  if (STAGE == kParts) {
    write_parts();
    return;
  }
  if (STAGE >= kSideSums && STAGE <= kSide) {
    visit_side_by_side();
    return;
  }
  const bool by_tile = STAGE == kSums || STAGE == kTiles || STAGE == kFewTiles;
  const uint count = arguments.rows.count * (by_tile ? tiles() : 1);
  for (uint work = gl_WorkGroupID.x; work < count; work += gl_NumWorkGroups.x) {
    if (STAGE == kBefore) {
      add_up_row(work);
      continue;
    }
    const uint row = by_tile ? work / tiles() : work, tile = work % tiles();
    const int64_t starts[3] = row_at(row);
    if (STAGE == kSums) {
      const Item sum = combine_tile(starts, tile);
      if (gl_LocalInvocationID.x == 0) keep(work, sum);
    } else if (STAGE == kTiles) {
      write_tile(starts, tile, kept_at(work));
    } else if (STAGE == kFewTiles) {
      write_tile(starts, tile, before_tile(row, tile));
    } else {
      Item carry = none();
      for (uint t = 0; t < tiles(); ++t) carry = write_tile(starts, t, carry);
    }
  }
}
