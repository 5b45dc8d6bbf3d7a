#include "script/inspect/untaped_calls.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/core/context.h"
#include "runtime/tape/tape.h"

namespace lunagrad {
namespace {

// A step that makes more such calls, as an evaluation does, keeps the latest.
constexpr size_t kMost = 2048;

KeptOperand operand_of(const Tensor& x) {
  KeptOperand operand;
  if (!x.defined()) return operand;
  operand.layout = x.layout();
  operand.offset = x.offset();
  operand.dtype = x.dtype();
  operand.is_number = x.is_number();
  operand.version = operand.version_now = x.storage().version;
  operand.tensor = x.id();
  return operand;
}

// The node of a parameter; null for any other tensor.
const Node* leaf_of(const Tensor& x) {
  if (!x.defined() || x.body()->base) return nullptr;
  const Node* const node = x.body()->node.get();
  return node && node->is_leaf() ? node : nullptr;
}

}  // namespace

const Node* UntapedCalls::note_leaf(const Tensor& x) {
  const Node* const leaf = leaf_of(x);
  if (!leaf || by_tensor_.contains(x.id())) return leaf;
  KeptNode& note = notes_.emplace_back();
  note.id = leaf->id;
  note.line = leaf->line;
  note.module = leaf->module;
  note.name = leaf->name;
  note.device = leaf->device;
  note.leaf = x.body()->node;
  note.out.push_back(operand_of(x));
  by_tensor_[x.id()].push_back(note.id);
  return leaf;
}

void UntapedCalls::read(const Tensor& x) {
  if (notes_.size() >= kMost) forget_half();
  note_leaf(x);
}

void UntapedCalls::ran(const Call& call) {
  const auto follows = [&](const Tensor& x) {
    return leaf_of(x) || (!by_tensor_.empty() && x.defined() && by_tensor_.contains(x.id()));
  };
  if (std::none_of(call.in.begin(), call.in.end(), follows)) return;
  // A step of an optimizer changes parameters, and no value follows from it.
  if (call.op->writes_inputs || call.out.empty() || leaf_of(call.out[0])) return;
  if (notes_.size() + call.in.size() + 1 > kMost) forget_half();
  const Context& ctx = context();
  KeptNode note;
  note.op = call.op;
  note.line = ctx.line;
  note.module = ctx.module;
  if (call.out[0].defined()) note.device = &call.out[0].device();
  note.has_params = call.params.size() == call.op->params.size();
  if (note.has_params) note.params = call.params;
  note.in.reserve(call.in.size());
  for (const Tensor& x : call.in) {
    KeptOperand operand = operand_of(x);
    if (const Node* const leaf = note_leaf(x)) {
      operand.maker = leaf->id;
    } else if (x.defined()) {
      const Node* const node = x.body()->node.get();
      operand.maker = node ? node->id : maker_of(operand.tensor, UINT64_MAX);
    }
    note.in.push_back(std::move(operand));
  }
  note.id = new_node_id();
  for (const Tensor& x : call.out) {
    note.out.push_back(operand_of(x));
    if (x.defined()) by_tensor_[x.id()].push_back(note.id);
  }
  notes_.push_back(std::move(note));
}

uint64_t UntapedCalls::maker_of(uint64_t tensor, uint64_t reader) const {
  const auto found = by_tensor_.find(tensor);
  if (found == by_tensor_.end()) return 0;
  const auto after = std::lower_bound(found->second.begin(), found->second.end(), reader);
  return after == found->second.begin() ? 0 : *(after - 1);
}

// Leaves are older than their place in the list tells, so the list is not sorted.
const KeptNode* UntapedCalls::find(uint64_t id) const {
  const auto found =
      std::find_if(notes_.rbegin(), notes_.rend(), [id](const KeptNode& note) { return note.id == id; });
  return found == notes_.rend() ? nullptr : &*found;
}

std::vector<const KeptNode*> UntapedCalls::notes_before(const KeptPass& pass) const {
  std::vector<const KeptNode*> chosen;
  if (notes_.empty()) return chosen;
  std::unordered_set<uint64_t> wanted;
  for (const KeptNode& node : pass.nodes)
    for (const KeptOperand& operand : node.in)
      if (operand.maker == 0 && operand.layout) wanted.insert(maker_of(operand.tensor, node.id));
  wanted.erase(0);
  if (wanted.empty()) return chosen;
  for (auto note = notes_.rbegin(); note != notes_.rend(); ++note) {
    if (!wanted.contains(note->id) || pass.find(note->id) >= 0) continue;
    for (const KeptOperand& operand : note->in)
      if (operand.maker != 0) wanted.insert(operand.maker);
    chosen.push_back(&*note);
  }
  return chosen;
}

std::vector<NodeInfo> UntapedCalls::leading_to(const KeptPass& pass) const {
  std::vector<const KeptNode*> chosen = notes_before(pass);
  std::unordered_map<uint64_t, uint32_t> leaf_names;
  for (const KeptNode* const note : chosen)
    if (!note->op) leaf_names[note->id] = note->name;
  std::sort(chosen.begin(), chosen.end(), [](const KeptNode* a, const KeptNode* b) { return a->id > b->id; });
  const auto leaf_name = [&](uint64_t id) {
    const auto found = leaf_names.find(id);
    return found == leaf_names.end() ? 0 : found->second;
  };
  std::vector<NodeInfo> led;
  for (const KeptNode* const note : chosen) {
    led.push_back(describe(*note, leaf_name));
    led.back().no_gradient = true;
  }
  return led;
}

void UntapedCalls::forget_half() {
  notes_.erase(notes_.begin(), notes_.begin() + ptrdiff_t(notes_.size() / 2));
  list_tensors();
}

void UntapedCalls::list_tensors() {
  by_tensor_.clear();
  for (const KeptNode& note : notes_)
    for (const KeptOperand& out : note.out)
      if (out.layout) by_tensor_[out.tensor].push_back(note.id);
}

void UntapedCalls::retire(std::span<const std::unique_ptr<KeptPass>> passes) {
  if (notes_.empty()) return;
  std::unordered_set<uint64_t> leading;
  for (const auto& pass : passes)
    for (const KeptNode* const note : notes_before(*pass)) leading.insert(note->id);
  std::erase_if(notes_, [&](const KeptNode& note) { return !leading.contains(note.id); });
  list_tensors();
  for (KeptNode& note : notes_) note.leaf = {};
}

}  // namespace lunagrad
