#include "runtime/deferral/captured_graph.h"

#include <algorithm>

#include "runtime/core/waiting.h"
#include "runtime/deferral/activations.h"
#include "runtime/deferral/cast_units.h"
#include "runtime/tape/node.h"

namespace lunagrad {
namespace {

// A step with more bytes of results than this gives their memory back between two runs. For a smaller step
// allocating it again would take a tenth of the step's time.
constexpr uint64_t kLargeStep = 4 << 20;

int64_t offset_in_bytes(const Tensor& x) { return x.offset() * int64_t(item_size(x.dtype())); }

template <class F>
void for_operands(const Call& call, F&& f) {
  for (const Tensor& x : call.in)
    if (in_memory(x)) f(x);
  for (const Tensor& y : call.out) f(y);
}

}  // namespace

CapturedGraph::CapturedGraph(const Recording& recording, const std::vector<Use>& kept)
    : leaves_(recording.leaves()) {
  for (const MemorySlot& slot : recording.slots()) {
    Memory memory{slot, slot.kind == MemorySlot::Kind::made
                            ? Ref<Storage>(new Storage(*slot.device, slot.bytes, Unallocated()))
                            : slot.storage};
    if (slot.tensor.defined()) {
      memory.offset = offset_in_bytes(slot.tensor);
      memory.layout = slot.tensor.layout();
      memory.dtype = slot.tensor.dtype();
    }
    if (slot.kind != MemorySlot::Kind::outside) memory.slot.tensor = {};
    memory.nothing = Ref<Storage>(new Storage(*slot.device, 0, Unallocated()));
    memory_.push_back(std::move(memory));
  }
  for (const RecordedCall& recorded : recording.calls()) {
    QueuedCall& queued = calls_.emplace_back();
    queued.device = recorded.device;
    queued.line = recorded.line;
    queued.called = recorded.called;
    queued.module = recorded.module;
    queued.precision = recorded.precision;
    queued.backward = recorded.backward;
    queued.call.op = recorded.op;
    queued.call.params = recorded.params;
    queued.call.args = recorded.args;
    for (const Use& part : recorded.in) queued.call.in.push_back(tensor_of(part));
    for (const Use& part : recorded.out) queued.call.out.push_back(tensor_of(part));
    queued.in_place = writes_in_place(queued.call);
    queued.fuses = !queued.in_place && !queued.call.out.empty() && queued.device->fuses(queued.call);
    written_.push_back(recorded.written);
    if (recorded.draw >= 0) random_calls_.emplace_back(uint32_t(calls_.size() - 1), recorded.draw);
  }
  find_escaping(recording, kept);
  plan(recording);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    has_gradient_.push_back(first_gradient(int(i)) >= 0);
    replaces_gradient_.push_back(segments_.back().gradients[i].slot != first_gradient(int(i)));
  }
  plan_memory();
  for (Memory& memory : memory_) memory.slot.storage = {};
  finish();
}

// The part of a slot as a tensor of a call. It has its own handle, so that its memory can be replaced.
Tensor CapturedGraph::tensor_of(const Use& part) {
  if (part.slot == Use::kNumber) return part.number;
  if (part.slot == Use::kAbsent) return {};
  Memory& memory = memory_[size_t(part.slot)];
  const Tensor tensor(memory.storage, part.layout,
                      part.offset + memory.offset / int64_t(item_size(part.dtype)), part.dtype);
  memory.bodies.push_back(tensor.body());
  memory.grain = std::max(memory.grain, int64_t(item_size(part.dtype)));
  return tensor;
}

Tensor CapturedGraph::take(const Use& part) const {
  const Memory& memory = memory_[size_t(part.slot)];
  if (memory.slot.kind == MemorySlot::Kind::outside && part.offset == 0 &&
      part.dtype == memory.slot.tensor.dtype() && part.layout->shape == memory.slot.tensor.shape() &&
      part.layout->strides == memory.slot.tensor.strides())
    return memory.slot.tensor;
  return Tensor(memory.storage, part.layout, part.offset + memory.offset / int64_t(item_size(part.dtype)),
                part.dtype);
}

// Marks the memory that is read outside its segment.
void CapturedGraph::find_escaping(const Recording& recording, const std::vector<Use>& kept) {
  const auto escapes = [this](const Use& part) {
    if (part.slot >= 0) memory_[size_t(part.slot)].escapes = true;
  };
  for (const Use& part : kept) escapes(part);
  for (const Segment& segment : recording.segments())
    for (const Use& part : segment.gradients) escapes(part);
}

// The slot of a leaf's gradient at the beginning; -1: none.
int CapturedGraph::first_gradient(int leaf) const {
  for (size_t i = 0; i < memory_.size(); ++i)
    if (memory_[i].slot.kind == MemorySlot::Kind::gradient && memory_[i].slot.index == leaf) return int(i);
  return Use::kAbsent;
}

