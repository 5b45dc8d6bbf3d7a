#include "script/inspect/tape_watch.h"

#include <time.h>

#include <algorithm>

#include "runtime/memory_limit.h"
#include "runtime/ops.h"
#include "script/inspect/breakpoint_watch.h"
#include "script/inspect/statistics_watch.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

// Without values, snapshots may cost 1 % of the time; more frequent ones are skipped.
constexpr double kPauseBetween = 100;  // times the cost of the last

double processor_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * double(now.tv_sec) + double(now.tv_nsec);
}

constexpr const char* kGone = "Not captured";

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

// Approximate bytes of a record: its strings and lists, and the allocator's overhead.
size_t bytes_of(const TapeSnapshot& tape) {
  const auto list = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
  const auto text = [](const std::string& s) { return s.capacity() > 15 ? s.capacity() + 17 : 0; };
  size_t bytes = sizeof tape + list(tape.nodes);
  for (const NodeInfo& node : tape.nodes) {
    bytes += text(node.module) + text(node.place.file) + list(node.attributes) + list(node.inputs) +
             list(node.outputs);
    for (const auto& [name, value] : node.attributes) bytes += text(name) + text(value);
    for (const auto* side : {&node.inputs, &node.outputs})
      for (const OperandInfo& operand : *side)
        bytes += text(operand.name) + list(operand.shape) + list(operand.strides) + 32;
  }
  return bytes;
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

std::shared_ptr<const TapeSnapshot> TapeWatch::tape() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::shared_ptr<const TapeSnapshot> TapeWatch::tape(int64_t step) const {
  const std::lock_guard lock(mutex_);
  const Step* const kept = step < 0 ? nullptr : find_step(step);
  return kept ? kept->tape : nullptr;
}

History TapeWatch::history() const {
  const std::lock_guard lock(mutex_);
  History history;
  history.budget = budget_bytes_;
  for (const Step& step : steps_) {
    const size_t values = step.values ? step.values->bytes() : 0;
    history.steps.push_back(
        {step.step, step.tape_bytes, values, bool(step.values), step.values && step.values->complete()});
    history.bytes += step.tape_bytes;
  }
  history.bytes += value_budget_.used();  // storage that several steps hold counts once
  return history;
}

// The caller holds the lock, or is the session's thread.
const TapeWatch::Step* TapeWatch::find_step(int64_t step) const {
  if (step < 0) return steps_.empty() ? nullptr : &steps_.back();
  for (auto kept = steps_.rbegin(); kept != steps_.rend(); ++kept)
    if (kept->step == step) return &*kept;
  return nullptr;
}

// With a memory limit, leave most of the memory to the script.
size_t TapeWatch::budget() const {
  const size_t limit = memory_limit().bytes;
  const std::lock_guard lock(mutex_);
  return limit ? std::min(budget_bytes_, limit / 8) : budget_bytes_;
}

void TapeWatch::set_budget(size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    budget_bytes_ = bytes;
  }
  trim();
}

// Drops at most the values of the latest tape, and only if its step has ended. False if nothing can be
// dropped.
bool TapeWatch::drop_oldest() {
  Step dropped;  // freed without the lock
  const std::lock_guard lock(mutex_);
  if (steps_.empty()) return false;
  Step& oldest = steps_.front();
  if (oldest.values && oldest.values == current_) return false;
  if (steps_.size() == 1) {
    dropped.values.swap(oldest.values);
    return bool(dropped.values);
  }
  dropped = std::move(oldest);
  steps_.pop_front();
  tape_bytes_ -= dropped.tape_bytes;
  return true;
}

void TapeWatch::trim() {
  const size_t bytes = budget();
  value_budget_.limit = bytes - std::min(tape_bytes_, bytes / 2);
  while ((value_budget_.used() + tape_bytes_ > bytes || steps_.size() > kMostKeptSteps) && drop_oldest()) {
  }
}

void TapeWatch::start_values(bool whole_step) {
  values_ = true;
  current_ = std::make_shared<StepValues>(
      value_budget_, [this] { return drop_oldest(); }, whole_step);
}

void TapeWatch::begin_step(int64_t step, bool values) {
  step_ = step;
  if (current_) current_->retire();
  values |= capture_next_.exchange(false) && watching();
  trim();
  values_ = values;
  current_ = nullptr;
  if (values) start_values(true);
}

void TapeWatch::capture_rest() {
  if (!values_ && !capturing_) start_values(false);
}

void TapeWatch::clear() {
  end_script();
  std::deque<Step> dropped;
  std::shared_ptr<const TapeSnapshot> latest;
  const std::lock_guard lock(mutex_);
  steps_.swap(dropped);
  latest_.swap(latest);
  tape_bytes_ = 0;
}

void TapeWatch::end_script() {
  if (current_) current_->retire();
  current_ = nullptr;
  values_ = false;
  leaves_.clear();
}

void TapeWatch::ran(const Call& call) {
  if (current_) current_->ran(call);
}

void TapeWatch::begin(std::span<Node* const> nodes) {
  const bool measured = statistics_ && statistics_->looking();  // its summaries are of this tape
  if (!watching()) return;
  const bool wanted = take_next_.exchange(false) || values_ || measured;
  if (!wanted && ticks_to_ns(ticks() - last_end_) < kPauseBetween * last_cost_) return;
  const double start = processor_ns();
  capturing_ = true;
  leaves_.clear();
  visited_.assign(nodes.begin(), nodes.end());
  building_ = std::make_unique<TapeSnapshot>();
  building_->step = step_;
  building_->nodes.reserve(nodes.size());
  for (Node* node : nodes) {
    building_->nodes.push_back(describe_node(*node));
    if (node->is_leaf()) leaves_.emplace(node->id, Ref<Node>(node));
  }
  if (current_) current_->begin_backward(nodes);
  last_cost_ = processor_ns() - start;
}

