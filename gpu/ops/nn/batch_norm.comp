#version 460
// batch_norm: y = (x - mean) r w + b with r = 1 / sqrt(var + eps), for [batch, channels, size], and its
// gradients. With the n elements of a channel:
//   db = sum g,  dw = r sum g (x - mean),  dx = w r g, in training less w r (db + (x - mean) r dw) / n
// Passes over sums: a workgroup sums a part of one channel, or of ACROSS adjacent channels; the parts of a
// channel are merged in order. Means and squares of blocks of elements, of invocations and of parts are
// merged as in Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979. They are computed from x less the channel's first element: equal elements have exactly
// their mean and the variance 0. Differences whose squares would leave the range of floats are multiplied by
// a power of two (square_levels.glsl): r is right where the variance is infinite or 0.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "divisor.glsl"
#include "square_levels.glsl"

layout(constant_id = 2) const uint TYPE = 6;  // type of x, g and the result
// x, g and the result begin at multiples of four elements
layout(constant_id = 3) const bool ALIGNED = false;
// the size is a multiple of four: four elements have one channel
layout(constant_id = 4) const bool WHOLE = false;
layout(constant_id = 5) const uint ACROSS = 1;  // channels that a workgroup sums side by side
layout(constant_id = 6) const bool TRAINING = true;
layout(constant_id = 7) const bool HAS_WEIGHT = false;
layout(constant_id = 8) const bool HAS_BIAS = false;

const uint kMoments = 0, kMergeMoments = 1, kNormalize = 2, kSums = 3, kMergeSums = 4, kInputGradient = 5;  // MODE

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t x, grad, result;
  uint64_t mean, var, weight, bias;
  uint64_t parts;   // [parts, 3, channels]: mean, squares and their level, or the sums of g and of g (x - mean)
  uint64_t slopes;  // [3, channels]: for dx the factors of g and of x - mean, and a constant
  uint64_t dweight, dbias;
  uint64_t rstd;  // 0: computed from the variance
  uint channels, size, elements;
  uint units, each;  // units (vectors or elements) of a channel; of a part
  uint part_count;
  float eps;
  Divisor by_units;        // units of an image
  Divisor by_size, by_channels;
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

const bool kVectors = ALIGNED && WHOLE;
const uint kUnit = kVectors ? 4 : 1;  // elements
const uint kBlock = 4;                // vectors that an invocation loads at once
const uint kUnits = kVectors ? kBlock : 4 * kBlock;
const uint kSlices = 256 / ACROSS;  // invocations per channel

uint column() {
  return thread() % ACROSS;
}
uint in_column() {
  return thread() / ACROSS;
}

// All invocations of a channel get the sum of their values.
float column_sum(float value) {
  if (ACROSS == 1) return row_sum(value);
  barrier();
  meeting[thread()] = value;
  barrier();
  value = 0.0;
  for (uint i = 0; i < kSlices; ++i) value += meeting[i * ACROSS + column()];
  return value;
}

// All invocations of a channel get the largest of their values.
float column_max(float value) {
  if (ACROSS == 1) return row_max(value);
  barrier();
  meeting[thread()] = value;
  barrier();
  for (uint i = 0; i < kSlices; ++i) value = max(value, meeting[i * ACROSS + column()]);
  return value;
}

// Vector b of an invocation's block, which begins with unit `first` of a channel: adjacent elements, or units
// that are kSlices apart. Where there is no element the result and `present` are 0.
vec4 four_of(uint64_t address, uint channel, uint first, uint b, uint end, out vec4 present) {
  vec4 values = vec4(0.0);
  present = vec4(0.0);
  [[unroll]] for (uint j = 0; j < (kVectors ? 1 : 4); ++j) {
    const uint unit = first + (kVectors ? b : 4 * b + j) * kSlices;
    if (unit >= end) continue;
    const uint image = quotient(unit, a.by_units);
    const uint within = unit * kUnit - image * a.size;
    const uint at = (image * a.channels + channel) * a.size + within;
    if (kVectors) {
      values = load_four(address, int64_t(at / 4), TYPE);
      present = vec4(1.0);
    } else {
      values[j] = load_float(address, int64_t(at), TYPE);
      present[j] = 1.0;
    }
  }
  return values;
}

