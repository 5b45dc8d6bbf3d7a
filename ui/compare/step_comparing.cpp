#include "ui/compare/step_comparing.h"

#include <algorithm>
#include <utility>

namespace lunagrad {
namespace {

// The device of the first call, which the comparison takes for the run's device.
std::string device_of(const TapeSnapshot& tape) {
  const auto call = std::find_if(tape.nodes.rbegin(), tape.nodes.rend(),
                                 [](const NodeInfo& node) { return node.op != "leaf"; });
  return call == tape.nodes.rend() ? "" : call->device;
}

bool all_are(const TapeSnapshot& tape, const std::string& dtype) {
  return std::all_of(tape.nodes.begin(), tape.nodes.end(), [&](const NodeInfo& node) {
    return node.no_gradient || node.outputs.empty() || node.outputs[0].dtype == dtype;
  });
}

}  // namespace

StepComparing::StepComparing(const TapeModel& tape, ShownStep& shown, Actions& actions,
                             std::function<void()> wake, std::function<void()> begins)
    : tape_(tape),
      shown_(shown),
      actions_(actions),
      wake_(wake),
      begins_(std::move(begins)),
      inquiry_(std::move(wake)) {
  add_actions();
}

void StepComparing::add_actions() {
  const auto why_not = [this](const ActionArguments&) { return lacks(); };
  actions_.add({"compare_step", "with",
                [this](const ActionArguments& given) {
                  const std::string& with = given.text(0, "with");
                  if (const std::string why = lacks(); !why.empty()) given.refuse(why);
                  begins_();
                  source_ = shown_.source();
                  inquiry_.compare(shown_.session(), tape_.tape()->step, {.with = with});
                },
                why_not});
  actions_.add({"close_step_comparison", "", [this](const ActionArguments&) { forget(); }});
}

std::string StepComparing::lacks() const {
  if (!tape_.tape() || tape_.former()) return "there is no tape of this run";
  if (shown_.session().state() == SessionState::running)
    return "the script runs: its steps can be compared at a pause or at its end";
  if (shown_.live() && shown_.tape(false) != tape_.share())
    return "the tape of the latest step is not shown yet";
  return "";
}

std::vector<StepComparing::Side> StepComparing::sides() {
  devices_.look(wake_);
  std::vector<Side> sides;
  const TapeSnapshot* const tape = tape_.tape();
  if (!tape) return sides;
  const std::string own = device_of(*tape);
  if (devices_.ready())
    for (const DeviceList::Found& device : devices_.all())
      if (device.name != own) sides.push_back({device.name, "Each call on " + device.description + "."});
  for (const auto& [type, help] :
       {std::pair{"f64", "Each call in double precision: shows what rounding does."},
        std::pair{"f32", "Each call in single precision."},
        std::pair{"bf16", "Each call on operands that are rounded to bf16."},
        std::pair{"f16", "Each call on operands that are rounded to f16."}})
    if (!all_are(*tape, type)) sides.push_back({type, help});
  if (tape->plan.plan)
    sides.push_back({"eager", "Each call at once, where the step defer calls and computed them together."});
  return sides;
}

std::string StepComparing::problem() const {
  const auto answer = inquiry_.answer();
  return answer && !answer->ran ? answer->reason : "";
}

void StepComparing::update() {
  const bool asked = inquiry_.answer() || inquiry_.progress();
  if (asked && (shown_.source() != source_ || shown_.session().state() == SessionState::running)) forget();
  const auto answer = inquiry_.answer();
  if (answer == answer_ && tape_.share() == marked_) return;
  answer_ = answer;
  marked_ = tape_.share();
  marks_ = nullptr;
  if (!answer_ || !answer_->ran || !marked_ || answer_->step != marked_->step) return;
  NodeMarks marks = step_marks(*marked_, *answer_);
  // If no node is marked, the answer belongs to another run's step with this number.
  if (std::any_of(marks.of.begin(), marks.of.end(), [](int kind) { return kind >= 0; }))
    marks_ = std::make_shared<const NodeMarks>(std::move(marks));
}

}  // namespace lunagrad
