#include "runtime/deferral/recording.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/core/called.h"
#include "runtime/deferral/groups.h"
#include "runtime/deferral/in_kernel.h"
#include "runtime/tape/node.h"

namespace lunagrad {
namespace {

// Dropped results are freed after so many calls, or bytes of results.
constexpr size_t kCallsBetweenFrees = 16, kBytesBetweenFrees = size_t(16) << 20;

const char* public_name(const Op& op) { return op.name + (op.hidden() ? 1 : 0); }

std::string at(SourceLine line) { return line.known() ? " at " + to_string(line) : ""; }

bool same_layout(const LayoutRef& a, const LayoutRef& b) {
  return a == b || (a && b && a->shape == b->shape && a->strides == b->strides);
}

bool same_number(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && std::memcmp(a.raw(), b.raw(), a.nbytes()) == 0;
}

bool same_uses(const std::vector<Use>& a, const std::vector<Use>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_use);
}

bool same_params(const Values& a, const Values& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

bool same_use(const Use& a, const Use& b) {
  if (a.slot != b.slot) return false;
  if (a.slot == Use::kAbsent) return true;
  if (a.slot == Use::kNumber) return same_number(a.number, b.number);
  return a.offset == b.offset && a.dtype == b.dtype && same_layout(a.layout, b.layout);
}

Recording::Recording(const TensorList& arguments, const TensorList& leaves)
    : outer_(context().trace),
      leaves_(leaves),
      seed_(context().generator.seed()),
      next_stream_(context().generator.stream()) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].requires_grad())
      refuse(text("argument of shape ", arguments[i].shape(), " requires grad"));
    add_slot(MemorySlot::Kind::argument, int(i), arguments[i]);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    known_leaves_[leaves[i].node().get()] = i;
    if (const Tensor grad = leaves[i].grad(); grad.defined())
      add_slot(MemorySlot::Kind::gradient, int(i), grad);
  }
  context().trace = this;
}

Recording::~Recording() {
  uncount_handles();
  if (context().trace == this) context().trace = outer_;
}

void Recording::refuse(std::string why) {
  if (refused_.empty()) refused_ = std::move(why);
}

int Recording::add_slot(MemorySlot::Kind kind, int index, const Tensor& x) {
  const int number = int(slots_.size());
  slots_.push_back({kind, index, x.storage_ref(), kind == MemorySlot::Kind::made ? Tensor() : x,
                    x.storage().version, &x.device(), x.storage().bytes});
  // Backward adds in place to a gradient that nothing else refers to: the recording's handle is counted as
  // the queue's.
  if (kind == MemorySlot::Kind::made) {
    ++x.storage().queued;
    bytes_since_free_ += x.storage().bytes;
  }
  if (kind == MemorySlot::Kind::made || kind == MemorySlot::Kind::gradient) held_.push_back(number);
  Memory& memory = memory_[&x.storage()];
  memory.slots.push_back(number);
  memory.entries.push_back({x.layout(), x.offset(), x.dtype(), number});
  return number;
}

Use Recording::use_of(const Tensor& x) {
  if (!x.defined()) return {};
  if (x.is_number()) return {Use::kNumber, x.layout(), 0, x.dtype(), x};
  const auto known = memory_.find(&x.storage());
  int slot;
  if (known == memory_.end()) {
    slot = add_slot(MemorySlot::Kind::outside, 0, x);
  } else if (known->second.slots.size() == 1) {
    slot = known->second.slots[0];
  } else {  // several arguments share this memory
            // The tensor must be one of them, or a view of one.
    slot = -1;
    for (const Entry& entry : known->second.entries)
      if (entry.offset == x.offset() && entry.dtype == x.dtype() && same_layout(entry.layout, x.layout())) {
        slot = entry.slot;
        break;
      }
    if (slot < 0) {
      refuse(text("two arguments share memory", at(context().line)));
      slot = known->second.slots[0];
    }
  }
  // An argument may have another offset in each step.
  const Tensor& base = slots_[size_t(slot)].tensor;
  int64_t offset = x.offset();
  if (base.defined()) {
    const int64_t bytes = base.offset() * int64_t(item_size(base.dtype()));
    if (bytes % int64_t(item_size(x.dtype()))) refuse(text("a view of another type", at(context().line)));
    offset -= bytes / int64_t(item_size(x.dtype()));
  }
  return {slot, x.layout(), offset, x.dtype(), {}};
}

