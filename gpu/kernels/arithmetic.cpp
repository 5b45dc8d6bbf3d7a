// isclose of integers. For floats it is a composition of other ops.
#include <algorithm>
#include <bit>

#include "gpu/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Hot {
  uint64_t result, operand[2];
  double rtol, atol;
  uint32_t count, padding;
};
static_assert(sizeof(Hot) <= kHotBytes);

bool supports(const Call& call) {
  const auto is = [&](auto&& holds) {
    return std::any_of(call.in.begin(), call.in.end(),
                       [&](const Tensor& x) { return !x.is_number() && holds(x.dtype()); });
  };
  return is(is_integral) && !is([](DType type) { return type == DType::f64; }) && indexable(call.output());
}
bool always(const Call&) { return true; }

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor& out = call.output();
  Operands dense;  // must live until the launch is recorded
  Launch launch(recorder);
  Hot hot{};
  uint32_t types[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& x = call.in[i];
    types[i] = x.is_number() ? ElementType::kNumber : uint32_t(x.dtype());
    dense.push_back(x.is_number() ? x : contiguous(expand(x, out.shape())));
    hot.operand[i] = x.is_number() ? std::bit_cast<uint64_t>(x.item()) : launch.reads(dense[i]);
  }
  hot.result = launch.writes(out);
  hot.rtol = call.real(0);
  hot.atol = call.real(1);
  hot.count = uint32_t(out.numel());
  launch.run(shaders::Isclose{.a_type = types[0], .b_type = types[1]}, {groups_for(hot.count, recorder)}, {},
             bytes_of(hot));
}

}  // namespace

std::vector<KernelEntry> arithmetic_kernels() {
  return {{find_op("isclose"), {supports, run, false, always}}};
}

}  // namespace lunagrad::gpu
