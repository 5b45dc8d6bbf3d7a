// The records of rnn_layer.h. Forward: one product for the inputs of all steps, then a product and the gates
// for each step. Backward: the same in reverse order, and one product over all steps for the gradient of each
// weight.
#include "runtime/ops/nn/rnn_layer.h"

#include <algorithm>
#include <array>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/products/cpu/blas.h"

namespace lunagrad {
namespace recurrent {
namespace {

constexpr int64_t gates_of(Cell cell) { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }

struct Layer : Sizes {
  using Sizes::Sizes;

  // Sequences are independent: each block of them goes through all steps on one thread. The block size
  // depends only on the batch, so the results do not depend on the number of threads.
  int64_t block() const {
    return std::max(
        {int64_t(8), std::min<int64_t>(16, (batch + 1) / 2), std::min<int64_t>(64, (batch + 7) / 8)});
  }
  template <class F>
  void for_blocks(F&& f) const {
    const int64_t size = block();
    parallel_for((batch + size - 1) / size, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i * size, std::min(batch, (i + 1) * size));
    });
  }
};

template <Cell cell>
void layer_shape(Call& call) {
  const Tensor& x = call.input(kInput);
  require_floating(call);
  const Tensor& weight_hh = call.input(kWeightHh);
  if (weight_hh.ndim() != 2 || weight_hh.size(0) != gates_of(cell) * weight_hh.size(1))
    fail(name_of(cell), ": weight_hh must have ", gates_of(cell),
         " times as many rows as columns (got shape ", weight_hh.shape(), ")");
  const Layer layer(x, weight_hh, call.flag(kReverse), call.flag(kBatchFirst));
  if (layer.hidden == 0) fail(name_of(cell), ": at least 1 hidden unit is needed");
  if (layer.steps == 0) fail(name_of(cell), ": a sequence of at least 1 step is needed");
  const Shape weight_ih{layer.gates, layer.inputs};
  if (call.input(kWeightIh).shape() != weight_ih)
    fail(name_of(cell), ": weight_ih has shape ", call.input(kWeightIh).shape(), " where ", weight_ih,
         " is needed for an input of shape ", x.shape());
  need_shape(cell, "h0", call.input(kH0), {layer.batch, layer.hidden});
  if (call.has(kC0)) need_shape(cell, "c0", call.input(kC0), {layer.batch, layer.hidden});
  if (call.has(kBiasIh)) need_shape(cell, "bias_ih", call.input(kBiasIh), {layer.gates});
  if (call.has(kBiasHh)) need_shape(cell, "bias_hh", call.input(kBiasHh), {layer.gates});

  call.emit(layer.features(layer.hidden), x.dtype());
  call.emit(Shape{layer.batch, layer.hidden}, x.dtype());
  if (cell == Cell::lstm) {
    call.emit(Shape{layer.batch, layer.hidden}, x.dtype());
    call.emit(layer.features(layer.hidden), x.dtype());
  }
  if (cell == Cell::lstm || cell == Cell::gru) call.emit(layer.features(4 * layer.hidden), x.dtype());
}

// The biases, with which the product of the inputs begins. The hidden bias of a GRU is added inside its reset
// gate instead.
template <class T>
std::vector<T> input_bias(Cell cell, const Call& call) {
  std::vector<T> bias;
  const auto add = [&](const Tensor& given) {
    const Tensor dense = in_order(given);
    bias.resize(size_t(dense.numel()));
    for (size_t i = 0; i < bias.size(); ++i) bias[i] += dense.data<T>()[i];
  };
  if (call.has(kBiasIh)) add(call.input(kBiasIh));
  if (call.has(kBiasHh) && cell != Cell::gru) add(call.input(kBiasHh));
  return bias;
}

template <Cell cell, class T>
void run_layer(const Call& call) {
  const Tensor x = in_order(call.input(kInput)), weight_ih = in_order(call.input(kWeightIh));
  const Tensor weight_hh = in_order(call.input(kWeightHh)), h0 = in_order(call.input(kH0));
  const Layer layer(x, weight_hh, call.flag(kReverse), call.flag(kBatchFirst));
  const int64_t n = layer.hidden, gates = layer.gates;
  const std::vector<T> bias = input_bias<T>(cell, call);
  const Tensor hidden_bias =
      cell == Cell::gru && call.has(kBiasHh) ? in_order(call.input(kBiasHh)) : Tensor();

  // The product for all steps. An LSTM overwrites it with its gates.
  const Tensor product =
      cell == Cell::lstm ? call.output(kLstmGates) : Tensor::empty({layer.rows(), gates}, x.dtype());
  T* const input = product.data<T>();
  blas::multiply<T>({.m = layer.rows(),
                     .n = gates,
                     .k = layer.inputs,
                     .a = {x.data<T>(), layer.inputs},
                     .b = {weight_ih.data<T>(), layer.inputs, true},
                     .c = input,
                     .bias = bias.empty() ? nullptr : bias.data()});

  T* const out = call.output(kOut).data<T>();
  const Tensor c0 = cell == Cell::lstm ? in_order(call.input(kC0)) : Tensor();
  T* const cells = cell == Cell::lstm ? call.output(kCells).data<T>() : nullptr;
  T* const saved = cell == Cell::gru ? call.output(kGruGates).data<T>() : nullptr;
  const int64_t ld = n * layer.row_step();

  layer.for_blocks([&](int64_t begin, int64_t end) {
    std::vector<T> products(size_t((end - begin) * gates));
    for (int64_t k = 0; k < layer.steps; ++k) {
      context().check_stop();
      const int64_t now = layer.step(k), before = k ? layer.step(k - 1) : 0;
      const T* const h = k ? out + layer.row(before, begin) * n : h0.data<T>() + begin * n;
      const T* const c = cell != Cell::lstm ? nullptr
                         : k                ? cells + layer.row(before, begin) * n
                                            : c0.data<T>() + begin * n;
      const int64_t step = k ? ld : n;
      if (hidden_bias.defined())
        for (int64_t i = 0; i < end - begin; ++i)
          std::copy_n(hidden_bias.data<T>(), gates, products.data() + i * gates);
      blas::gemm<T>(end - begin, gates, n, {h, step}, {weight_hh.data<T>(), n, true},
                    T(hidden_bias.defined()), products.data(), gates);
      for (int64_t i = 0; i < end - begin; ++i) {
        const int64_t row = layer.row(now, begin + i);
        const T* const hidden = products.data() + i * gates;
        if constexpr (cell == Cell::lstm)
          lstm_row(n, input + row * gates, hidden, c + i * step, cells + row * n, out + row * n);
        else if constexpr (cell == Cell::gru)
          gru_row(n, input + row * gates, hidden, h + i * step, saved + row * 4 * n, out + row * n);
        else
          rnn_row(cell == Cell::relu, n, input + row * gates, hidden, out + row * n);
      }
    }
    const int64_t last = layer.step(layer.steps - 1);
    for (int64_t item = begin; item < end; ++item) {
      std::copy_n(out + layer.row(last, item) * n, n, call.output(kLastH).data<T>() + item * n);
      if (cell == Cell::lstm)
        std::copy_n(cells + layer.row(last, item) * n, n, call.output(kLastC).data<T>() + item * n);
    }
  });
}
template <Cell cell>
void layer_cpu(const Call& call) {
  call.input(0).dtype() == DType::f64 ? run_layer<cell, double>(call) : run_layer<cell, float>(call);
}

// --- its gradient ---

void layer_grad_shape(Call& call) {
  const Tensor& x = call.input(kX);
  const Shape none{0}, bias{call.input(kWi).size(0)};
  const auto emit = [&](int output, const Shape& shape) {
    call.emit(call.flag(kWanted + output) ? shape : none, x.dtype());
  };
  emit(kDx, x.shape());
  emit(kDh0, call.input(kStartH).shape());
  emit(kDc0, call.input(kStartH).shape());
  emit(kDwi, call.input(kWi).shape());
  emit(kDwh, call.input(kWh).shape());
  emit(kDbi, bias);
  emit(kDbh, bias);
}

template <class T>
const T* rows_from(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

// The gradients of the gates, from the last step to the first, and of h0 and c0. If `before` is given, the
// state before each step is written there, in the same row order.
template <Cell cell, class T>
struct BackThroughTime {
  const Layer& layer;
  const T *out, *cells, *gates, *h0, *c0, *weight_hh, *dout, *dlast_h, *dlast_c;
  T *dinput, *dhidden;  // equal, except for a GRU
  T *dh0, *dc0, *before;

  void run(int64_t begin, int64_t end) const {
    const int64_t n = layer.hidden, count = end - begin;
    std::vector<T> dh(size_t(count * n)), dc(cell == Cell::lstm ? dh.size() : 0);
    if (dlast_h) std::copy_n(dlast_h + begin * n, count * n, dh.data());
    if (cell == Cell::lstm && dlast_c) std::copy_n(dlast_c + begin * n, count * n, dc.data());
    for (int64_t k = layer.steps - 1; k >= 0; --k) {
      context().check_stop();
      const int64_t now = layer.step(k);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = layer.row(now, begin + i);
        const int64_t earlier = k ? layer.row(layer.step(k - 1), begin + i) : 0;
        const T* const h_before = k ? out + earlier * n : h0 + (begin + i) * n;
        const T* const dy = dout ? dout + row * n : nullptr;
        T* const here = dinput + row * layer.gates;
        if constexpr (cell == Cell::lstm)
          lstm_grad_row(n, gates + row * 4 * n, k ? cells + earlier * n : c0 + (begin + i) * n,
                        cells + row * n, dh.data() + i * n, dy, dc.data() + i * n, here);
        else if constexpr (cell == Cell::gru)
          gru_grad_row(n, gates + row * 4 * n, h_before, dh.data() + i * n, dy, here,
                       dhidden + row * layer.gates);
        else
          rnn_grad_row(cell == Cell::relu, n, out + row * n, dh.data() + i * n, dy, here);
        if (before) std::copy_n(h_before, n, before + row * n);
      }
      blas::gemm<T>(count, n, layer.gates,
                    {dhidden + layer.row(now, begin) * layer.gates, layer.gates * layer.row_step()},
                    {weight_hh, n}, T(cell == Cell::gru), dh.data(), n);
    }
    if (dh0) std::copy_n(dh.data(), count * n, dh0 + begin * n);
    if (cell == Cell::lstm && dc0) std::copy_n(dc.data(), count * n, dc0 + begin * n);
  }
};

// The sum of the rows, on all threads.
template <class T>
void sum_rows(const Tensor& x, T* to) {
  const std::vector<T> ones(size_t(x.size(0)), T(1));
  blas::multiply<T>({.m = 1,
                     .n = x.size(1),
                     .k = x.size(0),
                     .a = {ones.data(), std::max<int64_t>(1, x.size(0))},
                     .b = {x.data<T>(), x.size(1)},
                     .c = to});
}

template <Cell cell, class T>
void run_layer_grad(const Call& call) {
  Operands in = call.in;
  for (Tensor& x : in)
    if (x.defined()) x = in_order(x);
  const Layer layer(in[kX], in[kWh], call.flag(kReverse), call.flag(kBatchFirst));
  const int64_t n = layer.hidden, gates = layer.gates;
  const auto wanted = [&](int output) {
    return call.flag(kWanted + output) ? call.output(output).data<T>() : nullptr;
  };
  const Tensor dinput = Tensor::empty({layer.rows(), gates}, in[kX].dtype());
  const Tensor dhidden = cell == Cell::gru ? Tensor::empty({layer.rows(), gates}, in[kX].dtype()) : dinput;
  const Tensor before = Tensor::empty({wanted(kDwh) ? layer.rows() : 0, n}, in[kX].dtype());

  const BackThroughTime<cell, T> back{.layer = layer,
                                      .out = in[kStates].data<T>(),
                                      .cells = rows_from<T>(in[kSavedCells]),
                                      .gates = rows_from<T>(in[kSaved]),
                                      .h0 = in[kStartH].data<T>(),
                                      .c0 = rows_from<T>(in[kStartC]),
                                      .weight_hh = in[kWh].data<T>(),
                                      .dout = rows_from<T>(in[kDout]),
                                      .dlast_h = rows_from<T>(in[kDlastH]),
                                      .dlast_c = rows_from<T>(in[kDlastC]),
                                      .dinput = dinput.data<T>(),
                                      .dhidden = dhidden.data<T>(),
                                      .dh0 = wanted(kDh0),
                                      .dc0 = wanted(kDc0),
                                      .before = wanted(kDwh) ? before.data<T>() : nullptr};
  layer.for_blocks([&](int64_t begin, int64_t end) { back.run(begin, end); });

  if (T* const dx = wanted(kDx))
    blas::multiply<T>({.m = layer.rows(),
                       .n = layer.inputs,
                       .k = gates,
                       .a = {dinput.data<T>(), gates},
                       .b = {in[kWi].data<T>(), layer.inputs},
                       .c = dx});
  if (T* const dw = wanted(kDwi))
    blas::multiply<T>({.m = gates,
                       .n = layer.inputs,
                       .k = layer.rows(),
                       .a = {dinput.data<T>(), gates, true},
                       .b = {in[kX].data<T>(), layer.inputs},
                       .c = dw});
  if (T* const dw = wanted(kDwh))
    blas::multiply<T>({.m = gates,
                       .n = n,
                       .k = layer.rows(),
                       .a = {dhidden.data<T>(), gates, true},
                       .b = {before.data<T>(), n},
                       .c = dw});
  if (T* const db = wanted(kDbi)) sum_rows(dinput, db);
  if (T* const db = wanted(kDbh)) sum_rows(dhidden, db);
}
template <Cell cell>
void layer_grad_cpu(const Call& call) {
  call.input(kX).dtype() == DType::f64 ? run_layer_grad<cell, double>(call)
                                       : run_layer_grad<cell, float>(call);
}

// The operations of the products with a weight [gates hidden, columns], one for each step of each sequence.
// The elementwise operations of the gates are not counted.
double weight_products(const Tensor& x, const Tensor& weight, double columns) {
  return 2 * elements(x) / std::max(1.0, double(x.size(-1))) * double(weight.size(0)) * columns;
}
double layer_flops(const Call& call) {
  const Tensor &x = call.input(kInput), &weight = call.input(kWeightHh);
  return weight_products(x, weight, double(x.size(-1) + weight.size(1)));
}
// The gradient goes back through each product of the forward pass twice: to its state or input, and to its
// weight.
double layer_grad_flops(const Call& call) {
  const Tensor &x = call.input(kX), &weight = call.input(kWh);
  const auto wanted = [&](int gradient) { return int(call.flag(kWanted + gradient)); };
  const int for_input = wanted(kDx) + wanted(kDwi);
  const int for_state = 1 + wanted(kDwh);
  return weight_products(x, weight, double(for_input * x.size(-1) + for_state * weight.size(1)));
}

template <Cell cell>
Op layer_grad_op(const char* name) {
  return {.name = name,
          .doc = "The gradients of a recurrent layer from its results' gradients.",
          .inputs = {{"grad_out", true},
                     {"grad_h", true},
                     {"grad_c", true},
                     {"input"},
                     {"h0"},
                     {"c0", true},
                     {"weight_ih"},
                     {"weight_hh"},
                     {"out"},
                     {"gates", true},
                     {"cells", true}},
          .params = {{"reverse", ParamKind::boolean, false},
                     {"batch_first", ParamKind::boolean, false},
                     {"input_wanted", ParamKind::boolean, true},
                     {"h0_wanted", ParamKind::boolean, true},
                     {"c0_wanted", ParamKind::boolean, true},
                     {"weight_ih_wanted", ParamKind::boolean, true},
                     {"weight_hh_wanted", ParamKind::boolean, true},
                     {"bias_ih_wanted", ParamKind::boolean, true},
                     {"bias_hh_wanted", ParamKind::boolean, true}},
          .shape = layer_grad_shape,
          .cpu = layer_grad_cpu<cell>,
          .half_through_f32 = true,
          .family = OpFamily::linear_algebra,
          .flops = {layer_grad_flops,
                    "2 x steps x batch x gates x hidden x (input + hidden) for the states and again for the "
                    "weights; parts without a wanted gradient are not counted"}};
}
const Op kRnnTanhGrad = layer_grad_op<Cell::tanh>("_rnn_tanh_layer_grad");
const Op kRnnReluGrad = layer_grad_op<Cell::relu>("_rnn_relu_layer_grad");
const Op kLstmGrad = layer_grad_op<Cell::lstm>("_lstm_layer_grad");
const Op kGruGrad = layer_grad_op<Cell::gru>("_gru_layer_grad");
constexpr const Op* kGradients[] = {&kRnnTanhGrad, &kRnnReluGrad, &kLstmGrad, &kGruGrad};

template <Cell cell>
void layer_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  constexpr bool lstm = cell == Cell::lstm, gru = cell == Cell::gru;
  const auto arrived = [&](int output) { return b.has_grad(output) ? b.grad(output) : Tensor(); };
  const bool one_bias = !gru && (b.needs(kBiasIh) || b.needs(kBiasHh));
  const Operands gradients =
      apply(*kGradients[int(cell)],
            {arrived(kOut), arrived(kLastH), lstm ? arrived(kLastC) : Tensor(), b.input(kInput), b.input(kH0),
             b.input(kC0), b.input(kWeightIh), b.input(kWeightHh), b.output(kOut),
             lstm  ? b.output(kLstmGates)
             : gru ? b.output(kGruGates)
                   : Tensor(),
             lstm ? b.output(kCells) : Tensor()},
            {b.flag(kReverse), b.flag(kBatchFirst), b.needs(kInput), b.needs(kH0), lstm && b.needs(kC0),
             b.needs(kWeightIh), b.needs(kWeightHh), one_bias || b.needs(kBiasIh), gru && b.needs(kBiasHh)});
  for (int i = 0; i < b.inputs(); ++i)
    if (b.needs(i)) b.set(i, gradients[size_t(i == kBiasHh && !gru ? kBiasIh : i)]);
}

