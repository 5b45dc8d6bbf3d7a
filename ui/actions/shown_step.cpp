#include "ui/actions/shown_step.h"

#include <algorithm>
#include <cstdlib>

#include "ui/time/run_limits_text.h"
#include "ui/window/texture.h"

namespace lunagrad {

ShownStep::ShownStep(Session& session, const TapeModel& tape, const Journal& journal, Actions& actions,
                     std::function<void()> wake)
    : session_(session), tape_(tape), journal_(journal), actions_(actions), replay_(std::move(wake)) {
  add_actions();
}

void ShownStep::add_actions() {
  const auto lacks = [this](const ActionArguments& given) -> std::string {
    const int64_t step = given.whole(0, "step", 0);
    if (is_kept(step) || (step >= first_step_ && step <= last_step())) return "";
    return "the run has no step " + std::to_string(step) + " so far: it is at step " +
           std::to_string(last_step());
  };
  actions_.add({"show_step", "step",
                [this, lacks](const ActionArguments& given) {
                  if (const std::string why = lacks(given); !why.empty()) given.refuse(why);
                  show(given.whole(0, "step", 0));
                },
                lacks});
  actions_.add({"repeat_step", "step",
                [this, lacks](const ActionArguments& given) {
                  if (const std::string why = lacks(given); !why.empty()) given.refuse(why);
                  replay_.go_to(given.whole(0, "step", 0), run_now());
                },
                lacks});
  actions_.add({"cancel_replay", "", [this](const ActionArguments&) { replay_.cancel(); }});
  actions_.add({"show_live", "", [this](const ActionArguments&) { leave(); }});
  actions_.add({"set_memory_budget", "bytes", [this](const ActionArguments& given) {
                  memory_budget_ = size_t(given.whole(0, "bytes", 0));
                }});
}

bool ShownStep::update() {
  const size_t left =
      std::min(memory_budget_ - std::min(memory_budget_, Texture::bytes_in_use()), most_to_keep_);
  if (left != history_budget_) session_.set_history_budget(history_budget_ = left);
  history_ = session_.history();
  latest_ = journal_.step();
  if (journal_.state() != SessionState::running && !tape_.former())
    if (const TapePtr tape = session_.tape()) latest_ = std::max(latest_, tape->step);
  if (!replay_.update() || replay_.progress()) return false;
  if (const ReplayController::Position* const position = replay_.position()) {
    standing_ = position->step;
    replayed_ = position->tape;
  } else if (replayed_) {
    leave();
  }
  return true;
}

std::shared_ptr<KeyframeSink> ShownStep::begin_run(const RunOptions& options) {
  const KeyframePtr& start = options.start;
  first_step_ = start ? start->step + 1 : 1;
  limits_ = limits_of(options);
  most_to_keep_ = lunagrad::most_to_keep(options);
  standing_.reset();
  replayed_ = nullptr;
  return replay_.begin_run(start);
}

ReplayController::RunNow ShownStep::run_now() const {
  ReplayController::RunNow run;
  run.folder = journal_.run_folder();
  run.first = first_step_;
  run.limits = limits_;
  run.steps = journal_.step();
  run.reloads = size_t(journal_.reloads());
  if (const double rate = journal_.steps_per_second(); rate > 0) run.seconds_per_step = 1 / rate;
  return run;
}

std::optional<int64_t> ShownStep::coming() const {
  const auto progress = replay_.progress();
  return progress ? std::optional(progress->to) : std::nullopt;
}

bool ShownStep::is_kept(int64_t step) const {
  const auto& steps = history_.steps;
  return std::any_of(steps.begin(), steps.end(), [step](const KeptStep& kept) { return kept.step == step; });
}

bool ShownStep::lacks_values(int64_t step) const {
  if (live() || replayed_) return false;
  return std::any_of(history_.steps.begin(), history_.steps.end(),
                     [step](const KeptStep& kept) { return kept.step == step && !kept.complete; });
}

bool ShownStep::at_hand(int64_t step) const {
  return step >= last_step() || (replay_.position() && replay_.position()->step == step) || is_kept(step);
}

void ShownStep::go_to(int64_t step) {
  step = std::max(step, first_step_);
  if (step >= last_step()) return go_live();
  if (!live() && standing_ == step && !replay_.progress()) return;
  actions_.act("show_step", {double(step)}, true);
}

void ShownStep::show(int64_t step) {
  if (!is_kept(step)) return replay_.go_to(step, run_now());
  leave();
  standing_ = step;
}

void ShownStep::go_live() {
  if (!live() || replay_.progress()) actions_.act("show_live");
}

void ShownStep::leave() {
  standing_.reset();
  replayed_ = nullptr;
  replay_.close();
}

size_t ShownStep::memory_held() const { return history_.bytes + Texture::bytes_in_use(); }

TapePtr ShownStep::tape(bool with_values) const {
  if (replayed_) return replayed_;
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
