#include "ui/inspect/step_inquiry.h"

#include <utility>

namespace lunagrad {

StepInquiry::StepInquiry(std::function<void()> wake)
    : wake_(std::move(wake)), shared_(std::make_shared<Shared>()), answer_(wake_) {}

void StepInquiry::compare(SessionInspection& session, int64_t step, const ComparisonQuery& query) {
  close();
  with_ = query.with;
  shared_ = std::make_shared<Shared>();
  auto answered = answer_.ask();
  session.compare_step(
      step, query, answer_.stop_token(),
      [shared = shared_, wake = wake_](size_t done, size_t all, std::string_view name) {
        {
          const std::lock_guard lock(shared->mutex);
          shared->progress = {done, all, std::string(name)};
        }
        wake();
      },
      std::move(answered));
}

void StepInquiry::close() { answer_.forget(); }

std::optional<StepInquiry::Progress> StepInquiry::progress() const {
  if (!answer_.waiting()) return {};
  const std::lock_guard lock(shared_->mutex);
  return shared_->progress;
}

}  // namespace lunagrad