// --- the layer in simpler ops ---

Tensor gate(const Tensor& products, int64_t index, int64_t n) { return narrow(products, -1, index * n, n); }

template <Cell cell>
Operands layer_compose(const Call& call) {
  const Tensor& x = call.input(kInput);
  const int time = call.flag(kBatchFirst);
  const int64_t steps = x.size(time), n = call.input(kWeightHh).size(1);
  const Tensor bias_ih = call.has(kBiasIh) ? call.input(kBiasIh) : Tensor();
  const Tensor bias_hh = call.has(kBiasHh) ? call.input(kBiasHh) : Tensor();
  const Tensor inputs = linear(x, call.input(kWeightIh), bias_ih);
  Tensor h = call.input(kH0), c = cell == Cell::lstm ? call.input(kC0) : Tensor();
  TensorList states, cells, gates;
  for (TensorList* list : {&states, &cells, &gates}) list->resize(size_t(steps));
  for (int64_t k = 0; k < steps; ++k) {
    const size_t t = size_t(call.flag(kReverse) ? steps - 1 - k : k);
    const Tensor a = select(inputs, time, int64_t(t)), b = linear(h, call.input(kWeightHh), bias_hh);
    if constexpr (cell == Cell::lstm) {
      const Tensor sums = a + b;
      const Tensor i = sigmoid(gate(sums, 0, n)), f = sigmoid(gate(sums, 1, n)), g = tanh(gate(sums, 2, n)),
                   o = sigmoid(gate(sums, 3, n));
      c = f * c + i * g;
      h = o * tanh(c);
      cells[t] = c;
      gates[t] = cat({i, f, g, o}, -1);
    } else if constexpr (cell == Cell::gru) {
      const Tensor r = sigmoid(gate(a, 0, n) + gate(b, 0, n)), z = sigmoid(gate(a, 1, n) + gate(b, 1, n)),
                   q = gate(b, 2, n), candidate = tanh(gate(a, 2, n) + r * q);
      h = candidate + z * (h - candidate);
      gates[t] = cat({r, z, candidate, q}, -1);
    } else {
      h = cell == Cell::relu ? relu(a + b) : tanh(a + b);
    }
    states[t] = h;
  }
  Operands results{stack(states, time), h};
  if (cell == Cell::lstm) {
    results.push_back(c);
    results.push_back(stack(cells, time));
  }
  if (cell == Cell::lstm || cell == Cell::gru) results.push_back(stack(gates, time));
  return results;
}

