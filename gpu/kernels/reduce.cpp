// sum, mean, amax and amin over any dims. var, std, all and any are compositions of them.
#include "gpu/kernels/reduce.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/kernels/copy.h"
#include "gpu/kernels/iteration.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Reduce;

struct Arguments {
  uint64_t result, operand;
  uint32_t results, reduced, segments, segment;
  float factor;
  uint32_t kept_dims;
  uint32_t kept_size[8], reduced_size[8];
  int64_t kept_stride[8], reduced_stride[8];
};
static_assert(offsetof(Arguments, kept_stride) == 104);

constexpr uint32_t kThreads = kGroupSize;
constexpr uint64_t kShortSegment = 4096;  // elements that are worth a work group
constexpr uint32_t kBusyGroups = 16;      // work groups for each processor that keep a device busy

// The reduced dims of a tensor, or the others, as an index space. A complex number is a pair of floats, with
// a dim of its own among the kept ones.
Iteration part_of(const Tensor& x, uint32_t mask, bool reduced) {
  const bool pairs = is_complex(x.dtype());
  Shape shape;
  Strides strides;
  for (int d = 0; d < x.ndim(); ++d)
    if (bool(mask >> d & 1) == reduced) {
      shape.push_back(x.shape()[d]);
      strides.push_back(x.strides()[d] * (pairs ? 2 : 1));
    }
  if (pairs && !reduced) {
    shape.push_back(2);
    strides.push_back(1);
  }
  const Tensor view = window(x, shape, strides);
  const Tensor* const visited[] = {&view};
  Iteration part = iterate(shape, visited);
  if (part.dims == 0) {
    part.dims = 1;
    part.size[0] = uint32_t(part.count);
    part.stride[0][0] = 1;
  }
  return part;
}

struct Pass {
  uint32_t along;
  bool along_contiguous;
  bool vector = false;
};
// How many threads share a result: as many as there is work for, while adjacent threads read adjacent memory.
Pass plan(uint64_t results, uint64_t reduced, bool along_contiguous) {
  const uint64_t most = std::bit_ceil(std::min<uint64_t>(reduced, kThreads));
  if (along_contiguous) return {uint32_t(std::max<uint64_t>(1, most / 2)), true};
  const uint64_t side = std::min<uint64_t>(std::bit_ceil(results), 64);
  return {uint32_t(std::min(most, kThreads / side)), false};
}

void launch_pass(Launch& launch, const Arguments& arguments, uint32_t fold, const Pass& pass, DType from,
                 DType to, uint32_t reduced_dims, bool integer, Recorder& recorder) {
  static const ShaderCode& floats = find_shader("reduce_f32");
  static const ShaderCode& integers = find_shader("reduce_i64");
  const uint64_t side = kThreads / pass.along;
  const uint64_t blocks = (arguments.results + side - 1) / side * arguments.segments;
  launch.run(integer ? integers : floats,
             Reduce{.fold = fold,
                    .along = pass.along,
                    .along_contiguous = pass.along_contiguous,
                    .type = uint32_t(from),
                    .result_type = uint32_t(to),
                    .reduced_dims = reduced_dims,
                    .vector = pass.vector}
                 .values(),
             {group_count(blocks, recorder)}, bytes_of(arguments));
}

uint32_t mask_of(const Call& call) {
  const Value& dims = call.params[0];
  const Shape& shape = call.input(0).shape();
  if (dims.kind == Value::Kind::integer) return dim_mask(call.op->name, std::span(&dims.i, 1), shape);
  if (!dims.present()) return dim_mask(call.op->name, {}, shape);
  return dim_mask(call.op->name, dims.list, shape);
}

