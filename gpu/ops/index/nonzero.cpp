// nonzero, and the runs of equal elements for unique, of any type: first where each piece of the elements
// puts its results (runtime/ops/index/index.cpp, unique.cpp), then these results.
#include "gpu/ops/divisor.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Nonzero;

// Layout as in nonzero.comp.
struct NonzeroArguments {
  uint64_t positions, values, elements, before;
  uint32_t count, piece, dims;
  uint32_t size[kMaxDims];
  Divisor by[kMaxDims];
};

bool supports_line(const Call& call) {
  return call.input(0).dtype() != DType::f64 && indexable(call.input(0));
}

// `before` has an element for each piece, and one for all.
NonzeroArguments arguments_of(const Tensor& x, const Tensor& before) {
  NonzeroArguments a{};
  a.count = uint32_t(x.numel());
  constexpr uint32_t kTile = kGroupSize * Nonzero::kEach;
  const uint32_t pieces = uint32_t(before.numel() - 1);
  a.piece = std::bit_ceil(std::max((a.count + pieces - 1) / pieces, kTile));
  return a;
}
Nonzero form_of(const Tensor& x, uint32_t mode, bool runs, uint64_t address) {
  return {.mode = mode,
          .type = uint32_t(x.dtype()),
          .raw_type = raw_type(x.dtype()),
          .runs = runs,
          .aligned = address % 16 == 0};
}

template <bool runs>
void run_before(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0)), &before = call.output();
  NonzeroArguments a = arguments_of(x, before);
  {
    Launch launch(recorder);
    a.elements = launch.reads(x);
    a.before = launch.writes(before);
    launch.run(form_of(x, Nonzero::kCount, runs, a.elements), {group_count(before.numel() - 1, recorder)},
               bytes_of(a));
  }
  Launch launch(recorder);
  a.before = launch.writes(before);
  launch.run(Nonzero{.mode = Nonzero::kAddUp}, {1}, bytes_of(a));
}

// `dims` of the positions; values and positions may be null.
void list(const Call& call, bool runs, const Tensor* positions, const Tensor* values, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0)), &before = call.input(1);
  NonzeroArguments a = arguments_of(x, before);
  a.dims = uint32_t(x.ndim());
  for (int d = 0; d < x.ndim(); ++d) {
    a.size[d] = uint32_t(x.size(d));
    a.by[d] = Divisor(a.size[d]);
  }
  Launch launch(recorder);
  a.elements = launch.reads(x);
  a.before = launch.reads(before);
  if (positions) a.positions = launch.writes(*positions);
  if (values) a.values = launch.writes(*values);
  launch.run(form_of(x, Nonzero::kPut, runs, a.elements), {group_count(before.numel() - 1, recorder)},
             bytes_of(a));
}
void run_nonzero(const Call& call, Recorder& recorder) {
  list(call, false, &call.output(), nullptr, recorder);
}
void run_runs(const Call& call, Recorder& recorder) {
  list(call, true, call.flag(0) ? &call.output(1) : nullptr, &call.output(0), recorder);
}

}  // namespace

std::vector<KernelEntry> nonzero_kernels() {
  return {{find_op("_nonzero"), {supports_line, run_before<false>, true}},
          {find_op("_nonzero_at"), {supports_line, run_nonzero, true}},
          {find_op("_runs_before"), {supports_line, run_before<true>, true}},
          {find_op("_runs"), {supports_line, run_runs, true}}};
}

}  // namespace lunagrad::gpu
