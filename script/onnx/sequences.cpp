// Sequence layers: recurrent layers (whose gates have another order in ONNX), attention, rotary embeddings.
#include <limits>

#include "runtime/ops.h"
#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

// --- RNN, LSTM, GRU ---

enum { kInput, kH0, kC0, kWeightIh, kWeightHh, kBiasIh, kBiasHh };
enum { kReverse, kBatchFirst };

struct Cell {
  const char* type;
  const char* layout;          // suffix of the names of reordered parameters
  std::vector<int64_t> gates;  // for each gate in ONNX's order: its index in PyTorch's order
  std::vector<Attribute> attributes;
};

// A weight or bias with the rows of its gates in ONNX's order.
Tensor reordered(const Tensor& x, const Cell& cell) {
  TensorList parts;
  const int64_t rows = x.size(0) / int64_t(cell.gates.size());
  for (const int64_t gate : cell.gates) parts.push_back(narrow(x, 0, gate * rows, rows));
  return cat(parts, 0);
}

bool all_zero(const Tensor& x) { return x.defined() && x.numel() > 0 && amax(abs(x)).item() == 0; }

// The weights and biases become initializers in ONNX's layout [directions, rows, columns]. When one of them
// is computed by the graph, the layer is written through its compose().
void write_recurrent(const Site& site, const Cell& cell) {
  const Call& call = site.call;
  for (const int i : {kWeightIh, kWeightHh, kBiasIh, kBiasHh})
    if (call.has(i) && !site.known(i).defined()) return site.compose();
  const NoGrad off;
  const bool batch_first = call.flag(kBatchFirst), lstm = call.has(kC0);
  const auto weight = [&](int i) {
    return site.graph().tensor(unsqueeze(reordered(site.known(i), cell), 0),
                               site.known_name(i) + ":" + cell.layout);
  };
  const auto state = [&](int i) {
    return all_zero(site.known(i)) ? std::string() : site.unsqueeze(site.in(i), {0});
  };
  const List swapped{1, 0, 2};
  std::string x = site.in(kInput), bias;
  if (batch_first) x = site.add("Transpose", {x}, {{"perm", swapped}});
  if (call.has(kBiasIh)) {
    const Tensor both = cat({reordered(site.known(kBiasIh), cell), reordered(site.known(kBiasHh), cell)}, 0);
    bias = site.graph().tensor(unsqueeze(both, 0), site.known_name(kBiasIh) + "+hh:" + cell.layout);
  }
  Names operands{x, weight(kWeightIh), weight(kWeightHh), bias, "", state(kH0)};
  if (lstm) operands.push_back(state(kC0));
  std::vector<Attribute> attributes = cell.attributes;
  attributes.push_back({"hidden_size", site.shape(kWeightHh)[1]});
  attributes.push_back({"direction", call.flag(kReverse) ? "reverse" : "forward"});

  const Names y = site.graph().add(cell.type, operands, attributes, lstm ? 3 : 2);
  const std::string all = site.squeeze(y[0], {1});
  site.give(0, batch_first ? site.add("Transpose", {all}, {{"perm", swapped}}) : all);
  for (int i = 1; i < (lstm ? 3 : 2); ++i) site.give(i, site.squeeze(y[size_t(i)], {0}));
}

void write_lstm(const Site& site) { write_recurrent(site, {"LSTM", "iofc", {0, 3, 1, 2}, {}}); }
void write_gru(const Site& site) {
  write_recurrent(site, {"GRU", "zrh", {1, 0, 2}, {{"linear_before_reset", int64_t(1)}}});
}
void write_rnn_tanh(const Site& site) { write_recurrent(site, {"RNN", "onnx", {0}, {}}); }
void write_rnn_relu(const Site& site) {
  write_recurrent(site, {"RNN", "onnx", {0}, {{"activations", std::vector<std::string>{"Relu"}}}});
}

// --- attention ---

// Whether each row of a constant mask leaves a key visible. A row with no visible key gives NaN in ONNX's
// softmax, but 0 in the engine. False for a mask together with `causal`, because the combination is not
// checked.
bool leaves_all_rows(const Tensor& mask, bool causal) {
  if (!mask.defined()) return true;
  if (causal) return false;
  const Tensor seen = mask.dtype() == DType::boolean
                          ? mask
                          : gt(mask, Tensor::number(-std::numeric_limits<double>::infinity()));
  return all(any(seen, {-1})).item() != 0;
}

