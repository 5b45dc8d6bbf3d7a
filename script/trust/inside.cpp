#include "script/trust/inside.h"

#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/resolved_path.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

// `root`: the folder, resolved.
void require(const fs::path& entry, const fs::path& root) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(entry, error);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) return;
  if (!fs::is_symlink(status))
    fail_as(ErrorKind::file, entry.string(), ": is a pipe, a socket or a device, not a file of a run");
  const fs::path target = resolved_path(entry.string());
  if (!lies_in(target, root))
    fail_as(ErrorKind::file, entry.string(), ": is a link out of its folder, to ", target.string());
  const fs::file_status end = fs::status(target, error);
  if (fs::exists(end) && !fs::is_regular_file(end) && !fs::is_directory(end))
    fail_as(ErrorKind::file, entry.string(), ": is a link to a pipe, a socket or a device");
}

}  // namespace

bool stays_inside(std::string_view path) {
  if (path.find('\0') != path.npos || path.find('\\') != path.npos) return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool lies_inside(const std::string& path, const std::string& folder) {
  return lies_in(resolved_path(path), resolved_path(folder));
}

std::string file_inside(const std::string& folder, const std::string& name, const std::string& whose) {
  std::string path = folder + "/" + name;
  if (!stays_inside(name) || !lies_inside(path, folder))
    fail_as(ErrorKind::file, whose, ": names ", name, ", which is not in its folder ", folder);
  std::error_code error;
  if (const fs::file_status status = fs::status(path, error);
      fs::exists(status) && !fs::is_regular_file(status))
    fail_as(ErrorKind::file, whose, ": names ", name, ", which is not a regular file");
  return path;
}

void require_entry_inside(const std::string& folder, const std::string& entry) {
  require(fs::path(folder) / entry, resolved_path(folder));
}

bool is_entry_inside(const std::string& folder, const std::string& entry) {
  try {
    require_entry_inside(folder, entry);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void refuse_special(const std::string& folder) {
  for (const char* name : {"config.json", "metrics.jsonl", "files.jsonl", "script.lua"}) {
    const std::string path = folder + "/" + name;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::exists(status) && !fs::is_regular_file(status))
      fail_as(ErrorKind::file, path, ": not a regular file");
  }
}

void require_inside(const std::string& folder) {
  const fs::path root = resolved_path(folder);
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error))
    require(at->path(), root);
  if (error) fail_as(ErrorKind::file, folder, ": ", error.message());
}

}  // namespace lunagrad
