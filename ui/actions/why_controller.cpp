#include "ui/actions/why_controller.h"

#include <utility>

namespace lunagrad {
namespace {

constexpr const char* kNothingToAsk = "no such node, parameter or alarm is known";

// Whether the fields name a node, not a parameter or an alarm.
bool names_node(const ActionFields& fields) {
  return !text_field(fields, "parameter") && !text_field(fields, "alarm") && !text_field(fields, "subject");
}

}  // namespace

WhyController::WhyController(Uses uses) : uses_(std::move(uses)) {
  uses_.actions.add(
      {"why", "{parameter =}, {alarm =, subject =} or {op =, file =, line =, module =, name =, nth =}",
       [this](const ActionArguments& given) {
         const std::optional<WhyQuestion> asked = question(given);
         if (!asked) given.refuse(kNothingToAsk);
         answer(*asked);
       },
       [this](const ActionArguments& given) -> std::string { return question(given) ? "" : kNothingToAsk; }});
  uses_.actions.add({"close_why", "", [this](const ActionArguments&) { trail_.reset(); }});
}

void WhyController::answer(const WhyQuestion& asked) {
  trail_ = why(facts(), asked);
  structure_ = uses_.tape.structure();
  nodes_.clear();
  for (const WhyLink& link : trail_->links)
    nodes_.push_back(link.node ? uses_.tape.find_node(link.node) : -1);
  ++number_;
}

// An op is another node in each step, at the same place of tapes of one structure. A parameter stays the
// node.
int WhyController::node_of(size_t link) const {
  if (nodes_[link] < 0 || !uses_.tape.tape()) return -1;
  if (uses_.tape.structure() == structure_) return nodes_[link];
  return uses_.tape.find_node(trail_->links[link].node);
}

void WhyController::ask_node(int node) { uses_.actions.act("why", {uses_.tape_actions.fields_of(node)}); }

void WhyController::ask_parameter(const std::string& name) {
  uses_.actions.act("why", {ActionFields{{"parameter", name}}});
}

void WhyController::ask_alarm(const Alarm& alarm) {
  uses_.actions.act(
      "why", {ActionFields{{"alarm", std::string(alarm_rule(alarm.kind).name)}, {"subject", alarm.subject}}});
}

std::optional<WhyQuestion> WhyController::question(const ActionArguments& given) const {
  const ActionFields& wanted = given.fields(
      0, "about", {"parameter", "alarm", "subject", "op", "file", "line", "module", "name", "nth"});
  if (const auto parameter = text_field(wanted, "parameter")) {
    if (!uses_.gradients().find(*parameter)) return std::nullopt;
    return WhyQuestion{.parameter = *parameter};
  }
  if (!names_node(wanted)) {
    const auto kind = text_field(wanted, "alarm"), subject = text_field(wanted, "subject");
    for (const Alarm& alarm : uses_.gradients().alarms().list())
      if ((!kind || *kind == alarm_rule(alarm.kind).name) && (!subject || *subject == alarm.subject))
        return WhyQuestion{.alarm = alarm};
    return std::nullopt;
  }
  const int node = uses_.tape_actions.find(wanted);
  if (node < 0) return std::nullopt;
  return WhyQuestion{.node = uses_.tape.tape()->nodes[size_t(node)].id};
}

WhyFacts WhyController::facts() const {
  WhyFacts facts;
  facts.tape = uses_.tape.former() ? nullptr : uses_.tape.tape();
  // Of a past step the later ones are no cause.
  const int64_t last = uses_.shown.live() || !facts.tape ? INT64_MAX : facts.tape->step;
  const auto take = [&](const auto& steps) {
    for (const StepStatisticsPtr& step : steps)
      if (step->step <= last) facts.steps.push_back(step);
  };
  take(uses_.gradients().earlier());
  take(uses_.gradients().steps());
  for (const RunMark& mark : uses_.journal.curves().marks)
    if ((mark.kind == RunMark::Kind::edit || mark.kind == RunMark::Kind::reload) && mark.step <= last)
      facts.changes.push_back({mark.step, mark.text, mark.place});
  if (const auto& note = uses_.journal.not_finite(); note && note->step <= last)
    facts.not_finite =
        WhyNotFinite{note->nan, note->step, note->headline, note->explanation, note->place, note->node};
  return facts;
}

}  // namespace lunagrad
