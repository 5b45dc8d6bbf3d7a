#include "gpu/kernels/copy.h"

#include <bit>
#include <cstring>

#include "gpu/kernels/iteration.h"

namespace lunagrad::gpu {
namespace {

// In the push constants.
struct Hot {
  uint64_t result;
  uint64_t operand;
  uint32_t count;
  uint32_t padding;
};
struct Arguments {
  uint32_t size[8];
  int64_t stride[2][8];
};

}  // namespace

bool can_copy(const Tensor& from, DType to) {
  if (from.is_number()) return to != DType::f64;
  return from.dtype() == to || (from.dtype() != DType::f64 && to != DType::f64);
}

void copy(const Tensor& out, const Tensor& from, Recorder& recorder) {
  if (out.numel() == 0) return;
  Launch launch(recorder);
  Hot hot{};
  hot.result = launch.writes(out);
  uint32_t result_type = uint32_t(out.dtype()), type = uint32_t(from.dtype());
  bool as_integer = !is_floating(from.dtype());
  const Tensor* visited[2] = {&out, &from};
  if (from.is_number()) {
    visited[1] = nullptr;
    type = kNumberType;
    as_integer = !is_floating(out.dtype());
    const double value = from.dtype() == DType::i64 ? double(*from.data<int64_t>()) : *from.data<double>();
    if (out.dtype() == DType::boolean)
      hot.operand = value != 0;
    else if (as_integer)
      hot.operand = uint64_t(from.dtype() == DType::i64 ? *from.data<int64_t>() : convert<int64_t>(value));
    else
      hot.operand = std::bit_cast<uint32_t>(float(value));
    // Integers narrower than 64 bits saturate when they come from a float.
    if (from.dtype() == DType::f64 && out.dtype() == DType::u8) hot.operand = convert<uint8_t>(value);
    if (from.dtype() == DType::f64 && out.dtype() == DType::i32)
      hot.operand = uint64_t(int64_t(convert<int32_t>(value)));
  } else {
    hot.operand = launch.reads(from);
    if (from.dtype() == out.dtype()) {
      result_type = type = raw_type(out.dtype());
      as_integer = true;
    }
  }
  const Iteration space = iterate(out.shape(), visited);
  hot.count = uint32_t(space.count);
  Arguments arguments;
  std::memcpy(arguments.size, space.size, sizeof space.size);
  std::memcpy(arguments.stride, space.stride, sizeof arguments.stride);
  static const ShaderCode& code = find_shader("copy");
  const Visit visit = visit_elements(space.count, recorder);
  launch.run(code, {uint32_t(space.dims), result_type, type, uint32_t(as_integer), visit.per_thread},
             {visit.groups}, bytes_of(arguments).first(space.dims > 0 ? sizeof arguments : 0), bytes_of(hot));
}

}  // namespace lunagrad::gpu
