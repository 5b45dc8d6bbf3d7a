#include "runtime/run/cpu_fallback.h"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/core/primitives.h"

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

}  // namespace

void run_on_cpu_instead(Call& call, Device& device) {
  Context& ctx = context();
  if (ctx.strict_device)
    fail_as(ErrorKind::device, call.op->name + (call.op->hidden() ? 1 : 0), ": ", device.name(),
            " cannot run this op on ", types_of(call), ", and --strict-device forbids the CPU");
  if (ctx.trace) ctx.trace->fell_back(call, ("the device has no kernel for " + types_of(call)).c_str());
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
