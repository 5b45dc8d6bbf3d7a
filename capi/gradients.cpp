// Gradients of the C library.
#include "capi/engine.h"
#include "runtime/tape/backward.h"

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

BackwardOptions options_from(uint32_t flags, uint32_t known) {
  if (flags & ~known) refuse(LG_INVALID_ARGUMENT, "flags has unknown bits (", flags, ")");
  return {.retain_graph = (flags & LG_RETAIN_GRAPH) != 0, .create_graph = (flags & LG_CREATE_GRAPH) != 0};
}

TensorList tensors_from(lg_tensor* const* handles, size_t count, const Engine& engine, const char* name) {
  if (count) require(handles, name);
  TensorList found;
  for (size_t i = 0; i < count; ++i) found.push_back(tensor_of(handles[i], engine));
  return found;
}

}  // namespace

lg_code lg_backward(lg_tensor* root, lg_tensor* seed, uint32_t flags) {
  return capi::wall([&] {
    const HandleSlot& slot = slot_of(root, Kind::tensor);
    const Work work(*slot.engine);
    const Tensor start = slot.tensor;
    // A leaf would own a gradient whose history owns the leaf: such a cycle is never freed.
    if (flags & LG_CREATE_GRAPH)
      refuse(LG_INVALID_ARGUMENT, "LG_CREATE_GRAPH is a flag of lg_grad(), whose gradients have no owner");
    backward(start, seed ? tensor_of(seed, *slot.engine) : Tensor(), options_from(flags, LG_RETAIN_GRAPH));
  });
}

lg_code lg_grad(lg_tensor* const* outputs, size_t n_outputs, lg_tensor* const* inputs, size_t n_inputs,
                lg_tensor* const* seeds, uint32_t flags, lg_tensor** grads) {
  return capi::wall([&] {
    require(grads, "grads");
    require(outputs, "outputs");
    if (n_outputs == 0 || n_inputs == 0) refuse(LG_INVALID_ARGUMENT, "there are no outputs or no inputs");
    Engine& engine = *slot_of(outputs[0], Kind::tensor).engine;
    const Work work(engine);
    GradOptions options{options_from(flags, LG_RETAIN_GRAPH | LG_CREATE_GRAPH | LG_ALLOW_UNUSED)};
    options.allow_unused = (flags & LG_ALLOW_UNUSED) != 0;
    const TensorList from = tensors_from(outputs, n_outputs, engine, "outputs");
    const TensorList to = tensors_from(inputs, n_inputs, engine, "inputs");
    TensorList given;
    for (size_t i = 0; seeds && i < n_outputs; ++i)
      given.push_back(seeds[i] ? tensor_of(seeds[i], engine) : Tensor());
    TensorList found = grad(from, to, given, options);
    engine.slots.reserve(found.size());
    for (size_t i = 0; i < found.size(); ++i)
      grads[i] = found[i].defined() ? engine.slots.add(std::move(found[i])) : nullptr;
  });
}
