#version 460
// layer_norm: y = (x - mean) / sqrt(variance + eps) w + b, rms_norm: y = x / sqrt(mean(x^2) + eps) w, along
// contiguous rows, and their gradients. With r = 1 / sqrt(…), n = (x - mean) r (without mean for rms_norm)
// and h = g w:
//   dx = r (h - mean(h) - n mean(h n)), without mean(h) for rms_norm,
//   dw = sum over rows of g n,  db = sum over rows of g; both use stored means and r of the rows.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "square_levels.glsl"

layout(constant_id = 2) const bool CENTRED = true;
layout(constant_id = 3) const bool HAS_WEIGHT = false;
layout(constant_id = 4) const bool HAS_BIAS = false;
layout(constant_id = 5) const bool SUMS = false;  // kBackward with held rows also sums over its rows
layout(constant_id = 6) const uint TYPE = 6;      // type of all tensors; sums are f32
const int64_t kBytes = TYPE == kF32 ? 4 : 2;      // bytes of an element

const uint kForward = 0, kBackward = 1, kColumns = 2, kTotals = 3;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  // bias: in kBackward and kColumns the gradient g. weight and bias: in kTotals the results, or 0.
  uint64_t x, weight, bias;
  uint64_t result;   // 0: not wanted (kBackward)
  uint64_t moments;  // the Moments of each row
  uint64_t parts;    // sums of g n and of g over blocks of rows: [blocks, 2, size]
  float eps;
  uint count, size;           // rows, and elements of a row
  uint blocks;                // blocks of rows for the sums over rows
};

const uint kSummed = SUMS ? kHeld : 1;
vec4 gn_over_rows[kSummed], g_over_rows[kSummed];  // sums of this invocation's columns over its rows
shared vec4 fours_meeting[SUMS ? 256 : 1];

float weight_at(uint i) {
  return HAS_WEIGHT ? load_float(weight, int64_t(i), TYPE) : 1.0;
}

// Moments of a row times `factor`, which is 1 unless squares of its elements would leave the range of floats.
struct Moments {
  float factor, mean, r;
};
void keep_moments(uint row, Moments m) {
  if (moments == 0 || along() != 0 || row >= count) return;
  store_f32(moments, int64_t(row) * 3, m.factor);
  store_f32(moments, int64_t(row) * 3 + 1, m.mean);
  store_f32(moments, int64_t(row) * 3 + 2, m.r);
}
float apart_of(float x, Moments m) {
  return x * m.factor - m.mean;
}

vec4 weights_at(uint i) {
  return HAS_WEIGHT ? load_four(weight, int64_t(i), TYPE) : vec4(1.0);
}

// Devices round a quotient to 2.5 ulp; the remainder corrects it.
float mean_of(float sum) {
  const float mean = sum / float(size);
  return mean + fma(-mean, float(size), sum) / float(size);
}

// variance + eps, from the sum of squares of differences to a mean. `off`: the mean of these differences (the
// corrected two-pass algorithm of Chan, Golub, LeVeque, 1983). With it, equal numbers have exactly their
// mean: 1 / sqrt(eps) would magnify the rounding error of their sum.
float square_of(float squares, float off, float epsilon) {
  return squares < infinity() ? max(squares / float(size) - off * off, 0.0) + epsilon : infinity();
}
bool in_range(float square) {
  return square >= kLeastSquare && square < infinity();
}

// The moments of a scaled row. If a reduction would need barriers that invocations of other rows do not
// reach, each invocation reads the whole row.
bool meets() {
  return ALONG == 256 || SUBGROUP > 0 && kSubgroups == 1;
}
float total(float value) {
  return meets() ? row_sum(value) : value;
}
Moments scaled_moments(int64_t at, float square) {
  const uint first = meets() ? along() : 0, step = meets() ? ALONG : 1;
  Moments m = Moments(square < kLeastSquare ? kUp : kDown, 0.0, 0.0);
  float sum = 0.0, squares = 0.0, left = 0.0;
  if (CENTRED) {
    for (uint i = first; i < size; i += step) sum += load_float(x, at + i, TYPE) * m.factor;
    m.mean = mean_of(total(sum));
  }
  for (uint i = first; i < size; i += step) {
    const float apart = load_float(x, at + i, TYPE) * m.factor - m.mean;
    squares += apart * apart;
    left += apart;
  }
  const float off = CENTRED ? mean_of(total(left)) : 0.0;
  m.r = 1.0 / sqrt(square_of(total(squares), off, times_square(eps, m.factor)));
  m.mean += off;
  return m;
}

