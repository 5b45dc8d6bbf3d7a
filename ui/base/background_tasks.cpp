#include "ui/base/background_tasks.h"

#include <exception>
#include <utility>

namespace lunagrad {

BackgroundTasks::BackgroundTasks(std::function<void()> wake) : wake_(std::move(wake)) {}

void BackgroundTasks::add(std::function<void()> work, std::function<void(const std::string&)> done) {
  thread_.post([this, work = std::move(work), done = std::move(done)] {
    Answer answer{done, {}};
    try {
      work();
    } catch (const std::exception& error) {
      answer.problem = error.what();
    }
    {
      const std::lock_guard lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    if (wake_) wake_();
  });
}

bool BackgroundTasks::update() {
  std::vector<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (const Answer& answer : answers) answer.done(answer.problem);
  return !answers.empty();
}

}  // namespace lunagrad
