#version 460
// For every row i of x1 and every row j of x2: their distance, or a weighted sum over their columns
// (runtime/ops/linalg/pairs.h). A workgroup computes a tile of 64 x 64 pairs from STEP columns of its rows at a
// time, in shared memory; an invocation owns 4 x 4 pairs. Distances whose sum of powers leaves the range are
// computed again, from differences that are divided by the largest one of their pair. A 2-norm may come from a
// product: |x|^2 + |y|^2 - 2 x y; where these terms cancel, it is computed again from the differences. The
// whole tile computes again if one pair needs it.
#extension GL_GOOGLE_include_directive : require
#include "pairs.glsl"

layout(constant_id = 7) const uint MODE = 0;
const uint kSums = 0;       // weighted sums
const uint kDistances = 1;  // from differences
const uint kProducts = 2;   // 2-norms from products
const uint kMultiplied = 3;  // the same: `held` are the products, weights and scale are the rows' squares, all f32

const uint kTile = 64, kRow = kTile / 4 + 1;  // kRow: a padded column of a tile, in vec4
const uint kHeld = STEP * kRow;
shared vec4 x1_tile[kHeld];
shared vec4 x2_tile[kHeld];
shared vec4 weight_tile[MODE == kSums ? kHeld : 1];
shared vec4 factor_tile[HAS_FACTORS ? kHeld : 1];
shared uint unsettled;  // not 0: a pair must be computed again

const float kLeastPower = 8.07793567e-28;  // 2^-90: smaller sums have lost terms
const float kCancelled = 1e-2;

struct Tile {
  uint item, row, column;
  uint64_t x1, x2, weights, factors;
};
uint across() { return gl_LocalInvocationID.x % 16; }
uint down() { return gl_LocalInvocationID.x / 16; }

vec4 sums[4];   // of the pairs of four rows with four rows
vec4 units[4];  // the scale of each pair
vec4 most[4];   // the largest difference of each pair
vec4 squares[2];  // of the four rows of x1 and of x2

const uint kDot = 0, kTerms = 1, kMost = 2, kQuotients = 3;

// Loads 64 rows of STEP columns. Elements beyond the matrix are 0.
#define LOAD(TILE, MATRIX, OPERAND, FIRST, ROWS)                                                       \
  [[unroll]] for (uint e = 0; e < kTile * STEP; e += 256) {                                            \
    const uint at = e + gl_LocalInvocationID.x, r = at / STEP, c = at % STEP;                          \
    const bool inside = FIRST + r < ROWS && first + c < arguments.k;                                   \
    TILE[c * kRow + r / 4][r % 4] = inside ? element(MATRIX, OPERAND, FIRST + r, first + c) : 0.0;     \
  }

void add_terms(uint stage, uint c) {
  const vec4 left = x1_tile[c * kRow + down()], right = x2_tile[c * kRow + across()];
  if (stage == kDot) {
    squares[0] += left * left;
    squares[1] += right * right;
    [[unroll]] for (uint i = 0; i < 4; ++i) sums[i] += left[i] * right;
    return;
  }
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const vec4 apart = left[i] - right;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const float size = abs(apart[j]);
      if (stage == kMost) {
        most[i][j] = max(most[i][j], size);
      } else if (stage == kQuotients) {
        sums[i][j] += most[i][j] > 0.0 ? raised(quotient_of(size, most[i][j])) : 0.0;
      } else if (MODE != kSums) {
        sums[i][j] = POWER == kLargest ? lg_max(sums[i][j], size) : sums[i][j] + raised(size);
      } else {
        float weight = weight_tile[c * kRow + down()][i];
        if (HAS_FACTORS) weight *= factor_tile[c * kRow + across()][j];
        sums[i][j] += weight * applied(SCALE == kBefore ? argument_of(apart[j], units[i][j]) : apart[j]);
      }
    }
  }
}
void visit(Tile tile, uint stage) {
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    if (stage == kMost)
      most[i] = vec4(0);
    else
      sums[i] = vec4(0);
  }
  squares[0] = squares[1] = vec4(0);
  for (uint first = 0; first < arguments.k; first += STEP) {
    barrier();
    LOAD(x1_tile, tile.x1, arguments.x1, tile.row, arguments.m)
    LOAD(x2_tile, tile.x2, arguments.x2, tile.column, arguments.n)
    if (MODE == kSums) LOAD(weight_tile, tile.weights, arguments.weights, tile.row, arguments.m)
    if (HAS_FACTORS) LOAD(factor_tile, tile.factors, arguments.factors, tile.column, arguments.n)
    barrier();
    [[unroll]] for (uint c = 0; c < STEP; ++c) add_terms(stage, c);
  }
}

// Whether `mine` is not 0 in any invocation.
bool in_any(uint mine) {
  barrier();
  if (gl_LocalInvocationID.x == 0) unsettled = 0;
  barrier();
  if (mine != 0) atomicOr(unsettled, 1);
  barrier();
  return unsettled != 0;
}
bool is_inside(Tile tile, uint i, uint j) {
  return tile.row + down() * 4 + i < arguments.m && tile.column + across() * 4 + j < arguments.n;
}
float root(float sum) {
  return POWER == kSquare ? sqrt(sum) : POWER == kAny ? lg_pow(sum, 1.0 / arguments.exponent) : sum;
}

