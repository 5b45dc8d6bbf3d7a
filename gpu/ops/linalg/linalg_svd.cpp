// Singular values and vectors of small matrices (gpu/ops/linalg/svd.glsl), and pseudoinverses computed from
// them.
#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/linalg/matrices.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct SvdArguments {
  Matrix operand;
  uint64_t u, values, vh;
  uint64_t fault;
  uint32_t rows, columns;
  uint32_t left_columns;
  uint32_t batched;
  uint32_t unsound_fault, convergence_fault;
  Batch batch;
};

int64_t longer(const Tensor& a) { return std::max(a.size(-1), a.size(-2)); }
int64_t shorter(const Tensor& a) { return std::min(a.size(-1), a.size(-2)); }

// Shared memory for the left vectors, which may be completed, and the right vectors.
uint32_t svd_words(const Tensor& a, bool complete) {
  return words_of(longer(a), complete ? longer(a) : shorter(a)) + words_of(shorter(a), shorter(a));
}
bool fits(const Tensor& a, bool complete) {
  return has_small_matrices(a) && svd_words(a, complete) <= words_beside_vectors(a.dtype());
}

// Undefined u and vh are not computed.
void decompose(const Tensor& a, const Tensor& u, const Tensor& values, const Tensor& vh, bool complete,
               Recorder& recorder) {
  const bool adjoint = a.size(-2) < a.size(-1);
  Launch launch(recorder);
  SvdArguments arguments{};
  arguments.operand = matrix_of(a, launch.reads(a), adjoint);
  arguments.values = launch.writes(values);
  if (u.defined()) {
    arguments.u = launch.writes(u);
    arguments.vh = launch.writes(vh);
  }
  arguments.fault = recorder.stream.fault_address();
  arguments.rows = uint32_t(longer(a));
  arguments.columns = uint32_t(shorter(a));
  arguments.left_columns = complete ? arguments.rows : arguments.columns;
  arguments.batched = a.ndim() > 2;
  arguments.unsound_fault = uint32_t(FaultKind::not_finite);
  arguments.convergence_fault = uint32_t(FaultKind::singular_values);
  arguments.batch = batch_of(batch_dims(a), a);
  constexpr double kUsualSweeps = 8, kWaiting = 8;  // kWaiting: most of the time goes to shared memory access
  launch.multiplies(kWaiting * kUsualSweeps * 5 * double(a.numel()) * arguments.columns);
  const uint32_t words = rounded_words(svd_words(a, complete), a.dtype());
  run_matrices(launch, "svd", a.dtype(),
               shaders::Svd{.vectors = u.defined(),
                            .words = std::min(words, words_beside_vectors(a.dtype())),
                            .adjoint = adjoint},
               arguments.batch.count, bytes_of(arguments));
}

bool supports_svd(const Call& call) { return fits(call.input(0), call.flag(0)); }
void run_svd(const Call& call, Recorder& recorder) {
  decompose(call.input(0), call.output(0), call.output(1), call.output(2), call.flag(0), recorder);
}

bool supports_values(const Call& call) { return fits(call.input(0), false); }
void run_values(const Call& call, Recorder& recorder) {
  decompose(call.input(0), {}, call.output(), {}, false, recorder);
}

// The parameters of pinv.
constexpr size_t kRcondAt = 0, kAtolAt = 2, kRtolAt = 3;
constexpr int kHermitianAt = 1;

Tensor adjoint_of(const Tensor& x) {
  const Tensor turned = transpose(x, -2, -1);
  return is_complex(x.dtype()) ? conj(turned) : turned;
}

// A^+ = V S^-1 U^H, without the singular values that count as 0 (runtime/ops/linalg/linalg_svd.cpp).
void run_pinv(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Tensor a = call.input(0);
  if (call.flag(kHermitianAt)) a = tril(a) + adjoint_of(tril(a, -1));
  const Value &atol = call.params[kAtolAt],
              &rtol = call.params[kRtolAt].present() ? call.params[kRtolAt] : call.params[kRcondAt];
  const double absolute = atol.present() ? atol.f : 0;
  const double relative = rtol.present() ? rtol.f : absolute > 0 ? 0 : 0x1p-23 * double(longer(a));
  const auto sized = [&](int64_t rows, int64_t columns) {
    Shape shape = batch_dims(a);
    shape.push_back(rows);
    shape.push_back(columns);
    return Tensor::empty(shape, a.dtype(), a.device());
  };
  const int64_t k = shorter(a);
  const Tensor u = sized(a.size(-2), k), vh = sized(k, a.size(-1));
  Shape values_shape = batch_dims(a);
  values_shape.push_back(k);
  const Tensor values = Tensor::empty(values_shape, DType::f32, a.device());
  decompose(a, u, values, vh, false, recorder);
  const Tensor bound = maximum(narrow(values, -1, 0, 1) * relative, Tensor::number(absolute));
  const Tensor inverse = where(gt(values, bound), reciprocal(values), Tensor::number(0.0));
  const Tensor scaled = adjoint_of(vh) * to(unsqueeze(inverse, -2), a.dtype());
  copy(call.output(), matmul(scaled, adjoint_of(u)), recorder);
}

}  // namespace

std::vector<KernelEntry> linalg_svd_kernels() {
  return {{find_op("linalg.svd"), {supports_svd, run_svd, true}},
          {find_op("linalg.svdvals"), {supports_values, run_values, true}},
          {find_op("linalg.pinv"), {supports_values, run_pinv, true}}};
}

}  // namespace lunagrad::gpu
