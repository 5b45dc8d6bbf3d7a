#pragma once
// One direction of one layer of a recurrent network over a whole sequence, as a hidden record for each kind
// of cell. Operands: input [T, N, I] ([N, T, I] with batch_first), h0 and, of an LSTM, c0 [N, H], weight_ih,
// weight_hh, bias_ih, bias_hh (both or none). Parameters: reverse, batch_first.
#include "runtime/core/op.h"
#include "runtime/ops/nn/cpu/rnn.h"

namespace lunagrad {

// Results of the record that others may read: the states of all steps [T, N, H] and the last ones [N, H].
enum { kOut, kLastH, kLastC };

const Op& recurrent_layer(Cell);
const Op& recurrent_layer_grad(Cell);

// The two records as their kernels see them.
namespace recurrent {

// Operands of the layer.
enum { kInput, kH0, kC0, kWeightIh, kWeightHh, kBiasIh, kBiasHh };
// Parameters: reverse runs from the last step to the first; with batch_first the input is [N, T, I] instead
// of [T, N, I].
enum { kReverse, kBatchFirst };
// Results that only the gradient reads, after kOut and the last states: the cells and gates of an LSTM, the
// gates of a GRU.
enum { kCells = 3, kLstmGates, kGruGates = 2 };

// Operands of the gradient: the gradients of the three results, then the operands and the results of the
// layer.
enum { kDout, kDlastH, kDlastC, kX, kStartH, kStartC, kWi, kWh, kStates, kSaved, kSavedCells };
// Parameters: the two of the layer, then which gradients are wanted.
enum { kWanted = 2 };
// Results: the gradients of x, h0, c0, weight_ih, weight_hh and both biases, which differ only for a GRU.
enum { kDx, kDh0, kDc0, kDwi, kDwh, kDbi, kDbh };

// The sizes of a layer, and the position of the rows of step t in its tensors, which are [rows, features].
struct Sizes {
  int64_t steps, batch, inputs, hidden, gates;
  bool reverse, batch_first;

  Sizes(const Tensor& x, const Tensor& weight_hh, bool reversed, bool batch_is_first)
      : steps(x.size(batch_is_first)),
        batch(x.size(!batch_is_first)),
        inputs(x.size(2)),
        hidden(weight_hh.size(1)),
        gates(weight_hh.size(0)),
        reverse(reversed),
        batch_first(batch_is_first) {}

  int64_t rows() const { return steps * batch; }
  int64_t row(int64_t step, int64_t item) const {
    return batch_first ? item * steps + step : step * batch + item;
  }
  int64_t row_step() const { return batch_first ? steps : 1; }           // from one sequence to the next
  int64_t step(int64_t k) const { return reverse ? steps - 1 - k : k; }  // the k-th in order
  Shape features(int64_t n) const { return batch_first ? Shape{batch, steps, n} : Shape{steps, batch, n}; }
};

}  // namespace recurrent

constexpr const char* name_of(Cell cell) {
  constexpr const char* kNames[] = {"rnn_tanh", "rnn_relu", "lstm", "gru"};
  return kNames[int(cell)];
}

inline void need_shape(Cell cell, const char* what, const Tensor& x, const Shape& wanted) {
  if (!(x.shape() == wanted))
    fail(name_of(cell), ": ", what, " has shape ", x.shape(), " where ", wanted, " is needed");
}

}  // namespace lunagrad
