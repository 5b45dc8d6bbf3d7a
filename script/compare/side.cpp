#include "script/compare/side.h"

#include <algorithm>

#include "runtime/ops.h"
#include "script/inspect/recompute.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

// Notes when a device leaves a call to the CPU.
class Fallback final : public Trace {
 public:
  Fallback() : previous_(std::exchange(context().trace, this)) {}
  ~Fallback() override { context().trace = previous_; }
  void ran(const Call&, uint64_t) override {}
  void fell_back(const Call& call, const char* reason) override {
    if (note.empty()) note = text("the CPU computed ", call.op->name, ": ", reason);
  }
  std::string note;

 private:
  Trace* const previous_;
};

TensorList leaves_of(const KeptNode& node, const TensorList& inputs) {
  TensorList leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor leaf = inputs[i].defined() ? inputs[i].detach() : inputs[i];
    if (leaf.defined()) {
      leaf.body()->is_number = node.in[i].is_number;
      if (node.in[i].maker != 0) leaf.requires_grad_();
    }
    leaves.push_back(std::move(leaf));
  }
  return leaves;
}

// Whether the results come from one node whose inputs are the leaves themselves.
bool is_one_node(const KeptNode& node, const TensorList& outputs, const TensorList& leaves) {
  for (const Tensor& output : outputs) {
    if (!output.defined() || !output.requires_grad()) continue;
    const Node& made = *output.node();
    if (made.op != node.op || made.in.size() != leaves.size()) return false;
    for (size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i].defined() && made.in[i].tensor_id != leaves[i].id()) return false;
  }
  return true;
}

}  // namespace

Tensor laid_out_like(const Tensor& dense, const Tensor& like) {
  if (like.is_contiguous() || like.numel() == 0 || overlaps(like.shape(), like.strides()))
    return contiguous(dense);
  int64_t extent = 1;
  for (int d = 0; d < like.ndim(); ++d) extent += (like.size(d) - 1) * like.strides()[d];
  const Tensor memory = zeros({extent}, dense.dtype(), dense.device());
  return copy_(as_strided(memory, like.shape(), like.strides(), 0), dense);
}

Tensor moved(const Tensor& x, Device& device) {
  const NoGrad off;
  if (x.is_contiguous() || &x.device() == &device) return to(x.detach(), device);
  const int64_t extent = int64_t(x.storage().bytes / item_size(x.dtype()));
  const Tensor memory(x.storage_ref(), Layout::contiguous({extent}), 0, x.dtype());
  return Tensor(to(memory, device).storage_ref(), x.layout(), x.offset(), x.dtype());
}

DType Side::type_of(DType type) const {
  if (!type_ || !is_differentiable(type)) return type;
  if (!is_complex(type)) return *type_;
  return is_16bit_float(*type_) ? type : complex_type(*type_);
}

Tensor Side::bring(const Tensor& x, const KeptNode& node) const {
  if (!x.defined() || x.is_number()) return x;
  const NoGrad off;
  // The cast and the layout run on the value's own device: a wrong kernel of this side must not spoil the
  // operands.
  return moved(laid_out_like(to(x.detach(), type_of(x.dtype())), x), device_of(node));
}

TensorList Side::bring(const TensorList& values, const KeptNode& node) const {
  TensorList brought;
  for (const Tensor& x : values) brought.push_back(bring(x, node));
  return brought;
}

Tensor Side::rounded(const Tensor& x) const {
  if (!x.defined() || x.is_number() || type_of(x.dtype()) == x.dtype()) return x;
  const NoGrad off;
  return laid_out_like(to(to(x.detach(), type_of(x.dtype())), x.dtype()), x);
}

Values Side::params_of(const KeptNode& node) const {
  Values params = node.params;
  for (size_t i = 0; i < params.size() && i < node.op->params.size(); ++i)
    if (node.op->params[i].kind == ParamKind::dtype && params[i].present())
      params[i] = Value(type_of(DType(params[i].i)));
  return params;
}

