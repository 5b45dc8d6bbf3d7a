// Shared parts of the attention kernels: operands as rows of heads, tiles of them in shared memory, and the products of
// tiles. A work group keeps the tile of the R rows that it owns and visits tiles of S other ("passing") rows.
//
// Rows of the own tile are processed in groups of four that are R / 4 apart, so that adjacent threads read adjacent rows:
// group a has the rows a, a + R / 4, a + R / 2 and a + 3 R / 4.
layout(local_size_x = 128) in;
layout(constant_id = 0) const uint R = 64;
layout(constant_id = 1) const uint S = 16;
layout(constant_id = 2) const uint D = 64;  // features, padded with zeros to 32, 64, 128 or 256
layout(constant_id = 3) const bool CAUSAL = false;

layout(constant_id = 5) const uint MASK = 0;
layout(constant_id = 6) const bool DROPS = false;
layout(constant_id = 7) const bool CAPS = false;
const uint kNoMask = 0, kShows = 1, kAdds = 2;  // none; bool, true: not masked; f32, added to the score

const uint kThreads = 128;
const uint kFours = R / 4;
const uint kColumns = D / 4;        // vec4 of a row
const uint kRow = kColumns + 1;     // padded to avoid bank conflicts
const uint kWeightRow = kFours + 1;
// A thread computes the scores of one group of four own rows with kEach passing rows, if there are more scores than
// threads.
const uint kEach = kFours * S > kThreads ? kFours * S / kThreads : 1;
const uint kApart = kThreads / kFours;
// If there are more threads than groups and rows, kSharing threads share a score; each adds some of the columns.
const uint kSharing = kFours * S < kThreads ? kThreads / (kFours * S) : 1;
uint own_four() {
  return gl_LocalInvocationID.x % kFours;
}
// The thread's first passing row; its others follow kApart apart. From S on, the thread only shares columns.
uint first_passing() {
  return gl_LocalInvocationID.x / kFours;
}
// Results of a thread: one column of vec4 in kOwn groups of four rows.
const uint kOwn = kFours * kColumns / kThreads;

struct Rows {
  uint64_t at;
  int64_t step;      // elements from one row to the next
  int64_t batch[6];  // elements from one item to the next, of each dim of the batch
};

struct Batch {
  uint dims;
  uint size[6];
};

int64_t offset_of(int64_t strides[6], Batch batch, uint head) {
  int64_t at = 0;
  for (int d = int(batch.dims) - 1; d >= 0; --d) {
    at += int64_t(head % batch.size[d]) * strides[d];
    head /= batch.size[d];
  }
  return at;
}
// The address of the first row of head `head`.
uint64_t head_of(Rows rows, Batch batch, uint head) {
  return rows.at + offset_of(rows.batch, batch, head) * 4;
}

struct Scale {
  float factor, cap, over_cap;  // cap: the soft cap; over_cap: 1 / cap
};
// The score for a product of query and key, before the mask. `slope` is its derivative by the product.
float score_of(float product, Scale scale, out float slope) {
  const float score = product * scale.factor;
  slope = scale.factor;
  if (!CAPS) return score;
  const float t = lg_tanh(score * scale.over_cap);
  slope *= 1.0 - t * t;
  return scale.cap * t;
}

struct Mask {
  uint64_t at;
  int64_t query, key;  // elements from one to the next
  int64_t batch[6];
};
// The masked score of a query and a key, which must be in range. `head` is the offset of the head in the mask.
float masked(float score, Mask mask, int64_t head, uint query, uint key) {
  const int64_t at = head + int64_t(query) * mask.query + int64_t(key) * mask.key;
  if (MASK == kShows) return uint(U8Element(mask.at + at).at) != 0 ? score : -infinity();
  return MASK == kAdds ? score + load_f32(mask.at, at) : score;
}

struct Draw {
  uvec2 seed, stream;
  uint threshold;  // a weight is dropped if its word is less
  float kept;      // the factor of the other weights
};
// The dropout factors of a query's weights for four keys from `key` on, a multiple of 4. `row` is head * queries + query.
vec4 drop_factors(Draw draw, uint row, uint keys, uint key) {
  const uvec4 words = philox(draw.seed, draw.stream, row * ((keys + 3) / 4) + key / 4);
  return mix(vec4(draw.kept), vec4(0), lessThan(words, uvec4(draw.threshold)));
}

// Shared memory: tiles at multiples of kRow, then the weights [S][kWeightRow].
#define TILE_MEMORY(own_tiles, passing_tiles)                                               \
  shared vec4 memory[(own_tiles) * R * kRow + (passing_tiles) * S * kRow + S * kWeightRow]; \
  shared vec4 shares[kSharing > 1 ? kThreads : 1];

#define DEFINE_TILES                                                                                             \
  /* Loads rows first … first + count - 1 of a head, with zeros from row `end` on and after the last feature. */  \
  void load_tile(uint tile, uint count, uint64_t head, int64_t step, uint first, uint end, uint features) {      \
    for (uint i = gl_LocalInvocationID.x; i < count * kColumns; i += kThreads) {                                 \
      const uint row = i / kColumns, column = i % kColumns;                                                      \
      const bool inside = first + row < end && column * 4 < features;                                            \
      memory[tile + row * kRow + column] =                                                                       \
          inside ? F32x4Elements(head + (int64_t(first + row) * step + column * 4) * 4).at : vec4(0);            \
    }                                                                                                            \
  }                                                                                                              \
  /* The products of this thread's four own rows with its passing rows. */                                      \
  void multiply_tiles(uint own, uint passing, out vec4 sum[kEach]) {                                            \
    [[unroll]] for (uint e = 0; e < kEach; ++e) sum[e] = vec4(0);                                               \
    const bool alone = kSharing == 1;                                                                           \
    const uint b = alone ? first_passing() : first_passing() % S;                                               \
    for (uint c = alone ? 0 : first_passing() / S; c < kColumns; c += kSharing) {                               \
      vec4 left[4];                                                                                             \
      [[unroll]] for (uint r = 0; r < 4; ++r) left[r] = memory[own + (own_four() + r * kFours) * kRow + c];     \
      [[unroll]] for (uint e = 0; e < kEach; ++e) {                                                             \
        const vec4 right = memory[passing + (b + e * kApart) * kRow + c];                                       \
        [[unroll]] for (uint r = 0; r < 4; ++r) sum[e][r] += dot(left[r], right);                               \
      }                                                                                                         \
    }                                                                                                           \
    if (!alone) {                                                                                               \
      shares[gl_LocalInvocationID.x] = sum[0];                                                                  \
      barrier();                                                                                                \
      if (first_passing() < S)                                                                                  \
        for (uint i = 1; i < kSharing; ++i) sum[0] += shares[gl_LocalInvocationID.x + i * kFours * S];          \
      barrier();                                                                                                \
    }                                                                                                           \
  }
