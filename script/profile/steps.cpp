// Makes the tables, the timeline and the memory chart of a step from its notes.
#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>

#include "runtime/core/error.h"
#include "runtime/core/op.h"
#include "script/profile/watch.h"

namespace lunagrad {
namespace {

constexpr size_t kMostSpans = 20000;   // on a step's timeline, and in each lane
constexpr size_t kMostSamples = 2000;  // of memory in use

// Nesting of calls: own time in ticks, and depth. Calls are recorded when they end, so callees come before
// their caller. The callees of a call are the earlier records that began no earlier than the call and have no
// caller yet.
struct Nesting {
  std::vector<uint64_t> self;
  std::vector<uint8_t> depth;

  explicit Nesting(const std::vector<ProfileNote>& calls) : self(calls.size()), depth(calls.size()) {
    std::vector<size_t> open, caller(calls.size(), SIZE_MAX);
    for (size_t i = 0; i < calls.size(); ++i) {
      uint64_t inside = 0;
      while (!open.empty() && int64_t(calls[open.back()].start - calls[i].start) >= 0) {
        inside += calls[open.back()].length;
        caller[open.back()] = i;
        open.pop_back();
      }
      self[i] = calls[i].length - std::min(calls[i].length, inside);
      open.push_back(i);
    }
    for (size_t i = calls.size(); i-- > 0;)
      depth[i] = caller[i] == SIZE_MAX ? 0 : uint8_t(std::min(depth[caller[i]] + 1, 255));
  }
};

class Table {
 public:
  ProfileRow& row(uint64_t key, const auto& begin) {
    const auto [found, fresh] = places_.try_emplace(key, rows_.size());
    if (fresh) begin(rows_.emplace_back());
    return rows_[found->second];
  }
  std::vector<ProfileRow> take() { return std::move(rows_); }

