#include "script/inspect/tape_watch.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/core/memory_limit.h"
#include "runtime/core/waiting.h"
#include "runtime/ops.h"
#include "script/inspect/breakpoint_watch.h"
#include "script/inspect/statistics_watch.h"

namespace lunagrad {
namespace {

// Snapshots without values may cost 1 % of the time; more frequent ones are skipped.
constexpr double kPauseBetween = 100;  // in units of the last snapshot's cost

// Large leaves are copied when that costs at most 1/50 of a step. Otherwise their copy is measured again once
// in kMeasureLeaves steps.
constexpr double kLeavesShare = 50;
constexpr int64_t kMeasureLeaves = 256;
// Snapshots are taken of measured steps, whose nodes have figures, unless the last snapshot is older than
// this.
constexpr double kRareNs = 1e9;

std::vector<PlanNode> plan_nodes(const KeptPass& pass) {
  std::vector<PlanNode> nodes;
  nodes.reserve(pass.nodes.size());
  for (const KeptNode& node : pass.nodes)
    nodes.push_back({node.op, node.line, node.module, node.out.empty() ? 0 : node.out[0].tensor});
  return nodes;
}

// For a step that was deferred: the times of its nodes only cover deferring the calls, so they are cleared.
// Nodes that were computed alone get their times from the plan of this step.
void tell_times(TapeSnapshot& tape) {
  const StepPlan* const plan = tape.plan.plan.get();
  for (size_t i = 0; i < tape.nodes.size(); ++i) {
    tape.nodes[i].forward_ns = tape.nodes[i].backward_ns = 0;
    if (plan && plan->step == tape.step) tape.nodes[i].forward_ns = tape.plan.nodes[i].ns;
  }
}

// Adds the calls that lead to the pass without nodes of their own, and says which operands they made.
void add_untaped(TapeSnapshot& tape, const KeptPass& pass, const UntapedCalls& untaped) {
  std::vector<NodeInfo> led = untaped.leading_to(pass, pass.find(tape.at) < 0 ? tape.at : 0);
  if (led.empty()) return;
  std::unordered_map<uint64_t, std::string> names;  // of leaves; "" for calls
  for (const NodeInfo& node : led) names[node.id] = node.op == "leaf" ? node.outputs[0].name : "";
  for (NodeInfo& node : tape.nodes)
    for (OperandInfo& input : node.inputs) {
      if (input.node != 0 || input.tensor == 0) continue;
      const auto maker = names.find(untaped.maker_of(input.tensor, node.id));
      if (maker == names.end()) continue;
      input.node = maker->first;
      if (!maker->second.empty()) input.name = maker->second;
    }
  const size_t taped = tape.nodes.size();
  std::vector<uint32_t> order(taped + led.size()), place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto id = [&](uint32_t i) { return i < taped ? tape.nodes[i].id : led[i - taped].id; };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return id(a) > id(b); });
  std::vector<NodeInfo> nodes;
  std::vector<TapePlan::OfNode> planned;
  nodes.reserve(order.size());
  for (const uint32_t from : order) {
    place[from] = uint32_t(nodes.size());
    nodes.push_back(std::move(from < taped ? tape.nodes[from] : led[from - taped]));
    if (tape.plan.plan) planned.push_back(from < taped ? tape.plan.nodes[from] : TapePlan::OfNode{});
  }
  tape.nodes = std::move(nodes);
  tape.plan.nodes = std::move(planned);
  for (TapePlan::Group& group : tape.plan.groups)
    for (uint32_t& node : group.nodes) node = place[node];
}

// Whether the tape shows this pass: it may also have newer nodes, for calls without a gradient.
bool is_same(const KeptPass& pass, const TapeSnapshot& tape) {
  return !pass.nodes.empty() && std::any_of(tape.nodes.begin(), tape.nodes.end(), [&](const NodeInfo& node) {
    return node.id == pass.nodes[0].id;
  });
}

