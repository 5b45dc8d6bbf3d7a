#include "runtime/core/trace.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "runtime/core/memory_limit.h"

namespace lunagrad {
namespace {

struct Names {
  std::mutex mutex;
  std::deque<std::string> by_id{""};  // a deque, so that references stay valid
  std::unordered_map<std::string_view, uint32_t> ids{{"", 0}};
  std::atomic<size_t> bytes{0};
};

Names& names() {
  static Names all;
  return all;
}

double calibrate() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const uint64_t start_ticks = ticks();
  while (Clock::now() - start < std::chrono::milliseconds(2)) {
  }
  const uint64_t elapsed_ticks = ticks() - start_ticks;
  const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
  return elapsed.count() / double(elapsed_ticks);
}

}  // namespace

uint32_t intern(std::string_view name) {
  Names& all = names();
  std::lock_guard lock(all.mutex);
  if (const auto found = all.ids.find(name); found != all.ids.end()) return found->second;
  constexpr size_t kEntry = 128;  // bytes of an entry, besides its characters
  if (memory_limit().bytes) check_room(1, name.size() + kEntry);
  all.bytes += name.size() + kEntry;
  const std::string& stored = all.by_id.emplace_back(name);
  const auto id = uint32_t(all.by_id.size() - 1);
  all.ids.emplace(stored, id);
  return id;
}

size_t interned_bytes() { return names().bytes; }

const std::string& interned(uint32_t id) {
  Names& all = names();
  std::lock_guard lock(all.mutex);
  return id < all.by_id.size() ? all.by_id[id] : all.by_id[0];
}

std::string to_string(SourceLine place) {
  return place.known() ? interned(place.file) + ":" + std::to_string(place.line) : std::string();
}

double ticks_to_ns(uint64_t count) {
  static const double ns_per_tick = calibrate();
  return double(count) * ns_per_tick;
}

}  // namespace lunagrad
