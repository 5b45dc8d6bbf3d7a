#include "ui/workbench/workbench.h"

#include <algorithm>
#include <utility>

#include "ui/window/theme.h"

namespace lunagrad {

// The members before session_ only keep the session's address.
Workbench::Workbench(std::string script, RunOptions options, std::function<void()> wake, EventSink also)
    : wake_(std::move(wake)),
      journal_(wake_),
      tape_(TextMeasure(fonts().body, fonts().bold), wake_),
      shell_(journal_, wake_),
      shown_(session_, tape_, journal_, shell_.actions(), wake_),
      probes_(
          session_, journal_, shell_.actions(), shown_.replay(), [this] { return shown_.run_now(); }, wake_),
      tape_actions_(tape_, shell_.actions()),
      why_({tape_, journal_, shown_, tape_actions_, shell_.actions(),
            [this]() -> const GradientModel& { return gradients(); }}),
      step_comparing_(tape_, shown_, shell_.actions(), wake_, [this] { tape_comparing_.forget(); }),
      tape_comparing_(session_, shown_, journal_, tape_, shell_, [this] { step_comparing_.forget(); }),
      breakpoints_(session_, shell_.actions(), [this] { return control_.script(); }),
      measurements_(session_),
      pause_measuring_(wake_),
      owners_(session_, shell_.actions(), wake_),
      curves_(journal_, shell_, wake_),
      inspection_(session_, journal_, tape_, shown_, shell_, wake_),
      texts_(session_, journal_, shell_, wake_),
      control_(
          {session_, journal_, texts_, shown_, curves_, shell_}, std::move(script), std::move(options),
          [this] {
            tape_actions_.begin_run();
            gradients_.clear();
            why_.begin_run();
            inspection_.begin_run();
            step_comparing_.forget();
            tape_comparing_.begin_run();
          },
          wake_),
      step_texts_(journal_, shown_, tape_, texts_,
                  [this] { return control_.options_of_run().source.has_value(); }),
      session_([this, also = std::move(also)](const Event& event) {
        journal_.push(event);
        if (also) also(event);
      }) {
  session_.watch_tape(true);
  session_.watch_statistics(true);
}

bool Workbench::update() {
  measurements_.update();
  bool changed = journal_.update();
  changed |= curves_.update();
  changed |= shell_.update();
  texts_.update();
  shown_.replay().set_budget(std::min(size_t(settings().keyframe_mebibytes) << 20, shown_.most_to_keep()));
  changed |= shown_.update();
  changed |= probes_.update();
  control_.update();
  if (tape_.former() && journal_.ended() && !session_.tape()) tape_actions_.clear();  // the run made no tape
  tape_.offer(inspection_.watch());
  changed |= tape_.update();
  changed |= gradients_.update(session_);
  measure_pause();
  take_replayed_gradients();
  note_findings();
  tape_actions_.update(journal_);
  step_comparing_.update();
  tape_comparing_.update();
  inspection_.show();
  changed |= inspection_.update();
  return changed;
}

// At a pause and after the end the gradients are of the step whose values are shown.
void Workbench::measure_pause() {
  const bool stands = journal_.state() == SessionState::paused || (!journal_.active() && journal_.ended());
  const TapePtr tape = stands && !tape_.former() ? session_.tape() : nullptr;
  if (!tape) return pause_measuring_.go_on();
  pause_measuring_.stand(session_, {journal_.pauses(), journal_.ends(), tape->step},
                         gradients_.has(tape->step));
}

// While a replayed step is shown, the run's statistics are shown up to that step.
void Workbench::take_replayed_gradients() {
  const ReplayController::Position* const position = shown_.replay().position();
  if (!shown_.replayed()) {
    replayed_gradients_.reset();
    replayed_ = 0;
  } else if (position && position->number != replayed_ && position->statistics) {
    replayed_ = position->number;
    replayed_gradients_.emplace();
    const auto take = [&](const auto& steps) {
      for (const StepStatisticsPtr& step : steps)
        if (step->step < position->step) replayed_gradients_->add(step);
    };
    take(gradients_.earlier());
    take(gradients_.steps());
    replayed_gradients_->add(position->statistics);
  }
}

// Adds the session's own findings to the alarms.
void Workbench::note_findings() {
  std::vector<Alarm> found;
  if (const auto& note = journal_.not_finite()) {
    Alarm alarm{};
    alarm.kind = AlarmKind::nan;
    alarm.name = note->nan ? "NaN" : "Inf";
    alarm.subject = note->headline.substr(note->headline.find(": ") + 2);
    alarm.place = note->place;
    alarm.node = note->node;
    alarm.since = note->step;
    alarm.after = note->step - 1;
    alarm.fact = note->explanation.substr(0, note->explanation.find('\n'));
    found.push_back(std::move(alarm));
  }
  if (const auto& note = journal_.growth()) {
    Alarm alarm{};
    alarm.kind = AlarmKind::growing;
    alarm.subject = note->name;
    alarm.place = note->place;
    alarm.since = note->step;
    alarm.fact = note->text.substr(0, note->text.rfind(": "));
    found.push_back(std::move(alarm));
  }
  gradients_.set_found(std::move(found), journal_.step());
}

void Workbench::begin_host_run() {
  journal_.restart();
  tape_.clear();
  why_.begin_run();
}

}  // namespace lunagrad
