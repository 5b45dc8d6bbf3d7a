#include "script/leaks/leak_watch.h"

#include <algorithm>
#include <set>
#include <utility>

#include "script/leaks/heap_walk.h"
#include "script/leaks/leak_advice.h"
#include "script/leaks/owner_group.h"

namespace lunagrad {
namespace {

constexpr int64_t kEveryStep = 12;            // for this many steps it walks after each step
constexpr double kEveryStepNs = 1e9;          // but not longer than this
constexpr uint64_t kRest = 4;                 // after a walk it rests for this many times the walk's length
constexpr size_t kMostLeakObjects = 1 << 22;  // visited in a walk
constexpr size_t kMostLeakNodes = 1 << 20;    // visited for an owner
constexpr size_t kMostMarks = 1 << 14;        // steps whose marks are kept while the watch is off

}  // namespace

void LeakWatch::begin_run(size_t threshold) {
  asked_ = threshold;
  threshold_ = threshold ? threshold : wanted_.load() ? kLeakThreshold : 0;
  clock_.clear();
  step_ = 0;
  begin_watch();
  const std::lock_guard lock(mutex_);
  report_.reset();
}

void LeakWatch::begin_watch() {
  passes_.clear();
  looked_ = looks_ = 0;
  looked_ticks_ = cost_ = began_ticks_ = all_cost_ = 0;
  past_.clear();
  carried_.clear();
  found_.clear();
  held_.clear();
}

void LeakWatch::begin_step(int64_t step) {
  if (const bool wanted = asked_ > 0 || wanted_.load(); wanted != on()) {
    threshold_ = wanted ? kLeakThreshold : 0;
    if (wanted) begin_watch();
  }
  clock_.begin_step(step);
  if (!on()) clock_.thin(kMostMarks);
}

void LeakWatch::root(const Tensor& x) {
  if (on()) passes_.pass(x, step_ + 1, clock_);
}

void LeakWatch::end_step(lua_State* L, int64_t done, std::optional<int64_t> total,
                         const std::function<HostTensors()>& host) {
  if (done <= step_) return;
  step_ = done;
  if (on() && wants_walk(total)) walk(L, host());
}

bool LeakWatch::wants_walk(std::optional<int64_t> total) const {
  if (looks_ < kEveryStep && ticks_to_ns(all_cost_) < kEveryStepNs) return true;
  if (ticks() - looked_ticks_ >= kRest * cost_) return true;
  // The last walk judges growth by an earlier walk in the second half of the run: short runs would have none.
  if (!total) return false;
  return step_ == *total || (step_ == *total - *total / 4 && looked_ < *total / 2);
}

void LeakWatch::look_now(lua_State* L, const HostTensors& host) {
  once_ = !on();
  if (once_) threshold_ = kLeakThreshold;
  walk(L, host);
  if (std::exchange(once_, false)) threshold_ = 0;
}

void LeakWatch::walk(lua_State* L, const HostTensors& host) {
  const uint64_t start = ticks();
  if (looks_ == 0) began_ticks_ = start;
  look(L, host);
  looked_ = step_;
  looked_ticks_ = ticks();
  cost_ = looked_ticks_ - start;
  all_cost_ += cost_;
  publish();
}

void LeakWatch::end_run() {
  if (looks_ > 0) publish();
}

std::shared_ptr<const LeakReport> LeakWatch::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

void LeakWatch::look(lua_State* L, const HostTensors& host) {
  // Objects freed by the first collection may have kept functions in the registry; the second collection
  // frees those.
  for (int i = 0; i < 2; ++i) lua_gc(L, LUA_GCCOLLECT);
  HeapWalk walk(L, kMostLeakObjects);
  for (const auto& [name, x] : host) walk.add_host_value(name, x);
  walk.run();
  ++looks_;
  complete_ = walk.complete();
  locals_ = walk.sees_locals();

  std::vector<HeldTensor> tapes, others;
  HeldGraph all;
  const bool tensors_count = bytes_of_steps(walk) >= threshold_;
  for (const HeapWalk::Held& held : walk.tensors()) {
    const Tensor& x = held.tensor;
    const Node* const node = x.node().get();
    if ((node ? clock_.step_of_node(node->id) : clock_.step_of_tensor(x.id())) == 0) continue;
    if (node && !node->is_leaf()) {
      tapes.push_back({x, walk.path(held), Leak::What::tapes});
      all.add(node, clock_, kMostLeakNodes);
    } else if (node) {
      others.push_back({x, walk.path(held), Leak::What::parameters});
    } else if (tensors_count) {
      others.push_back({x, walk.path(held), Leak::What::tensors});
    }
  }
  passes_.forget_all_but(all.nodes);
  note_carried(all);
  judge_tapes(tapes, walk.places());
  judge_growth(others, walk.places());
  list_held(tapes, others, walk.places());
}

// Bytes of the tensors without a graph that steps made. If all of them together are few, no owner of them
// counts, and most scripts are spared the names of a thousand small tensors.
size_t LeakWatch::bytes_of_steps(const HeapWalk& walk) const {
  std::unordered_set<const Storage*> seen;
  size_t bytes = 0;
  for (const HeapWalk::Held& held : walk.tensors()) {
    const Tensor& x = held.tensor;
    if (x.node() || clock_.step_of_tensor(x.id()) == 0 || !seen.insert(&x.storage()).second) continue;
    bytes += x.storage().bytes;
  }
  return bytes;
}

// Lists what no leak explains: the owners of values that outlived the step that made them.
void LeakWatch::list_held(std::vector<HeldTensor>& tapes, std::vector<HeldTensor>& others,
                          const ScriptPlaces& places) {
  held_.clear();
  for (auto* const tensors : {&tapes, &others}) {
    OwnerGroups owners = owner_groups(*tensors);
    for (auto& [key, group] : owners) {
      Leak leak;
      if (!list(group, leak)) continue;
      name_owner(group, leak, places);
      if (const auto past = past_.find(key); past != past_.end())
        leak.growing_since = past->second.growing_since();
      held_.push_back(std::move(leak));
    }
  }
}

// False: all of it was made in the latest step.
bool LeakWatch::list(OwnerGroup& group, Leak& leak) const {
  HeldGraph graph;
  std::set<const Storage*> storages;
  std::set<int64_t> steps;
  for (const HeldTensor* const held : group.held) {
    const Tensor& x = held->tensor;
    const int64_t made = x.node() ? clock_.step_of_node(x.node()->id) : clock_.step_of_tensor(x.id());
    if (steps.empty() || made < *steps.begin()) group.oldest = held->path;
    steps.insert(made);
    if (x.node()) leak.made = place_of(x.node()->line);
    if (held->what != Leak::What::tapes) {
      if (storages.insert(&x.storage()).second) leak.bytes += x.storage().bytes;
      continue;
    }
    graph.add(x.node().get(), clock_, kMostLeakNodes);
    graph.add_value(x.storage(), x.nbytes());
  }
  for (const Node* const node : graph.nodes) steps.insert(clock_.step_of_node(node->id));
  leak.what = group.held.back()->what;
  if (*steps.begin() >= step_) return false;
  if (leak.what == Leak::What::tensors && leak.bytes < threshold_) return false;
  leak.count = int64_t(storages.empty() ? steps.size() : storages.size());
  leak.nodes = int64_t(graph.nodes.size());
  leak.bytes += graph.bytes;
  leak.since = *steps.begin();
  if (leak.what == Leak::What::tapes)
    leak.advice = tape_advice({.path = group.path,
                               .carries = false,
                               .passed = true,
                               .one_number = group.held.back()->tensor.numel() == 1});
  return true;
}

// A graph that continues through steps is held by the values that carry it from one step to the next, not by
// all values computed from it.
void LeakWatch::note_carried(const HeldGraph& all) {
  carried_.clear();
  const auto is_old = [&](const Node& node) { return clock_.step_of_node(node.id) <= looked_; };
  for (const Node* const node : all.nodes) {
    if (is_old(*node)) continue;
    for (const Operand& operand : node->in)
      if (operand.node && !operand.node->is_leaf() && is_old(*operand.node))
        carried_.insert(operand.node->id);
  }
}

// Whether no backward pass will come for the node: a pass went through it some steps ago, or it is older than
// this script's passes reach back.
bool LeakWatch::is_due(uint64_t node) const {
  if (const int64_t passed = passes_.first(node)) return step_ - passed >= kLeakSteps;
  return is_beyond_passes(clock_.step_of_node(node));
}

bool LeakWatch::is_beyond_passes(int64_t step) const {
  return step_ - step > 2 * passes_.reach() + kLeakSteps;
}

void LeakWatch::judge_tapes(std::vector<HeldTensor>& tapes, const ScriptPlaces& places) {
  OwnerGroups own = owner_groups(tapes);
  for (auto& [key, group] : own) judge_tapes(group, false, places);
  OwnerGroups memos = memo_groups(tapes);
  for (OwnerGroup* const group : largest_first(memos)) judge_tapes(*group, false, places);
  OwnerGroups rest = owner_groups(tapes);
  for (auto& [key, group] : rest) judge_tapes(group, true, places);
}

// `single`: a single tape counts, too, if it is large.
void LeakWatch::judge_tapes(OwnerGroup& group, bool single, const ScriptPlaces& places) {
  OwnerPast& past = past_[group.key];
  std::vector<uint64_t> ends;
  HeldGraph graph;
  const Node *oldest = nullptr, *latest = nullptr;  // oldest: the oldest node that is due
  for (const HeldTensor* const held : group.held) {
    const Node* const node = held->tensor.node().get();
    if (held->explained) continue;
    ends.push_back(node->id);
    if (is_due(node->id) && (!oldest || node->id < oldest->id)) oldest = node, group.oldest = held->path;
    if (!latest || node->id > latest->id) latest = node;
  }
  if (oldest || past.carries(carried_))
    for (const HeldTensor* const held : group.held) {
      if (held->explained) continue;
      graph.add(held->tensor.node().get(), clock_, kMostLeakNodes);
      graph.add_value(held->tensor.storage(), held->tensor.nbytes());
    }
  std::set<int64_t> steps, due_steps;
  bool passed = false;
  for (const Node* const node : graph.nodes) {
    const int64_t step = clock_.step_of_node(node->id);
    steps.insert(step);
    if (!is_due(node->id)) continue;
    due_steps.insert(step);
    passed |= passes_.first(node->id) > 0;
  }
  if (!single) {
    past.add(step_, int64_t(steps.size()), steps.empty() ? step_ : *steps.begin());
    past.ends = std::move(ends);
  }
  const bool many = int64_t(due_steps.size()) >= kLeakSteps;
  if (due_steps.empty() || (single ? graph.bytes < threshold_ : !many)) return;
  if (!passed && past.was_emptied()) return;
  Found found;
  found.passed = passed;
  found.lasts = passed && many;
  found.leak.what = Leak::What::tapes;
  found.leak.made = place_of(latest->line);
  found.leak.count = int64_t(steps.size());
  found.leak.nodes = int64_t(graph.nodes.size());
  found.leak.bytes = graph.bytes;
  found.leak.since = *steps.begin();
  const bool one_number = group.held.back()->tensor.numel() == 1;
  found.leak.advice = tape_advice(
      {.path = group.path, .carries = !oldest, .passed = passed || once_, .one_number = one_number});
  add(group, std::move(found), places);
}

void LeakWatch::judge_growth(std::vector<HeldTensor>& others, const ScriptPlaces& places) {
  OwnerGroups own = owner_groups(others);
  for (auto& [key, group] : own) judge_growth(group, places);
  OwnerGroups memos = memo_groups(others);
  for (OwnerGroup* const group : largest_first(memos)) judge_growth(*group, places);
}

void LeakWatch::judge_growth(OwnerGroup& group, const ScriptPlaces& places) {
  std::map<const Storage*, int64_t> made;  // the step that made a storage; for views the earliest
  Found found;
  for (const HeldTensor* const held : group.held) {
    if (held->explained) continue;
    const Tensor& x = held->tensor;
    const int64_t step = x.node() ? clock_.step_of_node(x.node()->id) : clock_.step_of_tensor(x.id());
    const auto [place, fresh] = made.try_emplace(&x.storage(), step);
    if (fresh) found.leak.bytes += x.storage().bytes;
    place->second = std::min(place->second, step);
    if (place->second <= found.leak.since || found.leak.since == 0) group.oldest = held->path;
    found.leak.since = found.leak.since == 0 ? step : std::min(found.leak.since, step);
    if (x.node()) found.leak.made = place_of(x.node()->line);
  }
  if (made.empty()) return;
  std::set<int64_t> steps;
  for (const auto& [storage, step] : made)
    if (step_ - step >= kLeakSteps) steps.insert(step);
  OwnerPast& past = past_[group.key];
  past.add(step_, int64_t(made.size()), found.leak.since);
  found.leak.what = group.held.back()->what;
  if (int64_t(steps.size()) < kLeakSteps || !past.grows()) return;
  if (found.leak.what == Leak::What::tensors && found.leak.bytes < threshold_) return;
  found.leak.count = int64_t(made.size());
  found.leak.advice = growth_advice(found.leak.what, group.path);
  add(group, std::move(found), places);
}

void LeakWatch::name_owner(const OwnerGroup& group, Leak& leak, const ScriptPlaces& places) const {
  leak.owner = owner_name(group.path, true);
  leak.path = owner_name(group.oldest, false);
  const HeapStep& last = group.path.back();
  const SourceLine assigned = last.kind == HeapStep::Kind::field ? places.field(last.name) : SourceLine();
  leak.place = place_of(assigned.known() ? assigned : owner_line(group.path));
  leak.step = step_;
}

void LeakWatch::add(const OwnerGroup& group, Found found, const ScriptPlaces& places) {
  for (HeldTensor* const held : group.held) held->explained = true;
  Leak& leak = found.leak;
  name_owner(group, leak, places);
  if (const auto past = past_.find(group.key); past != past_.end())
    leak.growing_since = past->second.growing_since();
  leak.per_step = double(leak.count) / double(std::max<int64_t>(step_ - leak.since + 1, 1));
  found.seen = step_;
  Found& known = found_[group.key];
  if (known.leak.count <= leak.count || !known.lasts) known = std::move(found);
  known.seen = step_;
}

void LeakWatch::publish() {
  auto report = std::make_shared<LeakReport>();
  report->steps = step_;
  report->looks = looks_;
  report->threshold = threshold_;
  report->step = looked_;
  report->seconds = ticks_to_ns(cost_) * 1e-9;
  if (looks_ > 1)
    report->share = double(all_cost_) / double(std::max<uint64_t>(looked_ticks_ - began_ticks_, 1));
  report->complete = complete_;
  report->locals = locals_;
  report->held = held_;
  for (const auto& [key, found] : found_) {
    const Leak& leak = found.leak;
    if (!found.lasts && found.seen != looked_) continue;
    if (leak.what == Leak::What::tapes && !found.passed && !is_beyond_passes(leak.since)) continue;
    report->leaks.push_back(leak);
  }
  for (auto* const list : {&report->leaks, &report->held})
    std::stable_sort(list->begin(), list->end(), [](const Leak& a, const Leak& b) {
      return std::pair(a.bytes, a.count) > std::pair(b.bytes, b.count);
    });
  const std::lock_guard lock(mutex_);
  report_ = std::move(report);
}

}  // namespace lunagrad