// Approximate bytes of a snapshot: its strings and lists, and the allocator's overhead.
size_t bytes_of_tape(const TapeSnapshot& tape) {
  const auto list = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
  const auto text = [](const std::string& s) { return s.capacity() > 15 ? s.capacity() + 17 : 0; };
  size_t bytes = sizeof tape + list(tape.nodes) + list(tape.plan.nodes) + list(tape.plan.groups);
  for (const TapePlan::Group& group : tape.plan.groups) bytes += list(group.nodes);
  for (const NodeInfo& node : tape.nodes) {
    bytes += text(node.module) + text(node.place.file) + list(node.attributes) + list(node.inputs) +
             list(node.outputs);
    for (const auto& [name, value] : node.attributes) bytes += text(name) + text(value);
    for (const std::string& name : node.also) bytes += sizeof name + text(name);
    for (const auto* side : {&node.inputs, &node.outputs})
      for (const OperandInfo& operand : *side)
        bytes += text(operand.name) + list(operand.shape) + list(operand.strides) + 32;
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const TapeSnapshot> TapeWatch::tape() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::shared_ptr<const TapeSnapshot> TapeWatch::tape(int64_t step) const {
  const std::lock_guard lock(mutex_);
  const Step* const kept = step < 0 ? nullptr : find_step(step);
  return kept ? kept->tape : nullptr;
}

History TapeWatch::history() const {
  const std::lock_guard lock(mutex_);
  History history;
  history.budget = budget_bytes_;
  for (const Step& step : steps_) {
    const size_t values = step.values ? step.values->bytes() : 0;
    history.steps.push_back({step.step, step.tape_bytes, values, bool(step.values),
                             step.values && step.tape->pass >= 0 && !step.values->over_budget()});
    history.bytes += step.tape_bytes;
  }
  history.bytes += value_budget_.used();  // a storage that several steps hold counts once
  return history;
}

// The caller holds the lock, or is the session's thread.
const TapeWatch::Step* TapeWatch::find_step(int64_t step) const {
  if (step < 0) return steps_.empty() ? nullptr : &steps_.back();
  for (auto kept = steps_.rbegin(); kept != steps_.rend(); ++kept)
    if (kept->step == step) return &*kept;
  return nullptr;
}

// With a memory limit, leave most of the memory to the script.
size_t TapeWatch::budget() const {
  const size_t limit = memory_limit().bytes;
  const std::lock_guard lock(mutex_);
  return limit ? std::min(budget_bytes_, limit / 8) : budget_bytes_;
}

void TapeWatch::set_budget(size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    budget_bytes_ = bytes;
  }
  trim();
}

// Drops the oldest step. Of the latest tape it drops only the values, and only if its step has ended. False
// if nothing can be dropped.
bool TapeWatch::drop_oldest() {
  Step dropped;  // freed without the lock
  const std::lock_guard lock(mutex_);
  if (steps_.empty()) return false;
  Step& oldest = steps_.front();
  if (oldest.values && oldest.values == current_) return false;
  if (steps_.size() == 1) {
    dropped.values.swap(oldest.values);
    return bool(dropped.values);
  }
  dropped = std::move(oldest);
  steps_.pop_front();
  tape_bytes_ -= dropped.tape_bytes;
  return true;
}

void TapeWatch::trim() {
  const size_t bytes = budget();
  value_budget_.limit = bytes - std::min(tape_bytes_, bytes / kTapeShare);
  const auto exceeds = [&] {
    return value_budget_.used() + tape_bytes_ > bytes || tape_bytes_ > bytes / kTapeShare ||
           steps_.size() > kMostKeptSteps;
  };
  while (exceeds() && drop_oldest()) {
  }
}

void TapeWatch::begin_step(const Coming& coming) {
  end_step();
  const uint64_t now = ticks();
  const double length = ticks_to_ns(now - step_began_);
  if (step_began_ != 0) step_time_ = step_time_ == 0 ? length : std::min(length, 1.5 * step_time_);
  step_began_ = now;
  start(coming);
}

void TapeWatch::start(const Coming& coming) {
  coming_ = coming;
  coming_.values |= capture_next_.exchange(false) | is_sought();
  measured_ = false;
  trim();
  if (watching())
    current_ = std::make_shared<StepValues>(
        coming.step, value_budget_, [this] { return drop_oldest(); }, coming_.values, coming_.in_steps);
}

// Publishes the step if it is due, and keeps it as the latest step that can be recomputed.
void TapeWatch::end_step() {
  const Values ended = std::exchange(current_, nullptr);
  if (!ended) return;
  ended->forget_newest();
  const std::shared_ptr<const QueueReport> report = std::exchange(report_, nullptr);
  const int pass = shown_pass(*ended);
  if (report)
    plans_.take(ended->step(), goes_on_, *context().device, *report,
                pass < 0 ? std::vector<PlanNode>() : plan_nodes(*ended->passes()[size_t(pass)]));
  if (pass < 0) return;
  const double since = ticks_to_ns(ticks() - last_published_);
  const bool rare = since > kPauseBetween * snapshot_cost_;
  const bool measures = statistics_ && statistics_->watching() && since < kRareNs;
  if (last_) last_->retire();
  last_ = ended;
  if (coming_.values || measured_ || (rare && !measures)) publish(ended, size_t(pass), coming_.values);
}

int TapeWatch::shown_pass(const StepValues& values) const {
  const auto& passes = values.passes();
  for (size_t i = passes.size(); chosen_ != 0 && i-- > 0;)
    if (passes[i]->ended && passes[i]->key == chosen_) return int(i);
  return outer_pass(passes);
}

void TapeWatch::settle(bool failed) {
  if (!watching() || std::exchange(finding_shown_, false)) return;
  if (failed && current_ && current_->add_newest())
    return publish(current_, current_->passes().size() - 1, true, true);
  // Inside a step its passes may be inner passes of a loss that is still to come.
  const auto has_pass_like = [&](const StepValues& other) {
    const int pass = shown_pass(*current_), as = shown_pass(other);
    return pass >= 0 && (as < 0 || current_->passes()[size_t(pass)]->key == other.passes()[size_t(as)]->key);
  };
  const bool now = current_ && (last_ ? has_pass_like(*last_) : shown_pass(*current_) >= 0);
  // a finding of this step is shown already
  if (!now && current_ && latest_ && latest_->step == current_->step()) return;
  const Values& shown = now ? current_ : last_;
  if (shown) publish(shown, size_t(shown_pass(*shown)), true, failed && now);
}

uint64_t TapeWatch::show(const Finding& finding) {
  if (!watching() || !current_) return 0;
  if (!finding.node) return finding.call ? show(*finding.call) : 0;
  std::vector<Node*> nodes;
  for (const Ref<Node>& node : finding.pass) nodes.push_back(node.get());
  const bool under_way = !nodes.empty() && current_->in_pass();
  if (nodes.empty()) nodes = nodes_of(finding.value);
  const size_t pass = under_way ? current_->passes().size() - 1 : current_->add_graph(nodes);
  if (finding.call) current_->note(*finding.call);
  const bool arrived =
      finding.hit.backward && finding.breakpoint.condition != Breakpoint::Condition::not_finite;
  if (arrived) current_->keep_gradient(pass, *finding.node, 0, finding.value);
  if (!finding.hit.backward) current_->keep(finding.value);
  publish(current_, pass, true, false, finding.node->id);
  finding_shown_ = true;
  return finding.node->id;
}

uint64_t TapeWatch::show(const NotedCall& noted, bool failed) {
  if (!watching() || !current_) return 0;
  const uint64_t id = current_->note(noted);
  // A call within the backward pass, or behind it as an optimizer's, stands beside the pass.
  const int passed = current_->in_pass()     ? int(current_->passes().size()) - 1
                     : current_->has_newer() ? -1
                                             : shown_pass(*current_);
  publish(current_, passed >= 0 ? size_t(passed) : current_->add_graph_to(noted.call), true, failed, id);
  finding_shown_ = true;
  return id;
}

void TapeWatch::choose_pass(uint64_t key) {
  chosen_ = key;
  std::vector<std::pair<Values, size_t>> changed;
  for (const Step& step : steps_)
    if (const Values values = values_of(step); values && step.tape->pass >= 0)
      if (const int pass = shown_pass(*values); values->passes()[size_t(pass)]->number != step.pass)
        changed.emplace_back(values, size_t(pass));
  for (const auto& [values, pass] : changed) publish(values, pass, true);
}

void TapeWatch::clear() {
  end_script();
  last_ = reached_ = nullptr;
  lone_passes_ = 0;
  was_reached_.store(false);
  plans_.clear();
  report_ = last_report_ = nullptr;
  step_began_ = 0;
  step_time_ = leaves_cost_ = snapshot_cost_ = 0;
  leaves_copied_ = false;
  chosen_ = 0;
  std::deque<Step> dropped;
  std::shared_ptr<const TapeSnapshot> latest;
  const std::lock_guard lock(mutex_);
  steps_.swap(dropped);
  latest_.swap(latest);
  tape_bytes_ = 0;
}

void TapeWatch::end_script() {
  if (current_) current_->end_script();
  current_ = nullptr;
  if (last_) last_->end_script();
  for (const Step& step : steps_)
    if (step.values) step.values->end_script();
}

void TapeWatch::ran(const Call& call) {
  if (!current_) return;
  current_->ran(call);
  if (waiting_queue) current_->note_deferred();
}

void TapeWatch::computed(std::shared_ptr<const QueueReport> report, bool goes_on) {
  if (!current_ || report == last_report_) return;
  last_report_ = report;
  if (!report || report->calls.size() == report->at_once) return;
  report_ = std::move(report);
  goes_on_ = goes_on;
}

void TapeWatch::begin(std::span<Node* const> nodes) {
  if (!watching() || !current_) return;
  visited_.assign(nodes.begin(), nodes.end());
  measured_ |= statistics_ && statistics_->looking();
  const bool copy = coming_.values || coming_.careful || kLeavesShare * leaves_cost_ <= step_time_ ||
                    ++steps_without_leaves_ >= kMeasureLeaves;
  const double cost = current_->begin_pass(nodes, copy, last_.get());
  if (cost == 0) return;
  // The first copy also pays for new memory, several times the cost of those that follow: the next step is
  // measured instead.
  if (!std::exchange(leaves_copied_, true)) return;
  leaves_cost_ = leaves_cost_ == 0 ? cost : std::min(cost, 1.5 * leaves_cost_);
  steps_without_leaves_ = 0;
}

void TapeWatch::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (current_ && !visited_.empty()) current_->gradient(node, output, gradient);
}

