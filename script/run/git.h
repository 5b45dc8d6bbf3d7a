#pragma once
// What git knows about the state of the code that a run executes. Belongs to the session's thread.
#include <sys/types.h>

#include <string>

namespace lunagrad {

// The commit checked out where `path` lies, "" when that is no git repository.
std::string git_commit(const std::string& path);

// Writes what differs from that commit, as `git diff HEAD` does, while the run goes on; nothing without git,
// outside a repository, or without a difference.
class GitDiff {
 public:
  GitDiff(const std::string& path, std::string target);
  ~GitDiff();  // waits for it
  GitDiff(const GitDiff&) = delete;

 private:
  std::string target_;
  pid_t child_ = -1;
};

}  // namespace lunagrad
