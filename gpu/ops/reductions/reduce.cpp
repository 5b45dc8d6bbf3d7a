// Reductions over any dims: sum, mean, prod, amax, amin, aminmax, var, std, norm, nansum, all and any.
#include "gpu/ops/reductions/reduce.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/reductions/halves.h"
#include "runtime/ops.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad::gpu {
namespace {

using shaders::Reduce;

struct Arguments {
  uint64_t result, second, operand, other, parts;
  uint32_t results, reduced, segments, segment;
  float factor, exponent;
  uint32_t kept_dims;
  float shift;
  uint32_t kept_size[8], reduced_size[8];
  Divisor reduced_by[8];
  int64_t kept_stride[2][8], reduced_stride[2][8];
};
static_assert(offsetof(Arguments, kept_stride) == 200);

constexpr uint32_t kThreads = kGroupSize;
constexpr uint64_t kShortSegment = 4096;  // elements that are worth a workgroup
// an invocation reduces this number of vectors in a segment, or a multiple of it
constexpr uint32_t kRound = 8;
constexpr uint32_t kBusyGroups = 16;  // workgroups per processor that keep a device busy

// The index space of the reduced dims, or of the kept dims. For complex sums, the kept dims include one for
// the real and imaginary parts.
Iteration part_of(const DimReduction& work, bool reduced) {
  const bool pairs = is_complex(work.x.dtype()) && is_complex(work.out.dtype());
  Shape shape;
  Strides strides[2];
  for (int d = 0; d < work.x.ndim(); ++d)
    if (bool(work.mask >> d & 1) == reduced) {
      shape.push_back(work.x.shape()[d]);
      strides[0].push_back(work.x.strides()[d] * (pairs ? 2 : 1));
      if (work.other) strides[1].push_back(work.other->strides()[d]);
    }
  if (pairs && !reduced) {
    shape.push_back(2);
    strides[0].push_back(1);
  }
  const Tensor one = window(work.x, shape, strides[0]);
  const Tensor two = work.other ? window(*work.other, shape, strides[1]) : Tensor();
  const Tensor* const visited[] = {&one, work.other ? &two : nullptr};
  Iteration part = iterate(shape, visited);
  if (part.dims == 0) {
    part.dims = 1;
    part.size[0] = uint32_t(part.count);
    part.stride[0][0] = part.stride[1][0] = 1;
  }
  return part;
}

struct Pass {
  uint32_t along;
  bool along_contiguous;
};
// How many invocations share a result: as many as have work, while adjacent invocations read adjacent memory.
Pass plan(uint64_t results, uint64_t reduced, bool along_contiguous) {
  const uint64_t most = std::bit_ceil(std::min<uint64_t>(reduced, kThreads));
  if (along_contiguous) return {uint32_t(std::max<uint64_t>(1, results == 1 ? most : most / 2)), true};
  const uint64_t side = std::min<uint64_t>(std::bit_ceil(results), 64);
  return {uint32_t(std::min(most, kThreads / side)), false};
}

// Into how many segments the elements of a result should be divided, each with a workgroup of its own.
uint64_t wanted_segments(uint64_t results, uint64_t reduced, uint32_t along, uint64_t busy) {
  const uint64_t side = kThreads / along, groups = (results + side - 1) / side;
  return std::min(reduced * side / kShortSegment, busy / std::max<uint64_t>(groups, 1));
}

// Whether the operand can be loaded `vector_size` elements at a time along the reduced dims.
bool lies_in_vectors(const Tensor& x, const Iteration& kept, const Iteration& reduced, int operand,
                     uint32_t vector_size) {
  const int last = reduced.dims - 1;
  bool whole = x.offset() % vector_size == 0 && reduced.stride[operand][last] == 1;
  for (int d = 0; d < last; ++d) whole = whole && reduced.stride[operand][d] % vector_size == 0;
  for (int d = 0; d < kept.dims && kept.count > 1; ++d)
    whole = whole && kept.stride[operand][d] % vector_size == 0;
  return whole;
}

// Joins four adjacent results of bool into one word, if possible.
bool joins_words(const DimReduction& work, Iteration& kept, Iteration& reduced) {
  const int last = kept.dims - 1;
  bool joins = kept.size[last] % 4 == 0 && kept.stride[0][last] == 1 && work.x.offset() % 4 == 0 &&
               work.out.offset() % 4 == 0;
  for (int d = 0; d < last; ++d) joins = joins && kept.stride[0][d] % 4 == 0;
  for (int d = 0; d < reduced.dims; ++d) joins = joins && reduced.stride[0][d] % 4 == 0;
  if (!joins) return false;
  kept.count /= 4;
  kept.size[last] /= 4;
  for (int d = 0; d < last; ++d) kept.stride[0][d] /= 4;
  for (int d = 0; d < reduced.dims; ++d) reduced.stride[0][d] /= 4;
  return true;
}

void count_in_vectors(Iteration& reduced, uint32_t vector_size) {
  const int last = reduced.dims - 1;
  reduced.size[last] /= vector_size;
  for (auto& strides : reduced.stride)
    for (int d = 0; d < last; ++d) strides[d] /= int64_t(vector_size);
}

void launch_pass(Launch& launch, const DimReduction& work, Reduce form, const Arguments& arguments,
                 const Pass& pass, Recorder& recorder) {
  const uint64_t side = kThreads / pass.along;
  const uint64_t segments = form.stage == Reduce::kParts ? arguments.segments : 1;
  form.along = pass.along;
  form.along_contiguous = pass.along_contiguous;
  launch.run(work.code, form.values(),
             {group_count((arguments.results + side - 1) / side * segments, recorder)}, bytes_of(arguments));
}

// One dispatch, or two if there are too few results to keep the device busy.
void reduce_parts(const DimReduction& work, Reduce form, Arguments& arguments, const Pass& pass,
                  Recorder& recorder) {
  const uint64_t wanted =
      wanted_segments(arguments.results, arguments.reduced, pass.along, busy_with_reductions(recorder));
  const auto read = [&](Launch& launch) {
    arguments.operand = launch.reads(work.x);
    if (work.other) arguments.other = launch.reads(*work.other);
  };
  const auto write = [&](Launch& launch) {
    arguments.result = launch.writes(work.out);
    if (work.second) arguments.second = launch.writes(*work.second);
  };
  if (wanted <= 1) {
    arguments.segments = 1;
    arguments.segment = arguments.reduced;
    Launch launch(recorder);
    read(launch);
    write(launch);
    return launch_pass(launch, work, form, arguments, pass, recorder);
  }
  // Prefer whole rounds of the loads that an invocation has in flight, if that leaves enough segments.
  const uint32_t round = form.vector ? pass.along * work.vector_size * kRound : 16;
  const uint32_t even = uint32_t((arguments.reduced + wanted - 1) / wanted),
                 step = even >= 2 * round ? round : 16;
  arguments.segment = (even + step - 1) / step * step;
  arguments.segments = (arguments.reduced + arguments.segment - 1) / arguments.segment;
  const Scratch parts(recorder, size_t(arguments.segments) * arguments.results * work.state);
  {
    Launch launch(recorder);
    read(launch);
    arguments.parts = launch.writes(parts);
    form.stage = Reduce::kParts;
    launch_pass(launch, work, form, arguments, pass, recorder);
  }
  Launch launch(recorder);
  if (work.fetches) read(launch);
  arguments.parts = launch.reads(parts);
  write(launch);
  form.stage = Reduce::kMerge;
  launch_pass(launch, work, form, arguments,
              plan(arguments.results, arguments.segments, arguments.results == 1), recorder);
}

}  // namespace

