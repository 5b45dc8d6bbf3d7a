#include "runtime/deferral/call_queue.h"

#include <algorithm>
#include <utility>

#include "runtime/core/waiting.h"
#include "runtime/deferral/activations.h"
#include "runtime/deferral/cast_units.h"
#include "runtime/deferral/in_kernel.h"
#include "runtime/deferral/run_queued.h"

namespace lunagrad {
namespace {

// A queue is computed when it has this many calls, or when its results in use would take this share of the
// device's memory. Otherwise a step that never reads a result would hold all its operands.
constexpr size_t kMostCalls = 4096;
constexpr size_t kShareOfMemory = 128;
constexpr uint64_t kLeastWindow = uint64_t(64) << 20;
constexpr uint64_t kMostLatest = 4;  // results as large as the latest one

// Whether the kernel may raise an Error because of its operands' values. Elementwise rows accept all floats.
bool judges(const Call& call) {
  if (!call.op->judges_values) return false;
  return call.op->elementwise < 0 || std::none_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
           return x.defined() && is_floating(x.dtype()) && !x.is_number();
         });
}

// Frees the memory of an operand when, besides the queue, only a recording refers to it (recording.h).
void free_recorded(const Tensor& x) {
  Storage& storage = x.storage();
  if (storage.queued > 0 && storage.use_count() == storage.queued + 1) storage.free_memory();
}

// Drops the queue's handles of a call that has run.
void let_go(Call& call) {
  for (Operands* const tensors : {&call.in, &call.out}) {
    for (const Tensor& x : *tensors)
      if (x.use_count() == 1 && in_memory(x)) free_recorded(x);
    tensors->clear();
  }
}

}  // namespace

constinit thread_local CallQueue* waiting_queue = nullptr;

void compute_waiting_calls() { waiting_queue->compute(); }

void Storage::compute() const {
  CallQueue* const first = writer ? writer : reader;
  first->compute();
  if (CallQueue* const other = reader) other->compute();
}

CallQueue::~CallQueue() {
  try {
    compute();
  } catch (...) {  // a stop, or no memory: results that were not computed are half-written
    for (const QueuedCall& queued : calls_)
      for (const Tensor& y : queued.call.out) y.storage().mark_half_written(queued.call.op->name);
    forget_places();
    if (waiting_queue == this) waiting_queue = nullptr;
  }
}

bool CallQueue::takes(const Call& call) {
  const Context& ctx = context();
  if (computing_ || !call.op->cpu) return false;
  if (ctx.trace && ctx.trace->sees_calls()) return false;
  // On the CPU an index out of range is an error of the call; other devices report it later in any case.
  const bool judges_indices = call.op->integer_inputs != 0 && call.device().is_cpu();
  if (!judges_indices && !judges(call)) return true;
  report_->add_at_once(call, judges_indices ? "it runs at once, since an index may be out of range"
                                            : "it runs at once, since it may refuse values");
  return false;
}

void CallQueue::put(const Call& call, Device& device) {
  if (waiting_queue && waiting_queue != this) waiting_queue->compute();
  waiting_queue = this;
  if (calls_.empty()) {
    window_ = std::max<uint64_t>(kLeastWindow, device.memory().total / kShareOfMemory);
    next_look_ = window_;
  }
  const Context& ctx = context();
  QueuedCall& queued = calls_.emplace_back();
  queued.device = &device;
  queued.line = ctx.line;
  queued.called = called_op();
  queued.module = ctx.module;
  queued.precision = ctx.matmul_precision;
  queued.backward = ctx.differentiating;
  if (!call.out.empty()) queued.result = call.out[0].id();
  queued.call.op = call.op;
  if (!call.params.empty()) queued.call.params = call.params;
  queued.call.args = call.args;
  queued.call.aliases = call.aliases;
  take_operands(queued, call.in, call.out);
  queued.in_place = writes_in_place(queued.call);
  queued.fuses = !queued.in_place && !call.out.empty() && device.fuses(queued.call);
  if (calls_.size() >= kMostCalls || is_large()) compute();
}

// Whether the results in use take too much memory.
bool CallQueue::is_large() {
  if (pending_bytes_ < next_look_) return false;
  if (drop_garbage_) drop_garbage_();
  uint64_t in_use = 0;
  for (const Place& place : places_)
    if (place.made && place.storage->use_count() > place.storage->queued) in_use += place.storage->bytes;
  next_look_ = pending_bytes_ + window_;
  // In a chain of large results the operand and the result of a call are in use together.
  uint64_t latest = 0;
  for (const Tensor& y : calls_.back().call.out) latest += y.nbytes();
  return in_use >= std::max(window_, kMostLatest * latest);
}

