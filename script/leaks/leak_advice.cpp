#include "script/leaks/leak_advice.h"

#include <algorithm>

namespace lunagrad {
namespace {

bool has(const HeapPath& path, HeapStep::Kind kind, const char* name = nullptr) {
  return std::any_of(path.begin(), path.end(),
                     [&](const HeapStep& step) { return step.kind == kind && (!name || step.name == name); });
}

}  // namespace

std::string tape_advice(const HeldTape& held) {
  if (has(held.path, HeapStep::Kind::gradient))
    return "set the gradient to nil with zero_grad(), or make it without create_graph";
  if (has(held.path, HeapStep::Kind::hook))
    return "let the hook keep numbers or x:detach(), and take it away with handle:remove()";
  if (held.carries)
    return held.one_number ? "add numbers, as with loss:item(), or loss:detach()"
                           : "cut the graph between steps: keep state:detach()";
  const char* const keep =
      held.one_number ? "keep x:item(), or x:detach(), in place of x" : "keep x:detach() in place of x";
  if (held.passed) return keep;
  return std::string("no backward pass uses this graph: compute it within lg.no_grad, or ") + keep;
}

std::string growth_advice(Leak::What what, const HeapPath& path) {
  if (what == Leak::What::tensors && !has(path, HeapStep::Kind::field, "state"))
    return "drop what is old, as by setting its key to nil, or keep one tensor and write into it";
  if (has(path, HeapStep::Kind::field, "state") || has(path, HeapStep::Kind::field, "param_groups"))
    return "an optimizer keeps the parameters that it was given and their state: write new values into the "
           "old "
           "ones with :copy_(), or make a new optimizer";
  return "drop the parameters that were replaced, or write new values into the old ones with :copy_()";
}

}  // namespace lunagrad
