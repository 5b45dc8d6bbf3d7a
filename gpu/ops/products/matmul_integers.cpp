// Integer matrix products.
#include "gpu/ops/iteration.h"
#include "gpu/ops/products/matmul_types.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct MatmulIntegersArguments {
  uint64_t a, b, c;
  uint32_t m, n, k;
  uint32_t row_tiles, column_tiles;
  uint32_t batch_dims;
  uint32_t batch_size[8];
  int64_t batch_step[2][8];
  int64_t a_row, a_column, b_row, b_column;
};
static_assert(offsetof(MatmulIntegersArguments, batch_step) == 80);

constexpr uint32_t kSide = shaders::MatmulIntegers::kSide;  // rows and columns of a tile

}  // namespace

void run_integer_matmul(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor a = call.input(0).ndim() == 1 ? unsqueeze(call.input(0), 0) : call.input(0);
  const Tensor b = call.input(1).ndim() == 1 ? unsqueeze(call.input(1), 1) : call.input(1);
  const auto batch_of = [](const Tensor& x) {
    Shape batch = x.shape();
    for (int i = 0; i < 2; ++i) batch.erase(batch.size() - 1);
    return batch;
  };
  const Shape batch = broadcast_shapes("matmul", batch_of(a), batch_of(b));
  Launch launch(recorder);
  MatmulIntegersArguments arguments{};
  arguments.a = launch.reads(a);
  arguments.b = launch.reads(b);
  arguments.c = launch.writes(call.output());
  arguments.m = uint32_t(a.size(-2));
  arguments.n = uint32_t(b.size(-1));
  arguments.k = uint32_t(a.size(-1));
  arguments.row_tiles = (arguments.m + kSide - 1) / kSide;
  arguments.column_tiles = (arguments.n + kSide - 1) / kSide;
  const uint32_t tiles = arguments.row_tiles * arguments.column_tiles * uint32_t(numel(batch));
  arguments.batch_dims = uint32_t(batch.size());
  const auto steps_of = [&](const Tensor& x) {
    Shape shape = batch;
    for (int i = -2; i < 0; ++i) shape.push_back(x.size(i));
    return broadcast_strides(x, shape);
  };
  const Strides a_steps = steps_of(a), b_steps = steps_of(b);
  for (int d = 0; d < batch.size(); ++d) {
    arguments.batch_size[d] = uint32_t(batch[d]);
    arguments.batch_step[0][d] = a_steps[d];
    arguments.batch_step[1][d] = b_steps[d];
  }
  arguments.a_row = a_steps[batch.size()];
  arguments.a_column = a_steps[batch.size() + 1];
  arguments.b_row = b_steps[batch.size()];
  arguments.b_column = b_steps[batch.size() + 1];
  launch.multiplies(double(call.output().numel()) * double(arguments.k));
  launch.run_in_turns(shaders::MatmulIntegers{.type = uint32_t(a.dtype())}, tiles, bytes_of(arguments));
}

}  // namespace lunagrad::gpu
