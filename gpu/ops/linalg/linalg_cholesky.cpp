// Cholesky factors of small matrices.
#include "gpu/ops/linalg/matrices.h"

namespace lunagrad::gpu {
namespace {

struct CholeskyArguments {
  Matrix operand;
  uint64_t result;
  uint64_t fault;
  uint32_t n;
  uint32_t fault_kind;
  uint32_t batched;
  uint32_t padding;
  Batch batch;
};

void run_cholesky(const Call& call, Recorder& recorder) {
  const Tensor& a = call.input(0);
  const bool upper = call.flag(0);
  Launch launch(recorder);
  CholeskyArguments arguments{};
  // The upper triangle is the lower triangle of the transposed matrix.
  arguments.operand = matrix_of(a, launch.reads(a), upper);
  arguments.result = launch.writes(call.output());
  arguments.fault = recorder.stream.fault_address();
  arguments.n = uint32_t(a.size(-1));
  arguments.fault_kind = uint32_t(FaultKind::minor);
  arguments.batched = a.ndim() > 2;
  arguments.batch = batch_of(batch_dims(a), a);
  launch.multiplies(double(a.numel()) * double(a.size(-1)) / 6);
  const shaders::Cholesky constants{.upper = upper,
                                    .words = rounded_words(words_of(a.size(-1), a.size(-1)), a.dtype())};
  run_matrices(launch, "cholesky", a.dtype(), constants, arguments.batch.count, bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> linalg_cholesky_kernels() {
  return {{find_op("linalg.cholesky"), {supports_small_matrices, run_cholesky, true}}};
}

}  // namespace lunagrad::gpu