void TapeWatch::end() {
  if (visited_.empty()) return;
  if (current_) current_->end_pass(visited_);
  visited_.clear();
  // Without steps every pass of an outer loss counts as the end of a step.
  if (!current_ || coming_.in_steps || current_->passes().back()->create_graph) return;
  const bool sought = is_sought();
  const Values ended = current_;
  Coming next = coming_;
  next.values = false;
  end_step();
  ++lone_passes_;
  start(next);
  if (sought) reach(ended);
}

// The snapshot of a step replaces the step's earlier snapshots.
void TapeWatch::publish(const Values& values, size_t shown, bool with_values, bool failed, uint64_t at) {
  const KeptPass& pass = *values->passes()[shown];
  const double start = processor_ns();
  auto tape = std::make_shared<TapeSnapshot>();
  tape->step = values->step();
  tape->failed = failed;
  tape->at = at;
  tape->nodes.reserve(pass.nodes.size());
  for (size_t i = 0; i < pass.nodes.size(); ++i) tape->nodes.push_back(describe(pass, i));
  for (size_t i = 0; i < values->passes().size(); ++i) {
    const KeptPass& other = *values->passes()[i];
    if (!other.ended || other.nodes.empty()) continue;
    if (i == shown) tape->pass = int(tape->passes.size());
    const KeptNode& root = other.nodes[0];
    tape->passes.push_back({other.key,
                            root.label(),
                            {interned(root.line.file), root.line.line},
                            other.nodes.size(),
                            is_inner(values->passes(), i)});
  }
  if (statistics_) statistics_->describe(*tape, values == current_);
  tape->plan = plans_.on(plan_nodes(pass));
  if (values->deferred()) tell_times(*tape);
  add_untaped(*tape, pass, values->untaped());
  Step kept{values->step(), tape, bytes_of_tape(*tape), pass.number, with_values ? values : nullptr};
  {
    std::deque<Step> dropped;  // freed without the lock
    const std::lock_guard lock(mutex_);
    const auto later = [&](const Step& step) { return step.step >= kept.step; };
    // When a script goes back to an earlier step, later steps are dropped. `again`: an earlier step is shown
    // again, and nothing else is dropped.
    const bool again = values != current_ && values != last_;
    const auto first = std::find_if(steps_.begin(), steps_.end(), later);
    if (again && (first == steps_.end() || first->step != kept.step)) return;  // dropped to make room
    const auto end = again ? first + 1 : steps_.end();
    for (auto step = first; step != end; ++step) {
      tape_bytes_ -= step->tape_bytes;
      if (step->step == kept.step && step->values == values) kept.values = values;
      dropped.push_back(std::move(*step));
    }
    tape_bytes_ += kept.tape_bytes;
    const auto place = steps_.erase(first, end);
    steps_.insert(place, std::move(kept));
    if (!again) latest_ = std::move(tape);
  }
  trim();
  last_published_ = ticks();
  snapshot_cost_ = processor_ns() - start;
}

