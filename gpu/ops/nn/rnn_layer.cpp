// Recurrent layers. Forward: one product for the inputs of all steps; then for each step a product with the
// previous states, and a kernel that adds the parts of that product and computes the gates. Backward: the
// same in reverse order, and one product over all steps for the gradient of each weight. 16-bit floats
// without matrix units are computed in f32.
#include "runtime/ops/nn/rnn_layer.h"

#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"
#include "gpu/ops/products/matmul.h"
#include "gpu/ops/products/product.h"
#include "gpu/ops/through_f32.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using recurrent::Sizes;
using shaders::RnnLayer, shaders::RnnLayerGrad;
static_assert(RnnLayer::kTanh == uint32_t(Cell::tanh) && RnnLayer::kRelu == uint32_t(Cell::relu) &&
              RnnLayer::kLstm == uint32_t(Cell::lstm) && RnnLayer::kGru == uint32_t(Cell::gru));

struct RnnLayerArguments {
  uint64_t from_inputs, from_states, bias_ih, bias_hh, states_before, cells_before;
  uint64_t states, cells, gates, last_state, last_cell;
  uint32_t parts, sequences, units, row, row_step, before, before_step;
};
static_assert(offsetof(RnnLayerArguments, parts) == 88);
struct RnnLayerGradArguments {
  uint64_t dout, dlast_state, dlast_cell, parts, direct, dcells;
  uint64_t states, states_before, cells, cells_before, gates;
  uint64_t dinput, dhidden, kept, dstart, dstart_cell;
  uint32_t part_count, last, sequences, units, row, row_step, before, before_step;
};
static_assert(offsetof(RnnLayerGradArguments, part_count) == 128);

bool of_one_type(const Call& call) {
  const DType type = call.out[0].dtype();
  if (type != DType::f32 && !is_16bit_float(type)) return false;
  return std::all_of(call.in.begin(), call.in.end(),
                     [&](const Tensor& x) { return !x.defined() || (x.dtype() == type && indexable(x)); });
}
bool supports_rnn_layer(const Call& call) {
  return of_one_type(call) && std::all_of(call.out.begin(), call.out.end(), indexable);
}

bool lacks_units(const Tensor& x, const PhysicalDevice& physical) {
  return is_16bit_float(x.dtype()) && !product_of(x, x, true, physical).on_units();
}

// The rows of one step of a contiguous tensor [rows, features], as a matrix [sequences, features].
Tensor rows_of(const Tensor& x, const Sizes& sizes, int64_t step) {
  const int64_t features = x.numel() / sizes.rows();
  return window(x, {sizes.batch, features}, {sizes.row_step() * features, 1}, sizes.row(step, 0) * features);
}

// Sets the row numbers of step k, and of the previous step in the results or in the initial states.
template <class A>
void set_rows(A& a, const Sizes& sizes, int64_t k) {
  a.sequences = uint32_t(sizes.batch);
  a.units = uint32_t(sizes.hidden);
  a.row = uint32_t(sizes.row(sizes.step(k), 0));
  a.row_step = uint32_t(sizes.row_step());
  a.before = k ? uint32_t(sizes.row(sizes.step(k - 1), 0)) : 0;
  a.before_step = k ? a.row_step : 1;
}

Groups groups_of(const Sizes& sizes, uint32_t threads, const Recorder& recorder) {
  return {group_count(uint64_t((sizes.batch * sizes.hidden + threads - 1) / threads), recorder)};
}

template <Cell cell>
void run_layer(const Call& call, Recorder& recorder) {
  using namespace recurrent;
  const NoGrad off;
  if (lacks_units(call.input(kWeightHh), recorder.physical))
    return run_in_f32(call, run_layer<cell>, recorder);
  constexpr bool lstm = cell == Cell::lstm, gru = cell == Cell::gru;
  const Tensor x = contiguous(call.input(kInput)), &weight_hh = call.input(kWeightHh);
  const Sizes sizes(x, weight_hh, call.flag(kReverse), call.flag(kBatchFirst));
  const auto dense = [&](int i) { return call.has(i) ? contiguous(call.input(i)) : Tensor(); };
  const Tensor h0 = dense(kH0), c0 = lstm ? dense(kC0) : Tensor(), bias_ih = dense(kBiasIh),
               bias_hh = dense(kBiasHh), &out = call.output(kOut);
  const Tensor from_inputs = Tensor::empty({sizes.rows(), sizes.gates}, DType::f32, x.device());
  multiply(reshape(x, {sizes.rows(), sizes.inputs}), call.input(kWeightIh), true, {}, from_inputs, recorder);
  for (int64_t k = 0; k < sizes.steps; ++k) {
    context().check_stop();
    const Tensor before = k ? rows_of(out, sizes, sizes.step(k - 1)) : h0;
    const Tensor from_states = multiply_in_parts(before, weight_hh, true, recorder);
    Launch launch(recorder);
    RnnLayerArguments a{};
    a.from_inputs = launch.reads(from_inputs);
    a.from_states = launch.reads(from_states);
    a.parts = uint32_t(from_states.size(0));
    if (bias_ih.defined()) {
      a.bias_ih = launch.reads(bias_ih);
      a.bias_hh = launch.reads(bias_hh);
    }
    set_rows(a, sizes, k);
    a.states = launch.writes(out);
    a.states_before = k ? launch.reads(out) : launch.reads(h0);
    if (lstm) {
      a.cells = launch.writes(call.output(kCells));
      a.cells_before = k ? launch.reads(call.output(kCells)) : launch.reads(c0);
      a.gates = launch.writes(call.output(kLstmGates));
    }
    if (gru) a.gates = launch.writes(call.output(kGruGates));
    if (k == sizes.steps - 1) {
      a.last_state = launch.writes(call.output(kLastH));
      if (lstm) a.last_cell = launch.writes(call.output(kLastC));
    }
    launch.run(RnnLayer{.cell = uint32_t(cell), .type = uint32_t(x.dtype()), .has_bias = bias_ih.defined()},
               groups_of(sizes, RnnLayer::kThreads, recorder), bytes_of(a));
  }
}

