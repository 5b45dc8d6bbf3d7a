// The places of the elements that are not zero, of any type that can be turned into truth values.
#include "gpu/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

enum class Mode : uint32_t { count, add_up, put };

struct Arguments {
  uint64_t result, truth, before;
  uint32_t count, dims;
  uint32_t size[kMaxDims];
};
constexpr uint64_t kBlock = 1024;

bool supports(const Call& call) {
  return call.input(0).dtype() != DType::f64 && call.input(0).numel() < int64_t(1) << 31;
}

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &x = call.input(0), truth = contiguous(to(x, DType::boolean));
  const uint64_t blocks = (uint64_t(x.numel()) + kBlock - 1) / kBlock;
  const Scratch before(recorder, blocks * sizeof(uint32_t));
  Arguments a{};
  a.count = uint32_t(x.numel());
  a.dims = uint32_t(x.ndim());
  for (int d = 0; d < x.ndim(); ++d) a.size[d] = uint32_t(x.size(d));
  static const ShaderCode& code = find_shader("nonzero");
  for (const Mode mode : {Mode::count, Mode::add_up, Mode::put}) {
    Launch launch(recorder);
    if (mode != Mode::add_up) a.truth = launch.reads(truth);
    if (mode == Mode::put) a.result = launch.writes(call.output());
    if (mode != Mode::count) a.before = launch.reads(before);
    if (mode != Mode::put) a.before = launch.writes(before);
    launch.run(code, {uint32_t(mode)}, {mode == Mode::add_up ? 1 : group_count(blocks, recorder)},
               bytes_of(a));
  }
}

}  // namespace

std::vector<KernelEntry> nonzero_kernels() { return {{find_op("nonzero"), {supports, run, true}}}; }

}  // namespace lunagrad::gpu