void Recording::note_leaf(const Tensor& x) {
  if (!x.requires_grad() || !x.is_leaf()) return;
  const auto memory = memory_.find(&x.storage());
  if (memory != memory_.end() && slots_[size_t(memory->second.slots[0])].kind == MemorySlot::Kind::made)
    return;  // the step makes it
  const Node* const node = x.node().get();
  if (std::any_of(found_.begin(), found_.end(),
                  [&](const Tensor& leaf) { return leaf.node().get() == node; }))
    return;
  if (node->extras && !node->extras->hooks.empty())
    refuse(text("a leaf", node->name ? " (" + interned(node->name) + ")" : "", " has a hook"));
  found_.push_back(x);
}

bool Recording::knows_its_leaves() const {
  return found_.size() == leaves_.size() &&
         std::all_of(found_.begin(), found_.end(),
                     [&](const Tensor& leaf) { return known_leaves_.count(leaf.node().get()) > 0; });
}

// A view of memory that several arguments share belongs to the argument that it was taken of.
void Recording::note_view(const Call& call) {
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (!(call.aliases >> i & 1)) continue;
    const Tensor& y = call.out[i];
    for (const Tensor& x : call.in) {
      if (!x.defined() || x.storage_ref() != y.storage_ref()) continue;
      const Use base = use_of(x);
      Memory& memory = memory_[&y.storage()];
      if (memory.slots.size() > 1) memory.entries.push_back({y.layout(), y.offset(), y.dtype(), base.slot});
      break;
    }
  }
}

// Whether running the call's kernel again on the recorded operands and outputs repeats the call.
bool Recording::may_run_again(const Call& call, bool in_place) {
  if (call.op->judges_values && call.op->elementwise < 0) return true;  // the kernel checks the values again
  if (!in_place || call.op->writes_inputs) return true;
  const Tensor& target = call.out[0];
  for (size_t i = 1; i < call.in.size(); ++i)
    if (call.in[i].defined() && call.in[i].storage_ref() == target.storage_ref() &&
        !same_elements_in_order(call.in[i], target))
      return false;
  Call probe;
  probe.op = call.op;
  probe.in = call.in;
  probe.params = call.params;
  call.op->shape(probe);
  return probe.out[0].dtype() == target.dtype();
}

// Notes the random draws since the last call. The recomputation of a checkpoint adds none: it draws the same
// numbers again.
void Recording::note_draws() {
  const Generator& generator = context().generator;
  if (generator.seed() != seed_) return refuse(text("it sets the seed", at(context().line)));
  for (; next_stream_ < generator.stream(); ++next_stream_) draws_.push_back({{seed_, next_stream_}});
}

// The index of the draw that a call's arguments hold; -1: none.
int Recording::draw_of(const Arguments& args) {
  for (size_t i = 0; i < draws_.size(); ++i)
    if (args[0].u == draws_[i].draw.seed && args[1].u == draws_[i].draw.stream) {
      draws_[i].used = true;
      return int(i);
    }
  return -1;
}

void Recording::ran(const Call& call, uint64_t elapsed) {
  if (outer_) outer_->ran(call, elapsed);
  if (kernels_running > 0) return;  // the call belongs to the kernel of another call
  for (const Tensor& x : call.in)
    if (x.defined() && !x.is_number()) note_leaf(x);
  note_view(call);
  const bool in_place = writes_in_place(call) && call.aliases == 0;
  const bool computes = call.op->writes_inputs || [&] {
    for (size_t i = 0; i < call.out.size(); ++i)
      if (!(call.aliases >> i & 1) && call.out[i].numel() > 0) return true;
    return false;
  }();
  for (const Tensor& x : call.in)
    if (in_memory(x) && !call.out.empty() && &x.device() != &call.out[0].device())
      refuse(text("it moves a tensor to another device", at(context().line)));
  const Context& ctx = context();
  RecordedCall recorded{call.op,
                        call.params,
                        call.args,
                        {},
                        {},
                        computes ? &call.device() : nullptr,
                        ctx.line,
                        ctx.module,
                        called_op(),
                        ctx.differentiating != nullptr,
                        ctx.matmul_precision};
  if (computes && !may_run_again(call, in_place))
    refuse(text(public_name(*call.op), "_ converts its result, or reads what it writes", at(ctx.line)));
  for (const Tensor& x : call.in) recorded.in.push_back(use_of(x));
  for (size_t i = 0; i < call.out.size(); ++i) {
    const Tensor& y = call.out[i];
    if (!(call.aliases >> i & 1) && !memory_.count(&y.storage())) add_slot(MemorySlot::Kind::made, 0, y);
    recorded.out.push_back(use_of(y));
  }
  note_draws();
  recorded.draw = draw_of(call.args);
  if (call.op->random && recorded.draw < 0) refuse(text("it draws of another generator", at(ctx.line)));
  if (!computes) return;
  for (const std::vector<Use>* const uses : {&recorded.in, &recorded.out})
    for (const Use& part : *uses) {
      if (part.slot < 0) continue;
      MemorySlot& slot = slots_[size_t(part.slot)];
      if (slot.version == slot.storage->version) continue;
      slot.version = slot.storage->version;
      recorded.written.push_back(part.slot);
    }
  calls_.push_back(std::move(recorded));
  if (++calls_since_free_ >= kCallsBetweenFrees || bytes_since_free_ >= kBytesBetweenFrees) free_dropped();
}

