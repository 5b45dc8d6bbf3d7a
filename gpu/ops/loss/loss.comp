#version 460
// Cross entropy with class ids. For a row x with label y, smoothing s, class weights w and
// lse = log sum exp x:
//   loss = (1 - s) w_y (lse - x_y) + s / C sum_c w_c (lse - x_c)
// and its gradient, where k is the gradient of the row's loss and p = exp(x - lse):
//   k ((1 - s) w_y + s / C sum w) p_c - k s / C w_c, minus k (1 - s) w_y at c = y.
// Ignored rows have loss and gradient 0. A label that is not a class is noted as a fault.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "fault.glsl"

layout(constant_id = 2) const uint LABEL_TYPE = 3;
layout(constant_id = 3) const bool HAS_WEIGHT = false;
layout(constant_id = 4) const bool SMOOTH = false;
// type of the logits and their gradient; all other floats are f32
layout(constant_id = 5) const uint TYPE = 6;
layout(constant_id = 6) const bool FOURS = false;  // logits and gradient can be accessed four at a time

const uint kForward = 0;  // loss and lse of each row
const uint kTotal = 1;    // the sum of the rows' weights, for each workgroup's share of the rows
const uint kPartial = 4;  // the sum of the rows' losses, likewise
const uint kFinish = 2;   // one workgroup: the sum of `parts` losses, divided by the total if there is one
const uint kBackward = 3;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t logits, labels, weight;
  uint64_t lse, losses, total;  // total: 0 if there is none
  uint64_t grad, result;        // grad: of each row's loss, or of the reduced loss
  uint64_t fault;
  int64_t ignored;
  float smoothing;
  uint grad_step;               // 0: one gradient for all rows
  uint parts;
  Rows rows;                    // of the logits, then of the result
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

float weight_of(uint c) {
  return HAS_WEIGHT ? load_f32(arguments.weight, int64_t(c)) : 1.0;
}

// Four adjacent classes of a row whose elements begin at `at`. An invocation takes every ALONG-th four, so
// that sums do not depend on the layout of the logits. Past the end: -infinity, whose exp is 0.
const int64_t kBytes = TYPE == kF32 ? 4 : 2;
vec4 logits_at(int64_t at, uint c) {
  if (FOURS) return load_four(arguments.logits + at * kBytes, int64_t(c / 4), TYPE);
  vec4 x = vec4(-infinity());
  [[unroll]] for (uint v = 0; v < 4; ++v)
    if (c + v < arguments.rows.extent)
      x[v] = load_float(arguments.logits, at + int64_t(c + v) * arguments.rows.step[0], TYPE);
  return x;
}
void put_gradient(int64_t at, uint c, vec4 values) {
  if (FOURS) {
    store_four(arguments.result + at * kBytes, int64_t(c / 4), TYPE, values);
    return;
  }
  [[unroll]] for (uint v = 0; v < 4; ++v)
    if (c + v < arguments.rows.extent)
      store_float(arguments.result, at + int64_t(c + v) * arguments.rows.step[1], TYPE, values[v]);
}

// The label of a row, or -1 if the row is ignored. A label that is not a class is noted and ignored.
int label_of(uint row) {
  const int64_t label = load_integer(arguments.labels, int64_t(row), LABEL_TYPE);
  if (label == arguments.ignored) return -1;
  if (label < 0 || label >= int64_t(arguments.rows.extent)) {
    note_index(arguments.fault, kLabelFault, row, label, arguments.rows.extent);
    return -1;
  }
  return int(label);
}

void sum_up() {
  float sum = 0.0;
  if (MODE == kFinish) {
    for (uint i = gl_LocalInvocationID.x; i < arguments.parts; i += 256) sum += load_f32(arguments.losses, int64_t(i));
    sum = row_sum(sum);
    if (arguments.total != 0) sum /= load_f32(arguments.total, 0);
    if (gl_LocalInvocationID.x == 0) store_f32(arguments.result, 0, sum);
    return;
  }
  const uint count = arguments.rows.count, share = (count + gl_NumWorkGroups.x - 1) / gl_NumWorkGroups.x;
  const uint begin = gl_WorkGroupID.x * share, end = min(begin + share, count);
  for (uint row = begin + gl_LocalInvocationID.x; row < end; row += 256) {
    if (MODE == kTotal) {
      const int label = label_of(row);
      sum += label < 0 ? 0.0 : weight_of(uint(label));
    } else {
      sum += load_f32(arguments.losses, int64_t(row));
    }
  }
  sum = row_sum(sum);
  if (gl_LocalInvocationID.x == 0)
    store_f32(arguments.result, int64_t(gl_WorkGroupID.x), sum);
}