void reduce(const Call& call, uint32_t fold, bool mean, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output();
  const uint32_t mask = mask_of(call);
  const Iteration kept = part_of(x, mask, false), reduced = part_of(x, mask, true);
  const bool integer = is_integral(x.dtype());
  const DType type = part_type(x.dtype()), result_type = part_type(out.dtype());
  Arguments arguments{};
  arguments.results = uint32_t(kept.count);
  arguments.reduced = uint32_t(reduced.count);
  arguments.factor = mean ? 1.0f / float(reduced.count) : 1.0f;
  arguments.kept_dims = uint32_t(kept.dims);
  std::memcpy(arguments.kept_size, kept.size, sizeof kept.size);
  std::memcpy(arguments.kept_stride, kept.stride[0], sizeof arguments.kept_stride);
  std::memcpy(arguments.reduced_size, reduced.size, sizeof reduced.size);
  std::memcpy(arguments.reduced_stride, reduced.stride[0], sizeof arguments.reduced_stride);

  const int64_t step = std::abs(reduced.stride[0][reduced.dims - 1]);
  const int64_t kept_step = kept.count > 1 ? std::abs(kept.stride[0][kept.dims - 1]) : INT64_MAX;
  // Contiguous f32 can be loaded four at a time.
  bool vector =
      x.dtype() == DType::f32 && reduced.dims == 1 && reduced.stride[0][0] == 1 && reduced.count % 4 == 0;
  for (int d = 0; d < kept.dims && kept.count > 1; ++d) vector = vector && kept.stride[0][d] % 4 == 0;
  Pass pass = plan(arguments.results, vector ? reduced.count / 4 : reduced.count, step <= kept_step);
  pass.vector = vector && pass.along_contiguous && x.offset() % 4 == 0;
  const uint64_t side = kThreads / pass.along, groups = (arguments.results + side - 1) / side;
  const uint64_t wanted =
      std::min(reduced.count * side / kShortSegment, recorder.rates.busy_groups(kBusyGroups) / groups);
  if (wanted <= 1) {
    arguments.segments = 1;
    arguments.segment = arguments.reduced;
    Launch launch(recorder);
    arguments.operand = launch.reads(x);
    arguments.result = launch.writes(out);
    launch_pass(launch, arguments, fold, pass, type, result_type, uint32_t(reduced.dims), integer, recorder);
    return;
  }
  const DType partial = integer ? DType::i64 : DType::f32;
  arguments.segment = uint32_t((reduced.count + wanted - 1) / wanted + 3) / 4 * 4;
  arguments.segments = (arguments.reduced + arguments.segment - 1) / arguments.segment;
  const Scratch partials(recorder, size_t(arguments.segments) * arguments.results * item_size(partial));
  Arguments last{};
  last.results = arguments.results;
  last.reduced = last.segment = arguments.segments;
  last.segments = 1;
  last.factor = arguments.factor;
  last.kept_dims = 1;
  last.kept_size[0] = arguments.results;
  last.kept_stride[0] = 1;
  last.reduced_size[0] = arguments.segments;
  last.reduced_stride[0] = arguments.results;
  arguments.factor = 1;
  {
    Launch launch(recorder);
    arguments.operand = launch.reads(x);
    arguments.result = launch.writes(partials);
    launch_pass(launch, arguments, fold, pass, type, partial, uint32_t(reduced.dims), integer, recorder);
  }
  Launch launch(recorder);
  last.operand = launch.reads(partials);
  last.result = launch.writes(out);
  launch_pass(launch, last, fold, plan(last.results, last.reduced, last.results == 1), partial, result_type,
              1, integer, recorder);
}

bool supports(const Call& call) {
  const Tensor& x = call.input(0);
  return x.dtype() != DType::f64 && call.output().dtype() != DType::f64 &&
         x.numel() < (int64_t(1) << (is_complex(x.dtype()) ? 30 : 31));
}

void run_sum(const Call& call, Recorder& recorder) { reduce(call, Reduce::kSum, false, recorder); }
void run_mean(const Call& call, Recorder& recorder) { reduce(call, Reduce::kSum, true, recorder); }
void run_amax(const Call& call, Recorder& recorder) { reduce(call, Reduce::kLargest, false, recorder); }
void run_amin(const Call& call, Recorder& recorder) { reduce(call, Reduce::kSmallest, false, recorder); }

Dims reduced_dims(const Call& call) {
  Dims dims;
  const uint32_t mask = mask_of(call);
  for (int d = 0; d < call.input(0).ndim(); ++d)
    if (mask >> d & 1) dims.push_back(d);
  return dims;
}

// var = sum((x - mean)^2) / (n - correction), std = sqrt(var). Parameters as in runtime/ops/reduce.cpp.
template <bool root>
void run_var(const Call& call, Recorder& recorder) {
  constexpr int kUnbiasedAt = 1, kCorrectionAt = 3;
  const NoGrad off;
  const Tensor x = to(call.input(0), DType::f32);
  const Dims dims = reduced_dims(call);
  const Value& unbiased = call.params[kUnbiasedAt];
  const int64_t correction = unbiased.present() ? int64_t(unbiased.b) : call.integer(kCorrectionAt);
  const int64_t count = call.output().numel() == 0 ? 0 : x.numel() / call.output().numel();
  const double degrees = double(std::max<int64_t>(0, count - correction));
  const Tensor variance = sum(square(x - mean(x, dims, true)), dims) * (1 / degrees);
  copy(call.output(), reshape(root ? sqrt(variance) : variance, call.output().shape()), recorder);
}

template <bool every>
void run_truth(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &x = call.input(0), &out = call.output();
  if (x.numel() == 0) return copy(out, Tensor::number(int64_t(every)), recorder);
  const Tensor truth = to(ne(x, Tensor::number(int64_t(0))), DType::u8);
  const Tensor folded = every ? amin(truth, reduced_dims(call)) : amax(truth, reduced_dims(call));
  copy(out, reshape(folded, out.shape()), recorder);
}
bool supports_truth(const Call& call) {
  const Tensor& x = call.input(0);
  return x.dtype() != DType::f64 && indexable(x);
}

}  // namespace

void add_parts(const Tensor& out, const Tensor& parts, Recorder& recorder) {
  Call call;
  call.op = find_op("sum");
  call.in = {parts};
  call.params = {Dims{0}, false};
  call.out.push_back(Tensor(out.storage_ref(), Layout::contiguous({out.numel()}), out.offset(), out.dtype()));
  run_sum(call, recorder);
}

std::vector<KernelEntry> reduce_kernels() {
  return {{find_op("var"), {supports, run_var<false>}},
          {find_op("std"), {supports, run_var<true>}},
          {find_op("all"), {supports_truth, run_truth<true>, true}},
          {find_op("any"), {supports_truth, run_truth<false>, true}},
          {find_op("sum"), {supports, run_sum, true}},
          {find_op("mean"), {supports, run_mean, true}},
          {find_op("amax"), {supports, run_amax}},
          {find_op("amin"), {supports, run_amin}}};
}

}  // namespace lunagrad::gpu
