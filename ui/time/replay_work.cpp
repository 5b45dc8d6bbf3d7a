#include "ui/time/replay_work.h"

#include <utility>

namespace lunagrad {

void ReplayWork::run(const std::string& folder, ReplayOptions options,
                     const std::function<void(Replay&)>& use) {
  options.progress = [this](int64_t step) {
    {
      const std::lock_guard lock(mutex_);
      at_ = step;
    }
    wake_();
  };
  Replay replay(folder, std::move(options));
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return;
    replay_ = &replay;
  }
  struct Ended {  // resets replay_, which cancel() uses, before the replay is destroyed
    ReplayWork& work;
    ~Ended() {
      const std::lock_guard lock(work.mutex_);
      work.replay_ = nullptr;
    }
  } const ended{*this};
  use(replay);
}

void ReplayWork::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (replay_) replay_->cancel();
}

int64_t ReplayWork::at() const {
  const std::lock_guard lock(mutex_);
  return at_;
}

}  // namespace lunagrad
