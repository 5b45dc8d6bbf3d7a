#include "runtime/deferral/call_queue.h"

#include <algorithm>
#include <utility>

#include "runtime/deferral/groups.h"
#include "runtime/deferral/in_kernel.h"
#include "runtime/deferral/run_queued.h"
#include "runtime/waiting.h"

namespace lunagrad {
namespace {

// A queue is computed when it has this many calls, or when its results that are in use would take this share
// of the device's memory: a step of a script that never reads anything must not hold all of its operands.
constexpr size_t kMostCalls = 4096;
constexpr size_t kShareOfMemory = 128;
constexpr uint64_t kLeastWindow = uint64_t(64) << 20;
constexpr uint64_t kMostLatest = 4;  // results of the size of the latest

// Whether the kernel may refuse the values of the operands. Rows that do refuse no floats.
bool judges(const Call& call) {
  if (!call.op->judges_values) return false;
  return call.op->elementwise < 0 || std::none_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
           return x.defined() && is_floating(x.dtype()) && !x.is_number();
         });
}

// The same elements, by a handle that keeps no tape alive.
Tensor own_handle(const Tensor& x) {
  if (!x.defined() || x.is_number()) return x;
  return Tensor(x.storage_ref(), x.layout(), x.offset(), x.dtype());
}

// Drops a handle of the queue, and frees the memory if only a recording refers to it (recording.h).
void let_go(Tensor& x) {
  if (!in_memory(x)) return;
  const Ref<Storage> storage = x.storage_ref();
  x = {};
  if (storage->queued == 0 || storage->use_count() != storage->queued + 1) return;
  const size_t bytes = storage->bytes;
  storage->device.free(storage->release(), bytes);
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
  } catch (...) {  // a stop, or no memory: what was not computed is not whole
    for (const QueuedCall& queued : calls_)
      for (const Tensor& y : queued.call.out) y.storage().mark_torn(queued.call.op->name);
    forget_places();
    if (waiting_queue == this) waiting_queue = nullptr;
  }
}

bool CallQueue::takes(const Call& call) const {
  const Context& ctx = context();
  if (computing_ || !call.op->cpu || judges(call)) return false;
  if (ctx.trace && ctx.trace->sees_calls()) return false;
  // On the CPU an index out of range is an error of the call; on other devices it is found later anyway.
  return call.op->integer_inputs == 0 || !call.device().is_cpu();
}

void CallQueue::put(const Call& call) {
  if (waiting_queue && waiting_queue != this) waiting_queue->compute();
  waiting_queue = this;
  if (calls_.empty()) {
    window_ = std::max<uint64_t>(kLeastWindow, call.device().memory().total / kShareOfMemory);
    next_look_ = window_;
  }
  const Context& ctx = context();
  QueuedCall& queued = calls_.emplace_back();
  queued.device = &call.device();
  queued.line = ctx.line;
  queued.module = ctx.module;
  queued.precision = ctx.matmul_precision;
  Call& own = queued.call;
  own.op = call.op;
  own.params = call.params;
  own.args = call.args;
  own.aliases = call.aliases;
  own.in.resize(call.in.size());
  for (size_t i = 0; i < call.in.size(); ++i) own.in[i] = own_handle(call.in[i]);
  own.out.resize(call.out.size());
  for (size_t i = 0; i < call.out.size(); ++i) {
    own.out[i] = own_handle(call.out[i]);
    promised_ += own.out[i].nbytes();
  }
  queued.fuses = !writes_in_place(own) && own.out.size() == 1 && queued.device->fuses(own);
  note(queued);
  if (calls_.size() >= kMostCalls || is_large()) compute();
}

// Whether the results that are in use take too much memory.
bool CallQueue::is_large() {
  if (promised_ < next_look_) return false;
  if (drop_garbage_) drop_garbage_();
  uint64_t in_use = 0;
  for (size_t i = 0; i < places_.size(); ++i)
    if (made_[i] && places_[i]->use_count() > places_[i]->queued) in_use += places_[i]->bytes;
  next_look_ = promised_ + window_;
  // A chain of large results needs its operand and its result at once.
  uint64_t latest = 0;
  for (const Tensor& y : calls_.back().call.out) latest += y.nbytes();
  return in_use >= std::max(window_, kMostLatest * latest);
}

