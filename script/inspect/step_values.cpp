#include "script/inspect/step_values.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "runtime/core/context.h"
#include "runtime/ops.h"
#include "script/inspect/recompute.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

// A tensor that no node made is needed to recompute the others. A small one counts towards the budget,
// because the run may release it. A large one (a data set, an embedding) is available only while its step is
// the latest.
constexpr size_t kBorrowed = 16;  // large: more than 1/16 of the budget
constexpr size_t kLeaves = 4;     // copies of a step's leaves may take 1/4 of the budget
// Leaves of at most this many bytes are copied in every step.
constexpr size_t kSmallLeaf = size_t(256) << 10;
constexpr size_t kMostPasses = 64;
// Without steps nothing ends what is kept. Values that no kept pass reads are dropped when there are this
// many values, or twice as many as the last time left.
constexpr size_t kMostUnused = 20000;

std::pair<const void*, uint32_t> state_of(const Tensor& gradient) {
  return gradient.defined() ? std::pair(static_cast<const void*>(gradient.body()), gradient.storage().version)
                            : std::pair<const void*, uint32_t>(nullptr, 0);
}

Tensor value_of(const Operand& operand) {
  return Tensor(operand.saved, operand.layout, operand.offset, operand.dtype);
}

Tensor copy_of(const Tensor& x) {
  if (x.storage().writer) return clone(x);  // a deferred value stays deferred: so does its copy
  const EagerCalls at_once;
  if (!x.device().is_cpu() || !x.is_contiguous()) return clone(x);
  x.storage().check_whole("inspect");
  const Tensor copy = Tensor::empty(x.shape(), x.dtype());
  if (x.numel() == 0) return copy;
  std::memcpy(copy.raw(), x.raw(), size_t(x.nbytes()));  // fast, since small leaves are copied in every step
  return copy;
}

// The id of a new node. Nodes made later have larger ids.
uint64_t next_node() {
  const WithoutListeners aside;
  Tensor leaf = Tensor::empty({}, DType::f32);
  return leaf.requires_grad_().node()->id;
}

}  // namespace

double processor_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * double(now.tv_sec) + double(now.tv_nsec);
}

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

size_t ValueBudget::remove(const Storage* storage) {
  const auto entry = held_.find(storage);
  const size_t bytes = entry->second.second;
  if (--entry->second.first > 0) return bytes;
  used_ -= bytes;
  held_.erase(entry);
  return bytes;
}

StepValues::StepValues(int64_t step, ValueBudget& budget, std::function<bool()> make_room, bool all,
                       bool ends)
    : step_(step),
      budget_(budget),
      make_room_(std::move(make_room)),
      all_(all),
      ends_(ends),
      most_unused_(kMostUnused) {}

StepValues::~StepValues() {
  for (const Storage* storage : counted_) budget_.remove(storage);
}

// Whether the tensor's memory may be kept; counts it if so.
bool StepValues::hold(const Tensor& x, bool made_here) { return hold_storage(x.storage(), made_here); }

