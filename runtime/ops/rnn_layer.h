#pragma once
// One direction of one layer of a recurrent network over a whole sequence, as a hidden record of each kind of
// cell. Operands: input [T, N, I] ([N, T, I] with batch_first), h0 and, of an LSTM, c0 [N, H], weight_ih,
// weight_hh, bias_ih, bias_hh (both or none). Parameters: reverse, batch_first.
#include "runtime/cpu/rnn.h"
#include "runtime/op.h"

namespace lunagrad {

// Results of the record that others may read: the states of all steps [T, N, H] and the last ones [N, H].
enum { kOut, kLastH, kLastC };

const Op& recurrent_layer(Cell);

constexpr const char* name_of(Cell cell) {
  constexpr const char* kNames[] = {"rnn_tanh", "rnn_relu", "lstm", "gru"};
  return kNames[int(cell)];
}

inline void need_shape(Cell cell, const char* what, const Tensor& x, const Shape& wanted) {
  if (!(x.shape() == wanted))
    fail(name_of(cell), ": ", what, " has shape ", x.shape(), " where ", wanted, " is needed");
}

}  // namespace lunagrad
