#include "ui/actions/shown_step.h"

#include <algorithm>
#include <cstdlib>

#include "ui/window/texture.h"

namespace lunagrad {

ShownStep::ShownStep(Session& session, const TapeModel& tape, const Journal& journal, Actions& actions)
    : session_(session), tape_(tape), journal_(journal), actions_(actions) {
  const auto kept = [this](const ActionArguments& given) {
    const int64_t step = given.whole(0, "step", 0);
    return std::any_of(history_.steps.begin(), history_.steps.end(),
                       [step](const KeptStep& one) { return one.step == step; });
  };
  const auto lacks = [this, kept](const ActionArguments& given) -> std::string {
    if (kept(given)) return "";
    const auto& steps = history_.steps;
    return "step " + std::to_string(given.whole(0, "step", 0)) + " is not kept: " +
           (steps.empty()
                ? std::string("no step is")
                : "kept are " + std::to_string(steps.size()) + " from " + std::to_string(steps.front().step) +
                      " to " + std::to_string(steps.back().step));
  };
  actions_.add({"show_step", "step",
                [this, kept, lacks](const ActionArguments& given) {
                  if (!kept(given)) given.refuse(lacks(given));
                  standing_ = given.whole(0, "step", 0);
                },
                lacks});
  actions_.add({"show_live", "", [this](const ActionArguments&) { standing_.reset(); }});
  actions_.add({"set_memory_budget", "bytes", [this](const ActionArguments& given) {
                  memory_budget_ = size_t(given.whole(0, "bytes", 0));
                }});
}

void ShownStep::go_live() {
  if (!live()) actions_.act("show_live");
}

void ShownStep::update() {
  const size_t left = memory_budget_ - std::min(memory_budget_, Texture::bytes_in_use());
  if (left != history_budget_) session_.set_history_budget(history_budget_ = left);
  history_ = session_.history();
}

size_t ShownStep::memory_held() const { return history_.bytes + Texture::bytes_in_use(); }

TapePtr ShownStep::tape(bool with_values) const {
  if (standing_) return session_.tape(*standing_);
  const TapePtr latest = session_.tape();
  const auto& steps = history_.steps;
  const auto last =
      std::find_if(steps.rbegin(), steps.rend(), [](const KeptStep& kept) { return kept.values; });
  if (!with_values || !latest || last == steps.rend() || last->step >= latest->step) return latest;
  const TapePtr captured = session_.tape(last->step);
  return captured ? captured : latest;
}

void ShownStep::stand_on(int64_t step) {
  const auto& steps = history_.steps;
  if (steps.empty()) return;
  const auto distance = [step](const KeptStep& kept) { return std::abs(kept.step - step); };
  const auto nearest =
      std::min_element(steps.begin(), steps.end(),
                       [&](const KeptStep& a, const KeptStep& b) { return distance(a) < distance(b); });
  if (standing_ != nearest->step) actions_.act("show_step", {double(nearest->step)}, true);
}

void ShownStep::move(int by) {
  const auto& steps = history_.steps;
  if (steps.empty()) return;
  const int64_t from = standing_.value_or(step());
  if (by < 0) {
    const auto before =
        std::find_if(steps.rbegin(), steps.rend(), [from](const KeptStep& kept) { return kept.step < from; });
    if (before != steps.rend()) stand_on(before->step);
    return;
  }
  if (live()) return;
  const auto after =
      std::find_if(steps.begin(), steps.end(), [from](const KeptStep& kept) { return kept.step > from; });
  if (after == steps.end() || after->step == steps.back().step)
    go_live();
  else
    stand_on(after->step);
}

}  // namespace lunagrad
