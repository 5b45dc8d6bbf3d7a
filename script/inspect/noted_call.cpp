#include "script/inspect/noted_call.h"

#include <algorithm>

#include "runtime/core/op_name.h"
#include "runtime/ops.h"
#include "runtime/statistics/summary.h"
#include "runtime/tape/finite.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

// A pause is to be seen at once: the values of larger tensors are not read for it.
constexpr int64_t kMostAtPause = int64_t(1) << 24;
constexpr size_t kMostValues = 6;

// The summary is computed where the tensor is; it does not tell the sign of infinities.
Contents read_contents(const Tensor& x) {
  const Summary summary = summarize(x);
  Contents contents;
  contents.count = summary.count;
  contents.nans = summary.nans;
  contents.infs = summary.infs;
  contents.zeros = summary.zeros;
  contents.min = summary.min;
  contents.max = summary.max;
  contents.mean = summary.mean;
  if (summary.infs > 0 && is_floating(x.dtype())) contents.negative_infs = int64_t(sum(isneginf(x)).item());
  return contents;
}

}  // namespace

NotedCall note_of(const Call& call) {
  const Context& own = context();
  return {call, own.line, own.module};
}

std::string value_text(const Tensor& given) {
  const Tensor x = given.detach();
  if (x.numel() > kMostAtPause || context().capturing) return describe_contents(x, {});
  try {
    const WithoutListeners aside;
    const NoGrad off;
    if (is_differentiable(x.dtype())) return describe_contents(x, read_contents(x));
    const Tensor real = to(x, DType::f32);  // whole numbers, such as labels that may be out of range
    const std::string line = describe_contents(real, read_contents(real));
    return text(x.dtype(), line.substr(line.find(' ')));
  } catch (const Error&) {  // a call that the device had not computed yet has failed
    return describe_contents(x, {});
  }
}

void describe(const NotedCall& noted, PausePosition& at) {
  const Call& call = noted.call;
  at.op = public_op_name(call.op->name);
  if (noted.line.known()) at.place = place_of(noted.line);
  for (size_t i = 0; i < call.in.size() && at.operands.size() < kMostValues; ++i)
    if (call.in[i].defined()) at.operands.push_back({input_name(*call.op, i), value_text(call.in[i])});
  for (const Tensor& result : call.out)
    if (result.defined() && at.results.size() < kMostValues)
      at.results.push_back({"result", value_text(result)});
}

}  // namespace lunagrad
