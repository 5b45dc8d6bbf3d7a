// Elementwise functions that are not rows of elementwise.def: isclose of integers (for floats it is composed
// of other ops), frexp, nextafter and polar.
#include <algorithm>
#include <bit>

#include "gpu/ops/kernels.h"
#include "gpu/ops/parts.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct IsclosePushConstants {
  uint64_t result, operand[2];
  double rtol, atol;
  uint32_t count, padding;
};
static_assert(sizeof(IsclosePushConstants) <= kPushConstantBytes);

bool supports_isclose(const Call& call) {
  const auto is = [&](auto&& holds) {
    return std::any_of(call.in.begin(), call.in.end(),
                       [&](const Tensor& x) { return !x.is_number() && holds(x.dtype()); });
  };
  return is(is_integral) && !is([](DType type) { return type == DType::f64; }) && indexable(call.output());
}

void run_isclose(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor& out = call.output();
  Operands dense;  // must live until the launch is recorded
  Launch launch(recorder);
  IsclosePushConstants push{};
  uint32_t types[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& x = call.in[i];
    types[i] = x.is_number() ? ElementType::kNumber : uint32_t(x.dtype());
    dense.push_back(x.is_number() ? x : contiguous(expand(x, out.shape())));
    push.operand[i] = x.is_number() ? std::bit_cast<uint64_t>(x.item()) : launch.reads(dense[i]);
  }
  push.result = launch.writes(out);
  push.rtol = call.real(0);
  push.atol = call.real(1);
  push.count = uint32_t(out.numel());
  launch.run(shaders::Isclose{.a_type = types[0], .b_type = types[1]}, {groups_for(push.count, recorder)}, {},
             bytes_of(push));
}

struct PartsPushConstants {
  uint64_t result, exponents, operand, other;
  uint32_t count, padding;
};
static_assert(sizeof(PartsPushConstants) <= kPushConstantBytes);

bool supports_parts(const Call& call) {
  const DType type = call.input(0).dtype();
  return (type == DType::f32 || is_16bit_float(type)) && indexable(call.output());
}
void launch_parts(Launch& launch, uint32_t mode, const Call& call, PartsPushConstants push,
                  Recorder& recorder) {
  const Tensor& out = call.output();
  push.result = launch.writes(out);
  push.count = uint32_t(out.numel());
  const Visit visit = visit_elements(push.count, recorder);
  launch.run(shaders::FloatParts{.mode = mode, .type = uint32_t(out.dtype()), .per_thread = visit.per_thread},
             {visit.groups}, {}, bytes_of(push));
}
void run_frexp(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0));
  Launch launch(recorder);
  PartsPushConstants push{};
  push.operand = launch.reads(x);
  push.exponents = launch.writes(call.output(1));
  launch_parts(launch, shaders::FloatParts::kParts, call, push, recorder);
}
void run_nextafter(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0)), other = contiguous(call.input(1));
  Launch launch(recorder);
  PartsPushConstants push{};
  push.operand = launch.reads(x);
  push.other = launch.reads(other);
  launch_parts(launch, shaders::FloatParts::kNext, call, push, recorder);
}

struct PolarPushConstants {
  uint64_t result, magnitudes, angles;
  uint32_t count, padding;
};
static_assert(sizeof(PolarPushConstants) <= kPushConstantBytes);

bool supports_polar(const Call& call) {
  return all_f32(call) && !call.input(0).is_number() && !call.input(1).is_number() &&
         indexable(call.output());
}
void run_polar(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor& out = call.output();
  const Tensor magnitudes = contiguous(expand(call.input(0), out.shape())),
               angles = contiguous(expand(call.input(1), out.shape()));
  Launch launch(recorder);
  PolarPushConstants push{};
  push.result = launch.writes(out);
  push.magnitudes = launch.reads(magnitudes);
  push.angles = launch.reads(angles);
  push.count = uint32_t(out.numel());
  const Visit visit = visit_elements(push.count, recorder);
  launch.run(shaders::Polar{.per_thread = visit.per_thread}, {visit.groups}, {}, bytes_of(push));
}

}  // namespace

std::vector<KernelEntry> arithmetic_kernels() {
  return {{find_op("isclose"), {supports_isclose, run_isclose, false, needs_float64, slice_pointwise}},
          {find_op("frexp"), {supports_parts, run_frexp, false, nullptr, slice_pointwise}},
          {find_op("_nextafter"), {supports_parts, run_nextafter, false, nullptr, slice_pointwise}},
          {find_op("polar"), {supports_polar, run_polar, false, nullptr, slice_pointwise}}};
}

}  // namespace lunagrad::gpu
