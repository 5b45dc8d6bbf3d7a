// Eigenvalues and eigenvectors of small symmetric or Hermitian matrices (gpu/ops/linalg/eigh.glsl).
#include <algorithm>

#include "gpu/ops/linalg/matrices.h"

namespace lunagrad::gpu {
namespace {

struct EighArguments {
  Matrix operand;
  uint64_t eigenvalues, vectors;
  uint64_t fault;
  uint32_t n;
  uint32_t batched;
  uint32_t unsound_fault, convergence_fault;
  Batch batch;
};

// Shared memory for the matrix and its eigenvectors.
uint32_t eigh_words(const Tensor& a) { return 2 * words_of(a.size(-1), a.size(-1)); }

bool supports_eigh(const Call& call) {
  const Tensor& a = call.input(0);
  return has_small_matrices(a) && eigh_words(a) <= words_beside_vectors(a.dtype());
}

template <bool vectors>
void run_eigh(const Call& call, Recorder& recorder) {
  const Tensor& a = call.input(0);
  Launch launch(recorder);
  EighArguments arguments{};
  arguments.operand = matrix_of(a, launch.reads(a));
  arguments.eigenvalues = launch.writes(call.output(0));
  if (vectors) arguments.vectors = launch.writes(call.output(1));
  arguments.fault = recorder.stream.fault_address();
  arguments.n = uint32_t(a.size(-1));
  arguments.batched = a.ndim() > 2;
  arguments.unsound_fault = uint32_t(FaultKind::not_finite);
  arguments.convergence_fault = uint32_t(FaultKind::eigenvalues);
  arguments.batch = batch_of(batch_dims(a), a);
  constexpr double kUsualSweeps = 8, kWaiting = 8;  // kWaiting: most of the time goes to shared memory access
  launch.multiplies(kWaiting * kUsualSweeps * (vectors ? 6 : 4) * double(a.numel()) * double(a.size(-1)));
  const uint32_t words = rounded_words(eigh_words(a), a.dtype());
  run_matrices(launch, "eigh", a.dtype(),
               shaders::Eigh{.vectors = vectors,
                             .words = std::min(words, words_beside_vectors(a.dtype())),
                             .upper = call.integer(0) % 2 == 1},
               arguments.batch.count, bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> linalg_eigen_kernels() {
  return {{find_op("linalg.eigh"), {supports_eigh, run_eigh<true>, true}},
          {find_op("linalg.eigvalsh"), {supports_eigh, run_eigh<false>, true}}};
}

}  // namespace lunagrad::gpu