void held_row(int64_t at, uint fours) {
  const int64_t begins = at * kBytes;
  vec4 n[kHeld];
  hold(n, x + begins, fours, 0.0, TYPE);
  float sum = 0.0, squares = 0.0, left = 0.0;
  if (CENTRED)
    [[unroll]] for (uint h = 0; h < kHeld; ++h) sum += in_all(n[h]);
  const float mean = CENTRED ? mean_of(row_sum(sum)) : 0.0;
  [[unroll]] for (uint h = 0; h < kHeld; ++h) {
    n[h] -= mean;
    if (along() + h * ALONG >= fours) continue;
    squares += in_all(n[h] * n[h]);
    left += in_all(n[h]);
  }
  const float off = CENTRED ? mean_of(row_sum(left)) : 0.0;
  const float square = square_of(row_sum(squares), off, eps);
  Moments m = Moments(1.0, mean + off, 1.0 / sqrt(square));
  if (fours > 0 && !in_range(square)) {
    m = scaled_moments(at, square);
    hold(n, x + begins, fours, 0.0, TYPE);
    [[unroll]] for (uint h = 0; h < kHeld; ++h) n[h] = (n[h] * m.factor - m.mean) * m.r;
  } else {
    [[unroll]] for (uint h = 0; h < kHeld; ++h) n[h] = (n[h] - off) * m.r;
  }
  if (MODE == kForward) {
    [[unroll]] for (uint h = 0; h < kHeld; ++h) {
      const uint i = along() + h * ALONG;
      if (i >= fours) continue;
      n[h] *= weights_at(i);
      if (HAS_BIAS) n[h] += load_four(bias, int64_t(i), TYPE);
    }
    put(n, result + begins, fours, TYPE);
    return;
  }
  vec4 g[kHeld];
  hold(g, bias + begins, fours, 0.0, TYPE);
  if (SUMS)
    [[unroll]] for (uint h = 0; h < kHeld; ++h) {
      if (along() + h * ALONG >= fours) continue;
      gn_over_rows[h] += g[h] * n[h];
      if (CENTRED) g_over_rows[h] += g[h];
    }
  if (result == 0) return;
  float g_sum = 0.0, gn_sum = 0.0;
  [[unroll]] for (uint h = 0; h < kHeld; ++h) {
    const uint i = along() + h * ALONG;
    if (i >= fours) continue;
    g[h] *= weights_at(i);
    g_sum += in_all(g[h]);
    gn_sum += in_all(g[h] * n[h]);
  }
  const float g_mean = CENTRED ? row_sum(g_sum) / float(size) : 0.0;
  const float gn_mean = row_sum(gn_sum) / float(size);
  [[unroll]] for (uint h = 0; h < kHeld; ++h) g[h] = m.r * (g[h] - g_mean - n[h] * gn_mean) * m.factor;
  put(g, result + begins, fours, TYPE);
}

// Adds the sums of all rows of the workgroup and stores them.
void store_sums() {
  [[unroll]] for (uint h = 0; h < kSummed; ++h)
    [[unroll]] for (uint which = 0; which < (CENTRED ? 2 : 1); ++which) {
      barrier();
      fours_meeting[thread()] = which == 0 ? gn_over_rows[h] : g_over_rows[h];
      barrier();
      const uint i = along() + h * ALONG;
      if (beside() > 0 || i >= size / 4) continue;
      vec4 sum = vec4(0);
      for (uint row = 0; row < kRowsPerGroup; ++row) sum += fours_meeting[row * ALONG + along()];
      store_f32x4(parts + (int64_t(gl_WorkGroupID.x) * 2 + which) * int64_t(size) * 4, int64_t(i), sum);
    }
}