void reduce_dims(const DimReduction& work, Recorder& recorder) {
  Iteration kept = part_of(work, false), reduced = part_of(work, true);
  const int64_t step = std::abs(reduced.stride[0][reduced.dims - 1]);
  const int64_t kept_step = kept.count > 1 ? std::abs(kept.stride[0][kept.dims - 1]) : INT64_MAX;
  const bool along_contiguous = step <= kept_step;
  Reduce form = work.form;
  form.type = uint32_t(is_complex(work.out.dtype()) ? part_type(work.x.dtype()) : work.x.dtype());
  form.result_type = uint32_t(part_type(work.out.dtype()));
  form.second = work.second != nullptr;
  form.words = work.form.words && !along_contiguous && joins_words(work, kept, reduced);
  form.vector = work.vector_size > 1 && along_contiguous &&
                reduced.size[reduced.dims - 1] % work.vector_size == 0 &&
                lies_in_vectors(work.x, kept, reduced, 0, work.vector_size) &&
                (!work.other || lies_in_vectors(*work.other, kept, reduced, 1, work.vector_size));
  form.reduced_dims = uint32_t(reduced.dims);
  if (work.other) form.other_type = uint32_t(work.other->dtype());
  Arguments arguments{};
  arguments.results = uint32_t(kept.count);
  arguments.reduced = uint32_t(reduced.count);
  if (form.vector) count_in_vectors(reduced, work.vector_size);
  for (int d = 1; d < reduced.dims; ++d) arguments.reduced_by[d] = Divisor(std::max(1u, reduced.size[d]));
  arguments.factor = work.factor;
  arguments.exponent = work.exponent;
  arguments.shift = work.shift;
  arguments.kept_dims = uint32_t(kept.dims);
  std::memcpy(arguments.kept_size, kept.size, sizeof kept.size);
  std::memcpy(arguments.reduced_size, reduced.size, sizeof reduced.size);
  std::memcpy(arguments.kept_stride, kept.stride[0], sizeof arguments.kept_stride);
  std::memcpy(arguments.reduced_stride, reduced.stride[0], sizeof arguments.reduced_stride);
  const uint64_t units = form.vector ? reduced.count / work.vector_size : reduced.count;
  reduce_parts(work, form, arguments, plan(arguments.results, units, along_contiguous), recorder);
}

