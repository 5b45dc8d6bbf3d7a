#include "runtime/io/resolved_path.h"

#include <algorithm>

#include "runtime/core/error.h"

namespace lunagrad {
namespace fs = std::filesystem;

fs::path resolved_path(const std::string& path) {
  std::error_code error;
  fs::path result = resolved_path(path, error);
  if (error) fail_as(ErrorKind::file, path, ": ", error.message());
  return result;
}

fs::path resolved_path(const std::string& path, std::error_code& error) {
  const fs::path whole = fs::absolute(path.empty() ? "." : path, error);
  return error ? fs::path() : fs::weakly_canonical(whole, error);
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return !folder.empty() &&
         std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace lunagrad