float first_of(uint channel) {
  return channel < a.channels ? load_float(a.x, int64_t(channel * a.size), TYPE) : 0.0;
}
float elements_of_part(uint part) {
  return float((min(a.units, (part + 1) * a.each) - part * a.each) * kUnit);
}
void store_moments(uint channel, float mean, float squares, uint level) {
  const float back = to_plain(level), factor = factor_of(level);
  const float scaled = squares / float(a.units * kUnit), variance = times_square(scaled, back);
  const bool plain = level == kPlainLevel || level == kSmallLevel && variance + a.eps >= kLeastSquare;
  store_f32(a.mean, int64_t(channel), first_of(channel) + mean * back);
  store_f32(a.var, int64_t(channel), variance);
  store_f32(a.rstd, int64_t(channel),
            plain ? 1.0 / sqrt(variance + a.eps) : factor / sqrt(scaled + times_square(a.eps, factor)));
}

float weight_of(uint channel) {
  return HAS_WEIGHT ? load_f32(a.weight, int64_t(channel)) : 1.0;
}
float rstd_of(uint channel) {
  return a.rstd != 0 ? load_f32(a.rstd, int64_t(channel)) : 1.0 / sqrt(load_f32(a.var, int64_t(channel)) + a.eps);
}
// Stores the gradients, from the sums of g and of g (x - mean) at the level of r.
void store_gradients(uint channel, float g, float dot) {
  const float r = rstd_of(channel), w = weight_of(channel), back = to_plain(level_of_rstd(r));
  const float slope = product_in_order(r, back, dot);
  store_f32(a.dbias, int64_t(channel), g);
  store_f32(a.dweight, int64_t(channel), slope);
  if (a.slopes == 0) return;
  const float share = TRAINING ? w * r / float(a.units * kUnit) : 0.0;
  store_f32(a.slopes, int64_t(channel), w * r);
  store_f32(a.slopes, int64_t(a.channels + channel), -share * product_in_order(r, back, slope));
  store_f32(a.slopes, int64_t(2 * a.channels + channel), -share * g);
}