bool StepValues::hold_storage(const Storage& storage, bool made_here) {
  if (counted_.contains(&storage) || borrowed_.contains(&storage)) return true;
  if (made_here && refused_.contains(&storage)) return false;
  if (!made_here && storage.bytes > budget_.limit / kBorrowed) {
    borrowed_.insert(&storage);
    return true;
  }
  while (!budget_.fits(storage)) {
    if (make_room_()) continue;
    if (!made_here) {  // without it no value computed from it could be shown
      borrowed_.insert(&storage);
      return true;
    }
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

void StepValues::ran(const Call& call) {
  // A pass adds in another way to a gradient that only the pass refers to, with other rounding. So no
  // gradients are held.
  const Context& ctx = context();
  if (copying_ || (ctx.differentiating && !ctx.grad_enabled)) return;
  if (all_)
    for (size_t i = 0; i < call.out.size(); ++i) {
      const Tensor& out = call.out[i];
      if (!out.defined()) continue;
      const bool view = call.aliases >> i & 1;
      remember(out, out.id(), out.storage().version, !view || counted_.contains(&out.storage()));
    }
  const auto on_tape = [](const Tensor& in) { return in.defined() && in.requires_grad(); };
  if (!ctx.grad_enabled || !call.op->vjp || std::none_of(call.in.begin(), call.in.end(), on_tape)) {
    if (!ctx.differentiating) untaped_.ran(call);
    return;
  }
  // Values that no node made cannot be recomputed.
  for (const Tensor& in : call.in) {
    if (!in.defined()) continue;
    const bool made = on_tape(in);
    if (all_ || !made) remember(in, in.id(), in.storage().version, made);
    if (!made) untaped_.read(in);
  }
  if (!call.out.empty() && !ctx.differentiating) newest_ = call.out[0];
  if (values_.size() > most_unused_ && !all_ && !ends_) forget_unused();
}

void StepValues::forget_unused() {
  std::unordered_set<uint64_t> used;
  for (const auto& pass : passes_)
    for (const KeptNode& node : pass->nodes)
      for (const KeptOperand& operand : node.in) used.insert(operand.tensor);
  std::erase_if(values_, [&](const auto& entry) { return !used.contains(entry.first); });
  most_unused_ = std::max(kMostUnused, 2 * values_.size());
  release_unheld();
  borrowed_.clear();
  refused_.clear();
}

// Drops the pass with its copies of leaves and its kept gradients.
void StepValues::forget_oldest_pass() {
  const uint32_t number = passes_.front()->number;
  passes_.erase(passes_.begin());
  std::erase_if(gradients_, [&](const auto& entry) { return entry.first.pass == number; });
  release_unheld();
}

// Storage to which nothing here refers any more does not count.
void StepValues::release_unheld() {
  std::unordered_set<const Storage*> still;
  for (const auto& [id, kept] : values_) still.insert(&kept.tensor.storage());
  for (const auto& pass : passes_)
    for (const KeptNode& node : pass->nodes)
      if (node.value.defined()) still.insert(&node.value.storage());
  for (const auto* map : {&outputs_, &gradients_})
    for (const auto& [key, kept] : *map) still.insert(&kept.tensor.storage());
  std::erase_if(counted_, [&](const Storage* storage) {
    if (still.contains(storage)) return false;
    bytes_ -= budget_.remove(storage);
    return true;
  });
}

std::unique_ptr<KeptPass> StepValues::record(std::span<Node* const> nodes) {
  if (passes_.size() >= kMostPasses) forget_oldest_pass();
  auto pass = keep_pass(nodes);
  pass->number = ++passes_made_;
  for (const Node* node : nodes) {
    if (node->extras && node->extras->custom)
      for (const CustomCall::Saved& saved : node->extras->custom->saved)
        if (saved.input >= 0 && saved.value.saved)
          remember(value_of(saved.value), node->in[size_t(saved.input)].tensor_id, saved.value.version,
                   false);
    // lg.grad() does not go beyond its oldest input: values made before it are not in the pass.
    for (const Operand& operand : node->in) {
      if (!operand.node || operand.node->id >= nodes.back()->id) continue;
      const Operand& from = operand.node->is_leaf() ? operand.node->out[0] : operand;
      if (from.saved) remember(value_of(from), operand.tensor_id, from.saved->version, false);
    }
    if (!all_) continue;
    for (const Operand& operand : node->in)
      if (operand.layout && operand.saved)
        remember(value_of(operand), operand.tensor_id, operand.version, false);
    for (const Operand& operand : node->out)
      if (!node->is_leaf() && operand.layout && operand.saved)
        remember(value_of(operand), operand.tensor_id, operand.version, false);
  }
  return pass;
}

double StepValues::begin_pass(std::span<Node* const> nodes, bool copy, const StepValues* before) {
  passes_.push_back(record(nodes));
  KeptPass& pass = *passes_.back();
  pass.create_graph = context().grad_enabled;
  if (pass.create_graph) pass.made_from = next_node();
  newest_ = Tensor();
  cursor_ = 0;
  grads_before_.clear();
  grads_before_.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i]->is_leaf()) continue;
    grads_before_.push_back(state_of(nodes[i]->grad));
    pass.nodes[i].had_gradient = nodes[i]->grad.defined();
  }
  return copy_leaves(pass, copy ? budget_.limit / kLeaves : kSmallLeaf, before);
}

