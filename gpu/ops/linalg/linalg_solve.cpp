// Inverses of small matrices and solutions of linear systems (gpu/ops/linalg/solve.glsl).
#include <algorithm>

#include "gpu/ops/linalg/matrices.h"

namespace lunagrad::gpu {
namespace {

using shaders::Solve;

struct SolveArguments {
  Matrix operand, right, result;
  uint64_t pivots;
  uint32_t n, columns;
  uint32_t width, blocks;
  Batch batch;
};

constexpr uint32_t kMostWidth = 64;  // columns that a workgroup solves together

// Sets width and blocks of the arguments; the caller has set the rest.
void launch_solve(Launch& launch, Solve constants, DType type, SolveArguments arguments) {
  const uint32_t matrix = words_of(arguments.n, arguments.n);
  const uint32_t room = (most_words(type) - matrix) / arguments.n;
  arguments.width = std::min({arguments.columns, room, kMostWidth});
  arguments.blocks = (arguments.columns + arguments.width - 1) / arguments.width;
  constants.words = rounded_words(matrix + arguments.n * arguments.width, type);
  launch.multiplies(double(arguments.batch.count) * arguments.columns * arguments.n * arguments.n *
                    (constants.mode == Solve::kTriangle ? 0.5 : 1));
  run_matrices(launch, "solve", type, constants, arguments.batch.count * arguments.blocks,
               bytes_of(arguments));
}

// Factors of A's transposed matrices, as on the CPU: there LAPACK sees transposed matrices, and errors name
// their columns.
struct Factors {
  Factors(const Tensor& a, Recorder& recorder)
      : matrices(recorder, size_t(a.numel()) * item_size(a.dtype())),
        pivots(recorder, size_t(a.numel() / a.size(-1)) * sizeof(int32_t)) {
    factor_lu(a, true, matrices, pivots, FaultKind::singular, recorder);
  }
  Scratch matrices, pivots;
};

// A tensor with the shape of A and the strides of its contiguous factors.
Tensor as_factors(const Tensor& a) { return window(a, a.shape(), contiguous_strides(a.shape())); }

void run_inv(const Call& call, Recorder& recorder) {
  const Tensor &a = call.input(0), &out = call.output();
  const Factors factors(a, recorder);
  Launch launch(recorder);
  SolveArguments arguments{};
  arguments.operand = matrix_of(as_factors(a), launch.reads(factors.matrices));
  arguments.pivots = launch.reads(factors.pivots);
  arguments.result = matrix_of(out, launch.writes(out));
  arguments.n = arguments.columns = uint32_t(a.size(-1));
  arguments.batch = batch_of(batch_dims(a), as_factors(a));
  launch_solve(launch, {.mode = Solve::kInverse}, a.dtype(), arguments);
}

bool supports_solve(const Call& call) {
  return has_small_matrices(call.input(0)) && indexable(call.output());
}
void run_solve(const Call& call, Recorder& recorder) {
  const Tensor &a = call.input(0), &b = call.input(1), &out = call.output();
  const Factors factors(a, recorder);
  Launch launch(recorder);
  SolveArguments arguments{};
  arguments.operand = matrix_of(as_factors(a), launch.reads(factors.matrices));
  arguments.pivots = launch.reads(factors.pivots);
  arguments.right = matrix_of(b, launch.reads(b));
  arguments.result = matrix_of(out, launch.writes(out));
  arguments.n = uint32_t(a.size(-1));
  arguments.columns = uint32_t(out.size(-1));
  arguments.batch = batch_of(batch_dims(out), as_factors(a), b);
  launch_solve(launch, {.mode = Solve::kSystem}, a.dtype(), arguments);
}

void run_triangular(const Call& call, Recorder& recorder) {
  const Tensor &a = call.input(0), &b = call.input(1), &out = call.output();
  // X A = B is the same as A^T X^T = B^T.
  const bool turned = !call.flag(1), upper = call.flag(0) != turned;
  Launch launch(recorder);
  SolveArguments arguments{};
  arguments.operand = matrix_of(a, launch.reads(a), turned);
  arguments.right = matrix_of(b, launch.reads(b), turned);
  arguments.result = matrix_of(out, launch.writes(out), turned);
  arguments.n = uint32_t(a.size(-1));
  arguments.columns = uint32_t(out.size(turned ? -2 : -1));
  arguments.batch = batch_of(batch_dims(out), a, b);
  launch_solve(launch, {.mode = Solve::kTriangle, .upper = upper, .unit = call.flag(2)}, a.dtype(),
               arguments);
}

}  // namespace

std::vector<KernelEntry> linalg_solve_kernels() {
  return {{find_op("linalg.inv"), {supports_small_matrices, run_inv, true}},
          {find_op("_linalg.solve"), {supports_solve, run_solve, true}},
          {find_op("linalg.solve_triangular"), {supports_solve, run_triangular, true}}};
}

}  // namespace lunagrad::gpu
