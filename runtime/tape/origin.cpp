#include "runtime/tape/origin.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "runtime/tape/custom.h"
#include "runtime/tape/finite.h"

namespace lunagrad {
namespace {

// Limit on the bytes of recomputed values. Beyond it a graph is traced by its saved values alone.
constexpr size_t kMostBytes = size_t(512) << 20;

enum class State { unknown, finite, inf, nan };

// The key of a value: an in-place write keeps the tensor's id and raises the version of its memory. An input
// that a node made has the key of the node's output.
uint64_t operand_key_of(const Operand& operand) {
  if (operand.node && operand.output < operand.node->out.size())
    return operand_key_of(operand.node->out[operand.output]);
  return operand.tensor_id ^ (uint64_t(operand.version) << 44);
}

class Tracer {
 public:
  explicit Tracer(const Tensor& root)
      : root_(root),
        root_key_(operand_key_of(root.node()->out[root.body()->output])),
        nodes_(nodes_of(root)) {
    Context& own = context();
    own.guard = Guard::off;
    own.trace = nullptr;
    own.capture = nullptr;
    own.grad_enabled = false;
    own.autocast = nullptr;
    own.checkpoint = nullptr;
    collect();
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) compute(**node);
  }

  Origin trace() {
    Origin origin;
    const Node* node = root_.node().get();
    uint64_t value = root_key_;
    for (;;) {
      origin.node = node;
      if (node->is_leaf()) {
        origin.kind = Origin::Kind::leaf;
        break;
      }
      const int next = guilty_input(*node, state_of(value), origin);
      if (next < 0) break;
      const Operand& operand = node->in[size_t(next)];
      if (!operand.node) {
        origin.kind = Origin::Kind::input;
        origin.operand = size_t(next);
        break;
      }
      node = operand.node.get();
      value = operand_key_of(operand);
    }
    explain(origin, value);
    return origin;
  }

 private:
  // Declared first: the restored Context must outlive every other member.
  const RestoreContext restore_;
  const Tensor root_;
  const uint64_t root_key_;
  std::vector<Node*> nodes_;
  std::unordered_map<uint64_t, Tensor> values_;
  std::unordered_map<uint64_t, State> states_;
  size_t bytes_ = 0;

  void collect() {
    values_[root_key_] = root_.detach();
    for (const Node* node : nodes_) {
      for (const auto& operand : node->in) collect(operand, false);
      for (const auto& operand : node->out) collect(operand, false);
    }
    for (const Node* node : nodes_)
      if (node->is_leaf())
        for (const auto& operand : node->out) collect(operand, true);
  }

  // Collects a saved value. With `as_it_is` also a leaf that was written since, as by an optimizer, with its
  // present value.
  void collect(const Operand& operand, bool as_it_is) {
    if (!operand.saved || !operand.layout || (!as_it_is && operand.saved->version != operand.version)) return;
    values_.try_emplace(operand_key_of(operand),
                        Tensor(operand.saved, operand.layout, operand.offset, operand.dtype));
  }

  bool has(uint64_t id) const { return values_.count(id) != 0; }

  // Computes a node's outputs again, if its operands are known and an output is missing.
  void compute(const Node& node) {
    if (node.is_leaf() || is_custom(*node.op) || node.op->writes_inputs) return;
    if (node.extras && node.extras->checkpoint) return;
    if (std::all_of(node.out.begin(), node.out.end(),
                    [&](const Operand& out) { return has(operand_key_of(out)); }))
      return;
    Call call;
    call.op = node.op;
    for (const Operand& operand : node.in) {
      if (!operand.layout) {
        call.in.push_back({});
        continue;
      }
      if (!has(operand_key_of(operand))) return;
      const Tensor& value = values_.at(operand_key_of(operand));
      call.in.push_back(Tensor(value.storage_ref(), value.layout(), value.offset(), value.dtype()));
      call.in.back().body()->is_number = operand.is_number;
    }
    if (node.attributes) {
      call.params = node.attributes->params;
      call.args = node.attributes->args;
    }
    for (const Operand& out : node.out)
      if (out.layout) bytes_ += size_t(out.layout->numel) * item_size(out.dtype);
    if (bytes_ > kMostBytes) return;
    try {
      run(call);
    } catch (const Error&) {
      return;  // an op that needs more than its operands
    }
    if (call.out.size() != node.out.size()) return;
    for (size_t i = 0; i < node.out.size(); ++i)
      values_.try_emplace(operand_key_of(node.out[i]), call.out[i]);
  }