void CapturedGraph::plan(const Recording& recording) {
  for (size_t i = 0; i < memory_.size(); ++i) memory_[i].storage->place = uint32_t(i);
  // For each memory: the last segment that uses it.
  std::vector<size_t> last(memory_.size());
  size_t at = 0;
  for (size_t s = 0; s < recording.segments().size(); ++s)
    for (; at < recording.segments()[s].calls; ++at)
      for_operands(calls_[at].call, [&](const Tensor& x) { last[x.storage().place] = s; });
  at = 0;
  for (size_t s = 0; s < recording.segments().size(); ++s) {
    const Segment& segment = recording.segments()[s];
    const std::span<QueuedCall> calls(calls_.data() + at, segment.calls - at);
    std::vector<uint8_t> alive(memory_.size());
    for (size_t i = 0; i < memory_.size(); ++i)
      alive[i] = memory_[i].slot.kind != MemorySlot::Kind::made || memory_[i].escapes || last[i] > s;
    const size_t merged = join_activations(calls, alive);
    Plan plan = plan_calls(calls, alive);
    join_casts(plan, calls, alive);
    report_.dropped += plan.dropped - merged;
    report_.bytes_saved += plan.bytes_saved;
    for (size_t u = 0; u < plan.units(); ++u) {
      const lunagrad::Unit planned = plan.unit(u);
      for (const uint32_t i : planned)
        report_.add(calls[i], planned.size() > 1, plan.stored[i], 0, plan.why_alone[i]);
      ++report_.units;
      if (planned.size() == 1 || !gains_together(planned, calls)) {
        for (const uint32_t i : planned) units_.push_back({{uint32_t(at) + i}, {}});
        continue;
      }
      Unit& unit = units_.emplace_back();
      unit.group = group_of(planned, calls, plan);
      for (const uint32_t i : planned) {
        unit.calls.push_back(uint32_t(at) + i);
        if (!plan.stored[i]) memory_[calls[i].call.out[0].storage().place].stored = false;
      }
    }
    Part part{units_.size(), segment.draws, segment.gradients, {}};
    for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      const int before =
          segments_.empty() ? first_gradient(int(leaf)) : segments_.back().gradients[leaf].slot;
      part.changed.push_back(segment.gradients[leaf].slot != before);
    }
    segments_.push_back(std::move(part));
    at = segment.calls;
  }
}

// Notes the unit that first uses each result and the unit that last uses it.
void CapturedGraph::plan_memory() {
  std::vector<size_t> last(memory_.size(), SIZE_MAX);
  uint64_t bytes = 0;
  for (size_t u = 0; u < units_.size(); ++u)
    for (const uint32_t i : units_[u].calls)
      for_operands(calls_[i].call, [&](const Tensor& x) {
        const uint32_t slot = x.storage().place;
        const Memory& memory = memory_[slot];
        if (memory.slot.kind != MemorySlot::Kind::made || !memory.stored) return;
        if (std::exchange(last[slot], u) != SIZE_MAX) return;
        units_[u].begins.push_back(slot);
        bytes += memory.storage->bytes;
      });
  for (size_t i = 0; i < memory_.size(); ++i)
    if (last[i] != SIZE_MAX && !memory_[i].escapes) units_[last[i]].ends.push_back(uint32_t(i));
  large_ = bytes > kLargeStep;
  if (!large_) share_memory();
}

// Results that only the step reads share memory when one is last read before the other is written.
void CapturedGraph::share_memory() {
  std::vector<Ref<Storage>> free;
  for (const Unit& unit : units_) {
    for (const uint32_t i : unit.begins) {
      Memory& memory = memory_[i];
      if (memory.escapes) continue;
      const Storage& wanted = *memory.storage;
      auto best = free.end();
      for (auto it = free.begin(); it != free.end(); ++it)
        if (&(*it)->device == &wanted.device && (*it)->bytes >= wanted.bytes &&
            (*it)->bytes <= 2 * wanted.bytes + 256 && (best == free.end() || (*it)->bytes < (*best)->bytes))
          best = it;
      Ref<Storage> taken;
      if (best != free.end()) {
        taken = *best;
        free.erase(best);
      } else {
        taken = Ref<Storage>(new Storage(wanted.device, wanted.bytes, Unallocated()));
        shared_.push_back(taken);
        bytes_kept_ += wanted.bytes;
      }
      place(memory, taken, 0);
    }
    for (const uint32_t i : unit.ends) free.push_back(memory_[i].storage);
  }
}

// Moves the slot to this memory; its tensor begins `offset` bytes from the start.
void CapturedGraph::place(Memory& memory, const Ref<Storage>& storage, int64_t offset) {
  if (memory.storage == storage && memory.offset == offset) return;
  for (TensorBody* const body : memory.bodies) {
    body->storage = storage;
    body->offset += (offset - memory.offset) / int64_t(item_size(body->dtype));
  }
  memory.storage = storage;
  memory.offset = offset;
}