void TapeWatch::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (capturing_ && current_) current_->gradient(node, output, gradient);
}

void TapeWatch::end() {
  if (!capturing_) return;
  const double start = processor_ns();
  for (size_t i = 0; i < visited_.size(); ++i) {
    NodeInfo& info = building_->nodes[i];
    info.backward_ns = ticks_to_ns(visited_[i]->backward_ticks);
  }
  visited_.clear();
  capturing_ = false;
  if (statistics_) statistics_->describe(*building_);
  publish(std::move(building_));
  trim();
  last_end_ = ticks();
  last_cost_ += processor_ns() - start;
}

void TapeWatch::show(const Finding& finding) {
  if (!watching() || !finding.node) return;
  std::vector<Node*> nodes;
  for (const Ref<Node>& node : finding.pass) nodes.push_back(node.get());
  if (nodes.empty()) nodes = nodes_of(finding.value);
  auto tape = std::make_shared<TapeSnapshot>();
  tape->step = finding.hit.step;
  if (!current_) start_values(false);
  for (Node* node : nodes) {
    tape->nodes.push_back(describe_node(*node));
    if (node->is_leaf()) leaves_.emplace(node->id, Ref<Node>(node));
  }
  current_->begin_backward(nodes);
  for (const Tensor& x : finding.operands) current_->keep(x);
  const bool arrived =
      finding.hit.backward && finding.breakpoint.condition != Breakpoint::Condition::not_finite;
  if (arrived) current_->gradient(*finding.node, 0, finding.value);
  if (!finding.hit.backward) current_->keep(finding.value);
  publish(std::move(tape));
}

// The tape of a step's latest backward pass replaces the earlier ones; the values of their nodes are kept
// with it.
void TapeWatch::publish(std::shared_ptr<const TapeSnapshot> tape) {
  Step kept{step_, tape, bytes_of(*tape), current_};
  const std::lock_guard lock(mutex_);
  tape_bytes_ += kept.tape_bytes;
  // A script that went back to an earlier step drops the later ones.
  while (!steps_.empty() && steps_.back().step >= step_) {
    tape_bytes_ -= steps_.back().tape_bytes;
    steps_.pop_back();
  }
  steps_.push_back(std::move(kept));
  latest_ = std::move(tape);
}

TapeWatch::Found TapeWatch::find(const TensorPlace& place) const {
  const Step* const step = find_step(place.step);
  if (!step) return {{}, "the step is no longer kept", {}};
  const NodeInfo* info = nullptr;
  for (const NodeInfo& node : step->tape->nodes)
    if (node.id == place.node) info = &node;
  if (!info) return {{}, kGone, {}};
  const auto& side = place.input ? info->inputs : info->outputs;
  if (place.index < 0 || size_t(place.index) >= side.size())
    return {{}, place.input ? "the node has no such input" : "the node has no such output", {}};
  const OperandInfo& operand = side[size_t(place.index)];
  const bool latest = step == &steps_.back();
  const auto leaf = latest ? leaves_.find(operand.node) : leaves_.end();
  const auto from = [](StepValues::Found found) { return Found{found.value, found.reason, found.note}; };
  if (place.which == Which::gradient) {
    Found kept{{}, kGone, {}};
    if (place.input && operand.node == 0) return {{}, "it needs no gradient", {}};
    if (step->values) {
      uint32_t output = place.input ? 0 : uint32_t(place.index);
      if (const KeptNode* const node = step->values->node(place.node); node && place.input)
        output = node->in[size_t(place.index)].output;
      kept = from(step->values->gradient(operand.node, output));
    }
    if (kept.value.defined() || leaf == leaves_.end()) return kept;
    const Tensor& gradient = leaf->second->grad;
    return gradient.defined() ? Found{gradient, {}, {}} : Found{{}, "the gradient was cleared", {}};
  }
  Found kept{{}, kGone, {}};
  if (step->values) kept = from(step->values->value(operand.tensor));
  if (kept.value.defined() || leaf == leaves_.end() || leaf->second->out[0].tensor_id != operand.tensor)
    return kept;
  const Operand& live = leaf->second->out[0];
  Found found{value_of(live), {}, {}};
  if (live.saved->version != live.version) found.note = written_since(*live.saved);
  return found;
}

TapeWatch::Replay TapeWatch::replay(int64_t number, uint64_t id) const {
  const Step* const step = find_step(number);
  if (!step) fail("the step is no longer kept");
  Replay replay{step->values ? step->values->node(id) : nullptr, nullptr, {}, {}};
  if (!replay.node) fail("its values were not captured; step once, then ask again");
  for (const NodeInfo& node : step->tape->nodes)
    if (node.id == id) replay.info = &node;
  if (!replay.info) fail("it is not on the tape of step ", step->step);
  if (!replay.node->op) fail("a leaf was made by no call");
  for (uint32_t i = 0; i < replay.node->out.size(); ++i)
    replay.reached.push_back(step->values->gradient(id, i).value.defined());
  for (const Operand& operand : replay.node->in) {
    if (!operand.layout) {
      replay.inputs.emplace_back();
      continue;
    }
    const StepValues::Found found = step->values->value(operand.tensor_id);
    const size_t position = replay.inputs.size() + 1;
    if (!found.value.defined()) fail("its input ", position, " is gone: ", found.reason);
    if (!found.note.empty()) fail("its input ", position, " was ", found.note);
    replay.inputs.push_back(found.value);
    if (operand.is_number) replay.inputs.back().body()->is_number = true;
  }
  return replay;
}

}  // namespace lunagrad