// Gives each storage of the call a place in the table, and tells it who will read and write it.
void CallQueue::note(const QueuedCall& queued) {
  const auto find_place = [this](Storage& storage) {
    if (storage.writer == this || storage.reader == this) return;
    storage.before_write();  // another queue has it
    storage.place = uint32_t(places_.size());
    places_.push_back(&storage);
    handles_.push_back(0);
    made_.push_back(0);
  };
  const auto count_handle = [this](Storage& storage) {
    ++storage.queued;
    ++handles_[storage.place];
  };
  const Call& call = queued.call;
  for (const Tensor& x : call.in)
    if (in_memory(x)) {
      find_place(x.storage());
      count_handle(x.storage());
      x.storage().reader = this;
      if (call.op->writes_inputs) x.storage().writer = this;
    }
  for (const Tensor& y : call.out) {
    const size_t known = places_.size();
    find_place(y.storage());
    if (places_.size() > known) made_.back() = 1;
    count_handle(y.storage());
    y.storage().writer = this;
  }
}

void CallQueue::forget_places() {
  for (size_t i = 0; i < places_.size(); ++i) {
    places_[i]->writer = places_[i]->reader = nullptr;
    places_[i]->queued -= handles_[i];
  }
  places_.clear();
  handles_.clear();
  made_.clear();
}

// Of each storage, whether there is a handle to it that is not the queue's own.
std::vector<uint8_t> CallQueue::find_alive() const {
  std::vector<uint8_t> alive(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) alive[i] = places_[i]->use_count() > places_[i]->queued;
  return alive;
}

void CallQueue::run_unit(size_t number, const Plan& plan) {
  const Unit unit = plan.unit(number);
  for (const uint32_t i : unit) {
    if (!plan.stored[i]) continue;
    for (const Tensor& y : calls_[i].call.out) y.storage().keep_promise();
  }
  if (unit.size() > 1) {
    const InKernel running;
    return calls_[unit.front()].device->run_group(group_of(unit, calls_, plan));
  }
  run_alone(calls_[unit.front()]);
}

// After an error: the calls that have not run wait again.
void CallQueue::keep_unfinished(const std::vector<uint8_t>& done) {
  std::vector<QueuedCall> rest;
  for (size_t i = 0; i < calls_.size(); ++i)
    if (!done[i]) rest.push_back(std::move(calls_[i]));
  calls_ = std::move(rest);
  for (const QueuedCall& queued : calls_) note(queued);
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
  const Plan plan = plan_calls(calls_, find_alive());
  computing_ = true;
  forget_places();  // from here on the memory is read and written
  waiting_queue = nullptr;
  std::vector<uint8_t> done(calls_.size(), 1);
  for (const uint32_t i : plan.order) done[i] = 0;
  promised_ = 0;
  report_->dropped += plan.dropped;
  report_->bytes_saved += plan.bytes_saved;
  AsCalled context_of_calls;
  try {
    for (size_t number = 0; number < plan.units(); ++number) {
      const Unit unit = plan.unit(number);
      context_of_calls.become(calls_[unit.front()]);
      // A write that fails half-way cannot be tried again.
      if (writes_in_place(calls_[unit.front()].call)) done[unit.front()] = 1;
      run_unit(number, plan);
      for (const uint32_t i : unit) {
        QueuedCall& queued = calls_[i];
        done[i] = 1;
        uint64_t bytes = 0;
        for (const Tensor& y : queued.call.out) bytes += y.nbytes();
        const char* const why = unit.size() > 1     ? nullptr
                                : plan.why_alone[i] ? plan.why_alone[i]
                                                    : "the op is not elementwise here";
        report_->calls.push_back(
            {queued.call.op, queued.line, report_->units, bytes, plan.stored[i] != 0, why});
        for (Tensor& x : queued.call.in) let_go(x);
        for (Tensor& y : queued.call.out) let_go(y);
        queued.call.in = {};
        queued.call.out = {};
      }
      ++report_->units;
    }
  } catch (...) {
    computing_ = false;
    keep_unfinished(done);
    throw;
  }
  calls_.clear();
  computing_ = false;
}

}  // namespace lunagrad
