#include "script/snapshot.h"

#include <algorithm>
#include <cmath>

#include "runtime/ops.h"
#include "script/breakpoint_watch.h"
#include "script/signature.h"
#include "script/statistics_watch.h"

namespace lunagrad {
namespace {

// Without values, taking snapshots may cost this part of the time: one is left out when they come faster.
constexpr uint64_t kPauseBetween = 4;  // times the cost of the last

constexpr const char* kGone = "freed; step once to see it";

std::vector<int64_t> as_vector(const Dims& dims) { return {dims.begin(), dims.end()}; }

OperandInfo describe_operand(const Operand& operand) {
  OperandInfo info;
  if (!operand.layout) return info;
  info.node = operand.node ? operand.node->id : 0;
  info.tensor = operand.tensor_id;
  info.shape = as_vector(operand.layout->shape);
  info.strides = as_vector(operand.layout->strides);
  info.dtype = dtype_name(operand.dtype);
  info.saved = bool(operand.saved);
  info.saved_version = operand.version;
  info.version_now = operand.saved ? operand.saved->version : operand.version;
  return info;
}

std::string input_name(const Op& op, size_t i) {
  if (i < op.inputs.size() && !op.inputs[i].list) return op.inputs[i].name;
  const size_t list = op.inputs.empty() ? 0 : op.inputs.size() - 1;
  return text(op.inputs.empty() ? "input" : op.inputs[list].name, '[', i - list + 1, ']');
}

Tensor value_of(const Operand& operand) {
  return Tensor(operand.saved, operand.layout, operand.offset, operand.dtype);
}

}  // namespace

NodeInfo describe_node(const Node& node) {
  NodeInfo info;
  info.id = node.id;
  info.op = node.label();
  info.device = node.device ? node.device->name() : "";
  info.module = interned(node.module);
  info.place = {interned(node.line.file), node.line.line};
  info.forward_ns = ticks_to_ns(node.forward_ticks);
  if (node.op && node.attributes) {
    for (size_t i = 0; i < node.op->params.size(); ++i) {
      const ParamSpec& spec = node.op->params[i];
      info.attributes.emplace_back(spec.name, print_value(spec, node.attributes->params[i]));
    }
  }
  for (size_t i = 0; i < node.in.size(); ++i) {
    OperandInfo operand = describe_operand(node.in[i]);
    const Node* from = node.in[i].node.get();
    operand.name = from && from->is_leaf() && from->name ? interned(from->name) : input_name(*node.op, i);
    info.inputs.push_back(std::move(operand));
  }
  for (size_t i = 0; i < node.out.size(); ++i) {
    OperandInfo operand = describe_operand(node.out[i]);
    operand.node = node.id;
    operand.name = node.is_leaf()         ? interned(node.name)
                   : node.out.size() == 1 ? "output"
                                          : text("output[", i + 1, ']');
    if (node.out[i].layout) info.bytes += node.out[i].layout->numel * int64_t(item_size(node.out[i].dtype));
    info.outputs.push_back(std::move(operand));
  }
  return info;
}

ValueView view_value(const Tensor& tensor, int64_t limit) {
  ValueView view;
  view.available = true;
  view.shape = as_vector(tensor.shape());
  view.dtype = dtype_name(tensor.dtype());
  view.count = tensor.numel();
  // Of complex numbers the absolute values are shown.
  const std::vector<double> values = (is_complex(tensor.dtype()) ? abs(tensor) : tensor).to_vector<double>();
  double mean = 0,
         squares = 0;  // Welford, "Note on a method for calculating corrected sums of squares", 1962
  int64_t finite = 0;
  for (const double x : values) {
    if (std::isnan(x)) {
      ++view.nans;
    } else if (std::isinf(x)) {
      ++view.infs;
    } else {
      view.min = finite ? std::min(view.min, x) : x;
      view.max = finite ? std::max(view.max, x) : x;
      view.zeros += x == 0;
      const double difference = x - mean;
      mean += difference / double(++finite);
      squares += difference * (x - mean);
    }
  }
  view.mean = mean;
  view.std = finite > 1 ? std::sqrt(squares / double(finite - 1)) : 0;
  const size_t shown = size_t(std::clamp<int64_t>(limit, 0, view.count));
  view.values.assign(values.begin(), values.begin() + std::ptrdiff_t(shown));
  return view;
}

std::shared_ptr<const TapeSnapshot> TapeWatch::tape() const {
  const std::lock_guard lock(mutex_);
  return tape_;
}

void TapeWatch::begin_step(int64_t step, bool values) {
  step_ = step;
  if (values || values_) forget_values();
  values_ = values;
}

void TapeWatch::forget_values() {
  made_.clear();
  gradients_.clear();
  nodes_.clear();
}

void TapeWatch::clear() {
  forget_values();
  values_ = false;
  const std::lock_guard lock(mutex_);
  tape_ = nullptr;
}

void TapeWatch::ran(const Call& call) {
  for (const Tensor& out : call.out)
    if (out.defined())
      made_.insert_or_assign(out.id(), Tensor(out.storage_ref(), out.layout(), out.offset(), out.dtype()));
}

void TapeWatch::begin(std::span<Node* const> nodes) {
  const bool measured = statistics_ && statistics_->looking();  // its numbers belong to this very tape
  if (!watching() || (!values_ && !measured && ticks() - last_end_ < kPauseBetween * last_cost_)) return;
  const uint64_t start = ticks();
  capturing_ = true;
  nodes_.clear();
  gradients_.clear();
  visited_.assign(nodes.begin(), nodes.end());
  building_ = std::make_unique<TapeSnapshot>();
  building_->step = step_;
  building_->nodes.reserve(nodes.size());
  for (Node* node : nodes) {
    building_->nodes.push_back(describe_node(*node));
    if (values_ || node->is_leaf()) nodes_.emplace(node->id, Ref<Node>(node));
  }
  last_cost_ = ticks() - start;
}

void TapeWatch::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (capturing_ && values_) gradients_.insert_or_assign(Key{node.id, output}, gradient.detach());
}

