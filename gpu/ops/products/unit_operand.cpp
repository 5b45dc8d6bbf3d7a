#include "gpu/ops/products/unit_operand.h"

#include "gpu/ops/iteration.h"
#include "gpu/ops/reductions/reduce.h"

namespace lunagrad::gpu {
namespace {

struct UnitArguments {
  uint64_t from, to, largest;
  int64_t close_step, far_step;
  uint32_t close, far, eights;
  uint32_t matrices, batch_dims;
  uint32_t batch_size[8];
  int64_t batch_step[8];
};
static_assert(offsetof(UnitArguments, batch_step) == 96);

// The layout of a copy: lines of whole vectors of eight elements.
ProductSide copied_side(ProductSide side, const Shape& batch) {
  const int64_t line = (side.close + 7) / 8 * 8;
  int64_t matrices = 1;
  for (int d = batch.size() - 1; d >= 0; --d) {
    if (side.batch[d] == 0) continue;
    side.batch[d] = matrices * side.far * line;
    matrices *= batch[d];
  }
  side.close_step = 1;
  side.far_step = line;
  return side;
}

// Converts an operand (unit_operand.comp).
Tensor convert(const Tensor& x, const ProductSide& side, const Product& p, const Tensor& largest,
               Recorder& recorder) {
  const Shape& batch = p.batch;
  Launch launch(recorder);
  UnitArguments arguments{};
  arguments.from = launch.reads(x);
  const int64_t eights = (side.close + 7) / 8;
  int64_t matrices = 1;
  for (int d = batch.size() - 1; d >= 0; --d) {
    const bool own = side.batch[d] != 0;
    arguments.batch_size[d] = own ? uint32_t(batch[d]) : 1;
    arguments.batch_step[d] = side.batch[d];
    matrices *= arguments.batch_size[d];
  }
  const int64_t elements = matrices * side.far * eights * 8;
  const Tensor made = Tensor::empty({elements}, p.unit_type, x.device());
  arguments.to = launch.writes(made);
  if (largest.defined()) arguments.largest = launch.reads(largest);
  arguments.close_step = side.close_step;
  arguments.far_step = side.far_step;
  arguments.close = uint32_t(side.close);
  arguments.far = uint32_t(side.far);
  arguments.eights = uint32_t(eights);
  arguments.matrices = uint32_t(matrices);
  arguments.batch_dims = uint32_t(batch.size());
  launch.run(
      shaders::UnitOperand{.type = uint32_t(x.dtype()),
                           .in_fours = x.dtype() == DType::f32 && lies_in_runs(4, side, arguments.from, 4),
                           .scaled = largest.defined()},
      {group_count(uint64_t(elements) / 8 / kGroupSize + 1, recorder)}, bytes_of(arguments));
  return made;
}

}  // namespace

UnitOperand unit_operand(const Tensor& x, ProductSide& side, const Product& p, Recorder& recorder) {
  const uint64_t address = address_of(x);
  if (x.dtype() != DType::f32 && lies_in_runs(8, side, address, item_size(x.dtype()))) return {x, {}};
  UnitLayout layout{side.close, side.far, side.close_step, side.far_step};
  for (int d = 0; d < p.batch.size(); ++d) layout.insert(layout.end(), {p.batch[d], side.batch[d]});
  const UnitOperand found = recorder.unit_operands.shared(x, p.unit_type, std::move(layout), [&] {
    UnitOperand made;
    if (p.scaled()) made.largest = largest_magnitude(x, recorder);
    made.tensor = convert(x, side, p, made.largest, recorder);
    return made;
  });
  side = copied_side(side, p.batch);
  return found;
}

}  // namespace lunagrad::gpu
