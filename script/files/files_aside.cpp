#include "script/files/files_aside.h"

#include <filesystem>
#include <fstream>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

std::string key_of(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error), found = fs::weakly_canonical(absolute, error);
  return (error ? absolute : found).string();
}

}  // namespace

bool FilesAside::has(const std::string& path) const { return copies_.count(key_of(path)) > 0; }

std::string FilesAside::use(const std::string& path, FileUse use) {
  const std::string key = key_of(path);
  const auto found = copies_.find(key);
  if (found != copies_.end()) return found->second;
  if (use == FileUse::read) return path;
  if (place_.empty()) place_ = folder_.emplace().path();
  // The copy keeps the file name, since its ending decides the format.
  const fs::path folder = fs::path(place_) / std::to_string(copies_.size());
  const fs::path copy = folder / fs::path(key).filename();
  std::error_code error, none;
  fs::create_directory(folder, error);
  const bool was_there = !error && fs::exists(key, none);
  if (was_there && use == FileUse::change) fs::copy(key, copy, fs::copy_options::recursive, error);
  if (error)
    fail_as(ErrorKind::file, copy.string(), ": a copy of ", path, " cannot be made: ", error.message());
  // The script will find a file to remove.
  if (was_there && use == FileUse::remove) std::ofstream(copy).close();
  return copies_[key] = copy.string();
}

}  // namespace lunagrad