uint32_t row_threads(uint64_t rows, uint64_t columns, bool fours) {
  return plan(rows, fours ? columns / kReducedFloats : columns, true).along;
}
bool divides_rows(uint64_t rows, uint64_t columns, bool fours, uint64_t busy) {
  return wanted_segments(rows, columns, row_threads(rows, columns, fours), busy) > 1;
}
uint64_t busy_with_reductions(const Recorder& recorder) { return recorder.rates.busy_groups(kBusyGroups); }

DimReduction float_reduction(const Reduce& form, const Tensor& x, uint32_t mask, const Tensor& out) {
  static const ShaderCode& code = find_shader("reduce_f32");
  return {code, form, 2 * sizeof(float), kReducedFloats, x, mask, out};
}

Tensor largest_magnitude(const Tensor& x, Recorder& recorder) {
  const Tensor largest = Tensor::empty({}, DType::f32, x.device());
  reduce_dims(float_reduction({.reduction = Reduce::kLargest, .map = Reduce::kFiniteMagnitude}, x,
                              dim_mask("matmul", {}, x.shape()), largest),
              recorder);
  return largest;
}

namespace {

// The shader counts results and the elements of a result. The parts of a complex number are two results.
bool has_few_elements(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t results = call.output().numel();
  return results < most_elements() / (is_complex(x.dtype()) ? 2 : 1) &&
         x.numel() / std::max<int64_t>(1, results) < most_elements();
}
bool supports_reduce(const Call& call) {
  return call.input(0).dtype() != DType::f64 && call.output().dtype() != DType::f64 && has_few_elements(call);
}
bool supports_floats(const Call& call) { return supports_reduce(call) && is_floating(call.input(0).dtype()); }

void reduce(const Call& call, uint32_t kind, double factor, Recorder& recorder) {
  static const ShaderCode& integers = find_shader("reduce_i64");
  const Tensor& x = call.input(0);
  DimReduction work = float_reduction({.reduction = kind}, x, mask_of(call), call.output());
  work.factor = float(factor);
  if (!is_integral(x.dtype())) {
    // The real parts of adjacent complex numbers are not adjacent.
    if (is_complex(x.dtype())) work.vector_size = 0;
    return reduce_dims(work, recorder);
  }
  reduce_dims({integers, work.form, sizeof(int64_t), 0, x, work.mask, call.output()}, recorder);
}

template <uint32_t kind>
void run_reduction(const Call& call, Recorder& recorder) {
  reduce(call, kind, 1, recorder);
}
void run_mean(const Call& call, Recorder& recorder) {
  reduce(call, Reduce::kSum, 1 / double(reduced_count(call.input(0).shape(), mask_of(call))), recorder);
}
void run_nansum(const Call& call, Recorder& recorder) {
  reduce_dims(float_reduction({.map = Reduce::kWithoutNan}, call.input(0), mask_of(call), call.output()),
              recorder);
}

}  // namespace

DimReduction norm_reduction(double p, const Tensor& x, uint32_t mask, const Tensor& out) {
  static const ShaderCode& code = find_shader("reduce_norm");
  DimReduction work{
      code, {.map = p == 2 ? Reduce::kSquare : Reduce::kPower}, 3 * sizeof(float), kReducedFloats, x, mask,
      out};
  work.exponent = float(p);
  return work;
}

