// full, zeros, ones and empty: fills with a number.
#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"

namespace lunagrad::gpu {
namespace {

bool supports(const Call& call) {
  return call.output().dtype() != DType::f64 && call.output().numel() < (int64_t(1) << 31);
}
bool supports_empty(const Call&) { return true; }

Tensor number_of(const Value& value) {
  if (value.kind == Value::Kind::real) return Tensor::number(value.f);
  return Tensor::number(value.kind == Value::Kind::boolean ? int64_t(value.b) : value.i);
}

void run_full(const Call& call, Recorder& recorder) {
  copy(call.output(), number_of(call.params[1]), recorder);
}
void run_zeros(const Call& call, Recorder& recorder) {
  copy(call.output(), Tensor::number(int64_t(0)), recorder);
}
void run_ones(const Call& call, Recorder& recorder) {
  copy(call.output(), Tensor::number(int64_t(1)), recorder);
}
void run_empty(const Call&, Recorder&) {}

}  // namespace

std::vector<KernelEntry> create_kernels() {
  return {{find_op("full"), {supports, run_full}},
          {find_op("zeros"), {supports, run_zeros}},
          {find_op("ones"), {supports, run_ones}},
          {find_op("empty"), {supports_empty, run_empty}}};
}

}  // namespace lunagrad::gpu
