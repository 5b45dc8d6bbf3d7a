// LU factors of small matrices, determinants and their derivative, and the row order that pivots give.
#include "gpu/ops/linalg/matrices.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Lu;

struct LuArguments {
  Matrix operand;
  uint64_t result, pivots, logarithms;
  uint64_t fault;
  uint32_t rows, columns;
  uint32_t fault_kind;
  uint32_t batched;
  Batch batch;
};

// `arguments` has the result addresses; this function sets the rest.
void launch_lu(Launch& launch, const Tensor& a, bool transposed, uint32_t mode, LuArguments arguments) {
  arguments.operand = matrix_of(a, launch.reads(a), transposed);
  arguments.rows = uint32_t(a.size(transposed ? -1 : -2));
  arguments.columns = uint32_t(a.size(transposed ? -2 : -1));
  arguments.batch = batch_of(batch_dims(a), a);
  launch.multiplies(double(a.numel()) * double(std::min(arguments.rows, arguments.columns)) / 3);
  const Lu constants{.mode = mode,
                     .words = rounded_words(words_of(arguments.rows, arguments.columns), a.dtype())};
  run_matrices(launch, "lu", a.dtype(), constants, arguments.batch.count, bytes_of(arguments));
}

void run_factor(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  LuArguments arguments{};
  arguments.result = launch.writes(call.output(0));
  arguments.pivots = launch.writes(call.output(1));
  launch_lu(launch, call.input(0), false, Lu::kFactor, arguments);
}

void run_det(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  LuArguments arguments{};
  arguments.result = launch.writes(call.output());
  launch_lu(launch, call.input(0), true, Lu::kDeterminant, arguments);
}

void run_slogdet(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  LuArguments arguments{};
  arguments.result = launch.writes(call.output(0));
  arguments.logarithms = launch.writes(call.output(1));
  launch_lu(launch, call.input(0), true, Lu::kLogarithm, arguments);
}

struct CofactorArguments {
  Matrix operand;
  uint64_t result;
  uint64_t fault;
  uint32_t n, width;
  uint32_t fault_kind;
  uint32_t padding;
  Batch batch;
};

void run_cofactor(const Call& call, Recorder& recorder) {
  const Tensor& a = call.input(0);
  const uint32_t n = uint32_t(a.size(-1)), matrix = words_of(n, n);
  Launch launch(recorder);
  CofactorArguments arguments{};
  arguments.operand = matrix_of(a, launch.reads(a));
  arguments.result = launch.writes(call.output());
  arguments.fault = recorder.stream.fault_address();
  arguments.n = n;
  arguments.width = std::min(n, (words_beside_vectors(a.dtype()) - matrix) / n);
  arguments.fault_kind = uint32_t(FaultKind::not_finite);
  arguments.batch = batch_of(batch_dims(a), a);
  launch.multiplies(double(a.numel()) * n * 4 / 3);
  const uint32_t words = rounded_words(matrix + n * arguments.width, a.dtype());
  run_matrices(launch, "cofactor", a.dtype(),
               shaders::Cofactor{.words = std::min(words, words_beside_vectors(a.dtype()))},
               arguments.batch.count, bytes_of(arguments));
}

// --- the order of rows ---

struct PivotsPushConstants {
  uint64_t result, pivots;
  uint64_t fault;
  uint32_t count, rows, each, kind;
};
static_assert(sizeof(PivotsPushConstants) <= kPushConstantBytes);

bool supports_pivots(const Call& call) { return indexable(call.output()); }
void run_pivots(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor pivots = contiguous(call.input(0));
  Launch launch(recorder);
  PivotsPushConstants push{};
  push.result = launch.writes(call.output());
  push.pivots = launch.reads(pivots);
  push.fault = recorder.stream.fault_address();
  push.each = uint32_t(pivots.size(-1));
  push.rows = uint32_t(call.integer(0));
  push.count = uint32_t(call.output().numel()) / push.rows;
  push.kind = uint32_t(FaultKind::pivot);
  launch.run(shaders::Pivots{.type = uint32_t(pivots.dtype())}, {groups_for(push.count, recorder)}, {},
             bytes_of(push));
}

}  // namespace

void factor_lu(const Tensor& a, bool transposed, const Scratch& factors, const Scratch& pivots,
               FaultKind kind, Recorder& recorder) {
  Launch launch(recorder);
  LuArguments arguments{};
  arguments.result = launch.writes(factors);
  arguments.pivots = launch.writes(pivots);
  arguments.fault = recorder.stream.fault_address();
  arguments.fault_kind = uint32_t(kind);
  arguments.batched = a.ndim() > 2;
  launch_lu(launch, a, transposed, Lu::kFactor, arguments);
}

std::vector<KernelEntry> linalg_lu_kernels() {
  return {{find_op("linalg.lu_factor"), {supports_small_matrices, run_factor, true}},
          {find_op("linalg.det"), {supports_small_matrices, run_det, true}},
          {find_op("linalg.slogdet"), {supports_small_matrices, run_slogdet, true}},
          {find_op("_cofactor"), {supports_small_matrices, run_cofactor, true}},
          {find_op("_lu_permutation"), {supports_pivots, run_pivots}}};
}

}  // namespace lunagrad::gpu