// Whether the running step is the one to capture.
bool TapeWatch::is_sought() const {
  return sought_.load() > 0 && sought_.load() == (coming_.in_steps ? coming_.number : lone_passes_ + 1);
}

void TapeWatch::reach(const Values& values) {
  sought_.store(0);
  reached_ = values;
  was_reached_.store(true);
  if (tell_reached_) tell_reached_();
}

void TapeWatch::step_over() {
  if (current_ && coming_.in_steps && is_sought()) reach(current_);
}

std::shared_ptr<StepValues> TapeWatch::values(int64_t step) const {
  if (step < 0 && reached_) return reached_;
  const Step* const kept = find_step(step);
  return kept ? values_of(*kept) : nullptr;
}

TapeWatch::Latest TapeWatch::latest_values() const {
  const Step* const kept = latest_ ? find_step(latest_->step) : nullptr;
  const Values values = kept && kept->tape == latest_ ? values_of(*kept) : nullptr;
  if (!values) return {};
  const auto& passes = values->passes();
  const auto shown = std::find_if(passes.begin(), passes.end(),
                                  [&](const auto& pass) { return pass->number == kept->pass; });
  if (shown == passes.end() || (*shown)->nodes.empty()) return {};
  const bool is_latest = values == current_ || (values == last_ && (!current_ || current_->passes().empty()));
  return {values, size_t(shown - passes.begin()), is_latest};
}