void sum_part(uint channel, uint part) {
  const bool exists = channel < a.channels;
  const uint begin = part * a.each + in_column(), end = exists ? min(a.units, (part + 1) * a.each) : 0;
  float first, second;
  uint level = kSmallLevel;
  if (MODE == kMoments) {
    const float shift = first_of(channel);
    float count = 0.0, mean = 0.0, squares = 0.0;
    for (uint at = begin; at < end; at += kSlices * kUnits) {
      vec4 block[kBlock], present[kBlock];
      float here = 0.0, sum = 0.0, block_squares = 0.0, largest = 0.0;
      [[unroll]] for (uint b = 0; b < kBlock; ++b) block[b] = four_of(a.x, channel, at, b, end, present[b]);
      [[unroll]] for (uint b = 0; b < kBlock; ++b) {
        const vec4 sizes = abs(block[b] - shift) * present[b];
        largest = max(largest, max(max(sizes.x, sizes.y), max(sizes.z, sizes.w)));
      }
      const uint block_level = max(level, level_of(largest));
      if (block_level != level) {
        const float factor = between_levels(level, block_level);
        mean *= factor;
        squares = times_square(squares, factor);
        level = block_level;
      }
      [[unroll]] for (uint b = 0; b < kBlock; ++b) {
        // Without an element the difference may be infinite.
        block[b] = mix(vec4(0.0), at_level(block[b], shift, level) - mean, greaterThan(present[b], vec4(0.0)));
        sum += in_all(block[b]);
        here += in_all(present[b]);
      }
      const float apart = sum / here, share = here / (count + here);
      [[unroll]] for (uint b = 0; b < kBlock; ++b) {
        const vec4 rest = (block[b] - apart) * present[b];
        block_squares += in_all(rest * rest);
      }
      mean += apart * share;
      squares += block_squares + apart * apart * (count * share);
      count += here;
    }
    const uint together = uint(column_max(float(level)));
    const float factor = between_levels(level, together);
    level = together;
    mean *= factor;
    squares = times_square(squares, factor);
    first = column_sum(count * mean) / elements_of_part(part);
    const float apart = mean - first;
    second = column_sum(squares + count * (apart * apart));
  } else {
    const float mean = exists ? load_f32(a.mean, int64_t(channel)) : 0.0;
    const float factor = exists ? factor_of(level_of_rstd(rstd_of(channel))) : 1.0;
    vec4 sums = vec4(0.0), dots = vec4(0.0);
    for (uint at = begin; at < end; at += kSlices * kUnits) {
      vec4 g[kBlock], x[kBlock], present;
      [[unroll]] for (uint b = 0; b < kBlock; ++b) {
        g[b] = four_of(a.grad, channel, at, b, end, present);
        x[b] = four_of(a.x, channel, at, b, end, present);
      }
      [[unroll]] for (uint b = 0; b < kBlock; ++b) {
        sums += g[b];
        dots += product_in_order(x[b] - mean, factor, g[b]);
      }
    }
    first = column_sum(in_all(sums));
    second = column_sum(in_all(dots));
  }
  if (!exists || in_column() != 0) return;
  if (a.part_count > 1) {
    store_f32(a.parts, int64_t(3 * part * a.channels + channel), first);
    store_f32(a.parts, int64_t((3 * part + 1) * a.channels + channel), second);
    store_f32(a.parts, int64_t((3 * part + 2) * a.channels + channel), float(level));
  } else if (MODE == kMoments) {
    store_moments(channel, first, second, level);
  } else {
    store_gradients(channel, first, second);
  }
}

float part_at(uint channel, uint part, uint which) {
  return load_f32(a.parts, int64_t((3 * part + which) * a.channels + channel));
}
// The factor that brings the moments of a part to that level.
float factor_of_part(uint channel, uint part, uint level) {
  return MODE == kMergeMoments ? between_levels(uint(part_at(channel, part, 2)), level) : 1.0;
}
void merge_parts(uint channel) {
  const uint end = channel < a.channels ? a.part_count : 0;
  uint level = kSmallLevel;
  if (MODE == kMergeMoments) {
    for (uint part = in_column(); part < end; part += kSlices) level = max(level, uint(part_at(channel, part, 2)));
    level = uint(column_max(float(level)));
  }
  float first = 0.0, second = 0.0;
  for (uint part = in_column(); part < end; part += kSlices)
    first += (MODE == kMergeMoments ? elements_of_part(part) : 1.0) *
             (part_at(channel, part, 0) * factor_of_part(channel, part, level));
  first = column_sum(first);
  if (MODE == kMergeMoments) first /= float(a.units * kUnit);
  for (uint part = in_column(); part < end; part += kSlices) {
    const float factor = factor_of_part(channel, part, level);
    second += times_square(part_at(channel, part, 1), factor);
    if (MODE == kMergeMoments) {
      const float apart = part_at(channel, part, 0) * factor - first;
      second += elements_of_part(part) * (apart * apart);
    }
  }
  second = column_sum(second);
  if (channel >= a.channels || in_column() != 0) return;
  if (MODE == kMergeMoments)
    store_moments(channel, first, second, level);
  else
    store_gradients(channel, first, second);
}

