// Distances and cosines of corresponding rows (runtime/ops/loss/row_measures.cpp) of f32, f16 or bf16. The
// measures are reductions; the gradients are row_grads.comp.
#include <algorithm>
#include <cmath>

#include "gpu/ops/divisor.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "gpu/ops/reductions/reduce.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Reduce, shaders::RowGrads;

constexpr int kPowerAt = 0, kShiftAt = 1, kDistanceDimAt = 2;
constexpr int kEpsAt = 0, kAddedAt = 1, kCosineDimAt = 2;
constexpr int kWantedAt = 3;  // of both gradients, the first of two flags

bool supports(const Call& call) {
  const auto fits = [](const Tensor& x) { return x.dtype() != DType::f64 && indexable(x); };
  return std::all_of(call.in.begin(), call.in.end(), fits) &&
         std::all_of(call.out.begin(), call.out.end(), fits);
}

Tensor broadcast(const Tensor& x, const Shape& shape) {
  return window(x, shape, broadcast_strides(x, shape));
}
Shape whole_shape(const Tensor& a, const Tensor& b) { return broadcast_shapes("rows", a.shape(), b.shape()); }

// For operands of one shape.
void measure_distance(const Tensor& x1, const Tensor& x2, double p, double shift, int dim, const Tensor& out,
                      Recorder& recorder) {
  const uint32_t mask = 1u << dim;
  DimReduction work =
      std::isinf(p) ? float_reduction({.reduction = Reduce::kLargest, .map = Reduce::kApart}, x1, mask, out)
      : p == 1      ? float_reduction({.map = Reduce::kApart}, x1, mask, out)
      : p == 0      ? float_reduction({.map = Reduce::kDiffers}, x1, mask, out)
                    : norm_reduction(p, x1, mask, out);
  work.other = &x2;
  work.shift = float(shift);
  reduce_dims(work, recorder);
}
void run_distance(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &a = call.input(0), &b = call.input(1);
  const Shape shape = whole_shape(a, b);
  measure_distance(broadcast(a, shape), broadcast(b, shape), call.real(kPowerAt), call.real(kShiftAt),
                   int(call.integer(kDistanceDimAt)), call.output(), recorder);
}
void run_cosine(const Call& call, Recorder& recorder) {
  static const ShaderCode& code = find_shader("reduce_cosine");
  const NoGrad off;
  const Tensor &a = call.input(0), &b = call.input(1);
  const Shape shape = whole_shape(a, b);
  const Tensor x1 = broadcast(a, shape), x2 = broadcast(b, shape);
  DimReduction work{code,
                    {.end = call.flag(kAddedAt) ? Reduce::kRoot : Reduce::kScaled},
                    3 * sizeof(float),
                    kReducedFloats,
                    x1,
                    1u << call.integer(kCosineDimAt),
                    call.output(0)};
  work.exponent = float(call.real(kEpsAt));
  work.other = &x2;
  work.second = &call.output(1);
  reduce_dims(work, recorder);
}

// The positions of several tensors, in an order of the elements.
struct Dims {
  uint32_t dims, count;
  uint32_t size[8];
  Divisor by[8];
  int64_t stride[4][8];
};
struct GradArguments {
  uint64_t x1, x2, grad, value, length1, length2, ties;
  uint64_t result1, result2;
  float exponent, shift;
  uint32_t parts, part;
  Dims own, repeated;
};
static_assert(offsetof(GradArguments, repeated) == 88 + sizeof(Dims) && sizeof(Dims) == 360);

// The operands of a gradient, broadcast to one shape.
struct Rows {
  Tensor x1, x2, grad, value;

