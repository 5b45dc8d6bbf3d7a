#version 460
// The gradients of the gates of a recurrent cell for one step of all sequences, and with FINISH the gradients
// of h0 and c0, after the first step. The formulas are the same as in runtime/ops/nn/cpu/rnn_kernels.cpp. An
// invocation computes one hidden unit of one sequence.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint CELL = 0;
// type of everything but gradients that pass from step to step, which are f32
layout(constant_id = 1) const uint TYPE = kF32;
layout(constant_id = 2) const bool FINISH = false;

const uint kTanh = 0, kRelu = 1, kLstm = 2, kGru = 3;  // CELL
const uint kGates = CELL == kLstm ? 4 : CELL == kGru ? 3 : 1;
const uint kThreads = 64;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t dout, dlast_state, dlast_cell;  // 0: there is none. The last two are added at the last step.
  // f32 [part_count, sequences, units]: their sum is the gradient through the later step's product
  uint64_t parts;
  // f32 [sequences, units]: gradients of a GRU's state around its gates, and of an LSTM's cell. Read, then
  // written
  uint64_t direct, dcells;
  uint64_t states, states_before, cells, cells_before, gates;
  uint64_t dinput, dhidden;      // gradients of both products, [rows, gates]; dhidden: for a GRU
  uint64_t kept;                 // [rows, units], the previous states, or 0
  uint64_t dstart, dstart_cell;  // with FINISH: the results, or 0
  uint part_count;
  uint last;                     // 1: no later step has written `direct` and `dcells`
  uint sequences, units;
  uint row, row_step;            // rows of this step: row + sequence * row_step
  uint before, before_step;
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

float behind_sigmoid(float g, float y) {
  return g * y * (1.0 - y);
}
float behind_tanh(float g, float y) {
  return g * fma(-y, y, 1.0);
}
float optional_float(uint64_t address, int64_t i) {
  return address == 0 ? 0.0 : load_float(address, i, TYPE);
}

void main() {
  const uint count = a.sequences * a.units;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * kThreads) {
    float dstate = 0.0;
    for (uint first = 0; first < a.part_count; first += 4)  // four loads overlap
      [[unroll]] for (uint k = 0; k < 4; ++k)
        if (first + k < a.part_count) dstate += load_f32(a.parts, int64_t(first + k) * count + i);
    if (CELL == kGru && a.last == 0) dstate += load_f32(a.direct, i);
    if (FINISH) {
      if (a.dstart != 0) store_float(a.dstart, i, TYPE, dstate);
      if (CELL == kLstm && a.dstart_cell != 0) store_float(a.dstart_cell, i, TYPE, load_f32(a.dcells, i));
      continue;
    }
    const uint sequence = i / a.units, unit = i % a.units;
    const int64_t row = int64_t(a.row) + int64_t(sequence) * a.row_step, at = row * a.units + unit;
    const int64_t before = (int64_t(a.before) + int64_t(sequence) * a.before_step) * a.units + unit;
    const int64_t gates = row * 4 * a.units + unit, gradients = row * kGates * a.units + unit;
    dstate += optional_float(a.dout, at);
    if (a.last != 0) dstate += optional_float(a.dlast_state, i);
    const float state_before = load_float(a.states_before, before, TYPE);
    if (a.kept != 0) store_float(a.kept, at, TYPE, state_before);
    if (CELL == kLstm) {
      const float input_gate = load_float(a.gates, gates, TYPE), forget_gate = load_float(a.gates, gates + a.units, TYPE);
      const float candidate = load_float(a.gates, gates + 2 * a.units, TYPE);
      const float output_gate = load_float(a.gates, gates + 3 * a.units, TYPE);
      const float squashed = lg_tanh(load_float(a.cells, at, TYPE));
      const float later = a.last != 0 ? optional_float(a.dlast_cell, i) : load_f32(a.dcells, i);
      const float dcell = later + behind_tanh(dstate * output_gate, squashed);
      store_float(a.dinput, gradients, TYPE, behind_sigmoid(dcell * candidate, input_gate));
      store_float(a.dinput, gradients + a.units, TYPE,
                  behind_sigmoid(dcell * load_float(a.cells_before, before, TYPE), forget_gate));
      store_float(a.dinput, gradients + 2 * a.units, TYPE, behind_tanh(dcell * input_gate, candidate));
      store_float(a.dinput, gradients + 3 * a.units, TYPE, behind_sigmoid(dstate * squashed, output_gate));
      store_f32(a.dcells, i, dcell * forget_gate);
    } else if (CELL == kGru) {
      const float reset = load_float(a.gates, gates, TYPE), update = load_float(a.gates, gates + a.units, TYPE);
      const float candidate = load_float(a.gates, gates + 2 * a.units, TYPE);
      const float inner = load_float(a.gates, gates + 3 * a.units, TYPE);
      const float dsum = behind_tanh(dstate * (1.0 - update), candidate);
      const float dreset = behind_sigmoid(dsum * inner, reset);
      const float dupdate = behind_sigmoid(dstate * (state_before - candidate), update);
      store_float(a.dinput, gradients, TYPE, dreset);
      store_float(a.dinput, gradients + a.units, TYPE, dupdate);
      store_float(a.dinput, gradients + 2 * a.units, TYPE, dsum);
      store_float(a.dhidden, gradients, TYPE, dreset);
      store_float(a.dhidden, gradients + a.units, TYPE, dupdate);
      store_float(a.dhidden, gradients + 2 * a.units, TYPE, dsum * reset);
      store_f32(a.direct, i, dstate * update);
    } else {
      const float state = load_float(a.states, at, TYPE);
      store_float(a.dinput, gradients, TYPE,
                  CELL == kTanh ? behind_tanh(dstate, state) : state <= 0.0 ? 0.0 : dstate);
    }
  }
}
