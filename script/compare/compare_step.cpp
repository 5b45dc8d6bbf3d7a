#include "script/compare/compare_step.h"

#include <algorithm>
#include <array>

#include "runtime/ops.h"
#include "script/compare/pass_comparer.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

struct Sides {
  Side other;
  bool narrows = false;
  std::string reference, with;  // names to show
};

std::optional<DType> type_named(const std::string& name) {
  for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16})
    if (name == dtype_name(type)) return type;
  return std::nullopt;
}

// The first node with a call in the passes to compare.
const KeptNode* first_call(const StepValues& values) {
  for (const auto& pass : values.passes())
    for (const KeptNode& node : pass->nodes)
      if (node.op) return &node;
  return nullptr;
}

Sides sides_of(const ComparisonQuery& query, const StepValues& values) {
  const KeptNode* const call = first_call(values);
  if (!call) fail("step ", values.step(), " has no backward pass that goes through a call");
  Sides sides;
  sides.reference = call->device->name();
  if (query.with == "eager") {
    if (!values.deferred())
      fail("step ", values.step(),
           " deferred no call: it is eager already; lg.set_deferred(true) defers calls");
    sides.reference += ", calls deferred";
    sides.with = "each call at once";
  } else if (const std::optional<DType> type = type_named(query.with)) {
    sides.other = Side(nullptr, *type);
    sides.narrows = *type != DType::f64;
    sides.with = query.with;
  } else {
    Device& device = require_device(query.with);
    if (call->device == &device)
      fail("step ", values.step(), " was computed on ", query.with,
           ": name another device, a dtype or eager");
    sides.other = Side(&device);
    sides.with = text(device.name(), " (", device.description(), ")");
  }
  return sides;
}

bool is_compared(const StepValues& values, size_t pass) {
  const KeptPass& its = *values.passes()[pass];
  return its.ended && !its.forward_only && !is_inner(values.passes(), pass);
}

}  // namespace

StepComparison compare_step(TapeWatch& tape, int64_t step, const ComparisonQuery& query,
                            const std::stop_token& stop, const ComparisonProgress& progress) {
  const WithoutListeners aside;
  StepComparison comparison;
  try {
    const std::shared_ptr<StepValues> values = tape.values(step);
    if (!values) fail("the values of step ", step, " are not kept");
    const Sides sides = sides_of(query, *values);
    const auto check_wanted = [&] {
      if (stop.stop_requested()) fail_as(ErrorKind::cancelled, "compare: cancelled");
      context().check_stop();
    };
    size_t all = 0, done = 0;
    for (size_t i = 0; i < values->passes().size(); ++i)
      if (is_compared(*values, i)) all += 2 * values->passes()[i]->nodes.size();
    const auto begins = [&](const ComparedNode& row) { progress(done++, all, row.op); };
    const StepValues::Whole whole(*values);
    std::unordered_set<uint64_t> seen;
    for (size_t i = 0; i < values->passes().size(); ++i)
      if (is_compared(*values, i)) {
        const PassQuery pass{*values, i, sides.other, sides.narrows, query.tolerance, check_wanted, begins};
        PassComparer(pass).run(seen, comparison.nodes);
      }
    progress(all, all, "");
    comparison.ran = true;
    comparison.step = values->step();
    comparison.reference = sides.reference;
    comparison.other = sides.with;
    for (const ComparedNode& row : comparison.nodes) {
      comparison.wrong += row.verdict == Verdict::wrong;
      comparison.not_compared += row.verdict == Verdict::not_compared;
    }
  } catch (const Error& error) {
    comparison = StepComparison();
    comparison.reason = error.what();
    comparison.outcome = error.kind() == ErrorKind::device   ? Outcome::device
                         : error.kind() == ErrorKind::memory ? Outcome::memory
                                                             : Outcome::usage;
  } catch (const std::exception& error) {
    comparison = StepComparison();
    comparison.reason = error.what();
    comparison.outcome = Outcome::memory;
  }
  return comparison;
}

}  // namespace lunagrad