void write_attention(const Site& site) {
  enum { kQuery, kKey, kValue, kMask };
  enum { kCausal, kScale, kSoftcap, kInnerHeads };
  constexpr int kDropout = 2;
  const Call& call = site.call;
  const NoGrad off;
  if (call.args[kDropout].f > 0) site.refuse("dropout_p draws random numbers; give 0 in evaluation");
  const Tensor mask = call.has(kMask) ? site.known(kMask) : Tensor();
  if (call.has(kMask) && !(mask.defined() && leaves_all_rows(mask, call.flag(kCausal))))
    return site.compose();

  const Shape& q = site.shape(kQuery);
  const Shape& k = site.shape(kKey);
  const DType type = call.input(kQuery).dtype();
  List swapped;
  for (int d = 0; d < k.size(); ++d) swapped.push_back(d);
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  const std::string keys = site.add("Transpose", {site.in(kKey)}, {{"perm", swapped}});
  const std::string scaled = site.add("Mul", {site.in(kQuery), site.number(site.real(kScale))});
  std::string scores = site.add("MatMul", {scaled, keys});
  if (const double cap = site.real(kSoftcap); cap > 0) {
    scores = site.add("Tanh", {site.add("Mul", {scores, site.number(1 / cap)})});
    scores = site.add("Mul", {scores, site.number(cap)});
  }
  const std::string low = site.number(-std::numeric_limits<double>::infinity());
  if (mask.defined())
    scores = mask.dtype() == DType::boolean ? site.add("Where", {site.in(kMask), scores, low})
                                            : site.add("Add", {scores, site.in(kMask, type)});
  if (call.flag(kCausal)) {
    const int64_t queries = q[q.size() - 2], count = k[k.size() - 2];
    const Tensor seen = gt(tril(ones({queries, count})), Tensor::number(0.0));
    scores = site.add("Where", {site.graph().tensor(seen, "causal"), scores, low});
  }
  const std::string weights = site.add("Softmax", {scores}, {{"axis", int64_t(-1)}});
  std::string y = site.add("MatMul", {weights, site.in(kValue)});
  if (call.flag(kInnerHeads)) {  // the result has its heads dim after its queries dim
    List order;
    for (int d = 0; d < q.size(); ++d) order.push_back(d);
    std::swap(order[order.size() - 2], order[order.size() - 3]);
    y = site.add("Transpose", {y}, {{"perm", order}});
  }
  site.give(0, y);
}

// --- rotary embeddings: (a, b) becomes (a cos - b sin, b cos + a sin) ---

void write_rope(const Site& site) {
  const int64_t last = site.shape().size() - 1, features = site.shape()[int(last)], n = site.shape(1)[1];
  const bool interleaved = site.call.flag(0);
  const std::string x = site.in(0), cos = site.in(1), sin = site.in(2);
  const std::string a = interleaved ? site.slice(x, last, 0, 2 * n, 2) : site.slice(x, last, 0, n);
  const std::string b = interleaved ? site.slice(x, last, 1, 2 * n, 2) : site.slice(x, last, n, 2 * n);
  std::string first = site.add("Sub", {site.add("Mul", {a, cos}), site.add("Mul", {b, sin})});
  std::string second = site.add("Add", {site.add("Mul", {b, cos}), site.add("Mul", {a, sin})});
  Names parts{first, second};
  if (interleaved) {  // stacked in a new dim, which is then merged with the previous one
    const Attribute axis{"axis", last + 1};
    const std::string pairs =
        site.add("Concat", {site.unsqueeze(first, {last + 1}), site.unsqueeze(second, {last + 1})}, {axis});
    List sizes = list_of(site.shape());
    sizes.back() = 2 * n;
    parts = {site.add("Reshape", {pairs, site.graph().sizes(sizes)})};
  }
  if (2 * n < features) parts.push_back(site.slice(x, last, 2 * n, features));
  site.give(0, parts.size() == 1 ? parts[0] : site.add("Concat", parts, {{"axis", last}}));
}

}  // namespace

std::span<const Rule> sequence_rules() {
  static constexpr Rule rules[] = {{"_lstm_layer", write_lstm},         {"_gru_layer", write_gru},
                                   {"_rnn_tanh_layer", write_rnn_tanh}, {"_rnn_relu_layer", write_rnn_relu},
                                   {"_attention", write_attention},     {"rope", write_rope}};
  return rules;
}

}  // namespace lunagrad::onnx_export
