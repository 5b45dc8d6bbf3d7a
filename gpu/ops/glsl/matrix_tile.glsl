// A tile of C = A B on matrix units: the operands of a step in shared memory, their products, and the sums of
// each subgroup. For 16-bit floats, accumulated in f32.
//
// A workgroup computes a BM x BN tile of C from BK columns of A and rows of B at a time. Each subgroup owns
// WM x WN of the tile. Operands are loaded and stored in shared memory eight elements at a time, along the
// dim with adjacent elements. The next step is loaded into registers while this one is multiplied.
//
// The including shader says which elements are adjacent, in A_COLUMN_MAJOR (along m, else along k) and
// B_ROW_MAJOR (along n, else along k). It fetches the vectors a_next and b_next, and defines store_eight().
// It may define UNEVEN_ROWS, a condition for rows of C that do not begin at multiples of eight elements; then
// it also defines store_one().
//
// Written against GL_NV_cooperative_matrix, which glslang supports. gpu/vulkan/portable_matrices.h translates it to
// the extension that devices of all vendors have.
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

layout(constant_id = 1) const uint BM = 128;
layout(constant_id = 2) const uint BN = 128;
layout(constant_id = 3) const uint BK = 32;
layout(constant_id = 4) const uint WM = 64;
layout(constant_id = 5) const uint WN = 32;
layout(constant_id = 9) const uint THREADS = 256;    // (BM / WM) (BN / WN) subgroups; equal to constant 0
layout(constant_id = 10) const bool SCALED = false;  // the operands are scaled (unit_scale.glsl)
layout(constant_id = 11) const uint OUT_TYPE = kBF16;
layout(constant_id = 12) const uint SUBGROUP = 32;
// The cooperative matrices: M x K times K x N. Three constants, so that the three uses have different types.
layout(constant_id = 13) const uint M = 16;
layout(constant_id = 14) const uint N = 16;
layout(constant_id = 15) const uint K = 16;

const uint kAWidth = A_COLUMN_MAJOR ? BM / 8 : BK / 8, kAHeight = A_COLUMN_MAJOR ? BK : BM;
const uint kBWidth = B_ROW_MAJOR ? BN / 8 : BK / 8, kBHeight = B_ROW_MAJOR ? BK : BN;
const uint kARow = kAWidth + 1, kBRow = kBWidth + 1;  // padded to avoid bank conflicts
const uint kB = kARow * kAHeight;                     // where the tile of B begins
const uint kAEights = kAWidth * kAHeight / THREADS, kBEights = kBWidth * kBHeight / THREADS;
const uint kOperands = kB + kBRow * kBHeight;
const uint kResultRow = WN / 4 + 1;  // row of a band of results (M rows) in shared memory
const uint kResults = THREADS / SUBGROUP * M * kResultRow;
shared uvec4 tiles[kOperands > kResults ? kOperands : kResults];

uvec4 a_next[kAEights];
uvec4 b_next[kBEights];

// Vector i THREADS + t of a tile, which invocation t takes, is in line (i THREADS + t) / width: the lines of
// an invocation are evenly spaced.
const uint kALines = THREADS / kAWidth, kBLines = THREADS / kBWidth;

// Fetches this invocation's vectors of A. Lines are `far` bytes apart; A has `rows` rows. `whole`: all of the
// tile is inside.
void fetch_a(uint64_t a, uint64_t far, uint row, uint k, uint rows, uint end, bool whole) {
  const uint line = gl_LocalInvocationID.x / kAWidth, close = gl_LocalInvocationID.x % kAWidth * 8;
  const uint m = row + (A_COLUMN_MAJOR ? close : line), a_k = k + (A_COLUMN_MAJOR ? line : close);
  a += (A_COLUMN_MAJOR ? a_k * far + m * 2 : m * far + a_k * 2);
  [[unroll]] for (uint i = 0; i < kAEights; ++i) {
    const uint x = A_COLUMN_MAJOR ? m : m + i * kALines, y = A_COLUMN_MAJOR ? a_k + i * kALines : a_k;
    a_next[i] = whole || x < rows && y < end ? U32x4Elements(a + i * kALines * far).at : uvec4(0);
  }
}

void keep() {
  [[unroll]] for (uint i = 0; i < kAEights; ++i) {
    const uint line = gl_LocalInvocationID.x / kAWidth + i * kALines;
    tiles[line * kARow + gl_LocalInvocationID.x % kAWidth] = a_next[i];
  }
  [[unroll]] for (uint i = 0; i < kBEights; ++i) {
    const uint line = gl_LocalInvocationID.x / kBWidth + i * kBLines;
    tiles[kB + line * kBRow + gl_LocalInvocationID.x % kBWidth] = b_next[i];
  }
}

#define LEFT fcoopmatNV<16, gl_ScopeSubgroup, M, K>
#define RIGHT fcoopmatNV<16, gl_ScopeSubgroup, K, N>
#define SUMS fcoopmatNV<32, gl_ScopeSubgroup, M, N>

const uint kDown = WM / M, kAcross = WN / N;  // matrices of a subgroup: at most 4 x 4

