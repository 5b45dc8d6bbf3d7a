#pragma once
// What could follow the name at the caret: from the records of the ops, from the session, which is asked and
// never waited for, and from the text itself. Drawing thread only; the session's answer comes on its own
// thread.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "script/session.h"
#include "ui/text/buffer.h"

namespace lunagrad {

struct Proposal {
  std::string name;    // "linear"
  std::string detail;  // its arguments, or where the name comes from
  std::string help;    // what `?name` says; "" for what has no record
};

// "local nn = lg.nn" makes nn.Linear "lg.nn.Linear": the path with its first name replaced by what the text's
// assignments of locals and `require "lunagrad"` give it, again and again.
std::string resolved_path(const TextBuffer&, const std::string& path);

// What the operations' records or the library's annotations say of a resolved path; "" for nothing.
std::string explain_path(const std::string& path);

class Completion {
 public:
  explicit Completion(std::function<void()> wake);

  // The caret has moved behind a name or a dot: finds proposals for what stands before it.
  void ask(Session&, const TextBuffer&);
  void close();
  bool open() const { return open_; }
  // Those that are known by now, sorted; empty while nothing is open.
  const std::vector<Proposal>& proposals();
  TextRange replaced() const { return replaced_; }  // the part of the name that is there

 private:
  struct Answer {
    std::mutex mutex;
    uint64_t number = 0;  // of the last question
    bool fresh = false;
    std::vector<std::string> names;
    std::function<void()> wake;
  };
  void add(std::string name, const char* origin);
  void merge(const std::vector<std::string>& names);

  std::shared_ptr<Answer> answer_;  // shared with the callbacks, which may outlive this
  bool open_ = false;
  std::string path_;    // resolved, up to and with the last dot or colon
  std::string prefix_;  // what is there of the name
  TextRange replaced_;
  std::vector<Proposal> proposals_;
};

}  // namespace lunagrad
