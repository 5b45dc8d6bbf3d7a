#version 460
// The steps of group_norm between the passes of batch_norm.comp, which treat each channel of each sample as a
// separate channel. A group has the moments of n channels of m elements each (Chan, Golub, LeVeque, 1979):
//   mean = sum mean_c / n,  var = sum (var_c + (mean_c - mean)^2) / n
// With r = 1 / sqrt(var + eps), and the group's sums A = sum w g and B = sum w g r (x - mean):
//   dx = w r g - r^2 B / (n m) (x - mean) - r A / (n m)
// If variances leave the range of floats, they are computed again from the channels' r, times a power of two.
// A workgroup of kMeet and kSlopes processes the channels of a group; an invocation of kTotals adds up a
// channel over the samples.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "square_levels.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const bool HAS_WEIGHT = false;
const uint kMeet = 0;  // writes the group's moments to all its channels, and the weights and biases for them
const uint kSlopes = 1;
const uint kTotals = 2;  // the gradients of weight and bias
const uint kThreads = 64;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t mean, var, rstd;             // f32 [samples, channels]: moments of channels, then of groups
  uint64_t weight, bias;                // [channels]; 0: none
  uint64_t spread_weight, spread_bias;  // kMeet: [samples, channels]
  uint64_t dweight, dbias;              // [samples, channels]: sums of g r (x - mean), and of g
  uint64_t slopes;                      // [3, samples, channels]
  uint64_t weight_result, bias_result;  // kTotals: [channels]; 0: not wanted
  uint groups, group_channels, channels, samples;
  float elements;  // elements of a channel
  float eps;
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

shared vec2 meeting[kThreads];

vec2 total_of(vec2 sum) {
  const uint id = gl_LocalInvocationID.x;
  meeting[id] = sum;
  barrier();
  [[unroll]] for (uint half_way = kThreads / 2; half_way > 0; half_way /= 2) {
    if (id < half_way) meeting[id] += meeting[id + half_way];
    barrier();
  }
  const vec2 total = meeting[0];
  barrier();
  return total;
}

float weight_of(uint channel) {
  return HAS_WEIGHT ? load_f32(a.weight, channel) : 1.0;
}

// The mean and r of a group, from mean and r of its channels times `factor`. A channel whose variance is too
// small or infinite has the deviation 1 / r.
vec2 moments_of(uint group, float factor) {
  const uint first = group * a.group_channels, id = gl_LocalInvocationID.x;
  float sum = 0.0;
  for (uint c = id; c < a.group_channels; c += kThreads) sum += load_f32(a.mean, first + c) * factor;
  float mean = total_of(vec2(sum, 0)).x / a.group_channels;
  vec2 sums = vec2(0);
  for (uint c = id; c < a.group_channels; c += kThreads) {
    float var = load_f32(a.var, first + c);
    if (factor != 1.0) {
      const float deviation = (var >= kLeastSquare && var < infinity() ? sqrt(var) : 1.0 / load_f32(a.rstd, first + c)) * factor;
      var = deviation * deviation;
    }
    const float away = load_f32(a.mean, first + c) * factor - mean;
    sums += vec2(var + away * away, away);
  }
  // The mean is corrected by the mean of the differences: equal numbers get exactly their mean.
  sums = total_of(sums) / a.group_channels;
  mean += sums.y;
  return vec2(mean, sums.x < infinity() ? max(sums.x - sums.y * sums.y, 0.0) + times_square(a.eps, factor) : infinity());
}

void meet(uint group) {
  const uint first = group * a.group_channels, id = gl_LocalInvocationID.x;
  vec2 moments = moments_of(group, 1.0);
  float factor = 1.0, back = 1.0;
  if (!(moments.y >= kLeastSquare && moments.y < infinity())) {
    const uint level = moments.y < kLeastSquare ? kSmallLevel : kLargeLevel;
    factor = factor_of(level);
    back = to_plain(level);
    moments = moments_of(group, factor);
  }
  const float r = 1.0 / sqrt(moments.y) * factor;
  for (uint c = id; c < a.group_channels; c += kThreads) {
    const uint channel = (first + c) % a.channels;
    store_f32(a.mean, first + c, moments.x * back);
    store_f32(a.rstd, first + c, r);
    if (a.spread_weight != 0) store_f32(a.spread_weight, first + c, weight_of(channel));
    if (a.spread_bias != 0) store_f32(a.spread_bias, first + c, load_f32(a.bias, channel));
  }
}

void find_slopes(uint group) {
  const uint first = group * a.group_channels, id = gl_LocalInvocationID.x, all = a.samples * a.channels;
  vec2 sums = vec2(0);
  for (uint c = id; c < a.group_channels; c += kThreads)
    sums += weight_of((first + c) % a.channels) * vec2(load_f32(a.dbias, first + c), load_f32(a.dweight, first + c));
  sums = total_of(sums) / (a.elements * a.group_channels);
  const float r = load_f32(a.rstd, first);
  const uint level = level_of_rstd(r);
  for (uint c = id; c < a.group_channels; c += kThreads) {
    store_f32(a.slopes, first + c, weight_of((first + c) % a.channels) * r);
    store_f32(a.slopes, all + first + c, -r * product_in_order(r, to_plain(level), sums.y));
    store_f32(a.slopes, 2 * all + first + c, -r * sums.x);
  }
}

void add_samples(uint channel) {
  vec2 sums = vec2(0);
  for (uint i = channel; i < a.samples * a.channels; i += a.channels)
    sums += vec2(load_f32(a.dweight, i), load_f32(a.dbias, i));
  if (a.weight_result != 0) store_f32(a.weight_result, channel, sums.x);
  if (a.bias_result != 0) store_f32(a.bias_result, channel, sums.y);
}

void main() {
  if (MODE == kTotals) {
    for (uint channel = gl_GlobalInvocationID.x; channel < a.channels; channel += gl_NumWorkGroups.x * kThreads)
      add_samples(channel);
    return;
  }
  for (uint group = gl_WorkGroupID.x; group < a.samples * a.groups; group += gl_NumWorkGroups.x) {
    if (MODE == kMeet)
      meet(group);
    else
      find_slopes(group);
    barrier();
  }
}