void store(Tile tile, vec4 results[4]) {
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const uint row = tile.row + down() * 4 + i, column = tile.column + across() * 4;
    const int64_t at = (int64_t(tile.item) * arguments.m + row) * arguments.n + column;
    if (!CONDENSED && arguments.n % 4 == 0) {
      if (is_inside(tile, i, 0)) store_four(arguments.result, at / 4, TYPE, results[i]);
      continue;
    }
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (!is_inside(tile, i, j) || CONDENSED && row >= column + j) continue;
      store_float(arguments.result, CONDENSED ? pair_at(row, column + j) : at + j, TYPE, results[i][j]);
    }
  }
}

// Sums of the pairs that `wanted` names replace their results; the result says which of them left the range.
uint take_roots(Tile tile, uint wanted, inout vec4 results[4]) {
  const bool has_root = POWER == kSquare || POWER == kAny;
  uint left = 0;
  [[unroll]] for (uint i = 0; i < 4; ++i)
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if ((wanted >> (i * 4 + j) & 1) == 0) continue;
      const float sum = sums[i][j];
      results[i][j] = root(sum);
      const bool lost = has_root && !(sum >= kLeastPower && sum < infinity()) && !lg_isnan(sum);
      if (lost && is_inside(tile, i, j)) left |= 1u << (i * 4 + j);
    }
  return left;
}
void load_products(Tile tile) {
  const uint64_t own = matrix_at(arguments.weights, tile.item, kF32),
                 others = matrix_at(arguments.scale, tile.item, kF32);
  const uint row = tile.row + down() * 4, column = tile.column + across() * 4;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    sums[i] = vec4(0);
    squares[0][i] = row + i < arguments.m ? element(own, arguments.weights, row + i, 0, kF32) : 0.0;
    squares[1][i] = column + i < arguments.n ? element(others, arguments.scale, column + i, 0, kF32) : 0.0;
    const int64_t at = (int64_t(tile.item) * arguments.m + row + i) * arguments.n + column;
    if (arguments.n % 4 == 0) {
      if (is_inside(tile, i, 0)) sums[i] = load_f32x4(arguments.held, at / 4);
      continue;
    }
    [[unroll]] for (uint j = 0; j < 4; ++j)
      if (is_inside(tile, i, j)) sums[i][j] = load_f32(arguments.held, at + j);
  }
}
void compute_distances(Tile tile) {
  vec4 results[4];
  uint wanted = 0xffffu;
  if (MODE == kProducts || MODE == kMultiplied) {
    if (MODE == kProducts)
      visit(tile, kDot);
    else
      load_products(tile);
    wanted = 0;
    [[unroll]] for (uint i = 0; i < 4; ++i)
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        const float both = squares[0][i] + squares[1][j];
        const float square = (squares[0][i] - sums[i][j]) + (squares[1][j] - sums[i][j]);
        results[i][j] = sqrt(square);
        // If `both` is infinite or NaN, the comparison is false.
        const bool settled = square > kCancelled * both && both >= kLeastPower && both < infinity();
        if (!settled && is_inside(tile, i, j)) wanted |= 1u << (i * 4 + j);
      }
  }
  if (MODE == kDistances || in_any(wanted)) {
    visit(tile, kTerms);
    wanted = take_roots(tile, wanted, results);
    if (in_any(wanted)) {
      visit(tile, kMost);
      visit(tile, kQuotients);
      [[unroll]] for (uint i = 0; i < 4; ++i)
        [[unroll]] for (uint j = 0; j < 4; ++j)
          if ((wanted >> (i * 4 + j) & 1) != 0)
            results[i][j] = lg_isfinite(most[i][j]) ? most[i][j] * root(sums[i][j]) : most[i][j];
    }
  }
  store(tile, results);
}

void compute_sums(Tile tile) {
  const uint64_t scale = matrix_at(arguments.scale, tile.item);
  [[unroll]] for (uint i = 0; i < 4; ++i)
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const bool inside = SCALE != kUnscaled && is_inside(tile, i, j);
      units[i][j] =
          inside ? element(scale, arguments.scale, tile.row + down() * 4 + i, tile.column + across() * 4 + j) : 1.0;
    }
  visit(tile, kTerms);
  vec4 results[4];
  [[unroll]] for (uint i = 0; i < 4; ++i)
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const float unit = units[i][j], sum = sums[i][j];
      results[i][j] = unit == 0.0 ? 0.0 : SCALE == kAfter ? quotient_of(sum, raised(unit)) : sum;
    }
  store(tile, results);
}

void main() {
  uint rest = MY_ITEM;
  Tile tile;
  const uint tiles = arguments.row_tiles * arguments.column_tiles;
  tile.item = rest / tiles;
  rest %= tiles;
  // Adjacent workgroups share the rows of x2.
  tile.row = rest % arguments.row_tiles * kTile;
  tile.column = rest / arguments.row_tiles * kTile;
  if (CONDENSED && tile.column < tile.row) return;
  tile.x1 = matrix_at(arguments.x1, tile.item);
  tile.x2 = matrix_at(arguments.x2, tile.item);
  tile.weights = matrix_at(arguments.weights, tile.item);
  tile.factors = matrix_at(arguments.factors, tile.item);
  if (MODE == kSums)
    compute_sums(tile);
  else
    compute_distances(tile);
}
