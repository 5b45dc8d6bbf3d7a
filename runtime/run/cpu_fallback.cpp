#include "runtime/run/cpu_fallback.h"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/core/device_limits.h"
#include "runtime/core/primitives.h"
#include "runtime/system/memory.h"

namespace lunagrad {
namespace {

// "f64", "f32 and bf16 to f64": the dtypes of a call's operands, and of its result if it differs.
std::string types_of(const Call& call) {
  std::vector<DType> types;
  for (const Tensor& x : call.in)
    if (x.defined() && std::find(types.begin(), types.end(), x.dtype()) == types.end())
      types.push_back(x.dtype());
  std::string text;
  for (const DType type : types) text += (text.empty() ? "" : " and ") + lunagrad::text(type);
  if (call.out.empty()) return text;  // the call writes its operands, as an optimizer step does
  const DType result = call.out[0].dtype();
  if (types.empty()) return lunagrad::text(result);
  return types == std::vector<DType>{result} ? text : text + " to " + lunagrad::text(result);
}

// The shapes of tensors, and in `bytes` the memory of all of them.
std::string shapes_of(const Operands& tensors, size_t& bytes) {
  std::string shapes;
  for (const Tensor& x : tensors) {
    if (!x.defined() || x.is_number()) continue;
    shapes += (shapes.empty() ? "" : ", ") + lunagrad::text(x.shape());
    bytes += x.nbytes();
  }
  return shapes;
}
// Error if the host has no room for copies of operands and results.
void check_host_memory(const Call& call, const Device& device, const std::string& reason) {
  constexpr size_t kSmall = size_t(64) << 20;  // not worth a question to the system
  size_t bytes = 0;
  const std::string operands = shapes_of(call.in, bytes), results = shapes_of(call.out, bytes);
  if (bytes < kSmall) return;
  const size_t available = available_memory();
  if (bytes <= available) return;
  fail_as(ErrorKind::memory, call.op->name + (call.op->hidden() ? 1 : 0), ": ", reason, ", and ",
          device.name(), "'s operands of shapes ", operands, " and results of shapes ", results, " (",
          bytes >> 20, " MiB) do not fit into the ", available >> 20,
          " MiB that the host has left; cut the operands with chunk(), or use smaller types");
}

}  // namespace

void run_on_cpu_instead(Call& call, Device& device) {
  Context& ctx = context();
  const auto* const limits = dynamic_cast<const DeviceLimits*>(&device);
  std::string reason = limits ? limits->why_not(call) : std::string();
  if (ctx.strict_device) {
    const std::string why = reason.empty() ? "cannot run this op on " + types_of(call) : ": " + reason;
    fail_as(ErrorKind::device, call.op->name + (call.op->hidden() ? 1 : 0), ": ", device.name(),
            reason.empty() ? " " : "", why, ", and --strict-device forbids the CPU");
  }
  if (reason.empty()) reason = "the device has no kernel for " + types_of(call);
  check_host_memory(call, device, reason);
  if (ctx.trace) ctx.trace->fell_back(call, reason.c_str());
  const NoGrad off;
  Call on_cpu = call;
  for (Tensor& x : on_cpu.in)
    if (x.defined()) x = to(x, cpu_device());
  for (size_t i = 0; i < call.out.size(); ++i)
    on_cpu.out[i] = Tensor::empty(call.out[i].shape(), call.out[i].dtype());
  call.op->cpu(on_cpu);
  const auto bring_back = [](const Tensor& from, const Tensor& target) {
    copy_(target, to(from, target.device()));
  };
  for (size_t i = 0; i < call.out.size(); ++i) bring_back(on_cpu.out[i], call.out[i]);
  if (call.op->writes_inputs)
    for (size_t i = 0; i < call.in.size(); ++i)
      if (call.in[i].defined()) bring_back(on_cpu.in[i], call.in[i]);
}

}  // namespace lunagrad