void TapeWatch::measured() {
  const Latest latest = latest_values();
  if (!latest.values) return;
  const Step& kept = *find_step(latest_->step);
  const bool with_values = bool(kept.values), failed = kept.tape->failed;
  publish(latest.values, latest.pass, with_values, failed, kept.tape->at);
}

// The step's values: kept with the step, or available because it is the latest.
TapeWatch::Values TapeWatch::values_of(const Step& step) const {
  if (step.values) return step.values;
  for (const Values& values : {current_, last_})
    if (values && values->step() == step.step)
      for (const auto& pass : values->passes())
        if (pass->number == step.pass && is_same(*pass, *step.tape)) return values;
  return nullptr;
}

TapeWatch::At TapeWatch::locate(int64_t number, uint64_t node) const {
  At at;
  at.step = find_step(number);
  if (!at.step) return {nullptr, nullptr, 0, 0, "the step is no longer kept"};
  at.values = values_of(*at.step);
  at.reason = "Not captured";
  if (!at.values) return at;
  const auto& passes = at.values->passes();
  for (at.pass = 0; at.pass < passes.size(); ++at.pass)
    if (passes[at.pass]->number == at.step->pass) break;
  const int position = at.pass < passes.size() ? passes[at.pass]->find(node) : -1;
  if (position < 0) {
    at.reason = "it is not on the tape of step " + std::to_string(at.step->step);
    at.values = nullptr;
  }
  at.node = size_t(std::max(position, 0));
  return at;
}