void along_rows() {
  [[unroll]] for (uint h = 0; h < kSummed; ++h) gn_over_rows[h] = g_over_rows[h] = vec4(0);
  const uint rounds = (count + kRowsPerGroup - 1) / kRowsPerGroup;
  for (uint round = gl_WorkGroupID.x; round < rounds; round += gl_NumWorkGroups.x) {
    const uint row = round * kRowsPerGroup + beside();
    const uint end = row < count ? size : 0;
    const int64_t at = int64_t(row) * int64_t(size);
    if (HELD > 0) {
      held_row(at, end / 4);
      continue;
    }
    float mean = 0.0;
    if (CENTRED) {
      float sum = 0.0;
      for (uint i = along(); i < end; i += ALONG) sum += load_float(x, at + i, TYPE);
      mean = mean_of(row_sum(sum));
    }
    float squares = 0.0, left = 0.0;
    for (uint i = along(); i < end; i += ALONG) {
      const float apart = load_float(x, at + i, TYPE) - mean;
      squares += apart * apart;
      left += apart;
    }
    const float off = CENTRED ? mean_of(row_sum(left)) : 0.0;
    const float square = square_of(row_sum(squares), off, eps);
    Moments m = Moments(1.0, mean + off, 1.0 / sqrt(square));
    if (end > 0 && !in_range(square)) m = scaled_moments(at, square);
    if (MODE == kForward) {
      for (uint i = along(); i < end; i += ALONG) {
        const float y = apart_of(load_float(x, at + i, TYPE), m) * m.r * weight_at(i);
        store_float(result, at + i, TYPE, HAS_BIAS ? y + load_float(bias, int64_t(i), TYPE) : y);
      }
      continue;
    }
    keep_moments(row, m);
    if (result == 0) continue;
    float h_sum = 0.0, hn_sum = 0.0;
    for (uint i = along(); i < end; i += ALONG) {
      const float h = load_float(bias, at + i, TYPE) * weight_at(i);
      h_sum += h;
      hn_sum += h * apart_of(load_float(x, at + i, TYPE), m) * m.r;
    }
    const float h_mean = CENTRED ? row_sum(h_sum) / float(size) : 0.0;
    const float hn_mean = row_sum(hn_sum) / float(size);
    for (uint i = along(); i < end; i += ALONG) {
      const float h = load_float(bias, at + i, TYPE) * weight_at(i), n = apart_of(load_float(x, at + i, TYPE), m) * m.r;
      store_float(result, at + i, TYPE, m.r * (h - h_mean - n * hn_mean) * m.factor);
    }
  }
  if (SUMS) store_sums();
}

// Sums of g n and of g over a block of rows. An invocation takes one column.
void along_columns() {
  const uint column_groups = (size + 255) / 256;
  for (uint work = gl_WorkGroupID.x; work < column_groups * blocks; work += gl_NumWorkGroups.x) {
    const uint column = work % column_groups * 256 + gl_LocalInvocationID.x, block = work / column_groups;
    if (column >= size) continue;
    const uint each = (count + blocks - 1) / blocks;
    float gn = 0.0, g_sum = 0.0;
    for (uint row = block * each; row < min(count, (block + 1) * each); ++row) {
      const int64_t at = int64_t(row) * int64_t(size) + column;
      const float g = load_float(bias, at, TYPE);
      const Moments m = Moments(load_f32(moments, int64_t(row) * 3), load_f32(moments, int64_t(row) * 3 + 1),
                                load_f32(moments, int64_t(row) * 3 + 2));
      gn += g * apart_of(load_float(x, at, TYPE), m) * m.r;
      g_sum += g;
    }
    store_f32(parts, int64_t(block) * 2 * int64_t(size) + column, gn);
    store_f32(parts, (int64_t(block) * 2 + 1) * int64_t(size) + column, g_sum);
  }
}

// Adds the sums of the blocks. A workgroup takes kColumnsOfGroup columns, kSlices invocations each.
const uint kColumnsOfGroup = 32;
void along_blocks() {
  const uint kSlices = 256 / kColumnsOfGroup, me = gl_LocalInvocationID.x;
  const uint columns = bias == 0 ? size : 2 * size, step = gl_NumWorkGroups.x * kColumnsOfGroup;
  for (uint first = gl_WorkGroupID.x * kColumnsOfGroup; first < columns; first += step) {
    const uint column = first + me % kColumnsOfGroup, slice = me / kColumnsOfGroup;
    float sum = 0.0;
    if (column < columns)
      for (uint block = slice; block < blocks; block += kSlices)
        sum += load_f32(parts, int64_t(block) * 2 * int64_t(size) + column);
    barrier();
    meeting[me] = sum;
    barrier();
    if (slice > 0 || column >= columns) continue;
    sum = 0.0;
    [[unroll]] for (uint s = 0; s < kSlices; ++s) sum += meeting[s * kColumnsOfGroup + me];
    if (column >= size)
      store_float(bias, int64_t(column - size), TYPE, sum);
    else if (weight != 0)
      store_float(weight, int64_t(column), TYPE, sum);
  }
}

void main() {
  if (MODE == kColumns)
    along_columns();
  else if (MODE == kTotals)
    along_blocks();
  else
    along_rows();
}