 private:
  std::unordered_map<uint64_t, size_t> places_;
  std::vector<ProfileRow> rows_;
};

void add(ProfileRow& row, const ProfileNote& note, uint64_t self, uint64_t device) {
  const double ns = ticks_to_ns(self), device_ns = ticks_to_ns(device);
  ++row.calls;
  row.self_ns[size_t(note.phase)] += ns;
  row.bytes += double(note.bytes);
  row.flops += note.flops;
  if (note.counted) row.flops_ns += device > 0 ? device_ns : ns;
  row.device_ns += device_ns;
  row.fallbacks += note.fell_back;
}

class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  uint32_t add(const std::string& name) {
    const auto [found, fresh] = places_.try_emplace(name, uint32_t(names_.size()));
    if (fresh) names_.push_back(name);
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint32_t> places_;
};

// Adds the time of submodules to each module. A module without ops of its own gets a row too.
void total_modules(std::vector<ProfileRow>& modules) {
  std::unordered_map<std::string, double> inside;
  for (ProfileRow& row : modules) {
    row.total_ns = row.self();
    for (size_t dot = row.name.rfind('.'); dot != std::string::npos && dot > 0;
         dot = row.name.rfind('.', dot - 1))
      inside[row.name.substr(0, dot)] += row.self();
  }
  for (ProfileRow& row : modules) {
    if (const auto found = inside.find(row.name); found != inside.end()) {
      row.total_ns += found->second;
      inside.erase(found);
    }
  }
  for (const auto& [name, ns] : inside) {
    ProfileRow row;
    row.name = name;
    row.total_ns = ns;
    modules.push_back(std::move(row));
  }
}

void make_timeline(const ProfileNotes& notes, const Nesting& nesting, StepProfile& step) {
  Names names(step.names);
  step.more_spans = int64_t(notes.calls.size() - std::min(notes.calls.size(), kMostSpans));
  step.spans.reserve(notes.calls.size() - size_t(step.more_spans));
  for (size_t i = 0; i < notes.calls.size() - size_t(step.more_spans); ++i) {
    const ProfileNote& note = notes.calls[i];
    ProfileSpan& span = step.spans.emplace_back();
    span.op = names.add(note.op->name);
    span.module = names.add(interned(note.module));
    span.place = place_of(note.line);
    if (note.shape) span.shape = text(note.shape->shape);
    span.phase = note.phase;
    span.depth = nesting.depth[i];
    span.fell_back = note.fell_back;
    span.start_ns = ticks_to_ns(note.start);
    span.length_ns = ticks_to_ns(note.length);
  }
}

// Index of the innermost call that ran at tick `at`; calls.size() if there is none. Calls are ordered by
// their end.
size_t call_at(const std::vector<ProfileNote>& calls, uint64_t at) {
  const auto behind = [at](const ProfileNote& note) { return note.start + note.length >= at; };
  auto found = std::partition_point(calls.begin(), calls.end(), std::not_fn(behind));
  while (found != calls.end() && found->start > at) ++found;
  return size_t(found - calls.begin());
}

void make_lanes(const ProfileNotes& notes, StepProfile& step) {
  for (const ProfileWorker& worker : notes.workers) {
    ProfileLane& lane = step.lanes.emplace_back();
    lane.name = worker.name;
    lane.kind = worker.kind;
    for (const ProfileWork& work : worker.work) {
      const double length = ticks_to_ns(work.length);
      lane.busy_ns += length;
      if (lane.blocks.size() >= kMostSpans) continue;
      const size_t call = worker.kind == Worker::loader ? SIZE_MAX : call_at(notes.calls, work.asked);
      const int32_t span = call < step.spans.size() ? int32_t(call) : -1;
      lane.blocks.push_back({ticks_to_ns(work.start), length, span, work.kernel});
    }
  }
}

// The device's time for each call, in ticks.
std::vector<uint64_t> device_times(const ProfileNotes& notes) {
  std::vector<uint64_t> times(notes.calls.size());
  for (const ProfileWorker& worker : notes.workers) {
    if (worker.kind != Worker::device) continue;
    for (const ProfileWork& work : worker.work)
      if (const size_t call = call_at(notes.calls, work.asked); call < times.size())
        times[call] += work.length;
  }
  return times;
}

// Whether tick `at` is outside of all calls and backward passes, whose time is counted elsewhere.
bool lies_between(const ProfileNotes& notes, uint64_t at) {
  const auto in = [at](const auto& pass) { return pass.first <= at && at < pass.first + pass.second; };
  return call_at(notes.calls, at) == notes.calls.size() &&
         std::none_of(notes.passes.begin(), notes.passes.end(), in);
}

// The memory of each part during the step. That gradients were freed is noticed only by the next backward
// pass. The change is moved back to the end of the first call during which the memory in use falls by as
// much.
class MemoryLine {
 public:
  explicit MemoryLine(const ProfileNotes& notes) : notes_(notes), changes_(notes.changes) {
    for (MemoryChange& change : changes_)
      if (change.part == MemoryPart::gradients && change.bytes < 0) change.at = freed_before(change);
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const MemoryChange& a, const MemoryChange& b) { return a.at < b.at; });
  }

  std::vector<MemorySample> samples() {
    std::vector<MemorySample> all;
    all.reserve(notes_.calls.size() + 1);
    double gradients = notes_.gradients, saved = 0;
    size_t next = 0;
    const auto sample = [&](uint64_t at, double in_use) {
      for (; next < changes_.size() && changes_[next].at <= at; ++next)
        (changes_[next].part == MemoryPart::saved ? saved : gradients) += changes_[next].bytes;
      MemorySample& made = all.emplace_back();
      made.at_ns = ticks_to_ns(at);
      // Limits each part, so that the sum of the parts is the memory in use.
      double left = in_use;
      const auto give = [&](MemoryPart part, double bytes) {
        const double given = std::clamp(bytes, 0.0, left);
        made.bytes[size_t(part)] = given;
        left -= given;
      };
      give(MemoryPart::weights, notes_.weights);
      give(MemoryPart::optimizer, notes_.optimizer);
      give(MemoryPart::gradients, gradients);
      give(MemoryPart::saved, saved);
      made.bytes[size_t(MemoryPart::temporary)] = left;
    };
    sample(0, double(notes_.in_use));
    for (const ProfileNote& note : notes_.calls) sample(note.start + note.length, double(note.in_use));
    double held = std::numeric_limits<double>::infinity();
    for (const MemorySample& made : all) held = std::min(held, made.bytes[size_t(MemoryPart::temporary)]);
    for (MemorySample& made : all) {
      made.bytes[size_t(MemoryPart::held)] = held;
      made.bytes[size_t(MemoryPart::temporary)] -= held;
    }
    return thinned(all);
  }

