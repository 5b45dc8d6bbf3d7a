// Recurrent networks as compositions of layers and directions, and single steps. The kernels belong to the
// records of rnn_layer.h.
#include "runtime/ops/families.h"
#include "runtime/ops/nn/rnn_layer.h"

namespace lunagrad {
namespace {

// Parameters of the ops.
enum { kHasBiases, kNumLayers, kNetworkDropout, kNetworkTrain, kBidirectional, kBatchIsFirst };

// The checked operands of the whole network; an unbatched input gets a batch of one.
struct Network {
  Cell cell;
  int64_t layers, directions, weights;  // weights: the number of weight tensors of one direction
  bool batch_first, unbatched;
  size_t first;  // index of the first weight among the operands
  Tensor x, h0, c0;

  Network(Cell which, const Call& call)
      : cell(which),
        layers(call.integer(kNumLayers)),
        directions(call.flag(kBidirectional) ? 2 : 1),
        weights(call.flag(kHasBiases) ? 4 : 2),
        batch_first(call.flag(kBatchIsFirst)),
        unbatched(call.input(0).ndim() == 2),
        first(which == Cell::lstm ? 3 : 2),
        x(call.input(0)) {
    const char* const name = name_of(cell);
    if (layers < 1) fail(name, ": num_layers must be at least 1 (got ", layers, ")");
    int64_t wanted = 0;
    if (__builtin_mul_overflow(layers, int64_t(directions) * weights, &wanted)) wanted = INT64_MAX;
    if (int64_t(call.in.size() - first) != wanted)
      fail(name, ": ", layers, " layers in ", directions, " directions need ", wanted, " weights (got ",
           call.in.size() - first, ")");
    if (x.ndim() != 2 && x.ndim() != 3)
      fail(name, ": input must be [T, N, I], [N, T, I] with batch_first, or [T, I] (got shape ", x.shape(),
           ")");
    if (!is_floating(x.dtype())) fail(name, ": a floating type is needed (got ", x.dtype(), ")");
    if (call.in[first + 1].ndim() != 2)
      fail(name, ": weight_hh must be a matrix (got shape ", call.in[first + 1].shape(), ")");
    if (unbatched) {
      batch_first = false;
      x = unsqueeze(x, 1);
    }
    h0 = start(call, 1, "h0");
    if (cell == Cell::lstm) c0 = start(call, 2, "c0");
  }