vec4 four_at(uint64_t address, uint four) {
  if (ALIGNED && four * 4 + 3 < a.elements) return load_four(address, int64_t(four), TYPE);
  vec4 values = vec4(0.0);
  for (uint j = 0; j < min(4, a.elements - four * 4); ++j) values[j] = load_float(address, int64_t(four * 4 + j), TYPE);
  return values;
}
void put_four(uint four, vec4 values) {
  if (ALIGNED && four * 4 + 3 < a.elements) {
    store_four(a.result, int64_t(four), TYPE, values);
    return;
  }
  for (uint j = 0; j < min(4, a.elements - four * 4); ++j)
    store_float(a.result, int64_t(four * 4 + j), TYPE, values[j]);
}

// The results of a channel are of_g g + of_x ((x - mean) factor) + rest.
struct Line {
  float of_g, of_x, mean, factor, rest;
};
Line line_of(uint channel) {
  const float mean = MODE == kNormalize || TRAINING ? load_f32(a.mean, int64_t(channel)) : 0.0;
  const float r = MODE == kNormalize || TRAINING ? rstd_of(channel) : 1.0;
  const uint level = level_of_rstd(r);
  if (MODE == kNormalize)
    return Line(0.0, product_in_order(r, to_plain(level), weight_of(channel)), mean, factor_of(level),
                HAS_BIAS ? load_f32(a.bias, int64_t(channel)) : 0.0);
  const float of_g = load_f32(a.slopes, int64_t(channel));
  if (!TRAINING) return Line(of_g, 0.0, 0.0, 1.0, 0.0);
  return Line(of_g, load_f32(a.slopes, int64_t(a.channels + channel)), mean, factor_of(level),
              load_f32(a.slopes, int64_t(2 * a.channels + channel)));
}
vec4 on_line(Line line, vec4 x, vec4 g) {
  if (MODE == kNormalize) return product_in_order(x - line.mean, line.factor, line.of_x) + line.rest;
  if (!TRAINING) return line.of_g * g;
  return line.of_g * g + product_in_order(x - line.mean, line.factor, line.of_x) + line.rest;
}
vec4 values_of(uint four, vec4 x, vec4 g) {
  uint image = quotient(four * 4, a.by_size), within = four * 4 - image * a.size;
  uint channel = image - quotient(image, a.by_channels) * a.channels;
  Line line = line_of(channel);
  if (WHOLE) return on_line(line, x, g);
  vec4 values;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    values[j] = on_line(line, vec4(x[j]), vec4(g[j])).x;
    if (j == 3 || ++within < a.size) continue;
    within = 0;
    if (++channel == a.channels) channel = 0;
    line = line_of(channel);
  }
  return values;
}

const uint kTogether = 2;  // vectors that an invocation loads before it computes
void over_elements() {
  const uint fours = (a.elements + 3) / 4, step = gl_NumWorkGroups.x * 256;
  for (uint first = gl_WorkGroupID.x * 256 + gl_LocalInvocationID.x; first < fours; first += kTogether * step) {
    vec4 x[kTogether], g[kTogether];
    [[unroll]] for (uint k = 0; k < kTogether; ++k) {
      x[k] = g[k] = vec4(0.0);
      if (first + k * step >= fours) continue;
      if (MODE == kInputGradient) g[k] = four_at(a.grad, first + k * step);
      if (MODE == kNormalize || TRAINING) x[k] = four_at(a.x, first + k * step);
    }
    [[unroll]] for (uint k = 0; k < kTogether; ++k)
      if (first + k * step < fours) put_four(first + k * step, values_of(first + k * step, x[k], g[k]));
  }
}

void main() {
  if (MODE == kNormalize || MODE == kInputGradient) {
    over_elements();
    return;
  }
  const bool merges = MODE == kMergeMoments || MODE == kMergeSums;
  const uint columns = (a.channels + ACROSS - 1) / ACROSS, works = columns * (merges ? 1 : a.part_count);
  for (uint work = gl_WorkGroupID.x; work < works; work += gl_NumWorkGroups.x) {
    const uint channel = work % columns * ACROSS + column();
    if (merges)
      merge_parts(channel);
    else
      sum_part(channel, work / columns);
  }
}
