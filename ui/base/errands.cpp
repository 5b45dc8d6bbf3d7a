#include "ui/base/errands.h"

#include <exception>
#include <utility>

namespace lunagrad {

Errands::Errands(std::function<void()> wake) : wake_(std::move(wake)) {}

void Errands::add(std::function<void()> work, std::function<void(const std::string&)> done) {
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

bool Errands::update() {
  std::vector<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (const Answer& answer : answers) answer.done(answer.problem);
  return !answers.empty();
}

}  // namespace lunagrad
