#include "script/run/git.h"

#include <filesystem>
#include <fstream>
#include <utility>

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

std::string first_line_of(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string packed_ref(const fs::path& git, const std::string& name) {
  std::ifstream in(git / "packed-refs");
  for (std::string line; std::getline(in, line);) {
    if (line.size() > 41 && line.compare(41, std::string::npos, name) == 0) return line.substr(0, 40);
  }
  return {};
}

// The nearest folder above `path` that holds a .git; "" when there is none.
fs::path repository_of(const std::string& path) {
  std::error_code ignored;
  for (fs::path folder = fs::absolute(path, ignored).parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", ignored)) return folder;
    if (folder == folder.parent_path()) break;
  }
  return {};
}

}  // namespace

std::string git_commit(const std::string& path) {
  const fs::path folder = repository_of(path);
  if (folder.empty()) return {};
  fs::path git = folder / ".git";
  // In a worktree .git is a file that names the git folder, and refs are in the folder named by commondir.
  std::error_code ignored;
  if (fs::is_regular_file(git, ignored)) {
    const std::string line = first_line_of(git);
    if (line.rfind("gitdir: ", 0) != 0) return {};
    git = folder / line.substr(8);
  }
  const std::string head = first_line_of(git / "HEAD");
  if (head.rfind("ref: ", 0) != 0) return head;
  const std::string name = head.substr(5);
  const std::string common = first_line_of(git / "commondir");
  const fs::path refs = common.empty() ? git : git / common;
  const std::string hash = first_line_of(refs / name);
  return hash.empty() ? packed_ref(refs, name) : hash;
}

GitDiff::GitDiff(const std::string& path, std::string target) : target_(std::move(target)) {
  const std::string folder = repository_of(path).string();
  if (folder.empty()) return;
  diff_.start({"git", "-C", folder, "--no-optional-locks", "diff", "--no-color", "--no-ext-diff", "HEAD"},
              target_);
}

GitDiff::~GitDiff() { wait(); }

bool GitDiff::wait() {
  const bool failed = !diff_.wait();
  std::error_code ignored;
  const bool empty = fs::file_size(target_, ignored) == 0;
  if (empty || failed) fs::remove(target_, ignored);
  return empty || !failed;
}

}  // namespace lunagrad
