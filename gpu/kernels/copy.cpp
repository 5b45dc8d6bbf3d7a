#include "gpu/kernels/copy.h"

#include <bit>
#include <cstring>

#include "gpu/kernels/iteration.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

// Push constants of copy.comp.
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

// As in transpose.comp.
struct TransposeArguments {
  uint32_t p, q;
  int64_t p_step, q_step;
  uint32_t tiles, p_tiles, q_tiles;
  uint32_t dims;
  uint32_t size[8];
  int64_t stride[2][8];
};
static_assert(offsetof(TransposeArguments, stride) == 72);
struct Ends {
  uint64_t result, operand;
};

using shaders::Copy;

struct Units {
  uint32_t unit;      // of copy.comp
  uint64_t elements;  // in each
};
// The largest units in which the elements can be copied: more than one element if both tensors are
// contiguous.
Units unit_of(const Tensor& out, const Tensor& from, const Iteration& space, const Ends& ends) {
  if (space.dims > 0 || from.is_number()) return {Copy::kElement, 1};
  const uint64_t in_sixteen = 16 / uint64_t(item_size(out.dtype()));
  if (from.dtype() == out.dtype() && space.count % in_sixteen == 0 && (ends.result | ends.operand) % 16 == 0)
    return {Copy::kSixteenBytes, in_sixteen};
  if (space.count % 4 == 0 && moves_in_fours(out.dtype(), ends.result) &&
      moves_in_fours(from.dtype(), ends.operand))
    return {Copy::kFourFloats, 4};
  return {Copy::kElement, 1};
}

// Whether all sizes and strides are multiples of 4 and both addresses of 16 bytes.
bool steps_of_four(const TransposeArguments& a, const Ends& ends) {
  int64_t any = int64_t(a.p) | int64_t(a.q) | a.p_step | a.q_step;
  for (uint32_t d = 0; d < a.dims; ++d) any |= a.stride[0][d] | a.stride[1][d];
  return any % 4 == 0 && (ends.result | ends.operand) % 16 == 0;
}

// Copies by tiles if the innermost dim of the result is strided in the operand and the innermost dim of the
// operand is strided in the result. False: it is not such a copy, and nothing was recorded.
bool transpose_by_tiles(Launch& launch, const Iteration& space, const Ends& ends, uint32_t result_type,
                        uint32_t type, bool as_integer, Recorder& recorder) {
  using shaders::Transpose;
  constexpr uint32_t kSide = Transpose::kSide, kShort = 16;
  const int q = space.dims - 1;
  int p = -1;
  for (int d = 0; d < q; ++d)
    if (space.stride[1][d] == 1 && space.size[d] >= kShort) p = d;
  if (p < 0 || space.stride[0][q] != 1 || space.stride[1][q] == 1 || space.stride[1][q] == 0 ||
      space.size[q] < kShort)
    return false;
  TransposeArguments arguments{};
  arguments.p = space.size[p];
  arguments.q = space.size[q];
  arguments.p_step = space.stride[0][p];
  arguments.q_step = space.stride[1][q];
  arguments.p_tiles = (arguments.p + kSide - 1) / kSide;
  arguments.q_tiles = (arguments.q + kSide - 1) / kSide;
  uint64_t tiles = uint64_t(arguments.p_tiles) * arguments.q_tiles;
  for (int d = 0; d < q; ++d) {
    if (d == p) continue;
    tiles *= arguments.size[arguments.dims] = space.size[d];
    for (int k = 0; k < 2; ++k) arguments.stride[k][arguments.dims] = space.stride[k][d];
    ++arguments.dims;
  }
  arguments.tiles = uint32_t(tiles);
  const bool in_fours = type == raw_type(DType::f32) && result_type == type && steps_of_four(arguments, ends);
  launch.run(
      Transpose{.result_type = result_type, .type = type, .as_integer = as_integer, .in_fours = in_fours},
      {group_count(tiles, recorder)}, bytes_of(arguments), bytes_of(ends));
  return true;
}

}  // namespace

bool can_copy(const Tensor& from, DType to) {
  if (from.is_number()) return to != DType::f64;
  return from.dtype() == to || (from.dtype() != DType::f64 && to != DType::f64);
}

void copy(const Tensor& out, const Tensor& from, Recorder& recorder) {
  if (out.numel() == 0) return;
  if (is_complex(from.dtype()) && !is_complex(out.dtype())) {
    const NoGrad off;  // to bool: the only type to which complex numbers are cast
    return copy(out, ne(from, Tensor::number(0.0)), recorder);
  }
  Launch launch(recorder);
  Hot hot{};
  hot.result = launch.writes(out);
  uint32_t result_type = uint32_t(out.dtype()), type = uint32_t(from.dtype());
  bool as_integer = is_integral(from.dtype());
  const Tensor* visited[2] = {&out, &from};
  if (from.is_number()) {
    visited[1] = nullptr;
    type = ElementType::kNumber;
    as_integer = is_integral(out.dtype());
    const double value = from.dtype() == DType::i64 ? double(*from.data<int64_t>()) : *from.data<double>();
    if (out.dtype() == DType::boolean)
      hot.operand = value != 0;
    else if (as_integer)
      hot.operand = uint64_t(from.dtype() == DType::i64 ? *from.data<int64_t>() : convert<int64_t>(value));
    else
      hot.operand = std::bit_cast<uint32_t>(float(value));
    // A float that becomes a narrower integer saturates.
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
  const auto [unit, elements] = unit_of(out, from, space, {hot.result, hot.operand});
  hot.count = uint32_t(space.count / elements);
  // The tiles of transpose.comp hold elements of up to 32 bits.
  const bool narrow = item_size(out.dtype()) <= 4 && !from.is_number() && item_size(from.dtype()) <= 4;
  if (narrow &&
      transpose_by_tiles(launch, space, {hot.result, hot.operand}, result_type, type, as_integer, recorder))
    return;
  Arguments arguments;
  std::memcpy(arguments.size, space.size, sizeof space.size);
  std::memcpy(arguments.stride, space.stride, sizeof arguments.stride);
  const Visit visit = visit_elements(hot.count, recorder);
  launch.run(Copy{.dims = uint32_t(space.dims),
                  .result_type = result_type,
                  .type = type,
                  .as_integer = as_integer,
                  .per_thread = visit.per_thread,
                  .unit = unit},
             {visit.groups}, bytes_of(arguments).first(space.dims > 0 ? sizeof arguments : 0), bytes_of(hot));
}

Changed::Changed(const Tensor& out, const Tensor& x, Recorder& recorder)
    : out_(out),
      memory_(out.is_contiguous() ? out : Tensor::empty(out.shape(), out.dtype(), out.device())),
      recorder_(recorder) {
  const bool in_place = memory_.storage_ref() == x.storage_ref() && memory_.offset() == x.offset() &&
                        memory_.strides() == x.strides();
  if (!in_place) copy(memory_, x, recorder);
}
void Changed::finish() const {
  if (!(memory_.storage_ref() == out_.storage_ref())) copy(out_, memory_, recorder_);
}

}  // namespace lunagrad::gpu
