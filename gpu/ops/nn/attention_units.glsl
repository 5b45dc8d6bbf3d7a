// Attention of 16-bit floats on matrix units. A workgroup owns R rows of a head and visits tiles of S other
// ("passing") rows. Each subgroup owns 16 of the R rows. It holds the fragments of its rows in registers and
// multiplies them by fragments of the tiles in shared memory. Weights are computed in the registers of the
// scores' fragments and pass through a region of shared memory to become factors of the next product. Vulkan
// does not specify which invocation holds which element of a fragment, so each kernel finds it first by loading
// a matrix of the elements' numbers. Components 2 i and 2 i + 1 must be adjacent columns (fragment_pairs.comp).
// Written against GL_NV_cooperative_matrix, like matrix_tile.glsl.
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#include "attention_operands.glsl"
layout(constant_id = 0) const uint R = 64;  // 16 for each subgroup
layout(constant_id = 1) const uint S = 64;  // 32 or 64, and at least R / 2
layout(constant_id = 2) const uint D = 64;  // features, padded with zeros to a multiple of 16, at most 128
layout(constant_id = 8) const uint TYPE = kBF16;
// the fragments of scores start from the mask: 0 or -infinity
layout(constant_id = 11) const bool STAGED = false;
// the mask of four adjacent keys is loaded together
layout(constant_id = 12) const bool MASK_IN_FOURS = false;
// The cooperative matrices: M x K times K x N. Three constants, so that the three uses have different types.
layout(constant_id = 13) const uint M = 16;
layout(constant_id = 14) const uint N = 16;
layout(constant_id = 15) const uint K = 16;

#define LEFT fcoopmatNV<16, gl_ScopeSubgroup, M, K>
#define RIGHT fcoopmatNV<16, gl_ScopeSubgroup, K, N>
#define SUMS fcoopmatNV<32, gl_ScopeSubgroup, M, N>

const uint kSubgroups = R / 16, kSubgroup = kThreads / kSubgroups;
const uint kVectors = D / 8;                                     // vectors of eight elements in a row
const uint kRow = kVectors + 1;                                  // padded to avoid bank conflicts
const uint kPassing = S * kRow;                                  // where the second tile begins
const uint kFragments = D / 16;                                  // fragments along the features
const uint kAcross = S / 16;                                     // fragments of the passing rows
const uint kRegion = 2 * kPassing;                               // where the regions of the subgroups begin
const uint kResultRow = 17;                                      // vec4 of a row of 64 result features, with padding
const uint kResults = 16 * kResultRow;                           // vec4 of a subgroup's results
const uint kFetches = (S * kVectors + kThreads - 1) / kThreads;  // vectors of a tile that an invocation fetches
const uint kEach = S * 4 / kSubgroup;                            // vec4 of the region's 16 S scores per invocation
const uint kComponents = M * N / kSubgroup;                      // elements of a fragment of sums per invocation

uint lane() {
  return gl_SubgroupInvocationID;
}

