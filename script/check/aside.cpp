#include "script/check/aside.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/core/error.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

fs::path place_for(const std::string& folder, const std::string& name) {
  const fs::path place = fs::path(folder) / "damaged" / name;
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  if (error) fail_as(ErrorKind::file, place.parent_path().string(), ": ", error.message());
  return place;
}

}  // namespace

bool may_repair(const std::string& folder, CheckReport& report) {
  try {
    require_inside(folder);
    return true;
  } catch (const Error& error) {
    report.notes.push_back(text(error.what(), ": ", folder, " is not repaired"));
    return false;
  }
}

std::string move_aside(const std::string& folder, const std::string& name) {
  const fs::path wanted = place_for(folder, name);
  fs::path place = wanted;
  std::error_code error;
  for (int copy = 2; fs::exists(place, error); ++copy) place = text(wanted.string(), "-", copy);
  fs::rename(fs::path(folder) / name, place, error);
  if (error) fail_as(ErrorKind::file, folder, "/", name, ": cannot be moved: ", error.message());
  return "moved to " + place.string();
}

std::string put_aside(const std::string& folder, const std::string& name, std::string_view lines) {
  const fs::path place = place_for(folder, name);
  std::ofstream out(place, std::ios::binary | std::ios::app);
  out << lines << std::flush;
  if (!out) fail_as(ErrorKind::file, place.string(), ": ", std::strerror(errno ? errno : EIO));
  return "moved to " + place.string();
}

}  // namespace lunagrad