 private:
  uint64_t freed_before(const MemoryChange& change) const {
    size_t before = notes_.in_use;
    for (const ProfileNote& note : notes_.calls) {
      const uint64_t at = note.start + note.length;
      if (at > change.at) break;
      if (double(before) - double(note.in_use) >= -change.bytes) return at;
      before = note.in_use;
    }
    return change.at;
  }

  // Keeps the first and the largest sample of each interval, so that the peak is kept.
  static std::vector<MemorySample> thinned(const std::vector<MemorySample>& all) {
    if (all.size() <= kMostSamples) return all;
    std::vector<MemorySample> some;
    const size_t stretch = (2 * all.size() + kMostSamples - 1) / kMostSamples;
    for (size_t i = 0; i < all.size(); i += stretch) {
      size_t largest = i;
      for (size_t k = i; k < std::min(i + stretch, all.size()); ++k)
        if (all[k].sum() > all[largest].sum()) largest = k;
      some.push_back(all[i]);
      if (largest != i) some.push_back(all[largest]);
    }
    return some;
  }

  const ProfileNotes& notes_;
  std::vector<MemoryChange> changes_;
};

}  // namespace

std::shared_ptr<const StepProfile> profile_of(const ProfileNotes& notes) {
  auto step = std::make_shared<StepProfile>();
  step->step = notes.step;
  step->begin_ns = ticks_to_ns(notes.begin);
  step->length_ns = ticks_to_ns(notes.end);
  const Nesting nesting(notes.calls);
  const std::vector<uint64_t> device = device_times(notes);
  Table ops, lines, modules;
  std::array<uint64_t, kProfilePhases> self{};
  for (size_t i = 0; i < notes.calls.size(); ++i) {
    const ProfileNote& note = notes.calls[i];
    self[size_t(note.phase)] += nesting.self[i];
    ProfileRow& op = ops.row(uint64_t(reinterpret_cast<uintptr_t>(note.op)), [&](ProfileRow& row) {
      row.name = note.op->name;
      if (note.op->flops.count) row.formula = note.op->flops.text;
    });
    add(op, note, nesting.self[i], device[i]);
    op.total_ns += ticks_to_ns(note.length);
    ProfileRow& line =
        lines.row(uint64_t(note.line.file) << 32 | uint32_t(note.line.line), [&](ProfileRow& row) {
          row.name = to_string(note.line);
          row.place = place_of(note.line);
        });
    add(line, note, nesting.self[i], device[i]);
    line.total_ns += ticks_to_ns(nesting.self[i]);
    add(modules.row(note.module, [&](ProfileRow& row) { row.name = interned(note.module); }), note,
        nesting.self[i], device[i]);
  }
  step->forward_ns = ticks_to_ns(self[size_t(ProfilePhase::forward)]);
  step->optimizer_ns = ticks_to_ns(self[size_t(ProfilePhase::optimizer)]);
  const double inside = ticks_to_ns(self[size_t(ProfilePhase::backward)]);
  step->backward_ns = std::max(inside, ticks_to_ns(notes.passes_ticks));
  step->walk_ns = step->backward_ns - inside;
  for (const auto& [start, length] : notes.passes)
    step->passes.push_back({ticks_to_ns(start), ticks_to_ns(length)});
  for (const auto& [start, length] : notes.waits) {
    if (!lies_between(notes, start)) continue;
    step->waits.push_back({ticks_to_ns(start), ticks_to_ns(length)});
    step->waiting_ns += step->waits.back().length_ns;
  }
  step->script_ns = std::max(
      0.0, step->length_ns - step->forward_ns - step->optimizer_ns - step->backward_ns - step->waiting_ns);
  make_timeline(notes, nesting, *step);
  make_lanes(notes, *step);
  step->memory = MemoryLine(notes).samples();
  for (size_t i = 0; i < step->memory.size(); ++i)
    if (step->memory[i].sum() > step->memory[step->peak].sum()) step->peak = i;
  step->ops = ops.take();
  step->lines = lines.take();
  step->modules = modules.take();
  total_modules(step->modules);
  return step;
}

}  // namespace lunagrad