template <Cell cell>
void run_layer_grad(const Call& call, Recorder& recorder) {
  using namespace recurrent;
  const NoGrad off;
  if (lacks_units(call.input(kWh), recorder.physical))
    return run_in_f32(call, run_layer_grad<cell>, recorder);
  constexpr bool lstm = cell == Cell::lstm, gru = cell == Cell::gru;
  const auto dense = [&](int i) { return call.has(i) ? contiguous(call.input(i)) : Tensor(); };
  const auto wanted = [&](int i) { return call.flag(recurrent::kWanted + i); };  // not attention's kWanted
  const Tensor x = dense(kX), &weight_hh = call.input(kWh);
  const Sizes sizes(x, weight_hh, call.flag(kReverse), call.flag(kBatchFirst));
  const auto make = [&](const Shape& shape, DType type) { return Tensor::empty(shape, type, x.device()); };
  const Tensor dout = dense(kDout), dlast_h = dense(kDlastH), dlast_c = dense(kDlastC), h0 = dense(kStartH),
               c0 = dense(kStartC), out = dense(kStates), saved = dense(kSaved), cells = dense(kSavedCells);
  const DType type = x.dtype();
  const Tensor dinput = make({sizes.rows(), sizes.gates}, type);
  const Tensor dhidden = gru ? make({sizes.rows(), sizes.gates}, type) : dinput;
  const Tensor kept = wanted(kDwh) ? make({sizes.rows(), sizes.hidden}, type) : Tensor();
  const Tensor carried = lstm || gru ? make({sizes.batch, sizes.hidden}, DType::f32) : Tensor();
  Tensor parts;
  const auto launch_step = [&](int64_t k, bool finish) {
    Launch launch(recorder);
    RnnLayerGradArguments a{};
    const auto read = [&](const Tensor& from) { return from.defined() ? launch.reads(from) : 0; };
    set_rows(a, sizes, std::max<int64_t>(k, 0));
    a.last = k == sizes.steps - 1;
    a.parts = read(parts);
    a.part_count = parts.defined() ? uint32_t(parts.size(0)) : 0;
    if (carried.defined()) {
      launch.reads(carried);
      (lstm ? a.dcells : a.direct) = launch.writes(carried);
    }
    if (finish) {
      if (wanted(kDh0)) a.dstart = launch.writes(call.output(kDh0));
      if (lstm && wanted(kDc0)) a.dstart_cell = launch.writes(call.output(kDc0));
    } else {
      a.dout = read(dout);
      a.dlast_state = read(dlast_h);
      a.dlast_cell = read(dlast_c);
      a.states = read(out);
      a.states_before = read(k ? out : h0);
      a.cells = read(cells);
      a.cells_before = read(k ? cells : c0);
      a.gates = read(saved);
      a.dinput = launch.writes(dinput);
      if (gru) a.dhidden = launch.writes(dhidden);
      if (kept.defined()) a.kept = launch.writes(kept);
    }
    launch.run(RnnLayerGrad{.cell = uint32_t(cell), .type = uint32_t(type), .finish = finish},
               groups_of(sizes, RnnLayerGrad::kThreads, recorder), bytes_of(a));
  };
  const bool to_start = wanted(kDh0) || wanted(kDc0);
  for (int64_t k = sizes.steps - 1; k >= 0; --k) {
    context().check_stop();
    launch_step(k, false);
    if (k > 0 || to_start)
      parts = multiply_in_parts(rows_of(dhidden, sizes, sizes.step(k)), weight_hh, false, recorder);
  }
  if (to_start) launch_step(-1, true);

  if (wanted(kDx))
    multiply(dinput, call.input(kWi), false, {}, reshape(call.output(kDx), {sizes.rows(), sizes.inputs}),
             recorder);
  if (wanted(kDwi))
    multiply(transpose(dinput, 0, 1), reshape(x, {sizes.rows(), sizes.inputs}), false, {}, call.output(kDwi),
             recorder);
  if (wanted(kDwh)) multiply(transpose(dhidden, 0, 1), kept, false, {}, call.output(kDwh), recorder);
  if (wanted(kDbi)) copy(call.output(kDbi), sum(dinput, {0}), recorder);
  if (wanted(kDbh)) copy(call.output(kDbh), sum(dhidden, {0}), recorder);
}

template <Cell cell>
void add_kernels(std::vector<KernelEntry>& list) {
  list.push_back({&recurrent_layer(cell), {supports_rnn_layer, run_layer<cell>}});
  list.push_back({&recurrent_layer_grad(cell), {supports_rnn_layer, run_layer_grad<cell>}});
}

}  // namespace

std::vector<KernelEntry> rnn_layer_kernels() {
  std::vector<KernelEntry> list;
  add_kernels<Cell::tanh>(list);
  add_kernels<Cell::relu>(list);
  add_kernels<Cell::lstm>(list);
  add_kernels<Cell::gru>(list);
  return list;
}

}  // namespace lunagrad::gpu
