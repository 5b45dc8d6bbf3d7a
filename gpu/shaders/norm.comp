#version 460
// layer_norm: y = (x - mean) / sqrt(variance + eps) w + b, rms_norm: y = x / sqrt(mean(x^2) + eps) w, along rows
// that lie in order, and their gradients. With r = 1 / sqrt(…), n = (x - mean) r (without mean for rms_norm) and
// h = g w:  dx = r (h - mean(h) - n mean(h n)), where mean(h) is layer_norm's alone;  dw = sum over rows of g n,
// db = sum over rows of g. The rows' mean and r are kept for the latter two.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"

layout(constant_id = 2) const bool CENTRED = true;
layout(constant_id = 3) const bool HAS_WEIGHT = false;
layout(constant_id = 4) const bool HAS_BIAS = false;

const uint kForward = 0, kBackward = 1, kColumns = 2, kTotals = 3;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t x, weight, bias;   // bias: of kBackward and kColumns the gradient g
  uint64_t result;            // of kBackward may be 0
  uint64_t moments;           // mean and r of each row
  float eps;
  uint count, size;           // rows, and elements of a row
  uint blocks;                // rows are cut into for the sums over them
};

float weight_at(uint i) {
  return HAS_WEIGHT ? load_f32(weight, int64_t(i)) : 1.0;
}

void keep_moments(uint row, float mean, float r) {
  if (moments == 0 || along() != 0 || row >= count) return;
  store_f32(moments, int64_t(row) * 2, mean);
  store_f32(moments, int64_t(row) * 2 + 1, r);
}

vec4 weights_at(uint i) {
  return HAS_WEIGHT ? load_f32x4(weight, int64_t(i)) : vec4(1.0);
}

void held_row(uint row, int64_t begins, uint fours) {
  vec4 n[kHeld];
  hold(n, x + begins, fours, 0.0);
  float sum = 0.0, squares = 0.0;
  if (CENTRED)
    [[unroll]] for (uint h = 0; h < kHeld; ++h) sum += in_all(n[h]);
  const float mean = CENTRED ? row_sum(sum) / float(size) : 0.0;
  [[unroll]] for (uint h = 0; h < kHeld; ++h) {
    n[h] -= mean;
    if (along() + h * ALONG < fours) squares += in_all(n[h] * n[h]);
  }
  const float r = 1.0 / sqrt(row_sum(squares) / float(size) + eps);
  [[unroll]] for (uint h = 0; h < kHeld; ++h) n[h] *= r;
  if (MODE == kForward) {
    [[unroll]] for (uint h = 0; h < kHeld; ++h) {
      const uint i = along() + h * ALONG;
      if (i >= fours) continue;
      n[h] *= weights_at(i);
      if (HAS_BIAS) n[h] += load_f32x4(bias, int64_t(i));
    }
    put(n, result + begins, fours);
    return;
  }
  keep_moments(row, mean, r);
  if (result == 0) return;
  vec4 g[kHeld];
  hold(g, bias + begins, fours, 0.0);
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
  [[unroll]] for (uint h = 0; h < kHeld; ++h) g[h] = r * (g[h] - g_mean - n[h] * gn_mean);
  put(g, result + begins, fours);
}

void along_rows() {
  const uint rounds = (count + kRowsPerGroup - 1) / kRowsPerGroup;
  for (uint round = gl_WorkGroupID.x; round < rounds; round += gl_NumWorkGroups.x) {
    const uint row = round * kRowsPerGroup + beside();
    const uint end = row < count ? size : 0;
    const int64_t at = int64_t(row) * int64_t(size);
    if (HELD > 0) {
      held_row(row, at * 4, end / 4);
      continue;
    }
    float mean = 0.0;
    if (CENTRED) {
      float sum = 0.0;
      for (uint i = along(); i < end; i += ALONG) sum += load_f32(x, at + i);
      mean = row_sum(sum) / float(size);
    }
    float squares = 0.0;
    for (uint i = along(); i < end; i += ALONG) {
      const float apart = load_f32(x, at + i) - mean;
      squares += apart * apart;
    }
    const float r = 1.0 / sqrt(row_sum(squares) / float(size) + eps);
    if (MODE == kForward) {
      for (uint i = along(); i < end; i += ALONG) {
        const float y = (load_f32(x, at + i) - mean) * r * weight_at(i);
        store_f32(result, at + i, HAS_BIAS ? y + load_f32(bias, int64_t(i)) : y);
      }
      continue;
    }
    keep_moments(row, mean, r);
    if (result == 0) continue;
    float h_sum = 0.0, hn_sum = 0.0;
    for (uint i = along(); i < end; i += ALONG) {
      const float h = load_f32(bias, at + i) * weight_at(i);
      h_sum += h;
      hn_sum += h * (load_f32(x, at + i) - mean) * r;
    }
    const float h_mean = CENTRED ? row_sum(h_sum) / float(size) : 0.0;
    const float hn_mean = row_sum(hn_sum) / float(size);
    for (uint i = along(); i < end; i += ALONG) {
      const float h = load_f32(bias, at + i) * weight_at(i), n = (load_f32(x, at + i) - mean) * r;
      store_f32(result, at + i, r * (h - h_mean - n * hn_mean));
    }
  }
}

// Sums of g n and of g over a block of rows, a thread for each column; result: [blocks, 2, size].
void along_columns() {
  const uint wide = (size + 255) / 256;
  for (uint work = gl_WorkGroupID.x; work < wide * blocks; work += gl_NumWorkGroups.x) {
    const uint column = work % wide * 256 + gl_LocalInvocationID.x, block = work / wide;
    if (column >= size) continue;
    const uint each = (count + blocks - 1) / blocks;
    float gn = 0.0, g_sum = 0.0;
    for (uint row = block * each; row < min(count, (block + 1) * each); ++row) {
      const int64_t at = int64_t(row) * int64_t(size) + column;
      const float g = load_f32(bias, at);
      gn += g * (load_f32(x, at) - load_f32(moments, int64_t(row) * 2)) * load_f32(moments, int64_t(row) * 2 + 1);
      g_sum += g;
    }
    store_f32(result, int64_t(block) * 2 * int64_t(size) + column, gn);
    store_f32(result, (int64_t(block) * 2 + 1) * int64_t(size) + column, g_sum);
  }
}

// The sum of the blocks' sums: x: [blocks, 2, size], its first or, for BIAS, its second part.
void along_blocks() {
  for (uint column = gl_GlobalInvocationID.x; column < size; column += gl_NumWorkGroups.x * 256) {
    float sum = 0.0;
    for (uint block = 0; block < blocks; ++block)
      sum += load_f32(x, (int64_t(block) * 2 + (HAS_BIAS ? 1 : 0)) * int64_t(size) + column);
    store_f32(result, int64_t(column), sum);
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
