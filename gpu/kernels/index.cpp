// index_select and embedding, of any element type.
#include "gpu/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Hot {
  uint64_t result, operand, index;
  uint64_t fault;
  uint32_t count, picked, inner, size;
  uint32_t kind;
  uint32_t padding;
};
static_assert(sizeof(Hot) <= kHotBytes);

bool supports(const Call& call) { return call.output().numel() < int64_t(1) << 31; }

// The slices of x along dim that the indices name.
void pick(const Call& call, const Tensor& from, const Tensor& indices, int dim, FaultKind kind,
          Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(from), index = contiguous(indices);
  const Shape& shape = x.shape();
  Launch launch(recorder);
  Hot hot{};
  hot.result = launch.writes(call.output());
  hot.operand = launch.reads(x);
  hot.index = launch.reads(index);
  hot.fault = recorder.stream.fault_address();
  hot.count = uint32_t(call.output().numel());
  hot.picked = uint32_t(index.numel());
  hot.inner = 1;
  for (int d = dim + 1; d < shape.size(); ++d) hot.inner *= uint32_t(shape[d]);
  hot.size = shape.empty() ? 1 : uint32_t(shape[dim]);
  hot.kind = uint32_t(kind);
  static const ShaderCode& code = find_shader("index");
  launch.run(code, {raw_type(x.dtype()), uint32_t(index.dtype())},
             {group_count((uint64_t(hot.count) + 255) / 256, recorder)}, {}, bytes_of(hot));
}

void run_index_select(const Call& call, Recorder& recorder) {
  const Tensor& x = call.input(0);
  pick(call, x, call.input(1), normalize_dim("index_select", call.integer(0), x.shape()),
       FaultKind::index_select, recorder);
}
void run_embedding(const Call& call, Recorder& recorder) {
  pick(call, call.input(1), call.input(0), 0, FaultKind::embedding, recorder);
}

}  // namespace

std::vector<KernelEntry> index_kernels() {
  return {{find_op("index_select"), {supports, run_index_select}},
          {find_op("embedding"), {supports, run_embedding}}};
}

}  // namespace lunagrad::gpu
