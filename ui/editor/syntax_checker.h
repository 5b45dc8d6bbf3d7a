#pragma once
// Compiles texts on a separate thread, without running them, so that an error is marked while the user types.
// The drawing thread submits texts and reads answers; it never waits.
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
  uint64_t revision = 0;  // revision of the checked text
  std::string message;    // "unexpected symbol near '='", "" if it compiles
  int line = 0;           // from 1
};

class SyntaxChecker {
 public:
  explicit SyntaxChecker(
      std::function<void()> wake);  // called on the checker's thread when there is an answer

  // Submits the text of document `id`; it replaces a text of this document that still waits.
  void check(int id, uint64_t revision, std::string content);
  std::optional<SyntaxAnswer> answer(int id) const;  // the latest answer

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
  std::jthread thread_;  // last: its destructor stops the thread before the members it uses are destroyed
};

}  // namespace lunagrad