  // The dims of the mask, merged where all tensors allow it.
  Dims dims(uint32_t mask) const {
    const Tensor* const all[] = {&x1, &x2, &grad, &value};
    Shape shape;
    Strides strides[4];
    for (int d = 0; d < x1.ndim(); ++d) {
      if (!(mask >> d & 1)) continue;
      shape.push_back(x1.shape()[d]);
      for (int k = 0; k < 4; ++k) strides[k].push_back(all[k]->strides()[d]);
    }
    Tensor parts[4];
    const Tensor* visited[4];
    for (int k = 0; k < 4; ++k) parts[k] = window(*all[k], shape, strides[k]), visited[k] = &parts[k];
    const Iteration merged = iterate(shape, visited);
    Dims found{};
    found.count = uint32_t(merged.count);
    found.dims = uint32_t(std::max(1, merged.dims));
    for (uint32_t d = 0; d < found.dims; ++d) {
      found.size[d] = merged.dims == 0 ? found.count : merged.size[d];
      found.by[d] = Divisor(std::max(1u, found.size[d]));
      for (int k = 0; k < 4; ++k) found.stride[k][d] = merged.dims == 0 ? 1 : merged.stride[k][d];
    }
    return found;
  }
};

// A gradient call, whose `form` has the measure.
class Gradient {
 public:
  Gradient(const Call& call, int dim, RowGrads form, Recorder& recorder)
      : call_(call), form_(form), recorder_(recorder), dim_(dim) {
    const Tensor &a = call.input(1), &b = call.input(2);
    shape_ = whole_shape(a, b);
    value_ = contiguous_input(call, 3);
    rows_ = {broadcast(a, shape_), broadcast(b, shape_), broadcast(call.input(0), shape_),
             broadcast(value_, shape_)};
    if (call.in.size() > 4) lengths_ = contiguous_input(call, 4);
    form_.type = uint32_t(a.dtype());
    form_.grad_type = uint32_t(call.input(0).dtype());
    form_.value_type = uint32_t(value_.dtype());
  }
  float exponent = 0, shift = 0;

  // Distances that were rounded are computed again where the slopes compare them, or take a high power.
  void measure_again() {
    if (!is_16bit_float(value_.dtype())) return;
    value_ = Tensor::empty(value_.shape(), DType::f32, value_.device());
    measure_distance(rows_.x1, rows_.x2, exponent, shift, dim_, value_, recorder_);
    rows_.value = broadcast(value_, shape_);
    form_.value_type = uint32_t(DType::f32);
  }

  void run() {
    const Tensor &first = call_.output(0), &second = call_.output(1);
    const bool wanted[] = {call_.flag(kWantedAt), call_.flag(kWantedAt + 1)};
    if (form_.measure == RowGrads::kLargest && value_.numel() > 0) count_ties();
    if (wanted[0] && wanted[1] && first.shape() == shape_ && second.shape() == shape_) {
      form_.both = true;
      return launch(first, &second);
    }
    for (int side = 0; side < 2; ++side) {
      form_.second = side == 1;
      if (wanted[side]) launch(call_.output(side), nullptr);
    }
  }