void main() {
  if (MODE == kTotal || MODE == kPartial || MODE == kFinish) {
    sum_up();
    return;
  }
  const uint classes = arguments.rows.extent;
  const float smoothing = arguments.smoothing;
  const uint blocks = (arguments.rows.count + kRowsPerGroup - 1) / kRowsPerGroup;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint row = block * kRowsPerGroup + beside();
    const bool exists = row < arguments.rows.count;
    int64_t at = 0, result_at = 0;
    uint rest = row;
    for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
      const uint place = rest % arguments.rows.size[d];
      rest /= arguments.rows.size[d];
      at += int64_t(place) * arguments.rows.stride[0][d];
      result_at += int64_t(place) * arguments.rows.stride[1][d];
    }
    const int label = exists ? label_of(row) : -1;
    const uint end = exists ? classes : 0;
    if (MODE == kForward) {
      // The logits are read once: an invocation's sum is relative to the largest logit so far. Logits before
      // the first finite one are -infinity or NaN. They are relative to 0, so that NaN stays NaN.
      float largest = -infinity(), sum = 0.0, weights = 0.0, weighed = 0.0;
      for (uint c = along() * 4; c < end; c += ALONG * 4) {
        const vec4 x = logits_at(at, c);
        const float top = max(max(x.x, x.y), max(x.z, x.w));
        if (top > largest) {
          sum *= lg_exp(largest - top);
          largest = top;
        }
        const float pivot = largest == -infinity() ? 0.0 : largest;
        [[unroll]] for (uint v = 0; v < 4; ++v) {
          if (!FOURS && c + v >= classes) break;
          sum += lg_exp(x[v] - pivot);
          if (SMOOTH) {
            weights += weight_of(c + v);
            weighed += weight_of(c + v) * x[v];
          }
        }
      }
      const float top = row_max(largest);
      if (largest < top) sum *= lg_exp(largest - top);
      sum = row_sum(sum);
      // An infinite largest logit makes the row NaN, as on the CPU.
      const float lse = lg_isinf(top) ? nan() : top + lg_log(sum);
      if (SMOOTH) {
        weights = row_sum(weights);
        weighed = row_sum(weighed);
      }
      if (exists && along() == 0) {
        float loss = 0.0;
        if (label >= 0) {
          const float x = load_float(arguments.logits, at + int64_t(label) * arguments.rows.step[0], TYPE);
          loss = (1.0 - smoothing) * weight_of(uint(label)) * (lse - x);
          if (SMOOTH) loss += smoothing / float(classes) * (weights * lse - weighed);
        }
        store_f32(arguments.losses, int64_t(row), loss);
        store_f32(arguments.lse, int64_t(row), label < 0 ? 0.0 : lse);
      }
    } else {
      float weights = float(classes);
      if (SMOOTH && HAS_WEIGHT) {
        weights = 0.0;
        for (uint c = along(); c < classes; c += ALONG) weights += weight_of(c);
        weights = row_sum(weights);
      }
      if (!exists) continue;
      float k = load_f32(arguments.grad, int64_t(row) * int64_t(arguments.grad_step));
      if (arguments.total != 0) k /= load_f32(arguments.total, 0);
      const float lse = load_f32(arguments.lse, int64_t(row));
      const float share = smoothing / float(classes);
      const float at_label = label < 0 ? 0.0 : k * (1.0 - smoothing) * weight_of(uint(label));
      for (uint c = along() * 4; c < classes; c += ALONG * 4) {
        // the same bits for every type of the logits, before they are rounded
        precise vec4 slope = vec4(0.0);
        if (label >= 0) {
          const vec4 x = logits_at(at, c);
          [[unroll]] for (uint v = 0; v < 4; ++v) {
            slope[v] = (at_label + k * share * weights) * lg_exp(x[v] - lse);
            if (SMOOTH && (FOURS || c + v < classes)) slope[v] -= k * share * weight_of(c + v);
            if (int(c + v) == label) slope[v] -= at_label;
          }
        }
        put_gradient(result_at, c, slope);
      }
    }
  }
}