// The note of a call without a node; null: the node is on the pass, or its step is not kept.
const KeptNode* TapeWatch::find_untaped(int64_t number, uint64_t node, Values& values) const {
  const Step* const step = find_step(number);
  values = step ? values_of(*step) : nullptr;
  if (!values) return nullptr;
  for (const auto& pass : values->passes())
    if (pass->number == step->pass && pass->find(node) >= 0) return nullptr;
  return values->untaped().find(node);
}

TapeWatch::Found TapeWatch::find(const TensorPlace& place, const StepValues::CheckWanted& check_wanted) {
  if (Values values; const KeptNode* const note = find_untaped(place.step, place.node, values)) {
    if (place.which == Which::gradient) return {{}, "no gradient goes through it", {}};
    if (place.index < 0 || size_t(place.index) >= (place.input ? note->in.size() : note->out.size()))
      return {{}, place.input ? "the node has no such input" : "the node has no such output", {}};
    return values->value(*note, place.input, size_t(place.index));
  }
  const At at = locate(place.step, place.node);
  if (!at.values) return {{}, at.reason, {}};
  const KeptNode& node = at.values->passes()[at.pass]->nodes[at.node];
  if (place.index < 0 || size_t(place.index) >= (place.input ? node.in.size() : node.out.size()))
    return {{}, place.input ? "the node has no such input" : "the node has no such output", {}};
  const size_t index = size_t(place.index);
  return place.which == Which::gradient
             ? at.values->gradient(at.pass, at.node, place.input, index, check_wanted)
             : at.values->value(at.pass, at.node, place.input, index, check_wanted);
}

TapeWatch::Recomputed TapeWatch::recompute(int64_t number, uint64_t id,
                                           const StepValues::CheckWanted& check_wanted) {
  const At at = locate(number, id);
  if (!at.values) fail(at.reason);
  const KeptNode& node = at.values->passes()[at.pass]->nodes[at.node];
  const auto shown = std::lower_bound(at.step->tape->nodes.begin(), at.step->tape->nodes.end(), id,
                                      [](const NodeInfo& info, uint64_t wanted) { return info.id > wanted; });
  if (shown == at.step->tape->nodes.end() || shown->id != id) fail("it is not on the tape");
  Recomputed recomputation{&node, &*shown, {}, {}};
  if (!node.op) fail("a leaf was made by no call");
  for (uint32_t i = 0; i < node.out.size(); ++i)
    recomputation.reached.push_back(
        at.values->gradient(at.pass, at.node, false, i, check_wanted).value.defined());
  for (size_t i = 0; i < node.in.size(); ++i) {
    if (!node.in[i].layout) {
      recomputation.inputs.emplace_back();
      continue;
    }
    const StepValues::Found found = at.values->value(at.pass, at.node, true, i, check_wanted);
    if (!found.value.defined()) fail("its input ", i + 1, " is gone: ", found.reason);
    if (!found.note.empty()) fail("its input ", i + 1, " was ", found.note);
    recomputation.inputs.push_back(found.value.detach());
    if (node.in[i].is_number) recomputation.inputs.back().body()->is_number = true;
  }
  return recomputation;
}

}  // namespace lunagrad
