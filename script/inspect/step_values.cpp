#include "script/inspect/step_values.h"

#include "runtime/context.h"
#include "runtime/figures.h"
#include "runtime/ops.h"
#include "script/inspect/aside.h"

namespace lunagrad {
namespace {

// A tensor older than the step belongs to the run. A small one is counted, because the run may release it. A
// large one (a data set, an embedding) is available only while its step is the latest.
constexpr size_t kBorrowed = 16;  // large: more than 1/16 of the budget
constexpr size_t kLeaves = 4;     // copies of a step's leaves may take 1/4 of the budget

}  // namespace

std::string written_since(const Storage& storage) {
  const char* const writer = storage.last_writer + (storage.last_writer[0] == '_');
  const std::string place =
      storage.last_write.known() ? " at " + to_string(storage.last_write) : std::string();
  return text("written to since, by ", writer, "_", place);
}

bool ValueBudget::fits(const Storage& storage) const {
  return held_.contains(&storage) || used_ + storage.bytes <= limit;
}

void ValueBudget::add(const Storage& storage) {
  auto [entry, fresh] = held_.try_emplace(&storage, 0, storage.bytes);
  if (fresh) used_ += storage.bytes;
  ++entry->second.first;
}

void ValueBudget::remove(const Storage* storage) {
  const auto entry = held_.find(storage);
  if (--entry->second.first > 0) return;
  used_ -= entry->second.second;
  held_.erase(entry);
}

StepValues::StepValues(ValueBudget& budget, std::function<bool()> make_room, bool whole_step)
    : budget_(budget), make_room_(std::move(make_room)), whole_step_(whole_step) {}

StepValues::~StepValues() {
  for (const Storage* storage : counted_) budget_.remove(storage);
}

// Whether the tensor's memory may be kept; counts it if so.
bool StepValues::hold(const Tensor& x, bool made_here) {
  const Storage& storage = x.storage();
  if (counted_.contains(&storage) || borrowed_.contains(&storage)) return true;
  if (refused_.contains(&storage)) return false;  // refused before as a result
  if (!made_here && storage.bytes > budget_.limit / kBorrowed) {
    borrowed_.insert(&storage);
    return true;
  }
  while (!budget_.fits(storage)) {
    if (make_room_()) continue;
    over_budget_ = true;
    refused_.insert(&storage);
    return false;
  }
  budget_.add(storage);
  counted_.insert(&storage);
  bytes_ += storage.bytes;
  return true;
}

void StepValues::remember(const Tensor& x, uint64_t id, uint32_t version, bool made_here) {
  if (!values_.contains(id) && hold(x, made_here)) values_.emplace(id, Kept{x.detach(), version});
}

void StepValues::remember_operand(const Operand& operand) {
  if (!operand.layout || !operand.saved || values_.contains(operand.tensor_id)) return;
  remember(Tensor(operand.saved, operand.layout, operand.offset, operand.dtype), operand.tensor_id,
           operand.version, false);
}

void StepValues::ran(const Call& call) {
  if (copying_) return;
  bool on_tape = false;
  for (size_t i = 0; i < call.out.size(); ++i) {
    const Tensor& out = call.out[i];
    if (!out.defined()) continue;
    const bool view = call.aliases >> i & 1;
    remember(out, out.id(), out.storage().version, !view || counted_.contains(&out.storage()));
  }
  if (!context().grad_enabled) return;
  for (const Tensor& in : call.in) on_tape |= in.defined() && in.requires_grad();
  if (!on_tape) return;
  for (const Tensor& in : call.in)
    if (in.defined() && !in.is_number()) remember(in, in.id(), in.storage().version, false);
}

void StepValues::begin_backward(std::span<Node* const> nodes) {
  copy_leaves(nodes);
  for (const Node* node : nodes) {
    const auto [entry, fresh] = nodes_.try_emplace(node->id);
    if (!fresh) continue;
    KeptNode& kept = entry->second;
    kept.op = node->op;
    kept.device = node->device;
    kept.line = node->line;
    if (node->attributes) {
      kept.params = node->attributes->params;
      kept.args = node->attributes->args;
    }
    for (const auto& [from, to] :
         {std::pair(std::span<const Operand>(node->in.data(), node->in.size()), &kept.in),
          std::pair(std::span<const Operand>(node->out.data(), node->out.size()), &kept.out)})
      for (const Operand& operand : from) {
        remember_operand(operand);
        Operand plain = operand;
        plain.saved = nullptr;
        plain.node = nullptr;
        to->push_back(std::move(plain));
      }
    for (const Operand& operand : node->in) {
      kept.wanted.push_back(bool(operand.node));
      kept.makers.push_back(operand.node ? operand.node->id : 0);
    }
    if (!node->extras || !node->extras->custom) continue;
    kept.custom = std::make_unique<CustomCall>(*node->extras->custom);
    kept.custom->saved.clear();
  }
}

// Copies the weights as the step used them, before the optimizer writes over them.
void StepValues::copy_leaves(std::span<Node* const> nodes) {
  size_t bytes = 0;
  for (const Node* node : nodes)
    if (node->is_leaf() && node->out[0].saved) bytes += node->out[0].saved->bytes;
  if (bytes > budget_.limit / kLeaves) return;
  const NoGrad off;
  copying_ = true;
  for (const Node* node : nodes) {
    if (!node->is_leaf() || !node->out[0].saved) continue;
    const Operand& leaf = node->out[0];
    const auto known = values_.find(leaf.tensor_id);
    if (known != values_.end() && known->second.tensor.storage_ref() != leaf.saved)
      continue;  // copied already
    try {
      const Aside aside;  // breakpoints and the profiler see only the script's ops
      const Tensor copy = clone(Tensor(leaf.saved, leaf.layout, leaf.offset, leaf.dtype));
      if (!hold(copy, true)) break;
      values_.insert_or_assign(leaf.tensor_id, Kept{copy, copy.storage().version});
    } catch (const Error&) {
      break;  // damaged, or out of memory: the leaf is shown as it is now
    }
  }
  copying_ = false;
}

void StepValues::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (hold(gradient, true))
    gradients_.insert_or_assign(Key{node.id, output}, Kept{gradient.detach(), gradient.storage().version});
}

void StepValues::retire() {
  if (borrowed_.empty()) return;
  std::erase_if(values_,
                [&](const auto& entry) { return borrowed_.contains(&entry.second.tensor.storage()); });
  borrowed_.clear();
}

const KeptNode* StepValues::node(uint64_t id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::string StepValues::gone() const {
  if (over_budget_) return "Step exceeds the " + mebibytes_figure(budget_.limit) + " budget";
  return "Not captured";
}

StepValues::Found StepValues::found(const Kept& kept) const {
  const bool changed = kept.tensor.storage().version != kept.version;
  return {kept.tensor, {}, changed ? written_since(kept.tensor.storage()) : std::string()};
}

StepValues::Found StepValues::value(uint64_t tensor) const {
  const auto entry = values_.find(tensor);
  return entry == values_.end() ? Found{{}, gone(), {}} : found(entry->second);
}

StepValues::Found StepValues::gradient(uint64_t node, uint32_t output) const {
  const auto entry = gradients_.find(Key{node, output});
  if (entry != gradients_.end()) return found(entry->second);
  return {{}, over_budget_ ? gone() : nodes_.contains(node) ? "no gradient reached it" : "Not captured", {}};
}

}  // namespace lunagrad
