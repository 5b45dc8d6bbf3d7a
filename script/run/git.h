#pragma once
// The git commit of the code that a run executes, and its uncommitted changes. Belongs to the session's
// thread.
#include <string>

#include "runtime/system/processes.h"

namespace lunagrad {

// The commit checked out at `path`; "" outside of a git repository.
std::string git_commit(const std::string& path);

// Writes the output of `git diff HEAD` in the background. Writes nothing without git, outside of a
// repository, or without changes.
class GitDiff {
 public:
  GitDiff(const std::string& path, std::string target);
  ~GitDiff();   // waits for the output
  bool wait();  // false if the file was begun but could not be written completely
  GitDiff(const GitDiff&) = delete;

 private:
  std::string target_;
  BackgroundProgram diff_;
};

}  // namespace lunagrad