  // The given initial state of all layers [L, N, H], or zeros.
  Tensor start(const Call& call, int operand, const char* what) const {
    const int64_t hidden = call.in[first + 1].size(1);
    const Shape shape{layers * directions, x.size(!batch_first), hidden};
    if (!call.has(operand)) return zeros(shape, x.dtype(), x.device());
    const Tensor& given = call.input(operand);
    need_shape(cell, what, given, unbatched ? Shape{shape[0], hidden} : shape);
    return unbatched ? unsqueeze(given, 1) : given;
  }
};

Tensor stacked(const TensorList& list, bool unbatched) {
  const Tensor all = list.size() == 1 ? unsqueeze(list[0], 0) : stack(list, 0);
  return unbatched ? squeeze(all, 1) : all;
}

template <Cell cell>
Operands compose_network(const Call& call) {
  const Network net(cell, call);
  const double p = call.real(kNetworkDropout);
  if (!(p >= 0 && p <= 1)) fail(name_of(cell), ": dropout must lie in [0, 1] (got ", p, ")");
  Tensor x = net.x;
  TensorList last_h, last_c;
  for (int64_t i = 0; i < net.layers * net.directions; i += net.directions) {
    TensorList outs;
    for (int64_t direction = 0; direction < net.directions; ++direction) {
      const int64_t index = i + direction;
      const Tensor* const weights = &call.in[net.first + size_t(index * net.weights)];
      const bool biased = net.weights == 4;
      const Operands results =
          apply(recurrent_layer(cell),
                {x, select(net.h0, 0, index), cell == Cell::lstm ? select(net.c0, 0, index) : Tensor(),
                 weights[0], weights[1], biased ? weights[2] : Tensor(), biased ? weights[3] : Tensor()},
                {direction == 1, net.batch_first});
      outs.push_back(results[kOut]);
      last_h.push_back(results[kLastH]);
      if (cell == Cell::lstm) last_c.push_back(results[kLastC]);
    }
    x = outs.size() == 1 ? outs[0] : cat(outs, -1);
    if (i + net.directions < net.layers * net.directions) x = dropout(x, p, call.flag(kNetworkTrain));
  }
  Operands results{net.unbatched ? squeeze(x, 1) : x, stacked(last_h, net.unbatched)};
  if (cell == Cell::lstm) results.push_back(stacked(last_c, net.unbatched));
  return results;
}

template <Cell cell>
Op network_op(const char* doc) {
  std::vector<InputSpec> inputs{{"input"}, {"h0", true}};
  if (cell == Cell::lstm) inputs.push_back({"c0", true});
  inputs.push_back({"params", false, true});
  return {.name = name_of(cell),
          .doc = doc,
          .inputs = inputs,
          .params = {{"has_biases", ParamKind::boolean, true},
                     {"num_layers", ParamKind::integer, 1},
                     {"dropout", ParamKind::real, 0.0},
                     {"train", ParamKind::boolean, false},
                     {"bidirectional", ParamKind::boolean, false},
                     {"batch_first", ParamKind::boolean, false}},
          .compose = compose_network<cell>,
          .family = OpFamily::linear_algebra,
          .autocast = AutocastPolicy::lower_precision};
}
const Op kRnnTanh = network_op<Cell::tanh>("Layers of h = tanh(W x + b + U h + d) over a sequence.");
const Op kRnnRelu = network_op<Cell::relu>("Layers of h = relu(W x + b + U h + d) over a sequence.");
const Op kLstm = network_op<Cell::lstm>("Layers of long short-term memory over a sequence.");
const Op kGru = network_op<Cell::gru>("Layers of gated recurrent units over a sequence.");
constexpr const Op* kNetworks[] = {&kRnnTanh, &kRnnRelu, &kLstm, &kGru};

// --- one step ---

// Runs the layer on a sequence of one step.
template <Cell cell>
Operands compose_cell(const Call& call) {
  constexpr bool lstm = cell == Cell::lstm;
  const Tensor& x = call.input(0);
  if (x.ndim() != 1 && x.ndim() != 2)
    fail(call.op->name, ": input must be [N, I] or [I] (got shape ", x.shape(), ")");
  const size_t first = lstm ? 3 : 2;
  const auto batched = [&](const Tensor& t) { return t.defined() && t.ndim() == 1 ? unsqueeze(t, 0) : t; };
  const Tensor input = batched(x);
  const auto start = [&](int i) {
    if (call.has(i) && call.input(i).ndim() == x.ndim()) return batched(call.input(i));
    if (call.has(i))
      fail(call.op->name, ": ", call.op->inputs[size_t(i)].name, " has shape ", call.input(i).shape(),
           " beside an input of shape ", x.shape());
    return zeros({input.size(0), call.in[first + 1].size(-1)}, x.dtype(), x.device());
  };
  if (call.in[first + 1].ndim() != 2)
    fail(call.op->name, ": weight_hh must be a matrix (got shape ", call.in[first + 1].shape(), ")");
  const auto bias = [&](size_t i) { return i < call.in.size() ? call.in[i] : Tensor(); };
  const Operands results = apply(recurrent_layer(cell),
                                 {unsqueeze(input, 0), start(1), lstm ? start(2) : Tensor(), call.in[first],
                                  call.in[first + 1], bias(first + 2), bias(first + 3)},
                                 {false, false});
  const auto restored = [&](const Tensor& t) { return x.ndim() == 1 ? squeeze(t, 0) : t; };
  if (lstm) return {restored(results[kLastH]), restored(results[kLastC])};
  return {restored(results[kLastH])};
}

template <Cell cell>
Op cell_op(const char* name, const char* doc) {
  std::vector<InputSpec> inputs{{"input"}, {"hx", true}};
  if (cell == Cell::lstm) inputs.push_back({"cx", true});
  for (const InputSpec& weight :
       {InputSpec{"w_ih"}, InputSpec{"w_hh"}, InputSpec{"b_ih", true}, InputSpec{"b_hh", true}})
    inputs.push_back(weight);
  return {.name = name,
          .doc = doc,
          .inputs = inputs,
          .compose = compose_cell<cell>,
          .family = OpFamily::linear_algebra,
          .autocast = AutocastPolicy::lower_precision};
}
const Op kRnnTanhCell = cell_op<Cell::tanh>("rnn_tanh_cell", "One step of rnn_tanh: the state after it.");
const Op kRnnReluCell = cell_op<Cell::relu>("rnn_relu_cell", "One step of rnn_relu: the state after it.");
const Op kLstmCell = cell_op<Cell::lstm>("lstm_cell", "One step of lstm: the state and the cell after it.");
const Op kGruCell = cell_op<Cell::gru>("gru_cell", "One step of gru: the state after it.");

Operands run_network(Cell cell, const Tensor& x, const Tensor& h0, const Tensor& c0, const TensorList& params,
                     const RecurrentOptions& o) {
  Operands in{x, h0};
  if (cell == Cell::lstm) in.push_back(c0);
  for (const Tensor& p : params) in.push_back(p);
  return apply(*kNetworks[int(cell)], in,
               {o.has_biases, o.num_layers, o.dropout, o.train, o.bidirectional, o.batch_first});
}

}  // namespace

Operands rnn_tanh(const Tensor& x, const Tensor& h0, const TensorList& params, const RecurrentOptions& o) {
  return run_network(Cell::tanh, x, h0, {}, params, o);
}
Operands rnn_relu(const Tensor& x, const Tensor& h0, const TensorList& params, const RecurrentOptions& o) {
  return run_network(Cell::relu, x, h0, {}, params, o);
}
Operands lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const TensorList& params,
              const RecurrentOptions& o) {
  return run_network(Cell::lstm, x, h0, c0, params, o);
}
Operands gru(const Tensor& x, const Tensor& h0, const TensorList& params, const RecurrentOptions& o) {
  return run_network(Cell::gru, x, h0, {}, params, o);
}

std::span<const Op* const> rnn_ops() {
  static const Op* const ops[] = {&kRnnTanh,     &kRnnRelu,     &kLstm,     &kGru,
                                  &kRnnTanhCell, &kRnnReluCell, &kLstmCell, &kGruCell};
  return ops;
}

}  // namespace lunagrad
