#include "script/plan/plan_watch.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/core/trace.h"

namespace lunagrad {
namespace {

constexpr uint64_t kPauseBetween = 100;  // as a multiple of the time that the last plan took

// Hashes the calls that ran, their order and their groups.
uint64_t hash_of(const QueueReport& report) {
  uint64_t hash = report.units;
  for (const QueueReport::Done& call : report.calls)
    for (const uint64_t part :
         {uint64_t(reinterpret_cast<uintptr_t>(call.op)),
          uint64_t(call.line.file) << 32 | uint32_t(call.line.line), uint64_t(call.unit), call.bytes})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
  return hash;
}

PlannedRow describe(const PlanRow& row, const std::vector<uint64_t>& ticks_of_unit) {
  PlannedRow described;
  for (const QueueReport::Done* const call : row.members)
    described.members.push_back(
        {call->op->name, {interned(call->line.file), call->line.line}, call->backward, call->stored});
  described.times = int64_t(row.units.size());
  described.bytes = double(row.bytes);
  for (const uint32_t unit : row.units) described.ns += ticks_to_ns(ticks_of_unit[unit]);
  if (row.members[0]->why) described.why = row.members[0]->why;
  return described;
}

}  // namespace

std::shared_ptr<const StepPlan> PlanWatch::plan() const {
  const std::lock_guard lock(mutex_);
  return plan_;
}

void PlanWatch::set_plan(std::shared_ptr<const StepPlan> plan) {
  const std::lock_guard lock(mutex_);
  plan_.swap(plan);
}

void PlanWatch::clear() {
  set_plan(nullptr);
  units_.clear();
  calls_.clear();
  same_as_ = 0;
}

void PlanWatch::take(int64_t step, bool goes_on, const Device& device, const QueueReport& report,
                     std::span<const PlanNode> tape) {
  const uint64_t start = ticks();
  if (plan_ && start - taken_at_ < kPauseBetween * cost_) return;
  const bool timed = device.is_cpu();  // other devices compute asynchronously
  if (const uint64_t hash = hash_of(report); std::exchange(same_as_, hash) != hash)
    least_.assign(report.units, UINT64_MAX);
  std::vector<uint64_t> ticks_of_unit(report.units);
  std::vector<uint64_t> saved(report.units);
  std::unordered_map<uint64_t, const QueueReport::Done*> made;  // by id of the result
  for (const QueueReport::Done& call : report.calls) {
    if (timed && call.ticks)
      ticks_of_unit[call.unit] = least_[call.unit] = std::min(least_[call.unit], call.ticks);
    if (!call.stored) saved[call.unit] += call.bytes;
    if (call.result) made.emplace(call.result, &call);
  }
  auto plan = std::make_shared<StepPlan>();
  plan->step = step;
  plan->goes_on = goes_on;
  plan->device = device.name();
  plan->calls = int64_t(report.calls.size());
  plan->passes = report.units;
  plan->dropped = int64_t(report.dropped);
  plan->bytes_saved = double(report.bytes_saved);
  units_.assign(report.units, {});
  const PlanRows rows = rows_of(report);
  const auto add = [&](const std::vector<PlanRow>& from, std::vector<PlannedRow>& to, bool group) {
    for (const PlanRow& row : from) {
      for (const uint32_t unit : row.units)
        units_[unit] = {group, uint32_t(to.size()), double(saved[unit]), ticks_to_ns(ticks_of_unit[unit])};
      to.push_back(describe(row, ticks_of_unit));
      if (!group) continue;
      plan->groups_made += int64_t(row.units.size());
      plan->grouped += int64_t(row.units.size() * row.members.size());
    }
  };
  add(rows.groups, plan->groups, true);
  add(rows.alone, plan->alone, false);
  set_plan(std::move(plan));
  calls_.clear();
  for (const PlanNode& node : tape) {
    if (!node.op) continue;
    const auto call = made.find(node.result);
    calls_[key_of(node)].push_back(call == made.end() ? Call{UINT32_MAX, true}
                                                      : Call{call->second->unit, call->second->stored});
  }
  taken_at_ = ticks();
  cost_ = taken_at_ - start;
}

TapePlan PlanWatch::on(std::span<const PlanNode> tape) const {
  TapePlan found;
  if (!plan_) return found;
  found.plan = plan_;
  found.nodes.resize(tape.size());
  std::map<Key, size_t> seen;
  std::unordered_map<uint32_t, size_t> groups;  // by unit
  for (size_t i = 0; i < tape.size(); ++i) {
    const PlanNode& node = tape[i];
    if (!node.op) continue;
    const Key key = key_of(node);
    const auto calls = calls_.find(key);
    const size_t number = seen[key]++;
    if (calls == calls_.end() || number >= calls->second.size()) continue;
    const Call& call = calls->second[number];
    if (call.unit == UINT32_MAX) continue;
    const Unit& unit = units_[call.unit];
    TapePlan::OfNode& of_node = found.nodes[i];
    of_node.stored = call.stored;
    if (!unit.group) {
      of_node.alone = int32_t(unit.row);
      of_node.ns = unit.ns;
      continue;
    }
    const auto [group, fresh] = groups.try_emplace(call.unit, found.groups.size());
    if (fresh) found.groups.push_back({unit.row, unit.bytes, unit.ns, {}});
    of_node.group = int32_t(group->second);
    found.groups[group->second].nodes.push_back(uint32_t(i));
  }
  return found;
}

}  // namespace lunagrad