// Copies the weights as the pass reads them, before the optimizer writes over them.
double StepValues::copy_leaves(KeptPass& pass, size_t most, const StepValues* before) {
  const auto has_value = [](const KeptNode& node) { return node.leaf && node.leaf->out[0].saved; };
  size_t bytes = 0;
  for (const KeptNode& node : pass.nodes)
    if (has_value(node)) bytes += node.leaf->out[0].saved->bytes;
  lacks_leaves_ |= bytes > most;
  if (bytes > most) return 0;
  const double start = bytes > kSmallLeaf ? processor_ns() : 0;
  // The copy of a leaf that an earlier pass made, if the leaf has not been written to since.
  const auto copied = [&](const KeptNode& leaf, const Storage& storage) {
    for (const StepValues* values : {static_cast<const StepValues*>(this), before}) {
      if (!values) continue;
      for (auto other = values->passes_.rbegin(); other != values->passes_.rend(); ++other) {
        if (other->get() == &pass) continue;
        const int at = (*other)->find(leaf.id);
        if (at < 0) continue;
        const KeptNode& known = (*other)->nodes[size_t(at)];
        if (known.value.defined() && known.copied_from == &storage && known.value_version == storage.version)
          return known.value;
      }
    }
    return Tensor();
  };
  const WithoutListeners aside;  // breakpoints and the profiler see only the script's ops
  const NoGrad off;
  copying_ = true;
  for (KeptNode& node : pass.nodes) {
    if (!has_value(node)) continue;
    const Operand& leaf = node.leaf->out[0];
    try {
      Tensor copy = copied(node, *leaf.saved);
      if (!copy.defined()) copy = copy_of(value_of(leaf));
      if (!hold(copy, true)) break;
      node.value = std::move(copy);
      node.value_version = leaf.saved->version;
      node.copied_from = leaf.saved.get();
    } catch (const Error&) {
      break;  // damaged, or out of memory: the leaf is shown as it is now
    }
  }
  copying_ = false;
  return bytes > kSmallLeaf ? processor_ns() - start : 0;
}

void StepValues::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (!in_pass()) return;
  KeptPass& pass = *passes_.back();
  // Mostly the gradient belongs to the same node or to the next one. But a leaf whose gradient is complete
  // comes before older nodes.
  const auto is_at = [&](size_t i) { return i < pass.nodes.size() && pass.nodes[i].id == node.id; };
  if (!is_at(cursor_) && !is_at(++cursor_)) {
    const int found = pass.find(node.id);
    if (found < 0) return;
    cursor_ = size_t(found);
  }
  pass.nodes[cursor_].reached = true;
  const bool hooked = node.extras && !node.extras->hooks.empty();
  const bool given = cursor_ == 0 || hooked || (node.op && gradient.numel() == 1);
  if (!given && !all_) return;
  // Copied, for the same reason as in ran().
  Tensor kept;
  {
    const WithoutListeners aside;
    const NoGrad off;
    copying_ = true;
    try {
      kept = copy_of(gradient.detach());
    } catch (const Error&) {  // out of memory
    }
    copying_ = false;
  }
  if (!kept.defined()) return;
  if (given) pass.given.push_back({cursor_, output, kept});
  if (all_ && hold(kept, true))
    gradients_.insert_or_assign(Key{node.id, output, pass.number}, Kept{kept, kept.storage().version});
}

void StepValues::end_pass(std::span<Node* const> nodes) {
  if (!in_pass()) return;
  KeptPass& pass = *passes_.back();
  size_t leaf = 0;
  for (size_t i = 0; i < nodes.size() && i < pass.nodes.size(); ++i) {
    pass.nodes[i].backward_ticks = nodes[i]->backward_ticks;
    if (!nodes[i]->is_leaf()) continue;
    const auto left = state_of(nodes[i]->grad);
    pass.accumulates |= pass.nodes[i].reached && left != grads_before_[leaf];
    std::tie(pass.nodes[i].gradient_left, pass.nodes[i].gradient_version) = left;
    ++leaf;
  }
  pass.ended = true;
  if (pass.create_graph) pass.made_to = next_node();
}

