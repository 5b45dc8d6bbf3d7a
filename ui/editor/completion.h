#pragma once
// Completions of the name at the caret: from the op records, from the session (asynchronously), and from the
// text itself. Drawing thread only; the session's answer arrives on its own thread.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "script/session_console.h"
#include "ui/text/buffer.h"

namespace lunagrad {

struct Proposal {
  std::string name;    // "linear"
  std::string detail;  // its arguments, or where the name comes from
  std::string help;    // the text of `?name`; "" if there is none
};

// Resolves aliases: "local nn = lg.nn" makes nn.Linear "lg.nn.Linear". Replaces the path's first name
// repeatedly by its value from a local assignment or `require "lunagrad"` in the text.
std::string resolved_path(const TextBuffer&, const std::string& path);

// The help of a resolved path from the op records or the library's annotations; "" if there is none.
std::string explain_path(const std::string& path);

class Completion {
 public:
  explicit Completion(std::function<void()> wake);

  // Call it when the caret is after a name or a dot: finds proposals.
  void ask(SessionConsole&, const TextBuffer&);
  void close();
  bool open() const { return open_; }
  // The proposals known so far, sorted; empty when closed.
  const std::vector<Proposal>& proposals();
  TextRange replaced() const { return replaced_; }  // the part of the name that is already typed

 private:
  struct Answer {
    std::mutex mutex;
    uint64_t number = 0;  // number of the latest request
    bool fresh = false;
    std::vector<std::string> names;
    std::function<void()> wake;
  };
  void add(std::string name, const char* origin);
  void merge(const std::vector<std::string>& names);

  std::shared_ptr<Answer> answer_;  // shared with the callbacks, which may outlive this object
  bool open_ = false;
  std::string path_;    // the resolved path, up to and including the last dot or colon
  std::string prefix_;  // the typed part of the name
  TextRange replaced_;
  std::vector<Proposal> proposals_;
};

}  // namespace lunagrad
