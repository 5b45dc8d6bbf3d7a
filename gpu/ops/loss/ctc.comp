#version 460
// Connectionist temporal classification, with the formulas of runtime/ops/loss/ctc.cpp. A workgroup takes one item
// of the batch and visits its steps, forward for the loss and backward for the gradient; its invocations take
// the 2 S + 1 states of a step. The last pass adds the shares of all states with the same label.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;

const uint kForward = 0, kBack = 1, kCollect = 2;

const uint kMostStates = 1024;  // as in the kernel's supports()

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t log_probs, labels, input_lengths, target_lengths;  // lengths and labels: i64
  uint64_t alpha, losses;
  uint64_t upstream, shares, gradient;  // shares: same shape as alpha; shares and gradient are initially 0
  uint steps, items, classes, width;
  uint label_stride;  // labels from one item to the next; 0: the items' labels are concatenated
  uint blank, zero_infinity;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared float rows[2][kMostStates];

float log_sum(float a, float b, float c) {
  float most = a < b ? b : a;
  most = most < c ? c : most;
  if (!(most > -infinity())) return a + b + c;  // all -inf, or a NaN
  return most + lg_log(lg_exp(a - most) + lg_exp(b - most) + lg_exp(c - most));
}

uint length_of(uint64_t lengths, uint item) {
  return uint(load_integer(lengths, int64_t(item), kI64));
}
// The position of the first label of the item.
uint first_label(uint item) {
  if (arguments.label_stride > 0) return item * arguments.label_stride;
  uint sum = 0;
  for (uint i = 0; i < item; ++i) sum += length_of(arguments.target_lengths, i);
  return sum;
}
uint label(uint labels, uint state) {
  return state % 2 == 0 ? arguments.blank : uint(load_integer(arguments.labels, int64_t(labels + state / 2), kI64));
}
bool skips(uint labels, uint state) {
  return state % 2 == 1 && state >= 2 && label(labels, state) != label(labels, state - 2);
}
float log_prob(uint step, uint item, uint class_) {
  return load_f32(arguments.log_probs, (int64_t(step) * arguments.items + item) * arguments.classes + class_);
}
int64_t alpha_row(uint step, uint item) {
  return (int64_t(item) * arguments.steps + step) * arguments.width;
}

void go_forward(uint item) {
  const uint labels = first_label(item), states = 2 * length_of(arguments.target_lengths, item) + 1;
  const uint steps = length_of(arguments.input_lengths, item);
  for (uint t = 0; t < arguments.steps; ++t) {
    barrier();
    const uint now = t & 1, before = 1 - now;
    for (uint s = gl_LocalInvocationID.x; s < arguments.width; s += 256) {
      float value = -infinity();
      if (t < steps && s < states) {
        value = s < 2 ? 0.0 : -infinity();
        if (t > 0)
          value = log_sum(rows[before][s], s > 0 ? rows[before][s - 1] : -infinity(),
                          skips(labels, s) ? rows[before][s - 2] : -infinity());
        value += log_prob(t, item, label(labels, s));
        rows[now][s] = value;
      }
      store_f32(arguments.alpha, alpha_row(t, item) + s, value);
    }
    barrier();
    if (t + 1 == steps && gl_LocalInvocationID.x == 0) {
      const float loss =
          states == 1 ? -rows[now][0] : -log_sum(rows[now][states - 1], rows[now][states - 2], -infinity());
      store_f32(arguments.losses, int64_t(item), arguments.zero_infinity != 0 && lg_isinf(loss) ? 0.0 : loss);
    }
  }
  if (steps == 0 && gl_LocalInvocationID.x == 0)
    store_f32(arguments.losses, int64_t(item), states == 1 || arguments.zero_infinity != 0 ? 0.0 : infinity());
}

void go_back(uint item) {
  const uint labels = first_label(item), states = 2 * length_of(arguments.target_lengths, item) + 1;
  const uint steps = length_of(arguments.input_lengths, item), me = gl_LocalInvocationID.x;
  if (steps == 0) return;
  const int64_t last = alpha_row(steps - 1, item) + states;
  const float end = load_f32(arguments.alpha, last - 1);
  const float loss = states == 1 ? -end : -log_sum(end, load_f32(arguments.alpha, last - 2), -infinity());
  if (arguments.zero_infinity != 0 && lg_isinf(loss)) return;
  const float upstream = load_f32(arguments.upstream, int64_t(item));
  for (uint t = steps; t-- > 0;) {
    barrier();
    const uint now = t & 1, later = 1 - now;
    for (uint s = me; s < states; s += 256) {
      float go = s + 2 >= states ? 0.0 : -infinity();
      if (t + 1 < steps)
        go = log_sum(rows[later][s], s + 1 < states ? rows[later][s + 1] : -infinity(),
                     s + 2 < states && skips(labels, s + 2) ? rows[later][s + 2] : -infinity());
      rows[now][s] = go + log_prob(t, item, label(labels, s));
      const int64_t place = alpha_row(t, item) + s;
      store_f32(arguments.shares, place, upstream * lg_exp(load_f32(arguments.alpha, place) + go + loss));
    }
  }
}

// Writes the gradient at step t of the label of state s, if s is the first state with that label.
void collect(uint t, uint item, uint s) {
  const uint labels = first_label(item), states = 2 * length_of(arguments.target_lengths, item) + 1;
  if (s >= states || t >= length_of(arguments.input_lengths, item)) return;
  const uint own = label(labels, s);
  if (s > 0 && own == arguments.blank) return;
  for (uint other = 1; other < s; other += 2)
    if (label(labels, other) == own) return;
  float sum = 0.0;
  for (uint other = s; other < states; ++other)
    if (label(labels, other) == own) sum += load_f32(arguments.shares, alpha_row(t, item) + other);
  store_f32(arguments.gradient, (int64_t(t) * arguments.items + item) * arguments.classes + own, -sum);
}

void main() {
  if (MODE == kCollect) {
    const uint count = arguments.items * arguments.steps * arguments.width;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * 256) {
      const uint row = i / arguments.width;
      collect(row % arguments.steps, row / arguments.steps, i % arguments.width);
    }
    return;
  }
  for (uint item = gl_WorkGroupID.x; item < arguments.items; item += gl_NumWorkGroups.x) {
    if (MODE == kForward)
      go_forward(item);
    else
      go_back(item);
  }
}