// Inserted before a pass that is under way, which must stay the last.
size_t StepValues::add_graph(std::span<Node* const> nodes) {
  auto pass = record(nodes);
  pass->forward_only = true;
  copy_leaves(*pass, budget_.limit / kLeaves, nullptr);
  const KeptPass* const added = pass.get();
  passes_.insert(passes_.end() - in_pass(), std::move(pass));
  const auto is_earlier = [&](const auto& other) { return other->forward_only && other.get() != added; };
  for (const auto& other : passes_)
    if (is_earlier(other))
      std::erase_if(gradients_, [&](const auto& entry) { return entry.first.pass == other->number; });
  if (std::erase_if(passes_, is_earlier) > 0) release_unheld();
  return size_t(
      std::find_if(passes_.begin(), passes_.end(), [&](const auto& p) { return p.get() == added; }) -
      passes_.begin());
}

void StepValues::keep_gradient(size_t pass, const Node& node, uint32_t output, const Tensor& gradient) {
  if (hold(gradient, true))
    gradients_.insert_or_assign(Key{node.id, output, passes_[pass]->number},
                                Kept{gradient.detach(), gradient.storage().version});
  if (const int at = passes_[pass]->find(node.id); at >= 0) passes_[pass]->nodes[size_t(at)].reached = true;
}

bool StepValues::add_newest() {
  if (!newest_.defined() || !newest_.node() || newest_.is_leaf()) return false;
  add_graph(nodes_of(newest_));
  newest_ = Tensor();
  return true;
}

void StepValues::retire() {
  newest_ = Tensor();
  beyond_outputs_.clear();
  beyond_gradients_.clear();
  for (const auto& pass : passes_)
    for (KeptNode& node : pass->nodes) node.leaf = {};  // otherwise a parameter would outlive its model
  untaped_.retire(passes_);
  if (borrowed_.empty()) return;
  std::erase_if(values_,
                [&](const auto& entry) { return borrowed_.contains(&entry.second.tensor.storage()); });
  borrowed_.clear();
}

void StepValues::end_script() {
  retire();
  for (const auto& pass : passes_)
    for (KeptNode& node : pass->nodes) node.custom = nullptr;
}

// ---- queries

StepValues::Found StepValues::value(const KeptNode& untaped, bool input, size_t index) const {
  const KeptOperand& operand = input ? untaped.in[index] : untaped.out[index];
  if (const auto kept = values_.find(operand.tensor); kept != values_.end()) return found(kept->second);
  const KeptNode* const maker = input ? untaped_.find(operand.maker) : &untaped;
  if (maker && !maker->op && maker->leaf && maker->leaf->out[0].saved)
    return {value_of(maker->leaf->out[0]), {}, {}};
  return {{}, "No gradient goes through it, so only a step that was captured has its value", {}};
}

StepValues::Found StepValues::found(const Kept& kept) const {
  const bool changed = kept.tensor.storage().version != kept.version;
  return {kept.tensor, {}, changed ? written_since(kept.tensor.storage()) : std::string()};
}

StepValues::Found StepValues::kept_value(const KeptPass& pass, size_t at, bool input, size_t index) const {
  const KeptNode& node = pass.nodes[at];
  const KeptOperand& operand = input ? node.in[index] : node.out[index];
  if (!operand.layout) return {{}, "the operand was not given", {}};
  const uint64_t maker = input ? operand.maker : node.id;
  const uint32_t output = input ? operand.output : uint32_t(index);
  const int made_by = input ? (maker ? pass.find(maker) : -1) : int(at);
  if (made_by >= 0) {
    const KeptNode& from = pass.nodes[size_t(made_by)];
    if (!from.op && from.value.defined()) return {from.value, {}, {}};
    for (const auto* map : {&outputs_, &beyond_outputs_})
      if (const auto known = map->find(Key{maker, output, 0}); known != map->end())
        return found(known->second);
  }
  if (maker && made_by < 0)  // use the copy that another pass of the step made
    for (const auto& other : passes_)
      if (const int there = other->find(maker); there >= 0) {
        const KeptNode& leaf = other->nodes[size_t(there)];
        if (!leaf.op && leaf.value.defined() && leaf.value_version == operand.version)
          return {leaf.value, {}, {}};
      }
  if (const auto known = values_.find(operand.tensor); known != values_.end()) {
    Found kept = found(known->second);
    // A captured result that was written over can be recomputed. For a value that no node made, this is all
    // there is.
    if (kept.note.empty() || made_by < 0) return kept;
  }
  if (made_by >= 0 && !pass.nodes[size_t(made_by)].op && pass.nodes[size_t(made_by)].leaf) {
    const Operand& live = pass.nodes[size_t(made_by)].leaf->out[0];
    if (!live.saved) return {{}, "it has no memory", {}};
    const bool changed = live.saved->version != live.version && live.saved->version != operand.version;
    return {value_of(live), {}, changed ? written_since(*live.saved) : std::string()};
  }
  return {{}, {}, {}};
}

