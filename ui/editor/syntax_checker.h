#pragma once
// Compiles texts on a thread of its own, without running them, so that an error is marked while somebody
// types. The drawing thread hands texts over and reads answers; it never waits.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace lunagrad {

struct SyntaxAnswer {
  uint64_t revision = 0;  // of the text that was checked
  std::string message;    // "unexpected symbol near '='", "" when it compiles
  int line = 0;           // from 1
};

class SyntaxChecker {
 public:
  explicit SyntaxChecker(
      std::function<void()> wake);  // called on the checker's thread when there is an answer

  // The text of document `id`; one that waits for the same document is dropped.
  void check(int id, uint64_t revision, std::string content);
  std::optional<SyntaxAnswer> answer(int id) const;  // the latest

 private:
  struct Question {
    uint64_t revision;
    std::string content;
  };
  void work(std::stop_token);

  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int, Question> questions_;    // guarded by mutex_
  std::map<int, SyntaxAnswer> answers_;  // guarded by mutex_
  std::jthread thread_;                  // last: stops before what it uses goes
};

}  // namespace lunagrad