TensorList Side::results_of(const KeptNode& node, const TensorList& inputs) const {
  TensorList outputs = run_again(node, params_of(node), inputs);
  // A write in place casts its result to the type of the tensor.
  for (size_t i = 0; i < outputs.size() && i < node.out.size(); ++i)
    if (const DType type = type_of(node.out[i].dtype); outputs[i].defined() && outputs[i].dtype() != type)
      outputs[i] = to(outputs[i], type);
  return outputs;
}

// An op with a hidden record relies on its public op for the types of its operands. Where it has no kernel
// for 16-bit operands, the public op would have cast the operands to f32 and the results back.
bool Side::goes_through_f32(const KeptNode& node, const TensorList& inputs) const {
  const Op& op = *node.op;
  if (!type_ || !is_16bit_float(*type_) || !op.hidden() || op.half_through_f32 || !op.cpu) return false;
  if (device_of(node).is_cpu()) return true;
  Call call;
  call.op = node.op;
  call.in = Operands(inputs);
  call.params = params_of(node);
  call.args = node.args;
  op.shape(call);
  return !device_of(node).supports(call);
}

Side::Computed Side::compute(const KeptNode& node, const TensorList& inputs) const {
  if (goes_through_f32(node, inputs)) {
    const Side f32_side(device_, DType::f32);
    Computed computed = f32_side.compute(node, f32_side.bring(inputs, node));
    computed.outputs = bring(computed.outputs, node);
    return computed;
  }
  const EagerCalls at_once;
  const GradMode on(true);
  context().device = &device_of(node);
  context().line = node.line;
  const Fallback fallback;
  const TensorList leaves = leaves_of(node, inputs);
  Computed computed;
  const TensorList outputs = results_of(node, leaves);
  computed.one_node = !is_custom(*node.op) && is_one_node(node, outputs, leaves);
  for (const Tensor& output : outputs)
    computed.outputs.push_back(output.defined() ? output.detach() : output);
  computed.note = fallback.note;
  return computed;
}

TensorList Side::differentiate(const KeptNode& node, const CallValues& values, bool one_node) const {
  if (goes_through_f32(node, values.inputs)) {
    const Side f32_side(device_, DType::f32);
    return bring(
        f32_side.differentiate(node,
                               {f32_side.bring(values.inputs, node), f32_side.bring(values.outputs, node),
                                f32_side.bring(values.gradients, node)},
                               one_node),
        node);
  }
  const EagerCalls at_once;
  const GradMode on(true);
  context().device = &device_of(node);
  context().line = node.line;
  const TensorList leaves = leaves_of(node, values.inputs);
  TensorList outputs;
  if (one_node) {
    Call call;
    call.op = node.op;
    call.in = Operands(leaves);
    call.params = params_of(node);
    call.args = node.args;
    node.op->shape(call);
    // Some results have a type of their own, such as the f32 sums of an op on 16-bit floats.
    for (size_t i = 0; i < call.out.size(); ++i) {
      const NoGrad off;
      call.out[i] = to(values.outputs[i].detach(), call.out[i].dtype()).detach();
    }
    record(call, 0);
    outputs = {call.out.begin(), call.out.end()};
  } else {
    outputs = results_of(node, leaves);
  }
  TensorList roots, seeds, wanted;
  std::vector<size_t> places;
  for (size_t i = 0; i < outputs.size() && i < values.gradients.size(); ++i) {
    if (!values.gradients[i].defined() || !outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    seeds.push_back(values.gradients[i]);
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].defined() && node.in[i].maker != 0) {
      wanted.push_back(leaves[i]);
      places.push_back(i);
    }
  TensorList gradients(leaves.size());
  if (roots.empty() || wanted.empty()) return gradients;
  GradOptions options;
  options.allow_unused = true;
  const TensorList found = grad(roots, wanted, seeds, options);
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i].defined()) gradients[places[i]] = found[i].detach();
  return gradients;
}

}  // namespace lunagrad
