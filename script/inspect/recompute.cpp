#include "script/inspect/recompute.h"

#include "runtime/ops.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

// A scalar whose backward passes the recorded seeds to several roots.
Tensor root_of(const TensorList& roots, const TensorList& seeds) {
  CustomOp op;
  op.record = custom_record("roots");
  op.forward = [](CustomContext&, const TensorList& inputs) {
    return TensorList{zeros({}, DType::f32, inputs[0].device())};
  };
  op.backward = [seeds](const CustomContext&, const TensorList&) { return seeds; };
  return apply_custom(op, roots)[0];
}

class Recomputing {
 public:
  explicit Recomputing(const PassRecomputation& recomputation)
      : recomputation_(recomputation),
        nodes_(recomputation.pass.nodes),
        made_(nodes_.size()),
        uses_(nodes_.size()) {
    for (const KeptNode& node : nodes_)
      for (const KeptOperand& operand : node.in)
        if (const int maker = find(operand); maker >= 0) ++uses_[size_t(maker)];
    for (const KeptPass::Given& given : recomputation.pass.given)
      given_[{given.node, given.output}] = given.gradient;
  }

  // With create_graph, a leaf's gradient refers to the leaf, which holds it: this breaks the cycle.
  ~Recomputing() {
    for (const Tensor& leaf : leaves_) leaf.set_grad({});
  }

  std::map<size_t, std::string> run() {
    const WithoutListeners aside;
    const GradMode on(true);
    for (size_t i = nodes_.size(); i-- > 0;) {
      recomputation_.check_wanted();
      context().line = nodes_[i].line;
      try {
        make(i);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::cancelled) throw;
        missing_.emplace(i, error.what());
        made_[i].clear();
      }
      release_inputs(i);
    }
    if (recomputation_.backward) differentiate();
    return std::move(missing_);
  }

 private:
  int find(const KeptOperand& operand) const {
    return operand.maker ? recomputation_.pass.find(operand.maker) : -1;
  }

  Tensor input(const KeptNode& node, size_t i) {
    const KeptOperand& operand = node.in[i];
    if (!operand.layout) return {};
    const int maker = find(operand);
    if (maker < 0) {
      const Tensor plain = recomputation_.source(node, int(i)).detach();
      if (operand.is_number) plain.body()->is_number = true;
      return plain;
    }
    if (const auto gone = missing_.find(size_t(maker)); gone != missing_.end()) fail(gone->second);
    return made_[size_t(maker)][operand.output];
  }

  void make(size_t i) {
    const KeptNode& node = nodes_[i];
    TensorList outputs;
    if (!node.op) {
      outputs = {recomputation_.source(node, -1).detach()};
      outputs[0].requires_grad_();
      if (recomputation_.backward && recomputation_.pass.create_graph) leaves_.push_back(outputs[0]);
    } else {
      TensorList inputs;
      for (size_t k = 0; k < node.in.size(); ++k) inputs.push_back(input(node, k));
      outputs = run_again(node, node.params, inputs);
      // A write in place casts its result to the type of the tensor.
      for (size_t k = 0; k < outputs.size() && k < node.out.size(); ++k)
        if (outputs[k].defined() && outputs[k].dtype() != node.out[k].dtype)
          outputs[k] = to(outputs[k], node.out[k].dtype);
    }
    for (uint32_t k = 0; k < outputs.size(); ++k) {
      if (!outputs[k].defined()) continue;
      recomputation_.value(i, k, outputs[k].detach());
      if (recomputation_.backward && node.reached && outputs[k].requires_grad()) follow(i, k, outputs[k]);
    }
    made_[i] = Small<Tensor, 1>(outputs);
  }

  void follow(size_t i, uint32_t output, const Tensor& made) {
    if (const auto given = given_.find({i, output}); given != given_.end()) {
      if (uses_[i] == 0) return;  // a root is seeded with it instead
      register_hook(made, [gradient = given->second](const Tensor&) { return gradient; });
    }
    if (!recomputation_.wants_gradient(i, output)) return;
    register_hook(made, [this, i, output](const Tensor& gradient) {
      recomputation_.check_wanted();
      const NoGrad off;
      recomputation_.gradient(i, output, clone(gradient.detach()));
      return Tensor();
    });
  }

  // Releases the values that no remaining node needs.
  void release_inputs(size_t i) {
    for (const KeptOperand& operand : nodes_[i].in)
      if (const int maker = find(operand); maker >= 0 && --left(size_t(maker)) == 0)
        made_[size_t(maker)].clear();
  }
  int& left(size_t i) {
    if (left_.empty()) left_ = uses_;
    return left_[i];
  }

  void differentiate() {
    TensorList roots, seeds;
    for (const auto& [place, gradient] : given_) {
      const auto& [node, output] = place;
      if (uses_[node] != 0 || output >= made_[node].size() || !made_[node][output].requires_grad()) continue;
      roots.push_back(made_[node][output]);
      seeds.push_back(gradient);
      recomputation_.gradient(node, output, gradient);
    }
    for (auto& outputs : made_) outputs.clear();
    if (roots.empty()) return;
    const Tensor seed = roots.size() == 1 ? seeds[0] : Tensor();
    const Tensor root = roots.size() == 1 ? roots[0] : root_of(roots, seeds);
    roots.clear();
    try {
      lunagrad::backward(root, seed, {.create_graph = recomputation_.pass.create_graph});
    } catch (const Error& error) {
      // As in the run: only the gradients computed so far exist.
      if (error.kind() == ErrorKind::cancelled) throw;
    }
  }

  const PassRecomputation& recomputation_;
  const std::vector<KeptNode>& nodes_;
  std::vector<Small<Tensor, 1>> made_;
  std::vector<int> uses_, left_;
  std::map<std::pair<size_t, uint32_t>, Tensor> given_;
  std::map<size_t, std::string> missing_;
  TensorList leaves_;
};

}  // namespace

TensorList run_again(const KeptNode& node, const Values& params, const TensorList& inputs) {
  if (node.custom) {
    if (!node.custom->again) fail(node.label(), " cannot be called again");
    return apply_custom(node.custom->again(inputs), inputs);
  }
  if (is_custom(*node.op)) fail("a custom op inside a checkpoint is not kept");
  Call call;
  call.op = node.op;
  call.in = Operands(inputs);
  call.params = params;
  call.args = node.args;
  run(call);
  return {call.out.begin(), call.out.end()};
}

std::map<size_t, std::string> PassRecomputation::run() const { return Recomputing(*this).run(); }

}  // namespace lunagrad
