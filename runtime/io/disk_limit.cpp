#include "runtime/io/disk_limit.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

thread_local size_t limit = 0, written = 0;

}  // namespace

void set_disk_limit(size_t bytes) {
  limit = bytes;
  written = 0;
}

bool may_write(size_t bytes) {
  if (limit == 0) return true;
  if (bytes > limit || written > limit - bytes) return false;
  written += bytes;
  return true;
}

void freed_on_disk(size_t bytes) { written -= std::min(written, bytes); }

void frees_on_disk(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (limit == 0 || fs::symlink_status(path, error).type() != fs::file_type::regular) return;
  if (const uintmax_t size = fs::file_size(path, error); !error) freed_on_disk(size_t(size));
}

std::string disk_limit_sentence() {
  return text("the run's files reach their limit of ", limit >> 20, " MiB (--disk)");
}

std::string why_not_written(int error) {
  return error == EFBIG && limit != 0 ? disk_limit_sentence() : std::strerror(error);
}

NoDiskLimit::NoDiskLimit() : limit_(std::exchange(limit, 0)) {}
NoDiskLimit::~NoDiskLimit() { limit = limit_; }

}  // namespace lunagrad
