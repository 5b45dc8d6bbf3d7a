#include "ui/editor/syntax_checker.h"

#include <algorithm>
#include <utility>

#include "runtime/core/error.h"
#include "script/lua/source.h"

namespace lunagrad {
namespace {

SyntaxAnswer checked(uint64_t revision, const std::string& content) {
  SyntaxAnswer answer{revision, {}, 0};
  SourcePlace place;
  try {
    answer.message = syntax_error(without_shebang(content), "=text", place);
  } catch (const Error& error) {  // out of memory
    answer.message = error.what();
  }
  answer.line = place.line;
  // "text:12: what": the line number is shown separately.
  const std::string prefix = "text:" + std::to_string(place.line) + ": ";
  if (answer.message.starts_with(prefix)) answer.message.erase(0, prefix.size());
  return answer;
}

}  // namespace

SyntaxChecker::SyntaxChecker(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](std::stop_token stop) { work(stop); }) {}

void SyntaxChecker::check(int id, uint64_t revision, std::string content) {
  {
    const std::lock_guard lock(mutex_);
    questions_.insert_or_assign(id, Question{revision, std::move(content)});
  }
  changed_.notify_one();
}

std::optional<SyntaxAnswer> SyntaxChecker::answer(int id) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(id);
  return found == answers_.end() ? std::nullopt : std::optional(found->second);
}

void SyntaxChecker::work(std::stop_token stop) {
  for (;;) {
    int id = 0;
    Question question;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !questions_.empty(); })) return;
      id = questions_.begin()->first;
      question = std::move(questions_.begin()->second);
      questions_.erase(questions_.begin());
    }
    SyntaxAnswer answer = checked(question.revision, question.content);
    {
      const std::lock_guard lock(mutex_);
      answers_.insert_or_assign(id, std::move(answer));
    }
    if (wake_) wake_();
  }
}

}  // namespace lunagrad