Tensor StepValues::source(const KeptPass& pass, const KeptNode& node, int input) const {
  const size_t at = size_t(&node - pass.nodes.data());
  const Found kept = kept_value(pass, at, input >= 0, size_t(std::max(input, 0)));
  std::string name = interned(node.name);
  if (input >= 0)
    name = text("input ", input + 1, " of ", node.label());
  else if (name.empty())
    name = "a leaf without a name";
  if (!kept.value.defined())
    fail(over_budget_ ? "" : "Not captured: ", name, " was not kept", kept.reason.empty() ? "" : ": ",
         kept.reason,
         over_budget_ ? text("; the budget is ", budget_.limit >> 20, " MiB, the Time panel sets it") : "");
  if (!kept.note.empty()) fail(name, " was ", kept.note);
  return kept.value;
}

// Neighbours are the nodes that made the node's inputs and the nodes that read its outputs.
void StepValues::compute_again(size_t number, size_t focus, const CheckWanted& check_wanted) {
  const KeptPass& pass = *passes_[number];
  if (!whole_) {
    beyond_outputs_.clear();
    beyond_gradients_.clear();
  }
  std::vector<char> near(pass.nodes.size(), whole_);
  near[focus] = 1;
  for (const KeptOperand& operand : pass.nodes[focus].in)
    if (const int maker = operand.maker ? pass.find(operand.maker) : -1; maker >= 0) near[size_t(maker)] = 1;
  for (size_t i = 0; i < focus; ++i)
    for (const KeptOperand& operand : pass.nodes[i].in)
      if (operand.maker == pass.nodes[focus].id) near[i] = 1;
  // Reserves room for the node in focus and its neighbours before all others.
  size_t reserved = 0;
  for (size_t i = 0; i < pass.nodes.size(); ++i)
    if (near[i])
      for (const KeptOperand& operand : pass.nodes[i].out)
        if (operand.layout) reserved += 2 * size_t(operand.layout->numel) * item_size(operand.dtype);
  const auto fits = [&](size_t node, const Tensor& made) {
    if (counted_.contains(&made.storage()) || borrowed_.contains(&made.storage())) return true;
    if (!near[node] && budget_.used() + reserved + made.storage().bytes > budget_.limit) return false;
    if (!budget_.fits(made.storage())) return false;
    budget_.add(made.storage());
    counted_.insert(&made.storage());
    bytes_ += made.storage().bytes;
    return true;
  };
  const auto keep = [&](std::map<Key, Kept>& kept, std::map<Key, Kept>& beyond, Key key, size_t node,
                        const Tensor& made) {
    Kept entry{made, made.storage().version};
    if (kept.contains(key)) return;
    if (fits(node, made))
      kept.emplace(key, std::move(entry));
    else if (near[node])
      beyond.emplace(key, std::move(entry));
  };
  const PassRecomputation recomputation{
      .pass = pass,
      .source = [&](const KeptNode& node, int input) { return source(pass, node, input); },
      .value =
          [&](size_t node, uint32_t output, const Tensor& made) {
            if (pass.nodes[node].op)
              keep(outputs_, beyond_outputs_, {pass.nodes[node].id, output, 0}, node, made);
          },
      .gradient =
          [&](size_t node, uint32_t output, const Tensor& made) {
            keep(gradients_, beyond_gradients_, {pass.nodes[node].id, output, pass.number}, node, made);
          },
      .wants_gradient =
          [&](size_t node, uint32_t output) {
            return !gradients_.contains({pass.nodes[node].id, output, pass.number});
          },
      .check_wanted = check_wanted,
      .backward = !pass.forward_only};
  for (auto& [node, reason] : recomputation.run()) failed_[{pass.nodes[node].id, 0, pass.number}] = reason;
}

