#include "ui/inspect/batch_probe.h"

#include "ui/inspect/request_interval.h"

namespace lunagrad {

void BatchProbe::watch(SessionInspection& session, int64_t moment, bool running,
                       const std::function<void()>& wake) {
  {
    const std::lock_guard lock(answer_->mutex);
    if (answer_->awaited) return;
    const bool changed =
        moment != moment_ || running != running_ || !answer_->view || !answer_->view->available;
    if (!changed || Clock::now() - asked_at_ < kRequestInterval) return;
    answer_->awaited = true;
  }
  moment_ = moment;
  running_ = running;
  asked_at_ = Clock::now();
  session.batch(kMostCells, [answer = answer_, wake](BatchView view) {
    {
      const std::lock_guard lock(answer->mutex);
      answer->awaited = false;
      answer->view = std::make_shared<const BatchView>(std::move(view));
    }
    wake();
  });
}

std::shared_ptr<const BatchView> BatchProbe::view() const {
  const std::lock_guard lock(answer_->mutex);
  return answer_->view;
}

}  // namespace lunagrad
