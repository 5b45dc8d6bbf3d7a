#version 460
// The gates of a recurrent cell for one step of all sequences, from the products of the weights with the
// inputs and with the previous states. The formulas are the same as in runtime/ops/nn/cpu/rnn_kernels.cpp. An
// invocation computes one hidden unit of one sequence.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint CELL = 0;
layout(constant_id = 1) const uint TYPE = kF32;  // type of everything but the products
layout(constant_id = 2) const bool HAS_BIAS = false;

const uint kTanh = 0, kRelu = 1, kLstm = 2, kGru = 3;  // CELL
const uint kGates = CELL == kLstm ? 4 : CELL == kGru ? 3 : 1;
const uint kThreads = 64;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t from_inputs;  // f32 [rows, gates]
  uint64_t from_states;  // f32 parts [parts, sequences, gates], which are added
  uint64_t bias_ih, bias_hh;
  uint64_t states_before, cells_before;
  uint64_t states, cells, gates;   // of this step, with the layout of the results
  uint64_t last_state, last_cell;  // [sequences, units]; 0: not the last step
  uint parts;
  uint sequences, units;
  uint row, row_step;  // rows of this step: row + sequence * row_step
  uint before, before_step;
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

float bias(uint gate, uint unit) {
  if (!HAS_BIAS) return 0.0;
  const int64_t at = int64_t(gate) * a.units + unit;
  return load_float(a.bias_ih, at, TYPE) + (CELL == kGru && gate == 2 ? 0.0 : load_float(a.bias_hh, at, TYPE));
}
float from_input(int64_t row, uint gate, uint unit) {
  return load_f32(a.from_inputs, (row * kGates + gate) * a.units + unit) + bias(gate, unit);
}
// The sums of the parts for the gates of one unit. Loads four parts at a time, so that the loads overlap.
vec4 from_state(uint sequence, uint unit) {
  const int64_t size = int64_t(a.sequences) * kGates * a.units;
  const int64_t at = int64_t(sequence) * kGates * a.units + unit;
  vec4 sums = vec4(0);
  for (uint first = 0; first < a.parts; first += 4)
    [[unroll]] for (uint i = 0; i < 4; ++i)
      if (first + i < a.parts)
        [[unroll]] for (uint gate = 0; gate < kGates; ++gate)
          sums[gate] += load_f32(a.from_states, (first + i) * size + at + int64_t(gate) * a.units);
  return sums;
}

void main() {
  const uint count = a.sequences * a.units;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * kThreads) {
    const uint sequence = i / a.units, unit = i % a.units;
    const int64_t row = int64_t(a.row) + int64_t(sequence) * a.row_step, at = row * a.units + unit;
    const int64_t before = (int64_t(a.before) + int64_t(sequence) * a.before_step) * a.units + unit;
    const int64_t gates = row * 4 * a.units + unit;
    const vec4 hidden = from_state(sequence, unit);
    vec4 sums = hidden;
    [[unroll]] for (uint gate = 0; gate < kGates; ++gate)
      if (CELL != kGru || gate < 2) sums[gate] += from_input(row, gate, unit);
    float state;
    if (CELL == kLstm) {
      const float input_gate = lg_sigmoid(sums[0]);
      const float forget_gate = lg_sigmoid(sums[1]);
      const float candidate = lg_tanh(sums[2]);
      const float output_gate = lg_sigmoid(sums[3]);
      const float cell = fma(forget_gate, load_float(a.cells_before, before, TYPE), input_gate * candidate);
      store_float(a.gates, gates, TYPE, input_gate);
      store_float(a.gates, gates + a.units, TYPE, forget_gate);
      store_float(a.gates, gates + 2 * a.units, TYPE, candidate);
      store_float(a.gates, gates + 3 * a.units, TYPE, output_gate);
      store_float(a.cells, at, TYPE, cell);
      if (a.last_cell != 0) store_float(a.last_cell, i, TYPE, cell);
      state = output_gate * lg_tanh(cell);
    } else if (CELL == kGru) {
      const float reset = lg_sigmoid(sums[0]);
      const float update = lg_sigmoid(sums[1]);
      float inner = hidden[2];
      if (HAS_BIAS) inner += load_float(a.bias_hh, 2 * int64_t(a.units) + unit, TYPE);
      const float candidate = lg_tanh(fma(reset, inner, from_input(row, 2, unit)));
      store_float(a.gates, gates, TYPE, reset);
      store_float(a.gates, gates + a.units, TYPE, update);
      store_float(a.gates, gates + 2 * a.units, TYPE, candidate);
      store_float(a.gates, gates + 3 * a.units, TYPE, inner);
      state = fma(update, load_float(a.states_before, before, TYPE) - candidate, candidate);
    } else {
      const float sum = sums[0];
      state = CELL == kTanh ? lg_tanh(sum) : sum < 0.0 ? 0.0 : sum;  // NaN stays
    }
    store_float(a.states, at, TYPE, state);
    if (a.last_state != 0) store_float(a.last_state, i, TYPE, state);
  }
}
