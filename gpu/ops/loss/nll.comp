#version 460
// nll_loss: -w_y x_y for each row x with label y and class weights w, or the sum over the rows, which a mean
// divides by the sum of their weights. Also the gradient, which is 0 except at the labels. Ignored rows have
// loss, weight and gradient 0. A label that is not a class is noted as a fault.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "fault.glsl"

layout(constant_id = 2) const uint LABEL_TYPE = 3;
layout(constant_id = 3) const bool HAS_WEIGHT = false;
layout(constant_id = 4) const bool MEAN = false;
layout(constant_id = 5) const uint TYPE = 6;  // type of the input and its gradient; all other floats are f32

const uint kEach = 0;      // the loss of each row
const uint kSums = 1;      // the sums of parts of the rows, one per workgroup; the results if there is one part
const uint kFinish = 2;    // one workgroup: adds the sums of the parts
const uint kBackward = 3;  // the gradient at the labels

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t log_p, labels, weight;
  uint64_t result, total;   // total: the sum of the weights
  uint64_t parts;           // pairs of a loss and a weight
  uint64_t grad;
  uint64_t fault;
  int64_t ignored;
  uint part_count, each;    // rows of a part
  uint grad_step;           // 0: one gradient for all rows
  uint padding;
  Rows rows;                // of the input, then of its gradient
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

// The label and the weight of a row; label -1: the row is ignored.
int label_of(uint row, out float weight) {
  const int64_t label = load_integer(arguments.labels, int64_t(row), LABEL_TYPE);
  weight = 0.0;
  if (label == arguments.ignored) return -1;
  if (label < 0 || label >= int64_t(arguments.rows.extent)) {
    note_index(arguments.fault, kLabelFault, row, label, arguments.rows.extent);
    return -1;
  }
  weight = HAS_WEIGHT ? load_f32(arguments.weight, label) : 1.0;
  return int(label);
}
// Position of the label's element in the input (k = 0) or in its gradient (k = 1).
int64_t place_of(uint row, int label, uint k) {
  int64_t at = int64_t(label) * arguments.rows.step[k];
  for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
    at += int64_t(row % arguments.rows.size[d]) * arguments.rows.stride[k][d];
    row /= arguments.rows.size[d];
  }
  return at;
}
// The loss and the weight of a row.
vec2 terms_of(uint row) {
  float weight;
  const int label = label_of(row, weight);
  if (label < 0) return vec2(0.0);
  return vec2(-(weight * load_float(arguments.log_p, place_of(row, label, 0), TYPE)), weight);
}

void finish(vec2 sums) {
  store_f32(arguments.result, 0, MEAN ? sums.x / sums.y : sums.x);
  if (MEAN) store_f32(arguments.total, 0, sums.y);
}

void main() {
  const uint count = arguments.rows.count, me = gl_GlobalInvocationID.x, step = gl_NumWorkGroups.x * 256;
  if (MODE == kEach) {
    for (uint row = me; row < count; row += step) store_f32(arguments.result, int64_t(row), terms_of(row).x);
    return;
  }
  if (MODE == kBackward) {
    for (uint row = me; row < count; row += step) {
      float weight;
      const int label = label_of(row, weight);
      if (label < 0) continue;
      float slope = -(weight * load_f32(arguments.grad, int64_t(row) * int64_t(arguments.grad_step)));
      if (MEAN) slope /= load_f32(arguments.total, 0);
      store_float(arguments.result, place_of(row, label, 1), TYPE, slope);
    }
    return;
  }
  vec2 sums = vec2(0.0);
  if (MODE == kSums) {
    const uint begin = gl_WorkGroupID.x * arguments.each, end = min(count, begin + arguments.each);
    for (uint row = begin + gl_LocalInvocationID.x; row < end; row += 256) sums += terms_of(row);
  } else {
    for (uint part = gl_LocalInvocationID.x; part < arguments.part_count; part += 256)
      sums += C64Element(arguments.parts + uint64_t(part) * 8).at;
  }
  sums = vec2(row_sum(sums.x), row_sum(sums.y));
  if (gl_LocalInvocationID.x != 0) return;
  if (MODE == kSums && arguments.part_count > 1)
    C64Element(arguments.parts + uint64_t(gl_WorkGroupID.x) * 8).at = sums;
  else
    finish(sums);
}