 private:
  void count_ties() {
    ties_ = Tensor::empty(value_.shape(), DType::f32, value_.device());
    GradArguments arguments{};
    arguments.own = rows_.dims(~(1u << dim_));
    arguments.repeated = rows_.dims(1u << dim_);
    RowGrads form = form_;
    form.measure = RowGrads::kTies;
    launch_parts(form, arguments, ties_, nullptr, 1);
  }
  void launch(const Tensor& result, const Tensor* second) {
    uint32_t own = 0;
    for (int d = 0; d < shape_.size(); ++d) own |= uint32_t(result.shape()[d] == shape_[d]) << d;
    GradArguments arguments{};
    arguments.own = rows_.dims(own);
    arguments.repeated = rows_.dims(~own);
    if (arguments.own.count == 0) return;
    // Few results of many rows are computed in parts, which take an eighth of the operands' memory at most.
    constexpr uint64_t kLeastRepeats = 64;
    const uint64_t groups = (arguments.own.count + kGroupSize - 1) / kGroupSize;
    const uint64_t wanted =
        std::min<uint64_t>(recorder_.rates.busy_groups(8) / groups, arguments.repeated.count / kLeastRepeats);
    launch_parts(form_, arguments, result, second, uint32_t(std::max<uint64_t>(1, wanted)));
  }
  void launch_parts(RowGrads form, GradArguments& arguments, const Tensor& result, const Tensor* second,
                    uint32_t wanted) {
    arguments.part = std::max(1u, (arguments.repeated.count + wanted - 1) / wanted);
    arguments.parts = std::max(1u, (arguments.repeated.count + arguments.part - 1) / arguments.part);
    const Tensor sums = arguments.parts == 1 ? result
                                             : Tensor::empty({int64_t(arguments.parts), result.numel()},
                                                             DType::f32, result.device());
    {
      Launch launch(recorder_);
      arguments.x1 = launch.reads(rows_.x1);
      arguments.x2 = launch.reads(rows_.x2);
      arguments.grad = launch.reads(rows_.grad);
      arguments.value = launch.reads(value_);
      if (lengths_.defined()) {
        arguments.length1 = launch.reads(lengths_);
        arguments.length2 = arguments.length1 + uint64_t(value_.numel()) * 4;
      }
      if (ties_.defined() && form.measure != RowGrads::kTies) arguments.ties = launch.reads(ties_);
      arguments.result1 = launch.writes(sums);
      if (second) arguments.result2 = launch.writes(*second);
      arguments.exponent = exponent;
      arguments.shift = shift;
      form.result_type = uint32_t(sums.dtype());
      form.fours = form.measure != RowGrads::kTies && arguments.parts == 1 && arguments.repeated.count == 1 &&
                   lies_in_fours(arguments.own, arguments, result.dtype());
      const uint64_t count =
          form.fours ? arguments.own.count / 4 : uint64_t(arguments.own.count) * arguments.parts;
      launch.run(form, {groups_for(count, recorder_)}, bytes_of(arguments));
    }
    if (arguments.parts > 1) add_parts(result, sums, recorder_);
  }
  // Whether four adjacent elements are of one row, and adjacent and aligned in operands and results.
  bool lies_in_fours(const Dims& own, const GradArguments& arguments, DType type) const {
    const uint32_t last = own.dims - 1;
    if (own.size[last] % 4 != 0 || own.stride[2][last] != 0 || own.stride[3][last] != 0) return false;
    for (int k = 0; k < 2; ++k) {
      if (own.stride[k][last] != 1) return false;
      for (uint32_t d = 0; d < last; ++d)
        if (own.stride[k][d] % 4 != 0) return false;
    }
    return moves_in_fours(type, arguments.x1) && moves_in_fours(type, arguments.x2) &&
           moves_in_fours(type, arguments.result1) &&
           (arguments.result2 == 0 || moves_in_fours(type, arguments.result2));
  }

  const Call& call_;
  RowGrads form_;
  Recorder& recorder_;
  int dim_;
  Shape shape_;
  Tensor value_, lengths_, ties_;
  Rows rows_;
};

void run_distance_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const double p = call.real(kPowerAt);
  const uint32_t measure = std::isinf(p) ? RowGrads::kLargest
                           : p == 1      ? RowGrads::kAbsolute
                           : p == 2      ? RowGrads::kSquare
                                         : RowGrads::kPower;
  Gradient gradient(call, int(call.integer(kDistanceDimAt)), {.measure = measure}, recorder);
  gradient.exponent = float(p);
  gradient.shift = float(call.real(kShiftAt));
  constexpr double kHighPower = 4;
  if (p > kHighPower) gradient.measure_again();
  gradient.run();
}
void run_cosine_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Gradient gradient(call, int(call.integer(kCosineDimAt)),
                    {.measure = RowGrads::kCosine, .flat = !call.flag(kAddedAt)}, recorder);
  gradient.exponent = float(call.real(kEpsAt));
  gradient.run();
}

}  // namespace

std::vector<KernelEntry> row_measure_kernels() {
  return {{find_op("_row_distance"), {supports, run_distance}},
          {find_op("_row_distance_grad"), {supports, run_distance_grad}},
          {find_op("_row_cosine"), {supports, run_cosine}},
          {find_op("_row_cosine_grad"), {supports, run_cosine_grad}}};
}

}  // namespace lunagrad::gpu