// Frees the memory of results, and of gradients from before the step, that only the recording refers to.
// Keeps their Storage objects, so that no new storage gets the same address.
void Recording::free_dropped() {
  calls_since_free_ = bytes_since_free_ = 0;
  std::erase_if(held_, [this](int number) {
    const MemorySlot& slot = slots_[size_t(number)];
    Storage& storage = *slot.storage;
    const bool others = slot.tensor.defined() ? storage.use_count() > 2 || slot.tensor.use_count() > 1
                                              : storage.use_count() > 1;
    if (others) return false;
    storage.free_memory();
    return true;
  });
}

void Recording::fell_back(const Call& call, const char* reason) {
  if (outer_) outer_->fell_back(call, reason);
  if (kernels_running > 0) return;
  refuse(text(public_name(*call.op), " runs on the CPU", at(context().line), ", as ", reason));
}

void Recording::end_segment() {
  note_draws();
  Segment segment;
  segment.calls = calls_.size();
  segment.draws = draws_.size();
  for (const Tensor& leaf : leaves_) segment.gradients.push_back(use_of(leaf.grad()));
  segments_.push_back(std::move(segment));
  for (const MemorySlot& slot : slots_)
    if (slot.storage->version != slot.version)
      refuse(text("a tensor was changed by ", slot.storage->last_writer, at(slot.storage->last_write)));
  if (!std::all_of(draws_.begin(), draws_.end(), [](const Draw& draw) { return draw.used; }))
    refuse("it draws random numbers without an op");
}

void Recording::pause() {
  end_segment();
  context().trace = outer_;
}

void Recording::resume() {
  for (MemorySlot& slot : slots_) slot.version = slot.storage->version;
  seed_ = context().generator.seed();
  next_stream_ = context().generator.stream();
  context().trace = this;
}

void Recording::uncount_handles() {
  if (std::exchange(ended_, true)) return;
  for (const MemorySlot& slot : slots_)
    if (slot.kind == MemorySlot::Kind::made) --slot.storage->queued;
}

void Recording::end() {
  end_segment();
  uncount_handles();
  context().trace = outer_;
}

void Recording::forget_results() {
  memory_.clear();
  for (MemorySlot& slot : slots_)
    if (slot.kind != MemorySlot::Kind::outside) slot.storage = {}, slot.tensor = {};
}

std::string Recording::difference(const Recording& other) const {
  for (size_t i = 0; i < std::min(calls_.size(), other.calls_.size()); ++i) {
    const RecordedCall &a = calls_[i], &b = other.calls_[i];
    const std::string where = text("call ", i + 1, ", ", public_name(*a.op), at(a.line));
    if (a.op != b.op) return text(where, ": once it was ", public_name(*b.op), at(b.line));
    if (a.device != b.device || a.precision != b.precision)
      return where + ": its device or precision changed";
    if (!same_params(a.params, b.params)) return where + ": its parameters changed";
    if (a.draw != b.draw) return where + ": it draws other random numbers";
    if (a.draw < 0 && std::memcmp(&a.args, &b.args, sizeof a.args) != 0) return where + ": a number changed";
    if (!same_uses(a.in, b.in) || !same_uses(a.out, b.out))
      return where + ": an operand is another tensor, or has another shape or value";
  }
  if (calls_.size() != other.calls_.size())
    return text(calls_.size(), " calls, and once ", other.calls_.size());
  if (slots_.size() != other.slots_.size()) return "it uses other tensors";
  for (size_t i = 0; i < slots_.size(); ++i) {
    const MemorySlot &a = slots_[i], &b = other.slots_[i];
    if (a.kind != b.kind || a.index != b.index) return "it uses other tensors";
    if (a.kind == MemorySlot::Kind::outside && a.storage != b.storage)
      return text("a tensor of shape ", a.tensor.shape(),
                  " that no op of it makes is another one in each step");
  }
  if (segments_.size() != other.segments_.size()) return "it steps an optimizer more or less often";
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i].calls != other.segments_[i].calls) return "it steps an optimizer at another place";
    if (!same_uses(segments_[i].gradients, other.segments_[i].gradients)) return "it leaves other gradients";
  }
  return "";
}

}  // namespace lunagrad