// Written out one by one: drivers keep an array of matrices in memory, even if all its indices are constant.
#define EACH_FRAGMENT(DO, a) DO(a, 0) DO(a, 1) DO(a, 2) DO(a, 3) DO(a, 4) DO(a, 5) DO(a, 6) DO(a, 7)
#define EACH_PASSING(DO, a) DO(a, 0) DO(a, 1) DO(a, 2) DO(a, 3)
// Constant indices: drivers may keep a matrix in memory whose elements are selected by a variable.
#define EACH_COMPONENT(DO, a, b) DO(a, b, 0) DO(a, b, 1) DO(a, b, 2) DO(a, b, 3) DO(a, b, 4) DO(a, b, 5) DO(a, b, 6) DO(a, b, 7)
#define EACH_PAIR(DO, a, b) DO(a, b, 0, 1) DO(a, b, 2, 3) DO(a, b, 4, 5) DO(a, b, 6, 7)
#define DECLARE_LEFT(name, i) LEFT name##_##i;
#define DECLARE_RIGHT(name, i) RIGHT name##_##i;
#define DECLARE_SUM(name, i) SUMS name##_##i = SUMS(0.0);
// Loads the fragments of the subgroup's own rows from the tile at 0: as rows of the left factor, or as
// columns of the right factor.
#define LOAD_LEFT(name, i) \
  if (i < kFragments) coopMatLoadNV(name##_##i, memory, gl_SubgroupID * 16 * kRow + i * 2, kRow, false);
#define LOAD_RIGHT(name, i) \
  if (i < kFragments) coopMatLoadNV(name##_##i, memory, gl_SubgroupID * 16 * kRow + i * 2, kRow, true);
#define STORE_RESULT(name, i) \
  if (i >= from && i < from + 4 && i < kFragments) \
    coopMatStoreNV(name##_##i, memory, gl_SubgroupID * kResults + (i - from) * 4, kResultRow, false);
// Stores the sums of the subgroup's own rows, 64 features at a time.
#define STORE_RESULTS(name, rows, head, first, end, features)                          \
  for (uint from = 0; from < kFragments; from += 4) {                                  \
    barrier();                                                                         \
    EACH_FRAGMENT(STORE_RESULT, name)                                                  \
    subgroupBarrier();                                                                 \
    store_rows(rows, head, first + gl_SubgroupID * 16, end, from * 16, features);      \
  }
// Finds which elements of a fragment this invocation holds: component i is in row places[i] / 16 and column
// places[i] % 16.
#define READ_COMPONENT(to, from, c) \
  if (c < kComponents) to[c] = uint(from[c]);
#define FIND_PLACES(region, stride)                                                    \
  for (uint i = lane(); i < 64; i += kSubgroup)                                        \
    memory[(region) + i / 4 * (stride) + i % 4] = floatBitsToUint(vec4(i * 4) + vec4(0, 1, 2, 3)); \
  subgroupBarrier();                                                                   \
  SUMS numbers;                                                                        \
  coopMatLoadNV(numbers, memory, region, stride, false);                               \
  uint places[8];                                                                      \
  EACH_COMPONENT(READ_COMPONENT, places, numbers)                                      \
  subgroupBarrier();
// Keeps components c and d of a fragment as 16-bit elements of shared memory, where rows of `stride` vectors
// begin at `at`.
#define KEEP_TWO(at, stride, c, bits) \
  memory[(at) + places[c] / 16 * (stride) + places[c] % 16 / 8][places[c] / 2 % 4] = bits;

// For scores in a region of shared memory: `rows` queries by 16 S / rows keys, in rows of `score_row`
// vectors.
#define DEFINE_WEIGHTS(rows, score_row)                                                                           \
  /* Vector e of this invocation: a row of the region, and four of its keys. */                                  \
  uint row_of(uint e) { return (lane() + e * kSubgroup) % (rows); }                                               \
  uint four_of(uint e) { return (lane() + e * kSubgroup) / (rows); }                                              \
  vec4 mask_of(int64_t head, uint query, uint key, uint keys) {                                                   \
    const int64_t at = head + int64_t(query) * arguments.mask.query + int64_t(key) * arguments.mask.key;          \
    vec4 added = vec4(0);                                                                                         \
    if (MASK_IN_FOURS && key + 4 <= keys) {                                                                       \
      const uint shown = I32Element(arguments.mask.at + at).at;                                                   \
      [[unroll]] for (uint i = 0; i < 4; ++i) added[i] = (shown >> 8 * i & 255u) != 0 ? 0.0 : -infinity();        \
      return added;                                                                                               \
    }                                                                                                             \
    [[unroll]] for (uint i = 0; i < 4; ++i)                                                                       \
      if (key + i < keys) added[i] = masked(0.0, arguments.mask, head, query, key + i);                           \
    return added;                                                                                                 \
  }                                                                                                               \
  void stage_mask(uint region, int64_t mask, uint query, uint key, uint keys) {                                   \
    if (!STAGED) return;                                                                                          \
    [[unroll]] for (uint e = 0; e < kEach; ++e)                                                                   \
      memory[region + row_of(e) * (score_row) + four_of(e)] = floatBitsToUint(                                    \
          query + row_of(e) < arguments.queries ? mask_of(mask, query + row_of(e), key + four_of(e) * 4, keys) : vec4(0)); \
    subgroupBarrier();                                                                                            \
  }                                                                                                               \
  /* Four bits for each vector of this invocation: whether its weights stay. */                                  \
  uint draw_kept(uint head, uint query, uint key, uint keys) {                                                    \
    uint kept = 0;                                                                                                \
    [[unroll]] for (uint e = 0; e < kEach; ++e) {                                                                 \
      const vec4 factors =                                                                                        \
          drop_factors(arguments.draw, head * arguments.queries + query + row_of(e), keys, key + four_of(e) * 4); \
      [[unroll]] for (uint i = 0; i < 4; ++i) kept |= uint(factors[i] != 0.0) << e * 4 + i;                       \
    }                                                                                                             \
    return kept;                                                                                                  \
  }                                                                                                               \
  /* The bits of the invocation that drew a weight, and where in them the weight's bit is. Adjacent columns   \
     of a pair have adjacent bits of the same invocation. */                                                      \
  uint bits_of(uint kept, uint row, uint column) {                                                                \
    const uint vector = row + (rows) * (column / 4);                                                              \
    return subgroupShuffle(kept, vector % kSubgroup) >> vector / kSubgroup * 4 + column % 4;                      \
  }

#define DEFINE_MEMORY(region)                                                                                     \
  shared uvec4 memory[kRegion + kSubgroups * (region) > kSubgroups * kResults ? kRegion + kSubgroups * (region)   \
                                                                              : kSubgroups * kResults];           \
  /* Loads rows first … first + count - 1 of a head, with zeros from row `end` on and after the last feature. */ \
  void load_tile(uint tile, uint count, uint64_t head, int64_t step, uint first, uint end, uint features) {       \
    for (uint i = gl_LocalInvocationID.x; i < count * kVectors; i += kThreads) {                                  \
      const uint row = i / kVectors, column = i % kVectors;                                                       \
      const bool inside = first + row < end && column * 8 < features;                                             \
      memory[tile + row * kRow + column] =                                                                        \
          inside ? U32x4Elements(head + (int64_t(first + row) * step + column * 8) * 2).at : uvec4(0);            \
    }                                                                                                             \
  }                                                                                                               \
  /* The same for a tile of S rows in two steps, so that loads overlap with what is computed between them. */     \
  void fetch_tile(out uvec4 fetched[kFetches], uint64_t head, int64_t step, uint first, uint end, uint features) { \
    [[unroll]] for (uint i = 0; i < kFetches; ++i) {                                                              \
      const uint at = i * kThreads + gl_LocalInvocationID.x, row = first + at / kVectors, column = at % kVectors; \
      const bool inside = at < S * kVectors && row < end && column * 8 < features;                                \
      fetched[i] = inside ? U32x4Elements(head + (int64_t(row) * step + column * 8) * 2).at : uvec4(0);           \
    }                                                                                                             \
  }                                                                                                               \
  void keep_tile(uint tile, uvec4 fetched[kFetches]) {                                                            \
    [[unroll]] for (uint i = 0; i < kFetches; ++i) {                                                              \
      const uint at = i * kThreads + gl_LocalInvocationID.x;                                                      \
      if (at < S * kVectors) memory[tile + at / kVectors * kRow + at % kVectors] = fetched[i];                    \
    }                                                                                                             \
  }                                                                                                               \
  vec4 sums_at(uint at) { return uintBitsToFloat(memory[at]); }                                                   \
  /* Stores the results that STORE_RESULTS left in shared memory. */                                             \
  void store_rows(Rows rows, uint head, uint first, uint end, uint feature, uint features) {                      \
    if (rows.at == 0) return;                                                                                     \
    const uint64_t to = head_of(rows, arguments.batch, head, 2);                                                  \
    for (uint i = lane(); i < 16 * 8; i += kSubgroup) {                                                           \
      const uint row = first + i / 8, column = feature + i % 8 * 8;                                               \
      if (row >= end || column >= features) continue;                                                             \
      const uint at = gl_SubgroupID * kResults + i / 8 * kResultRow + i % 8 * 2;                                  \
      const uvec2 low = four_halves(sums_at(at)), high = four_halves(sums_at(at + 1));                            \
      U32x4Elements(to + (int64_t(row) * rows.step + column) * 2).at = uvec4(low, high);                          \
    }                                                                                                             \
  }

uvec2 four_halves(vec4 values) {
  uvec4 bits;
  [[unroll]] for (uint i = 0; i < 4; ++i)
    bits[i] = TYPE == kF16 ? float_to_half(values[i]) : float_to_bfloat(values[i]);
  return bits.xz | bits.yw << 16;
}
uint two_halves(float low, float high) {
  return TYPE == kF16 ? float_to_half(low) | float_to_half(high) << 16
                      : float_to_bfloat(low) | float_to_bfloat(high) << 16;
}
// The same for numbers in [0, 65504), where halfway cases may be rounded either way.
uint two_weights(float low, float high) {
  if (TYPE == kF16) return packHalf2x16(vec2(low, high));
  return floatBitsToUint(low) + 0x8000u >> 16 | floatBitsToUint(high) + 0x8000u & 0xffff0000u;
}

const float kLog2E = 1.44269504;
