#include "script/profile/watch.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/op.h"

namespace lunagrad {
namespace {

constexpr uint64_t kShare = 25;          // measuring may take 1 / kShare of the time
constexpr size_t kKeptTimelines = 16;    // steps whose timelines are kept
constexpr size_t kMostCalls = 1u << 18;  // per step; later calls are not measured

double bytes_of(const Operand& operand) {
  return double(operand.layout->numel) * double(item_size(operand.dtype));
}

double gradients_of(const std::vector<Ref<Node>>& leaves) {
  double bytes = 0;
  for (const Ref<Node>& leaf : leaves)
    if (leaf->grad.defined()) bytes += double(leaf->grad.nbytes());
  return bytes;
}

// Bytes of the states in an optimizer's step. The call's operands are lists of equal length: parameters,
// gradients, then each state.
double states_of(const Call& call) {
  size_t parameters = 0;
  const auto is_parameter = [](const Tensor& x) { return x.defined() && x.body()->node && x.is_leaf(); };
  while (parameters < call.in.size() && is_parameter(call.in[parameters])) ++parameters;
  double bytes = 0;
  for (size_t i = 2 * parameters; parameters > 0 && i < call.in.size(); ++i)
    if (call.in[i].defined()) bytes += double(call.in[i].nbytes());
  return bytes;
}

}  // namespace

std::shared_ptr<const ProfileView> ProfileWatch::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void ProfileWatch::reset() {
  reset_.store(true);
  const std::lock_guard lock(mutex_);
  view_ = nullptr;
}

void ProfileWatch::begin_run() {
  measuring_ = false;
  leaves_.clear();
  saved_.clear();
  released_.clear();
  notes_ = {};
  weights_ = optimizer_ = 0;
  reset();
}

bool ProfileWatch::begin_step(int64_t step, bool outside, Device& device) {
  end_step();
  if (!watching_.load(std::memory_order_relaxed)) {
    leaves_.clear();
    return false;
  }
  const uint64_t start = ticks();
  if (reset_.exchange(false)) {
    total_ = {};
    fallbacks_.clear();
    origin_ = start;
    resume_at_ = 0;
    only_outside_ = true;
  }
  outside_ = outside;
  if (start < resume_at_ && (outside || !only_outside_)) {  // the first step is always measured
    total_.passed_over += !outside;
    return false;
  }
  device_ = &device;
  notes_.calls.clear();
  notes_.passes.clear();
  notes_.waits.clear();
  notes_.changes.clear();
  notes_.step = step;
  notes_.passes_ticks = 0;
  notes_.gradients = gradients_of(leaves_);
  notes_.in_use = device.memory().in_use;
  optimizer_seen_ = false;
  on_cpu_ = nullptr;
  away_ = 0;
  away_depth_ = 0;
  watch_workers();
  measuring_ = true;
  begin_ = ticks();
  notes_.begin = begin_ - origin_;
  cost_ = begin_ - start;
  return true;
}

void ProfileWatch::end_step() {
  if (!measuring_) return;
  measuring_ = false;
  take_workers();
  const uint64_t start = ticks();
  notes_.weights = weights_;
  notes_.optimizer = optimizer_;
  saved_.clear();
  released_.clear();
  if (!outside_ || only_outside_) publish(profile_of(notes_));
  notes_.calls.clear();
  const uint64_t done = ticks();
  cost_ += done - start;
  resume_at_ = done + kShare * cost_;
}

void ProfileWatch::publish(std::shared_ptr<const StepProfile> step) {
  if (!outside_ && std::exchange(only_outside_, false)) {
    total_.all = {};
    total_.steps.clear();
    total_.measured = 0;
  }
  ++total_.measured;
  total_.device = device_->name();
  add_profile(total_.all, *step);
  total_.steps.push_back(std::move(step));
  if (total_.steps.size() > kKeptTimelines) total_.steps.erase(total_.steps.begin());
  total_.fallbacks.clear();
  for (const auto& [op, fallback] : fallbacks_)
    total_.fallbacks.push_back({op->name, fallback.first, fallback.second});
  show();
}

void ProfileWatch::show() {
  auto view = std::make_shared<ProfileView>(total_);
  sort_profile(view->all);
  const std::lock_guard lock(mutex_);
  view_ = std::move(view);
}

void ProfileWatch::end_run() {
  end_step();
  if (view()) show();  // counts the steps skipped after the last measured one
}

// --- pool threads and devices

void ProfileWatch::watch_workers() {
  pauses_.clear();
  notes_.workers.clear();
  helpers_.emplace(context());
  device_times_ = dynamic_cast<WorkTimes*>(device_);
  try {
    if (device_times_ && !device_times_->watch_work(true)) device_times_ = nullptr;
  } catch (const Error&) {  // the script gets this error when it next uses the device
    device_times_ = nullptr;
  }
}

void ProfileWatch::take_workers() {
  std::vector<DeviceWork> device_work;
  try {
    if (device_times_) {
      const uint64_t before = now();
      device_times_->watch_work(false);  // waits for the device
      notes_.end = now();
      notes_.waits.emplace_back(before, notes_.end - before);
      device_work = device_times_->take_work();
    }
  } catch (const Error&) {
    device_work.clear();
  }
  if (!device_times_) notes_.end = now();
  const auto note = [this](ProfileWorker& worker, uint64_t asked, uint64_t begin, uint64_t end,
                           uint32_t kernel = 0) {
    const auto called = from_begin(asked), start = from_begin(begin), done = from_begin(end);
    if (called && start && done && *done >= *start)
      worker.work.push_back({*called, *start, *done - *start, kernel});
  };
  std::map<std::pair<Helper, int>, ProfileWorker> helpers;
  for (const HelperWork& work : helpers_->take()) {
    ProfileWorker& worker = helpers[{work.helper, work.index}];
    if (worker.name.empty())
      worker = work.helper == Helper::pool
                   ? ProfileWorker{"pool " + std::to_string(work.index + 1), Worker::pool, {}}
                   : ProfileWorker{"loader " + std::to_string(work.index + 1), Worker::loader, {}};
    // Work that began before the step counts from the start of the step.
    note(worker, std::max(work.begin, begin_), std::max(work.begin, begin_), work.end);
  }
  helpers_.reset();
  for (auto& [key, worker] : helpers) notes_.workers.push_back(std::move(worker));
  if (!device_times_) return;
  ProfileWorker device{std::string(device_->name()), Worker::device, {}};
  for (const DeviceWork& work : device_work)
    note(device, work.asked, std::max(work.begin, begin_), std::max(work.end, begin_), work.kernel);
  notes_.workers.push_back(std::move(device));
}

std::optional<uint64_t> ProfileWatch::from_begin(uint64_t tick) const {
  if (tick < begin_) return {};
  uint64_t away = 0;
  for (const auto& [left, back] : pauses_) {
    if (tick < left) break;
    if (tick < back) return {};
    away += back - left;
  }
  return tick - begin_ - away;
}

void ProfileWatch::leave() {
  if (away_depth_++ == 0) left_ = ticks();
}

void ProfileWatch::come_back() {
  if (--away_depth_ > 0) return;
  const uint64_t back = ticks();
  pauses_.emplace_back(left_, back);
  away_ += back - left_;
}

void ProfileWatch::fell_back(const Call& call, const char* reason) {
  if (away_depth_ > 0) return;
  on_cpu_ = &call;
  auto& fallback = fallbacks_[call.op];
  fallback.first = reason;
  ++fallback.second;
}

void ProfileWatch::waited(uint64_t length) {
  if (away_depth_ == 0) notes_.waits.emplace_back(now() - length, length);
}

void ProfileWatch::ran(const Call& call, uint64_t length) {
  if (away_depth_ > 0 || notes_.calls.size() >= kMostCalls) return;
  const uint64_t at = ticks();
  const Context& ctx = context();
  const Op& op = *call.op;
  ProfileNote& note = notes_.calls.emplace_back();
  note.op = &op;
  note.length = length;
  note.start = at - length - begin_ - away_;
  note.line = ctx.line;
  note.module = ctx.module;
  note.phase = ctx.differentiating ? ProfilePhase::backward
               : op.writes_inputs  ? ProfilePhase::optimizer
                                   : ProfilePhase::forward;
  note.fell_back = on_cpu_ == &call;
  if (note.fell_back) on_cpu_ = nullptr;
  note.bytes = int64_t(call_bytes(call));
  note.made = nullptr;
  if (!call.out.empty() && call.out[0].defined()) {
    note.shape = call.out[0].layout();
    if (call.aliases == 0) note.made = call.out[0].storage_ref().get();
  }
  note.counted = op.flops.count;
  note.flops = call_flops(call);
  if (note.phase == ProfilePhase::optimizer) {
    if (!std::exchange(optimizer_seen_, true)) optimizer_ = 0;
    optimizer_ += states_of(call);
  }
  note.in_use = device_->memory().in_use;
  cost_ += ticks() - at;
}

// --- backward passes ---

void ProfileWatch::begin(std::span<Node* const> nodes) {
  if (!measuring_) return;
  const uint64_t start = ticks();
  std::unordered_set<const Storage*> made;  // memory of new results in this step
  for (const ProfileNote& note : notes_.calls)
    if (note.made) made.insert(note.made);
  leaves_.clear();
  weights_ = 0;
  saved_.clear();
  released_.clear();
  const auto hold = [&](const Node& node, const Operand& operand) {
    const Storage* const storage = operand.saved.get();
    if (!storage || (operand.node && operand.node->is_leaf())) return;
    if (!made.contains(storage)) return;
    // The pass visits nodes by descending id, so the node with the smallest id frees the storage.
    const auto [held, fresh] = saved_.try_emplace(storage, Held{double(storage->bytes), node.id});
    if (!fresh) held->second.last = std::min(held->second.last, node.id);
  };
  for (Node* const node : nodes) {
    if (node->is_leaf()) {
      leaves_.emplace_back(node);
      if (!node->out.empty() && node->out[0].layout) weights_ += bytes_of(node->out[0]);
      continue;
    }
    for (const Operand& operand : node->in) hold(*node, operand);
    for (const Operand& operand : node->out) hold(*node, operand);
  }
  // The memory of a saved storage counts from the end of the latest call that returned it as a new result.
  std::unordered_set<const Storage*> found;
  for (auto note = notes_.calls.rbegin(); note != notes_.calls.rend(); ++note) {
    const auto held = note->made ? saved_.find(note->made) : saved_.end();
    if (held == saved_.end() || !found.insert(note->made).second) continue;
    notes_.changes.push_back({note->start + note->length, MemoryPart::saved, held->second.bytes});
  }
  for (const auto& [storage, held] : saved_) released_[held.last] += held.bytes;
  const double gradients = gradients_of(leaves_);
  double known = notes_.gradients;
  for (const MemoryChange& change : notes_.changes)
    if (change.part == MemoryPart::gradients) known += change.bytes;
  if (gradients != known) notes_.changes.push_back({now(), MemoryPart::gradients, gradients - known});
  cost_ += ticks() - start;
  pass_start_ = now();
}

void ProfileWatch::gradient(const Node& node, uint32_t, const Tensor& gradient) {
  if (measuring_ && node.is_leaf() && !node.grad.defined())
    notes_.changes.push_back({now(), MemoryPart::gradients, double(gradient.nbytes())});
}

bool ProfileWatch::keep(const Node& node) {
  if (!measuring_) return false;
  if (const auto found = released_.find(node.id); found != released_.end())
    notes_.changes.push_back({now(), MemoryPart::saved, -found->second});
  return false;
}

void ProfileWatch::end() {
  if (!measuring_) return;
  const uint64_t length = now() - pass_start_;
  notes_.passes.emplace_back(pass_start_, length);
  notes_.passes_ticks += length;
}

}  // namespace lunagrad
