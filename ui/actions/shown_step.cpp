#include "ui/actions/shown_step.h"

#include <algorithm>
#include <cstdlib>

#include "ui/window/texture.h"

namespace lunagrad {

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
  standing_ = nearest->step;
}

void ShownStep::move(int by) {
  const auto& steps = history_.steps;
  if (steps.empty()) return;
  const int64_t from = standing_.value_or(step());
  if (by < 0) {
    const auto before =
        std::find_if(steps.rbegin(), steps.rend(), [from](const KeptStep& kept) { return kept.step < from; });
    if (before != steps.rend()) standing_ = before->step;
    return;
  }
  if (live()) return;
  const auto after =
      std::find_if(steps.begin(), steps.end(), [from](const KeptStep& kept) { return kept.step > from; });
  if (after == steps.end() || after->step == steps.back().step)
    go_live();
  else
    standing_ = after->step;
}

}  // namespace lunagrad