  State state_of(uint64_t id) {
    const auto known = states_.find(id);
    if (known != states_.end()) return known->second;
    const auto value = values_.find(id);
    State state = State::unknown;
    if (value != values_.end()) {
      state = State::finite;
      if (!all_finite({value->second})) state = contents_of(value->second).nans > 0 ? State::nan : State::inf;
    }
    return states_[id] = state;
  }

  static bool asks_for_inf(const Node& node) {
    if (!node.attributes) return false;
    for (const Value& value : node.attributes->params)
      if (value.kind == Value::Kind::real && !std::isfinite(value.f)) return true;
    return false;
  }

  // The input that made the node's result bad; -1: the node itself did.
  int guilty_input(const Node& node, State result, Origin& origin) {
    if (asks_for_inf(node) && result != State::nan) return -1;
    origin.exact = true;
    int unknown = -1, closed = -1;
    for (const State wanted : {State::nan, State::inf})
      for (size_t i = 0; i < node.in.size(); ++i) {
        const Operand& operand = node.in[i];
        if (!operand.layout || !is_differentiable(operand.dtype) || operand.is_number) continue;
        const State state = state_of(operand_key_of(operand));
        if (state == wanted) {
          // An intended Inf, as in a mask, is no fault, but the NaN that this op makes of it may be.
          const bool meant = state == State::inf && result == State::nan &&
                             (!operand.node || (!operand.node->is_leaf() && asks_for_inf(*operand.node)));
          if (!meant) return int(i);
        }
        if (state == State::unknown && wanted == State::nan && operand.node) {
          origin.exact = false;
          if (unknown < 0 && leads_to_bad(operand.node.get())) unknown = int(i);
          if (closed < 0 && leads_to_closed(operand.node.get())) closed = int(i);
        }
      }
    return unknown >= 0 ? unknown : closed;
  }

  // Whether an unknown value that the node depends on comes from an op that cannot be recomputed: a custom
  // op, or a part of a checkpoint.
  bool leads_to_closed(const Node* from) {
    std::vector<const Node*> stack{from};
    std::unordered_set<const Node*> seen{from};
    while (!stack.empty()) {
      const Node* const node = stack.back();
      stack.pop_back();
      if (node->is_leaf()) continue;
      if (is_custom(*node->op) || (node->extras && node->extras->checkpoint)) return true;
      for (const Operand& operand : node->in) {
        const Node* const next = operand.node.get();
        if (next && state_of(operand_key_of(operand)) == State::unknown && seen.insert(next).second)
          stack.push_back(next);
      }
    }
    return false;
  }

  // Whether a value that the node depends on is known to be bad.
  bool leads_to_bad(const Node* from) {
    std::vector<const Node*> stack{from};
    std::unordered_set<const Node*> seen{from};
    while (!stack.empty()) {
      const Node* const node = stack.back();
      stack.pop_back();
      if (!node->is_leaf() && asks_for_inf(*node)) continue;
      for (const Operand& operand : node->in) {
        if (!operand.layout || operand.is_number) continue;
        const State state = state_of(operand_key_of(operand));
        if (state >= State::inf) return true;
        const Node* const next = operand.node.get();
        if (next && state == State::unknown && seen.insert(next).second) stack.push_back(next);
      }
      if (node->is_leaf() && !node->out.empty() && state_of(operand_key_of(node->out[0])) >= State::inf)
        return true;
    }
    return false;
  }

  void explain(Origin& origin, uint64_t value) {
    if (origin.kind == Origin::Kind::leaf) return;
    const Node& node = *origin.node;
    if (origin.kind == Origin::Kind::input) value = node.out.empty() ? 0 : operand_key_of(node.out[0]);
    if (!has(value)) return;
    Operands operands;
    for (const Operand& operand : node.in) {
      const auto known = values_.find(operand_key_of(operand));
      operands.push_back(operand.layout && known != values_.end() ? known->second : Tensor());
    }
    origin.explanation = explain_result(*node.op, operands, values_.at(value));
  }
};

}  // namespace

std::optional<Origin> origin_of(const Tensor& root) {
  if (!root.node() || all_finite({root})) return {};
  return Tracer(root).trace();
}

}  // namespace lunagrad
