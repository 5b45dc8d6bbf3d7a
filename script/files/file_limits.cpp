#include "script/files/file_limits.h"

#include <algorithm>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/resolved_path.h"
#include "script/trust/trust_key.h"

namespace lunagrad {
namespace fs = std::filesystem;

std::string FileLimits::check(const std::string& path, FileUse use, const char* function) const {
  if (aside && (use != FileUse::read || aside->has(path))) return aside->use(path, use);
  const std::string used = use == FileUse::read && !stand_ins.empty() ? stand_in(path) : path;
  if (limited) refuse(used, use, function);
  if (on_use) on_use(path, use);
  return used;
}

// The stand-in for the path, or for the innermost enclosing folder that has one.
std::string FileLimits::stand_in(const std::string& path) const {
  for (fs::path outer = path, rest; !outer.empty();) {
    if (const auto found = stand_ins.find(outer.string()); found != stand_ins.end())
      return rest.empty() ? found->second : (fs::path(found->second) / rest).string();
    if (outer == outer.parent_path()) break;
    rest = rest.empty() ? outer.filename() : outer.filename() / rest;
    outer = outer.parent_path();
  }
  return path;
}

// Error when the limits forbid this use.
void FileLimits::refuse(const std::string& path, FileUse use, const char* function) const {
  const fs::path asked = resolved_path(path);
  const auto lies_at = [&](const std::string& place) { return lies_in(asked, resolved_path(place)); };
  // Refused wherever the script lies: with the user's key it could sign files that it writes.
  if (const std::string key = trust_folder(); !key.empty() && lies_at(key))
    fail_as(ErrorKind::file, function, ": ", path, ": no sandboxed script reads the user's key");
  const std::string run = run_folder ? run_folder() : "";
  if (!run.empty() && lies_at(run)) return;
  if (use != FileUse::read)
    fail_as(ErrorKind::file, function, ": ", path, ": a sandboxed script writes into its run's folder alone",
            run.empty() ? "" : ", which is " + run);
  if (std::any_of(readable.begin(), readable.end(), lies_at)) return;
  fail_as(ErrorKind::file, function, ": ", path, ": a sandboxed script reads files of its own folder alone");
}

}  // namespace lunagrad