namespace {

// Parameters of runtime/ops/reductions/vector_norm.cpp.
constexpr int kPowerAt = 0, kNormDimsAt = 1;
void run_norm(const Call& call, Recorder& recorder) {
  const double p = call.real(kPowerAt);
  const Tensor& x = call.input(0);
  const uint32_t mask = mask_of(call, kNormDimsAt);
  if (p == 1)
    return reduce_dims(float_reduction({.map = Reduce::kMagnitude}, x, mask, call.output()), recorder);
  reduce_dims(norm_reduction(p, x, mask, call.output()), recorder);
}

// The 2-norm of the difference of two tensors.
void run_distance(const Call& call, Recorder& recorder) {
  const Tensor& x = call.input(0);
  DimReduction work = norm_reduction(2, x, dim_mask(call.op->name, {}, x.shape()), call.output());
  work.other = &call.input(1);
  reduce_dims(work, recorder);
}

// The sum of squared deviations / (n - correction), or its root, and the mean if there is a second result.
template <bool root>
void run_var(const Call& call, Recorder& recorder) {
  static const ShaderCode& code = find_shader("reduce_moments");
  constexpr int kUnbiasedAt = 1, kCorrectionAt = 3;
  const Value& unbiased = call.params[kUnbiasedAt];
  const int64_t correction = unbiased.present() ? int64_t(unbiased.b) : call.integer(kCorrectionAt);
  const int64_t count = reduced_count(call.input(0).shape(), mask_of(call));
  DimReduction work{code,
                    {.end = root ? Reduce::kRoot : Reduce::kScaled},
                    6 * sizeof(float),
                    kReducedFloats,
                    call.input(0),
                    mask_of(call),
                    call.output()};
  work.factor = float(1 / double(std::max<int64_t>(0, count - correction)));
  if (call.out.size() == 2) work.second = &call.output(1);
  reduce_dims(work, recorder);
}

void run_aminmax(const Call& call, Recorder& recorder) {
  static const ShaderCode& code = find_shader("reduce_range");
  DimReduction work{code, {}, 8, kReducedFloats, call.input(0), mask_of(call), call.output()};
  work.second = &call.output(1);
  reduce_dims(work, recorder);
}

template <bool every>
void run_truth(const Call& call, Recorder& recorder) {
  static const ShaderCode& code = find_shader("reduce_truth");
  const Tensor &x = call.input(0), &out = call.output();
  if (x.numel() == 0) return copy(out, Tensor::number(int64_t(every)), recorder);
  constexpr uint32_t kBools = 16;  // elements that reduce_truth.comp loads at a time
  const bool bytes = x.dtype() == DType::boolean;
  reduce_dims({code,
               {.reduction = every ? Reduce::kSmallest : Reduce::kLargest, .words = bytes},
               4,
               bytes ? kBools : 0,
               x,
               mask_of(call),
               out},
              recorder);
}
bool supports_truth(const Call& call) {
  return call.input(0).dtype() != DType::f64 && has_few_elements(call);
}

}  // namespace

void add_parts(const Tensor& out, const Tensor& parts, Recorder& recorder) {
  const Tensor line(out.storage_ref(), Layout::contiguous({out.numel()}), out.offset(), out.dtype());
  reduce_dims(float_reduction({}, parts, 1, line), recorder);
}

std::vector<KernelEntry> reduce_kernels() {
  // Kernels and their forms for more elements than they count.
  const auto large = [](Kernel kernel, void (*run_large)(const Call&, Recorder&)) {
    kernel.run_large = run_large;
    return kernel;
  };
  constexpr auto kHalves = reduce_halves<kDimsAt>;
  return {{find_op("var"), large({supports_reduce, run_var<false>}, var_of_halves<false>)},
          {find_op("std"), large({supports_reduce, run_var<true>}, var_of_halves<true>)},
          {find_op("_var_mean"), large({supports_reduce, run_var<false>}, var_of_halves<false>)},
          {find_op("_std_mean"), large({supports_reduce, run_var<true>}, var_of_halves<true>)},
          {find_op("_norm"), large({supports_floats, run_norm}, reduce_halves<kNormDimsAt>)},
          {find_op("_distance"), {supports_floats, run_distance}},
          {find_op("_nansum"), large({supports_floats, run_nansum}, kHalves)},
          {find_op("_aminmax"), large({supports_floats, run_aminmax}, aminmax_of_halves)},
          {find_op("all"), large({supports_truth, run_truth<true>, true}, kHalves)},
          {find_op("any"), large({supports_truth, run_truth<false>, true}, kHalves)},
          {find_op("sum"), large({supports_reduce, run_reduction<Reduce::kSum>, true}, kHalves)},
          {find_op("mean"), large({supports_reduce, run_mean, true}, mean_of_halves)},
          {find_op("prod"), large({supports_reduce, run_reduction<Reduce::kProduct>}, kHalves)},
          {find_op("amax"), large({supports_reduce, run_reduction<Reduce::kLargest>}, kHalves)},
          {find_op("amin"), large({supports_reduce, run_reduction<Reduce::kSmallest>}, kHalves)}};
}

}  // namespace lunagrad::gpu
