#include "ui/value_probe.h"

namespace lunagrad {
namespace {

constexpr int64_t kMostCells = 1 << 20;
constexpr int64_t kMostCellsRunning = 1 << 14;  // what costs a training step little to copy
constexpr auto kInterval = std::chrono::milliseconds(250);

}  // namespace

ValueProbe::ValueProbe(std::function<void()> wake) : answers_(std::make_shared<Answers>()) {
  answers_->wake = std::move(wake);
}

void ValueProbe::forget() {
  asked_.reset();
  std::lock_guard lock(answers_->mutex);
  ++answers_->number;
  answers_->missing = 0;
  for (auto& view : answers_->views) view.reset();
}

void ValueProbe::watch(Session& session, int place, uint64_t node, int output, int64_t step, bool running) {
  const Question question{place, node, output, step, running};
  if (asked_ == question) return;
  const bool same_place = asked_ && asked_->place == place && asked_->output == output;
  uint64_t number = 0;
  {
    std::lock_guard lock(answers_->mutex);
    if (same_place && running && (answers_->missing > 0 || Clock::now() - asked_at_ < kInterval)) return;
    number = ++answers_->number;
    answers_->missing = 2;
    if (!same_place)
      for (auto& view : answers_->views) view.reset();
  }
  asked_ = question;
  asked_at_ = Clock::now();
  for (int which = 0; which < 2; ++which)
    session.inspect(node, output, which == 0 ? Which::output : Which::gradient,
                    running ? kMostCellsRunning : kMostCells,
                    [answers = answers_, number, which](ValueView view) {
                      {
                        std::lock_guard lock(answers->mutex);
                        if (answers->number != number) return;
                        answers->views[which] = std::make_shared<const ValueView>(std::move(view));
                        --answers->missing;
                      }
                      answers->wake();
                    });
}

std::shared_ptr<const ValueView> ValueProbe::value() const {
  std::lock_guard lock(answers_->mutex);
  return answers_->views[0];
}

std::shared_ptr<const ValueView> ValueProbe::gradient() const {
  std::lock_guard lock(answers_->mutex);
  return answers_->views[1];
}

}  // namespace lunagrad
