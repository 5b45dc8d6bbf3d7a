#include "ui/inspect/why_writer.h"

#include <algorithm>
#include <utility>

#include "runtime/core/figures.h"
#include "runtime/core/op_name.h"

namespace lunagrad {

std::string why_figure(double value) { return number_figure(value, 3); }

std::string why_range(const Summary& s) { return "from " + why_figure(s.min) + " to " + why_figure(s.max); }

std::string why_at(const SourcePlace& place) {
  const std::string words = file_and_line(place);
  return words.empty() ? words : " at " + words;
}

std::string WhyWriter::parameter_name(int node) const {
  const NodeInfo& at = tape_[node];
  if (at.op != "leaf") return {};
  if (!at.outputs.empty() && !at.outputs[0].name.empty()) return at.outputs[0].name;
  // A leaf without a name is listed by its line.
  if (!facts_.steps.empty())
    for (const ParameterStatistics& p : facts_.steps.back()->parameters)
      if (p.node == at.id) return p.name;
  return "leaf " + std::to_string(at.id);
}

std::string WhyWriter::words(int node) const {
  const NodeInfo& at = tape_[node];
  if (at.op == "leaf") return parameter_name(node);
  std::string op = public_op_name(at.op);
  if (const std::string active = activation_of(at); !active.empty()) op += " with its " + active;
  return op + (at.module.empty() ? "" : " of " + at.module) + why_at(at.place);
}

void WhyWriter::say_of(int node, std::string sentence) {
  links_.push_back({std::move(sentence), tape_[node].id, tape_[node].place, -1});
}

int WhyWriter::operand(int node, std::string_view name) const {
  const std::vector<OperandInfo>& inputs = tape_[node].inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (role_of(tape_[node], i) == name && !inputs[i].dtype.empty()) return int(i);
  return -1;
}

const ParameterStatistics* WhyWriter::parameter_at(const StepStatistics& step,
                                                   const std::string& name) const {
  for (const ParameterStatistics& p : step.parameters)
    if (p.name == name) return &p;
  return nullptr;
}

// The trail of a node begins with what is wrong with it, the worst first.
void WhyWriter::about_node(int node) {
  const NodeInfo& at = tape_[node];
  if (at.op == "leaf")
    if (const std::string name = parameter_name(node); tape_.parameter(name)) return about_parameter(name);
  const Summary *value = tape_.value(node), *gradient = tape_.gradient(node);
  if (any_not_finite(value)) return not_finite_value(node);
  if (any_not_finite(gradient)) return not_finite_gradient(node);
  if (facts_.tape->failed && at.id == facts_.tape->at) return failed_call(node);
  if (tape_.is_root(node)) return loss();
  if (!tape_.measured())
    return say_of(node,
                  "No figures of this step are known: it was not measured. Pause the run (F6), or wait "
                  "for a measured step, and ask again.");
  if (!gradient) return unreached_node(node);
  if (all_zero(gradient)) return zero_gradient(node);
  if (all_zero(value)) return zero_value(node);
  // Without a history of its own the node is compared with the other nodes of the step.
  double largest = 0;
  for (size_t i = 0; i < tape_.nodes().size(); ++i)
    if (const Summary* const other = tape_.gradient(int(i)))
      largest = std::max(largest, size_of_elements(*other));
  if (size_of_elements(*gradient) < alarm_rule(AlarmKind::vanishing).threshold * largest)
    return vanishing(node);
  say_of(node,
         "Nothing is unusual: its value and its gradient are finite and not 0. The gradient's norm is " +
             why_figure(gradient->norm) + ".");
}

void WhyWriter::about_parameter(const std::string& name) {
  const ParameterStatistics* const p = tape_.parameter(name);
  const int leaf = tape_.find_leaf(name);
  if (!p) {
    if (leaf >= 0 && tape_.gradient(leaf)) return zero_gradient(leaf);
    return say("No measured step has figures of " + name + " so far.");
  }
  if (!p->weight.finite() || (p->has_gradient && !p->gradient.finite())) {
    if (leaf >= 0 && any_not_finite(tape_.gradient(leaf)) && p->weight.finite())
      return not_finite_gradient(leaf);
    return diverged(name);
  }
  if (!p->has_gradient) return unreached_parameter(name);
  if (p->gradient.count > 0 && p->gradient.zeros == p->gradient.count) {
    if (leaf >= 0) return zero_gradient(leaf);
    say(name + " has a gradient of 0, and is not on the shown tape: its path to the loss is not known.");
    return;
  }
  if (p->update_norm == 0) return still(name);
  double top = 0;
  for (const ParameterStatistics& other : facts_.steps.back()->parameters)
    if (other.has_gradient) top = std::max(top, size_of_elements(other.gradient));
  if (leaf >= 0 && size_of_elements(p->gradient) < alarm_rule(AlarmKind::vanishing).threshold * top)
    return vanishing(leaf);
  if (p->update_ratio() > alarm_rule(AlarmKind::large_steps).threshold && p->shape.size() >= 2)
    return large_steps(name);
  const std::string healthy = "Nothing is unusual: the gradient's norm is " + why_figure(p->gradient.norm) +
                              ", and a step moves it by " + why_figure(p->update_ratio()) + " of its size.";
  if (leaf >= 0)
    say_of(leaf, healthy);
  else
    say(healthy);
}

void WhyWriter::about_alarm(const Alarm& alarm) {
  int node = tape_.find(alarm.node);
  if (node < 0 && !alarm.op.empty()) node = tape_.find_op(alarm.op, alarm.place);
  const std::string fact = alarm.fact.empty() ? "" : ": " + alarm.fact;
  switch (alarm.kind) {
    case AlarmKind::nan:
      if (alarm.found) return found_not_finite();
      return about_parameter(alarm.subject);
    case AlarmKind::growing:
      say_at(alarm.place, alarm.since,
             "Variable '" + alarm.subject + "' keeps the graphs of earlier steps since step " +
                 std::to_string(alarm.since) + why_at(alarm.place) + fact + ".");
      return say(
          "A number of the graph was added or stored with its history. loss:item() or loss:detach() "
          "has the number alone. Owners in the Profiler names everything that is held.");
    case AlarmKind::exploding:
      if (node >= 0) return exploding(node);
      break;
    case AlarmKind::large_steps:
      return large_steps(alarm.subject);
    case AlarmKind::vanishing:
      if (node >= 0) return vanishing(node);
      break;
    case AlarmKind::dead:
      if (node >= 0 && !alarm.op.empty()) return dead_rectifier(node);
      if (node >= 0) return zero_gradient(node);
      break;
    case AlarmKind::unused:
      return unreached_parameter(alarm.subject);
  }
  say_at(alarm.place, alarm.since,
         alarm.subject + fact + ", since step " + std::to_string(alarm.since) +
             ". It is not on the shown tape, so its path to the loss is not known.");
}

}  // namespace lunagrad
