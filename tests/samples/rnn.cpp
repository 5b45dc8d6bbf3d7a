#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

// The weights of one direction of one layer: gates times hidden rows.
void add_weights(std::vector<SampleInput>& inputs, int64_t gates, int64_t in, int64_t hidden,
                 bool bias = true) {
  inputs.push_back(real({gates * hidden, in}, -1, 1));
  inputs.push_back(real({gates * hidden, hidden}, -1, 1));
  if (!bias) return;
  inputs.push_back(real({gates * hidden}, -1, 1));
  inputs.push_back(real({gates * hidden}, -1, 1));
}

std::vector<SampleInput> with_weights(std::vector<SampleInput> inputs, int64_t gates, int64_t in,
                                      int64_t hidden, bool bias = true) {
  add_weights(inputs, gates, in, hidden, bias);
  return inputs;
}

struct Net {
  const char* op;
  int64_t gates;
  bool cell;
};

std::vector<Sample> rnn_samples() {
  std::vector<Sample> rows;
  for (const Net& net :
       {Net{"rnn_tanh", 1, false}, Net{"rnn_relu", 1, false}, Net{"lstm", 4, true}, Net{"gru", 3, false}}) {
    const auto start = [&](std::vector<SampleInput> inputs, const SampleInput& state) {
      inputs.push_back(state);
      if (net.cell) inputs.push_back(state);
      return inputs;
    };
    // has_biases, num_layers, dropout, train, bidirectional, batch_first
    rows.push_back({net.op, with_weights(start({real({4, 2, 3})}, real({1, 2, 5}, -1, 1)), net.gates, 3, 5)});
    rows.push_back({net.op,
                    with_weights(start({real({2, 3, 2})}, absent()), net.gates, 2, 3, false),
                    {false, 1, 0.0, false, false, true}});
    std::vector<SampleInput> deep = start({real({2, 3, 2})}, real({4, 2, 2}, -1, 1));
    for (int layer = 0; layer < 2; ++layer)
      for (int direction = 0; direction < 2; ++direction) add_weights(deep, net.gates, layer ? 4 : 2, 2);
    rows.push_back({net.op, deep, {true, 2, 0.0, true, true, true}, false});
    // one sequence, without a batch
    rows.push_back(
        {net.op, with_weights(start({real({3, 2})}, real({1, 3}, -1, 1)), net.gates, 2, 3), {}, false});
  }
  for (const Net& net :
       {Net{"rnn_tanh_cell", 1, false}, Net{"rnn_relu_cell", 1, false}, Net{"gru_cell", 3, false}}) {
    rows.push_back({net.op, with_weights({real({2, 3}), real({2, 4}, -1, 1)}, net.gates, 3, 4)});
    rows.push_back({net.op, with_weights({real({3}), absent()}, net.gates, 3, 4, false)});
  }
  rows.push_back(
      {"lstm_cell", with_weights({real({2, 3}), real({2, 4}, -1, 1), real({2, 4}, -1, 1)}, 4, 3, 4)});
  return rows;
}

std::vector<BadSample> bad_rnn_samples() {
  return {
      {"lstm",
       with_weights({real({2, 3, 2, 1}), absent(), absent()}, 4, 2, 3),
       {},
       "lstm: input must be [T, N, I], [N, T, I] with batch_first, or [T, I] (got shape [2, 3, 2, 1])"},
      {"lstm",
       with_weights({real({2, 3, 2}), absent(), absent()}, 4, 2, 3),
       {true, 2},
       "lstm: 2 layers in 1 directions need 8 weights (got 4)"},
      {"lstm",
       with_weights({real({2, 3, 2}), absent(), absent()}, 4, 2, 3),
       {true, 0},
       "num_layers must be at least 1"},
      {"lstm",
       with_weights({real({2, 3, 2}), absent(), absent()}, 4, 5, 3),
       {},
       "lstm: weight_ih has shape [12, 5] where [12, 2] is needed"},
      {"lstm",
       with_weights({real({2, 3, 2}), real({1, 3, 4}), absent()}, 4, 2, 3),
       {},
       "lstm: h0 has shape [1, 3, 4] where [1, 3, 3] is needed"},
      {"lstm",
       with_weights({real({2, 3, 2}), absent(), real({3, 3})}, 4, 2, 3),
       {},
       "lstm: c0 has shape [3, 3] where [1, 3, 3] is needed"},
      {"lstm",
       with_weights({real({2, 3, 2}), absent(), absent()}, 4, 2, 3),
       {true, 1, 1.5},
       "lstm: dropout must lie in [0, 1] (got 1.5)"},
      {"gru",
       with_weights({real({2, 3, 2}), absent()}, 4, 2, 3),
       {},
       "gru: weight_hh must have 3 times as many rows as columns (got shape [12, 3])"},
      {"gru",
       {real({2, 3, 2}), absent(), real({6, 2}), real({6, 2}), real({6}), real({5})},
       {},
       "gru: bias_hh has shape [5] where [6] is needed"},
      {"rnn_tanh",
       {index({2, 3, 2}, 0, 3), absent(), real({2, 2}), real({2, 2}), real({2}), real({2})},
       {},
       "rnn_tanh: a floating type is needed (got i64)"},
      {"rnn_tanh",
       with_weights({real({0, 3, 2}), absent()}, 1, 2, 3),
       {},
       "a sequence of at least 1 step is needed"},
      {"rnn_relu",
       {real({2, 3, 2}), absent(), real({2, 2}), real({2}), real({2}), real({2})},
       {},
       "rnn_relu: weight_hh must be a matrix (got shape [2])"},
      {"lstm_cell",
       with_weights({real({2, 3, 1}), absent(), absent()}, 4, 1, 2),
       {},
       "lstm_cell: input must be [N, I] or [I] (got shape [2, 3, 1])"},
      {"gru_cell",
       with_weights({real({2, 3}), real({4})}, 3, 3, 4),
       {},
       "gru_cell: hx has shape [4] beside an input of shape [2, 3]"},
  };
}

}  // namespace

extern const SampleFamily kRnn{rnn_samples, bad_rnn_samples};

}  // namespace lunagrad::tests