// A handle of the queue to x's elements that does not keep the tape alive. Calls that read the same view
// share one handle.
Tensor CallQueue::own_handle(const Tensor& x, bool result) {
  Storage& storage = x.storage();
  if (storage.writer != this && storage.reader != this) {
    storage.before_write();  // another queue has calls that use it
    storage.place = uint32_t(places_.size());
    places_.push_back({&storage, nullptr, 0, result});
  }
  Place& place = places_[storage.place];
  if (place.own && place.own->layout == x.layout() && place.own->offset == x.offset() &&
      place.own->dtype == x.dtype())
    return Tensor(Ref<TensorBody>(place.own));
  Tensor own(x.storage_ref(), x.layout(), x.offset(), x.dtype());
  place.own = own.body();
  ++place.handles;
  ++storage.queued;
  return own;
}

// Gives the call the queue's handles, and registers the queue as reader and writer of their storages.
void CallQueue::take_operands(QueuedCall& queued, const Operands& in, const Operands& out) {
  Call& call = queued.call;
  for (const Tensor& x : in) {
    if (!in_memory(x)) {
      call.in.push_back(x);
      continue;
    }
    call.in.push_back(own_handle(x, false));
    x.storage().reader = this;
    if (call.op->writes_inputs) x.storage().writer = this;
  }
  for (const Tensor& y : out) {
    call.out.push_back(own_handle(y, true));
    y.storage().writer = this;
    pending_bytes_ += y.nbytes();
  }
}

void CallQueue::forget_places() {
  for (const Place& place : places_) {
    place.storage->writer = place.storage->reader = nullptr;
    place.storage->queued -= place.handles;
  }
  places_.clear();
}

// For each storage: whether handles outside the queue refer to it.
std::vector<uint8_t> CallQueue::find_alive() const {
  std::vector<uint8_t> alive(places_.size());
  for (size_t i = 0; i < places_.size(); ++i)
    alive[i] = places_[i].storage->use_count() > places_[i].storage->queued;
  return alive;
}

void CallQueue::run_unit(Unit unit, const Plan& plan) {
  const bool together = unit.size() > 1 && gains_together(unit, calls_);
  for (const uint32_t i : unit) {
    const Operands& results = calls_[i].call.out;
    for (size_t k = together && !plan.stored[i]; k < results.size(); ++k) results[k].storage().allocate();
    if (!together) run_alone(calls_[i]);
  }
  if (!together) return;
  const InKernel running;
  calls_[unit.front()].device->run_group(group_of(unit, calls_, plan));
}

// After an error: puts the calls of this unit and of later units back into the queue.
void CallQueue::keep_unfinished(const Plan& plan, size_t first_unit) {
  std::vector<uint8_t> waits(calls_.size());
  for (size_t number = first_unit; number < plan.units(); ++number)
    for (const uint32_t i : plan.unit(number)) waits[i] = 1;
  std::vector<QueuedCall> calls = std::exchange(calls_, {});
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!waits[i]) continue;
    const Operands in = std::move(calls[i].call.in), out = std::move(calls[i].call.out);
    take_operands(calls_.emplace_back(std::move(calls[i])), in, out);
  }
  waiting_queue = calls_.empty() ? nullptr : this;
}

void CallQueue::compute() {
  if (computing_ || calls_.empty()) return;
  try {
    return compute_once();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || !free_memory_) throw;
  }
  free_memory_();
  if (!calls_.empty()) compute_once();
}

void CallQueue::compute_once() {
  const std::vector<uint8_t> alive = find_alive();
  const size_t merged = join_activations(calls_, alive);
  Plan plan = plan_calls(calls_, alive);
  join_casts(plan, calls_, alive);
  computing_ = true;
  forget_places();  // from here on the memory is really read and written
  waiting_queue = nullptr;
  pending_bytes_ = 0;
  report_->dropped += plan.dropped - merged;
  report_->bytes_saved += plan.bytes_saved;
  report_->calls.reserve(report_->calls.size() + plan.order.size());
  size_t number = 0;
  try {
    AsCalled context_of_calls;
    for (; number < plan.units(); ++number) {
      const Unit unit = plan.unit(number);
      context_of_calls.become(calls_[unit.front()]);
      const uint64_t start = ticks();
      run_unit(unit, plan);
      const uint64_t length = ticks() - start;
      for (const uint32_t i : unit) {
        report_->add(calls_[i], unit.size() > 1, plan.stored[i], length, plan.why_alone[i]);
        let_go(calls_[i].call);
      }
      ++report_->units;
    }
  } catch (...) {
    computing_ = false;
    // An in-place write that failed cannot be tried again.
    keep_unfinished(plan, number + calls_[plan.unit(number).front()].in_place);
    throw;
  }
  calls_.clear();
  computing_ = false;
}

}  // namespace lunagrad
