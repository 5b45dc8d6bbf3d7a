// QR factors of small matrices (gpu/ops/linalg/qr.glsl).
#include <algorithm>

#include "gpu/ops/linalg/matrices.h"

namespace lunagrad::gpu {
namespace {

struct QrArguments {
  Matrix operand;
  uint64_t q, r;
  uint32_t rows, columns;
  uint32_t q_columns;
  uint32_t r_rows;
  uint32_t width;
  uint32_t padding;
  Batch batch;
};

void run_qr(const Call& call, Recorder& recorder) {
  const Tensor &a = call.input(0), &q = call.output(0), &r = call.output(1);
  Launch launch(recorder);
  QrArguments arguments{};
  arguments.operand = matrix_of(a, launch.reads(a));
  arguments.q = launch.writes(q);
  arguments.r = launch.writes(r);
  arguments.rows = uint32_t(a.size(-2));
  arguments.columns = uint32_t(a.size(-1));
  arguments.q_columns = q.ndim() > 1 ? uint32_t(q.size(-1)) : 0;  // q has one dim: mode "r"
  arguments.r_rows = uint32_t(r.size(-2));
  const uint32_t matrix = words_of(arguments.rows, arguments.columns);
  arguments.width =
      std::clamp((words_beside_vectors(a.dtype()) - matrix) / arguments.rows, 1u, arguments.q_columns + 1);
  arguments.batch = batch_of(batch_dims(a), a);
  launch.multiplies(2 * double(a.numel()) * double(std::min(arguments.rows, arguments.columns)));
  const uint32_t words = rounded_words(matrix + arguments.rows * arguments.width, a.dtype());
  run_matrices(launch, "qr", a.dtype(),
               shaders::Qr{.words = std::min(words, words_beside_vectors(a.dtype()))}, arguments.batch.count,
               bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> linalg_qr_kernels() {
  return {{find_op("linalg.qr"), {supports_small_matrices, run_qr, true}}};
}

}  // namespace lunagrad::gpu
