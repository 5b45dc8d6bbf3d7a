#include "gpu/ops/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gpu/ops/divisor.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/parts.h"
#include "gpu/ops/words.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

// Push constants of copy.comp.
struct PushConstants {
  uint64_t result;
  uint64_t operand;
  uint32_t count;
  uint32_t padding;
};
struct Arguments {
  Divisor by[8];
  uint32_t size[8];
  int64_t stride[2][8];
};

// Layout as in transpose.comp.
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

// The index space of copy.comp, in units. It has 0 dims where both sides are contiguous.
struct Units {
  Iteration space;
  uint32_t unit = Copy::kElement;
  uint32_t reversed = 0;
  Ends ends;
};

// Joins each `many` adjacent elements into one unit, if both sides allow it. `bytes` and `from_bytes`: sizes
// of a unit in the result and the operand.
bool join(Units& units, uint32_t many, uint64_t bytes, uint64_t from_bytes, bool number) {
  Units merged = units;
  Iteration& space = merged.space;
  const int last = std::max(space.dims, 1) - 1;
  bool backwards = false;
  if (space.dims == 0) {
    if (space.count % many != 0) return false;
  } else {
    backwards = !number && space.stride[1][last] == -1;
    if (space.size[last] % many != 0 || space.stride[0][last] != 1 ||
        !(number || backwards || space.stride[1][last] == 1) ||
        (backwards && (bytes != 16 || from_bytes != 16)))
      return false;
    space.size[last] /= many;
    for (int d = 0; d < last; ++d)
      for (int k = 0; k < 2; ++k) {
        if (space.stride[k][d] % many != 0) return false;
        space.stride[k][d] /= many;
      }
    if (space.size[last] == 1 && last > 0) --space.dims;
  }
  if (backwards) {
    merged.reversed = uint32_t(bytes / many);
    merged.ends.operand -= bytes - merged.reversed;
  }
  if (merged.ends.result % bytes != 0 || (!number && merged.ends.operand % from_bytes != 0)) return false;
  space.count /= many;
  units = merged;
  return true;
}

// Whether an element of either side may lie 2^31 units or more from the first one.
bool reaches_far(const Iteration& space) {
  for (const auto& stride : space.stride) {
    int64_t most = 0;
    for (int d = 0; d < space.dims; ++d) most += int64_t(space.size[d] - 1) * std::abs(stride[d]);
    if (most >= int64_t(1) << 31) return true;
  }
  return false;
}

// The bits of the number as an element of the type, repeated to fill eight bytes.
uint64_t bits_of(const Tensor& number, DType type) {
  return visit_any_dtype(type, [&]<class T>() {
    const bool whole = number.dtype() == DType::i64;
    const double value = whole ? double(*number.data<int64_t>()) : *number.data<double>();
    const T element = whole && is_integral(type) ? convert<T>(*number.data<int64_t>()) : convert<T>(value);
    uint64_t bits = 0;
    for (size_t at = 0; at + sizeof(T) <= sizeof bits; at += sizeof(T))
      std::memcpy(reinterpret_cast<char*>(&bits) + at, &element, sizeof(T));
    return bits;
  });
}

// Whether all sizes and strides are multiples of 4 and both addresses of 16 bytes.
bool steps_of_four(const TransposeArguments& a, const Ends& ends) {
  int64_t any = int64_t(a.p) | int64_t(a.q) | a.p_step | a.q_step;
  for (uint32_t d = 0; d < a.dims; ++d) any |= a.stride[0][d] | a.stride[1][d];
  return any % 4 == 0 && (ends.result | ends.operand) % 16 == 0;
}

// Copies by tiles if the innermost dim of the result is strided in the operand and the innermost dim of the
// operand is strided in the result. Otherwise returns false and records nothing.
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
  launch.run(Transpose{.result_type = result_type,
                       .type = type,
                       .as_integer = as_integer,
                       .in_fours = in_fours,
                       .in_64_bits = type == raw_type(DType::i64) && result_type == type},
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
  if (!indexable(out)) {
    const int dim = outermost_dim(out.shape());
    return in_halves(out.size(dim), [&](int64_t first, int64_t size) {
      copy(slice_of(out, dim, first, size),
           from.is_number() ? from : slice_of(from, dim - (out.ndim() - from.ndim()), first, size), recorder);
    });
  }
  if (is_complex(from.dtype()) && !is_complex(out.dtype())) {
    const NoGrad off;  // to bool, the only type to which complex numbers can be cast
    return copy(out, ne(from, Tensor::number(0.0)), recorder);
  }
  Launch launch(recorder);
  Units units;
  units.ends.result = launch.writes(out);
  uint32_t result_type = uint32_t(out.dtype()), type = uint32_t(from.dtype());
  bool as_integer = is_integral(from.dtype());
  const bool number = from.is_number(), same = number || from.dtype() == out.dtype();
  if (same) {
    result_type = type = raw_type(out.dtype());
    as_integer = true;
  }
  if (number) type = ElementType::kNumber;
  units.ends.operand = number ? bits_of(from, out.dtype()) : launch.reads(from);
  const Tensor* const visited[2] = {&out, number ? nullptr : &from};
  units.space = iterate(out.shape(), visited);
  // The tiles of transpose.comp hold elements of up to 32 bits, or unconverted elements of 64 bits.
  const bool fits = same || (item_size(out.dtype()) <= 4 && item_size(from.dtype()) <= 4);
  if (!number && fits &&
      transpose_by_tiles(launch, units.space, units.ends, result_type, type, as_integer, recorder))
    return;
  const uint64_t item = uint64_t(item_size(out.dtype()));
  if (same) {
    uint64_t bytes = 16;
    while (bytes > item && !join(units, uint32_t(bytes / item), bytes, bytes, number)) bytes /= 2;
    if (bytes == 16) units.unit = Copy::kSixteenBytes;
    if (bytes == 8 || bytes == 4 || bytes == 2) {
      result_type = raw_type_of(bytes);
      if (!number) type = result_type;
    }
  } else if (moves_in_fours(out.dtype(), 0) && moves_in_fours(from.dtype(), 0) &&
             join(units, 4, 4 * item, 4 * uint64_t(item_size(from.dtype())), false)) {
    units.unit = Copy::kFourFloats;
  }
  const Iteration& space = units.space;
  Arguments arguments;
  for (int d = 0; d < space.dims; ++d) arguments.by[d] = Divisor(space.size[d]);
  std::memcpy(arguments.size, space.size, sizeof space.size);
  std::memcpy(arguments.stride, space.stride, sizeof arguments.stride);
  const PushConstants push{units.ends.result, units.ends.operand, uint32_t(space.count), 0};
  const Visit visit = visit_elements(push.count, recorder);
  launch.run(Copy{.dims = uint32_t(space.dims),
                  .result_type = result_type,
                  .type = type,
                  .as_integer = as_integer,
                  .per_thread = visit.per_thread,
                  .unit = units.unit,
                  .reversed = units.reversed,
                  .far = reaches_far(space)},
             {visit.groups}, bytes_of(arguments).first(space.dims > 0 ? sizeof arguments : 0),
             bytes_of(push));
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