bool StepValues::visit(size_t number, const Visitor& visitor, const CheckWanted& check_wanted) const {
  const KeptPass& pass = *passes_[number];
  const PassRecomputation recomputation{
      .pass = pass,
      .source = [&](const KeptNode& node, int input) { return source(pass, node, input); },
      .value = visitor.value,
      .gradient = visitor.gradient,
      .wants_gradient = [](size_t, uint32_t) { return true; },
      .check_wanted = check_wanted,
      .backward = !pass.forward_only};
  return recomputation.run().empty();
}

bool StepValues::gradient_is_left(const KeptNode& leaf) const {
  return leaf.leaf && leaf.gradient_left &&
         state_of(leaf.leaf->grad) == std::pair(leaf.gradient_left, leaf.gradient_version);
}

StepValues::Found StepValues::value(size_t number, size_t node, bool input, size_t index,
                                    const CheckWanted& check_wanted) {
  const KeptPass& pass = *passes_[number];
  Found kept = kept_value(pass, node, input, index);
  if (kept.value.defined() || !kept.reason.empty() || !check_wanted) return kept;
  const uint64_t maker = input ? pass.nodes[node].in[index].maker : pass.nodes[node].id;
  const int made_by = maker ? pass.find(maker) : -1;
  if (made_by < 0) return {{}, "Not captured: its call was not seen", {}};
  const Key reason{maker, 0, pass.number};
  if (!failed_.contains(reason)) {
    compute_again(number, node, check_wanted);
    kept = kept_value(pass, node, input, index);
    if (kept.value.defined()) return kept;
  }
  const auto failed = failed_.find(reason);
  return {{}, failed == failed_.end() ? "it cannot be computed again" : failed->second, {}};
}

StepValues::Found StepValues::kept_gradient(const KeptPass& pass, const KeptNode& node,
                                            uint32_t output) const {
  for (const auto* map : {&gradients_, &beyond_gradients_})
    if (const auto known = map->find({node.id, output, pass.number}); known != map->end())
      return found(known->second);
  return {};
}

StepValues::Found StepValues::gradient(size_t number, size_t node, bool input, size_t index,
                                       const CheckWanted& check_wanted) {
  const KeptPass& pass = *passes_[number];
  const KeptNode* of = &pass.nodes[node];
  uint32_t output = uint32_t(index);
  if (input) {
    const KeptOperand& operand = of->in[index];
    if (operand.maker == 0) return {{}, "it needs no gradient", {}};
    const int maker = pass.find(operand.maker);
    if (maker < 0) return {{}, "no gradient reached it", {}};
    output = operand.output;
    of = &pass.nodes[size_t(maker)];
  }
  Found kept = kept_gradient(pass, *of, output);
  if (kept.value.defined() && kept.note.empty()) return kept;
  if (!of->reached)
    return {{},
            pass.forward_only ? "backward() has not run"
            : pass.ended      ? "no gradient reached it"
                              : "its gradient is not computed yet",
            {}};
  if (pass.forward_only) return kept;
  if (!check_wanted) return kept;
  const Key reason{of->id, 0, pass.number};
  if (!failed_.contains(reason)) {
    gradients_.erase({of->id, output, pass.number});
    compute_again(number, node, check_wanted);
    const Found again = kept_gradient(pass, *of, output);
    if (again.value.defined()) return again;
  }
  if (kept.value.defined()) return kept;  // its note says that it was written to
  if (const auto failed = failed_.find(reason); failed != failed_.end()) return {{}, failed->second, {}};
  if (!failed_.empty()) return {{}, failed_.begin()->second, {}};
  return {{}, "no gradient reached it", {}};
}

}  // namespace lunagrad