void TapeWatch::end() {
  if (!capturing_) return;
  const uint64_t start = ticks();
  for (size_t i = 0; i < visited_.size(); ++i) {
    NodeInfo& info = building_->nodes[i];
    info.backward_ns = ticks_to_ns(visited_[i]->backward_ticks);
  }
  visited_.clear();
  capturing_ = false;
  if (statistics_) statistics_->describe(*building_);
  std::shared_ptr<const TapeSnapshot> tape = std::move(building_);
  {
    const std::lock_guard lock(mutex_);
    tape_.swap(tape);
  }
  tape.reset();
  last_end_ = ticks();
  last_cost_ += last_end_ - start;
}

void TapeWatch::show(const Finding& finding) {
  if (!watching() || !finding.node) return;
  std::vector<Node*> nodes;
  for (const Ref<Node>& node : finding.pass) nodes.push_back(node.get());
  if (nodes.empty()) nodes = nodes_of(finding.value);
  auto tape = std::make_shared<TapeSnapshot>();
  tape->step = finding.hit.step;
  for (Node* node : nodes) {
    tape->nodes.push_back(describe_node(*node));
    nodes_.emplace(node->id, Ref<Node>(node));
  }
  const auto keep = [&](const Tensor& x) {
    made_.insert_or_assign(x.id(), Tensor(x.storage_ref(), x.layout(), x.offset(), x.dtype()));
  };
  for (const Tensor& x : finding.operands) keep(x);
  const bool arrived = finding.hit.backward && finding.breakpoint.condition != Breakpoint::Condition::not_finite;
  if (arrived) gradients_.insert_or_assign(Key{finding.node->id, 0}, finding.value.detach());
  if (!finding.hit.backward) keep(finding.value);
  const std::lock_guard lock(mutex_);
  tape_ = std::move(tape);
}

ValueView TapeWatch::inspect(uint64_t id, int output, Which which, int64_t limit) const {
  const auto gone = [](const char* reason) {
    ValueView view;
    view.reason = reason;
    return view;
  };
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return gone(kGone);
  const Node& node = *found->second;
  if (output < 0 || size_t(output) >= node.out.size()) return gone("the node has no such output");
  if (which == Which::gradient) {
    const auto kept = gradients_.find(Key{id, uint32_t(output)});
    if (kept != gradients_.end()) return view_value(kept->second, limit);
    if (!node.is_leaf()) return gone(values_ ? "no gradient reached it" : kGone);
    return node.grad.defined() ? view_value(node.grad, limit) : gone("the gradient was cleared");
  }
  const Operand& operand = node.out[size_t(output)];
  if (operand.saved) {
    ValueView view = view_value(value_of(operand), limit);
    if (operand.saved->version != operand.version)
      view.reason = text("written to since, by ", operand.saved->last_writer, "_");
    return view;
  }
  const auto made = made_.find(operand.tensor_id);
  return made == made_.end() ? gone(kGone) : view_value(made->second, limit);
}

}  // namespace lunagrad