template <Cell cell>
Op layer_op(const char* name) {
  const uint16_t saved = cell == Cell::lstm  ? 1 << kOut | 1 << kCells | 1 << kLstmGates
                         : cell == Cell::gru ? 1 << kOut | 1 << kGruGates
                                             : 1 << kOut;
  return {.name = name,
          .doc = "One direction of one recurrent layer over a whole sequence.",
          .inputs = {{"input"},
                     {"h0"},
                     {"c0", true},
                     {"weight_ih"},
                     {"weight_hh"},
                     {"bias_ih", true},
                     {"bias_hh", true}},
          .params = {{"reverse", ParamKind::boolean, false}, {"batch_first", ParamKind::boolean, false}},
          .shape = layer_shape<cell>,
          .cpu = layer_cpu<cell>,
          .vjp = layer_vjp<cell>,
          .reads = {{.inputs = 0x7f, .outputs = saved}},
          .compose = layer_compose<cell>,
          .half_through_f32 = true,
          .family = OpFamily::linear_algebra,
          .flops = {layer_flops, "2 x steps x batch x gates x hidden x (input + hidden)"}};
}
const Op kRnnTanhLayer = layer_op<Cell::tanh>("_rnn_tanh_layer");
const Op kRnnReluLayer = layer_op<Cell::relu>("_rnn_relu_layer");
const Op kLstmLayer = layer_op<Cell::lstm>("_lstm_layer");
const Op kGruLayer = layer_op<Cell::gru>("_gru_layer");
constexpr const Op* kLayers[] = {&kRnnTanhLayer, &kRnnReluLayer, &kLstmLayer, &kGruLayer};

}  // namespace
}  // namespace recurrent

const Op& recurrent_layer(Cell cell) { return *recurrent::kLayers[int(cell)]; }
const Op& recurrent_layer_grad(Cell cell) { return *recurrent::kGradients[int(cell)]; }

std::span<const Op* const> rnn_layer_ops() {
  static const Op* const ops[] = {
      &recurrent::kRnnTanhLayer, &recurrent::kRnnReluLayer, &recurrent::kLstmLayer, &recurrent::kGruLayer,
      &recurrent::kRnnTanhGrad,  &recurrent::kRnnReluGrad,  &recurrent::kLstmGrad,  &recurrent::kGruGrad};
  return ops;
}

}  // namespace lunagrad
