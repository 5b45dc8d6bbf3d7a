#include "script/sweep/legs.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "runtime/core/error.h"

namespace lunagrad::sweep {
namespace fs = std::filesystem;
namespace {

std::string path_of_leg(const std::string& sweep, const char* place, const Leg& leg) {
  return text(sweep, "/", place, "/", leg.name());
}

// Reads the number before the next dot, and removes both from the text.
template <class T>
bool take_number(std::string_view& name, T& number) {
  const char* const end = name.data() + name.size();
  const auto [behind, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || behind == end || *behind != '.' || number < 0) return false;
  name.remove_prefix(size_t(behind - name.data()) + 1);
  return true;
}

}  // namespace

std::string settled_name(int64_t trial) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%05lld", static_cast<long long>(trial));
  return digits;
}

std::string Leg::name() const { return text(settled_name(trial), ".", leg, ".", attempt, ".", worker); }
std::string Leg::folder() const { return text(settled_name(trial), ".", attempt, ".", worker); }

std::optional<Leg> parse_leg(const std::string& name) {
  Leg found;
  std::string_view rest = name;
  if (!take_number(rest, found.trial) || !take_number(rest, found.leg) || !take_number(rest, found.attempt))
    return std::nullopt;
  found.worker = rest;
  // Skips other files, such as the names that network file systems give to removed files.
  if (found.worker.empty() || found.name() != name) return std::nullopt;
  return found;
}

Legs read_legs(const std::string& sweep, int64_t trials, int legs_of_trial) {
  // A leg that is renamed while the folders are read may be seen twice, then the later place counts, or not
  // at all.
  std::map<std::pair<int64_t, int>, std::pair<const char*, Leg>> found;
  for (const char* place : {kWaiting, kRunning, kDone}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(sweep) / place, error))
      if (const auto leg = parse_leg(entry.path().filename().string());
          leg && leg->trial >= 1 && leg->trial <= trials && leg->leg < legs_of_trial)
        found[{leg->trial, leg->leg}] = {place, *leg};
    if (error) fail_as(ErrorKind::file, sweep, "/", place, ": ", error.message());
  }
  Legs legs;
  for (auto& [key, at] : found) {
    auto& [place, leg] = at;
    (place == kWaiting   ? legs.waiting
     : place == kRunning ? legs.running
                         : legs.done)
        .push_back(std::move(leg));
  }
  for (int64_t trial = 1; trial <= trials; ++trial)
    for (int leg = 0; leg < legs_of_trial; ++leg)
      if (!found.contains({trial, leg})) legs.missing.push_back({trial, leg, 0, ""});
  return legs;
}

bool move_leg(const std::string& sweep, const char* from, const Leg& leg, const char* to,
              const Leg& renamed) {
  const std::string target = path_of_leg(sweep, to, renamed);
  if (std::rename(path_of_leg(sweep, from, leg).c_str(), target.c_str()) == 0) return true;
  if (errno != ENOENT) fail_as(ErrorKind::file, target, ": ", std::strerror(errno));
  // A network file system may repeat a request whose reply was lost, and then finds the old name gone. The
  // new name contains this process' claim, so if the file exists, the rename succeeded.
  std::error_code ignored;
  return fs::exists(target, ignored);
}

bool holds(const std::string& sweep, const Leg& leg) {
  std::error_code error;
  const bool there = fs::exists(path_of_leg(sweep, kRunning, leg), error);
  return there || error;  // while the file system does not answer, no other worker takes the leg
}

}  // namespace lunagrad::sweep