// Written out one by one: drivers keep an array of matrices in memory, even if all its indices are constant.
#define EACH_DOWN(DO) DO(0) DO(1) DO(2) DO(3)
#define EACH_ACROSS(DO) DO(0) DO(1) DO(2) DO(3)
#define EACH_OF_ROW(DO, i) DO(i, 0) DO(i, 1) DO(i, 2) DO(i, 3)
#define DECLARE_LEFT(i) LEFT left_##i;
#define DECLARE_SUM(i, j) SUMS sum_##i##_##j = SUMS(0.0);
#define DECLARE_ROW(i) EACH_OF_ROW(DECLARE_SUM, i)
#define LOAD_LEFT(i)                                                                      \
  if (i < kDown) {                                                                        \
    if (A_COLUMN_MAJOR)                                                                   \
      coopMatLoadNV(left_##i, tiles, k * kARow + (m + i * M) / 8, kARow, true);           \
    else                                                                                  \
      coopMatLoadNV(left_##i, tiles, (m + i * M) * kARow + k / 8, kARow, false);          \
  }
#define MULTIPLY(i, j) \
  if (i < kDown) sum_##i##_##j = coopMatMulAddNV(left_##i, right, sum_##i##_##j);
#define MULTIPLY_COLUMN(j)                                                                \
  if (j < kAcross) {                                                                      \
    if (B_ROW_MAJOR)                                                                      \
      coopMatLoadNV(right, tiles, kB + k * kBRow + (n + j * N) / 8, kBRow, false);        \
    else                                                                                  \
      coopMatLoadNV(right, tiles, kB + (n + j * N) * kBRow + k / 8, kBRow, true);         \
    MULTIPLY(0, j) MULTIPLY(1, j) MULTIPLY(2, j) MULTIPLY(3, j)                           \
  }
#define STORE(i, j) \
  if (j < kAcross) coopMatStoreNV(sum_##i##_##j, tiles, results + j * N / 4, kResultRow, false);
#define STORE_BAND(i)                                             \
  if (i < kDown) {                                                \
    EACH_OF_ROW(STORE, i)                                         \
    subgroupBarrier();                                            \
    store_band(c, results, row + m + i * M, column + n);          \
    subgroupBarrier();                                            \
  }

// Adds the products of the step in shared memory to the sums of this subgroup. In the scope of this macro and
// of STORE_BAND, (m, n) is the subgroup's first element in the tile.
#define MULTIPLY_STEP                           \
  [[unroll]] for (uint k = 0; k < BK; k += K) { \
    EACH_DOWN(DECLARE_LEFT)                     \
    RIGHT right;                                \
    EACH_DOWN(LOAD_LEFT)                        \
    EACH_ACROSS(MULTIPLY_COLUMN)                \
  }

// Stores the sums `low` and `high` of elements (m, n) to (m, n + 7) of C. Some of them may be outside C.
void store_eight(uint64_t c, uint m, uint n, vec4 low, vec4 high);

// Stores eight floats as elements from `at` on; the address is a multiple of 16.
void store_vector(uint64_t c, int64_t at, vec4 low, vec4 high) {
  if (OUT_TYPE == kF32) {
    F32x4Elements(c + at * 4).at = low;
    F32x4Elements(c + at * 4 + 16).at = high;
    return;
  }
  uvec4 packed;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const float first = i < 2 ? low[i * 2] : high[i * 2 - 4], second = i < 2 ? low[i * 2 + 1] : high[i * 2 - 3];
    packed[i] = OUT_TYPE == kBF16 ? float_to_bfloat(first) | float_to_bfloat(second) << 16
                                  : float_to_half(first) | float_to_half(second) << 16;
  }
  U32x4Elements(c + at * 2).at = packed;
}

#ifdef UNEVEN_ROWS
// Stores the sum of element (m, n) of C, which may be outside C.
void store_one(uint64_t c, uint m, uint n, float sum);
#endif

// Stores the M x WN sums of this subgroup at tiles[results]. The first is element (m, n) of C.
void store_band(uint64_t c, uint results, uint m, uint n) {
#ifdef UNEVEN_ROWS
  if (UNEVEN_ROWS) {
    for (uint at = gl_SubgroupInvocationID; at < M * WN; at += SUBGROUP) {
      const uint y = at / WN, x = at % WN;
      store_one(c, m + y, n + x, uintBitsToFloat(tiles[results + y * kResultRow + x / 4][x % 4]));
    }
    return;
  }
#endif
  for (uint at = gl_SubgroupInvocationID; at < M * WN / 8; at += SUBGROUP) {
    const uint y = at / (WN / 8), x = at % (WN / 8) * 8;
    const uint from = results + y * kResultRow + x / 4;
    store_eight(c, m + y, n + x, uintBitsToFloat(tiles[from]), uintBitsToFloat(tiles[from + 1]));
  }
}

vec2 unscale;
void find_scales(uint64_t a_largest, uint64_t b_largest) {
  if (SCALED) unscale = factors_of_unscaling(a_largest, b_largest);
}
float unscaled(float sum) { return SCALED ? sum * unscale.x * unscale.y : sum; }