bool CapturedGraph::fits(const Memory& memory, const Tensor& now) const {
  return now.dtype() == memory.dtype && &now.device() == memory.slot.device &&
         now.shape() == memory.layout->shape && now.strides() == memory.layout->strides &&
         (offset_in_bytes(now) - memory.offset) % memory.grain == 0;
}

bool CapturedGraph::fits(const TensorList& arguments) const {
  for (const Memory& memory : memory_) {
    const MemorySlot& slot = memory.slot;
    if (slot.kind == MemorySlot::Kind::argument) {
      const Tensor& now = arguments[size_t(slot.index)];
      if (now.requires_grad() || !fits(memory, now)) return false;
    } else if (slot.kind == MemorySlot::Kind::gradient) {
      const Tensor now = leaves_[size_t(slot.index)].grad();
      if (!now.defined() || !fits(memory, now)) return false;
    } else if (slot.kind == MemorySlot::Kind::outside) {
      if (slot.tensor.storage_ref() != memory.storage) return false;  // the data of a parameter was replaced
    }
  }
  for (size_t i = 0; i < leaves_.size(); ++i)
    if (leaves_[i].grad().defined() != has_gradient_[i]) return false;
  return true;
}

bool CapturedGraph::begin(const TensorList& arguments) {
  if (!fits(arguments)) return false;
  if (waiting_queue) compute_waiting_calls();
  for (Memory& memory : memory_) {
    const MemorySlot& slot = memory.slot;
    if (slot.kind == MemorySlot::Kind::argument) {
      const Tensor& now = arguments[size_t(slot.index)];
      place(memory, now.storage_ref(), offset_in_bytes(now));
    } else if (slot.kind == MemorySlot::Kind::gradient && !memory.bodies.empty()) {
      const Tensor now = leaves_[size_t(slot.index)].grad();
      place(memory, now.storage_ref(), offset_in_bytes(now));
    }
  }
  // Frees gradients that the step replaces, so that old and new gradients do not exist at the same time.
  for (size_t i = 0; i < leaves_.size(); ++i)
    if (has_gradient_[i] && replaces_gradient_[i]) leaves_[i].set_grad({});
  renew_results();
  for (const Ref<Storage>& shared : shared_) shared->allocate();
  shared_.clear();
  draws_.clear();
  return true;
}

// A result that is still held outside keeps its values: the next run's result gets new memory.
void CapturedGraph::renew_results() {
  for (Memory& memory : memory_) {
    if (!memory.escapes || memory.slot.kind != MemorySlot::Kind::made) continue;
    if (memory.storage->use_count() > memory.bodies.size() + 1)
      place(memory, Ref<Storage>(new Storage(memory.storage->device, memory.storage->bytes, Unallocated())),
            0);
    if (large_)
      memory.storage->free_memory();
    else
      memory.storage->allocate();
  }
}

void CapturedGraph::draw_numbers(size_t segment) {
  while (draws_.size() < segments_[segment].draws) draws_.push_back(context().generator.draw());
}

void CapturedGraph::run_unit(const Unit& unit) {
  if (!large_) return run_calls(unit);
  for (const uint32_t i : unit.begins) memory_[i].storage->allocate();
  run_calls(unit);
  for (const uint32_t i : unit.ends) memory_[i].storage->free_memory();
}

void CapturedGraph::run_calls(const Unit& unit) {
  const QueuedCall& first = calls_[unit.calls[0]];
  if (unit.calls.size() > 1) return first.device->run_group(unit.group);
  run_alone(first);
  for (const int slot : written_[unit.calls[0]])
    memory_[size_t(slot)].storage->mark_written(first.call.op->name);
}

void CapturedGraph::run(size_t segment) {
  const size_t begin = segment ? segments_[segment - 1].units : 0;
  const Part& part = segments_[segment];
  draw_numbers(segment);
  for (const auto& [call, draw] : random_calls_) {
    if (size_t(draw) >= draws_.size()) continue;
    calls_[call].call.args[0].u = draws_[size_t(draw)].seed;
    calls_[call].call.args[1].u = draws_[size_t(draw)].stream;
  }
  {
    AsCalled context_of_calls;
    for (size_t u = begin; u < part.units; ++u) {
      context_of_calls.become(calls_[units_[u].calls[0]]);
      run_unit(units_[u]);
    }
  }
  for (size_t i = 0; i < leaves_.size(); ++i)
    if (part.changed[i])
      leaves_[i].set_grad(part.gradients[i].slot == Use::kAbsent ? Tensor() : take(part.gradients[i]));
}

void CapturedGraph::finish() {
  for (Memory& memory : memory_)
    if (memory.slot.kind == MemorySlot::Kind::argument || memory.slot.kind == MemorySlot::Kind::gradient)
      place(memory, memory.nothing, memory.offset % memory.grain);
}

}  // namespace lunagrad
