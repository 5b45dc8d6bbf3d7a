#include "script/run/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/disk_limit.h"
#include "runtime/system/processes.h"

namespace lunagrad {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of numbers are written as they lie");

// CRC-32C of Castagnoli, least significant bit first.
constexpr std::array<uint32_t, 256> kRemainders = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t r = i;
    for (int bit = 0; bit < 8; ++bit) r = r >> 1 ^ (r & 1 ? 0x82f63b78u : 0u);
    table[i] = r;
  }
  return table;
}();

// The masked checksum. The mask is for data that itself contains checksums.
uint32_t masked_checksum(std::string_view data) {
  uint32_t r = ~0u;
  for (const char c : data) r = r >> 8 ^ kRemainders[(r ^ uint8_t(c)) & 255];
  return std::rotr(~r, 15) + 0xa282ead8u;
}

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Fields of a protocol buffer: the field's number and the kind of its encoding, then the value.
std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += char(value | 128);
  return out + char(value);
}
std::string whole(int field, int64_t value) { return varint(uint64_t(field) << 3) + varint(uint64_t(value)); }
std::string fixed(int field, double value) { return varint(uint64_t(field) << 3 | 1) + bytes_of(value); }
std::string fixed(int field, float value) { return varint(uint64_t(field) << 3 | 5) + bytes_of(value); }
std::string text_field(int field, std::string_view value) {
  return varint(uint64_t(field) << 3 | 2) + varint(value.size()) + std::string(value);
}

std::string record(const std::string& data) {
  const std::string length = bytes_of(uint64_t(data.size()));
  return length + bytes_of(masked_checksum(length)) + data + bytes_of(masked_checksum(data));
}

constexpr std::string_view kName = "events.out.tfevents.";

// TensorBoard reads the files of a folder in the order of their names, which begin with a time in seconds. A
// run that is resumed within the second of its start gets a later time.
int64_t unused_time(const std::string& folder, int64_t now) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kName)) continue;
    now = std::max(now, int64_t(std::strtoll(name.c_str() + kName.size(), nullptr, 10)) + 1);
  }
  return now;
}

}  // namespace

std::string damage_of_event_file(const std::string& content) {
  constexpr size_t kSum = sizeof(uint32_t), kHead = sizeof(uint64_t) + kSum;
  std::string_view left = content;
  for (int64_t number = 1; left.size() >= kHead; ++number) {
    const auto differs = [](std::string_view data, std::string_view sum) {
      return bytes_of(masked_checksum(data)) != sum;
    };
    if (differs(left.substr(0, sizeof(uint64_t)), left.substr(sizeof(uint64_t), kSum)))
      return lunagrad::text("the length of record ", number, " is damaged");
    uint64_t length = 0;
    std::memcpy(&length, left.data(), sizeof length);
    left.remove_prefix(kHead);
    if (length > left.size() || left.size() - length < kSum) return {};
    if (differs(left.substr(0, length), left.substr(length, kSum)))
      return lunagrad::text("record ", number, " is damaged");
    left.remove_prefix(length + kSum);
  }
  return {};
}

EventFile::EventFile(const std::string& folder, std::function<void(const std::string&)> warn)
    : warn_(std::move(warn)) {
  const std::time_t now = std::time(nullptr);
  path_ = lunagrad::text(folder, "/", kName, unused_time(folder, now), ".", host_name(), ".", process_id());
  if (!file_.open_to_grow(path_, OpenFile::Growth::append)) {
    warn_(lunagrad::text(path_, ": ", std::strerror(errno)));
    return;
  }
  event(text_field(3, "brain.Event:2"), 0, double(now));
}

// tensorflow/core/util/event.proto: a SessionLog whose status is START.
void EventFile::go_on(int64_t step) {
  constexpr int64_t kStart = 1;
  event(text_field(7, whole(1, kStart)), step, double(std::time(nullptr)));
}

void EventFile::scalar(std::string_view tag, double value, int64_t step, double time) {
  event(text_field(5, text_field(1, text_field(1, tag) + fixed(2, float(value)))), step, time);
}

// A tensor of one string, marked as text.
void EventFile::text(std::string_view tag, std::string_view value, int64_t step, double time) {
  constexpr int64_t kString = 7;
  const std::string shape = text_field(2, text_field(2, whole(1, 1)));
  const std::string tensor = whole(1, kString) + shape + text_field(8, value);
  const std::string plugin = text_field(1, text_field(1, "text"));
  event(text_field(5, text_field(1, text_field(1, tag) + text_field(9, plugin) + text_field(8, tensor))),
        step, time);
}

// tensorflow/core/framework/summary.proto: HistogramProto and Summary.Image.
void EventFile::histogram(std::string_view tag, const Statistics& values, int64_t step, double time) {
  const double n = double(values.finite());
  const double squares = values.std * values.std * (n > 1 ? n - 1 : 0) + values.mean * values.mean * n;
  std::string limits, counts;
  for (size_t i = 0; i < values.counts.size(); ++i) {
    limits += bytes_of(values.edges[i + 1]);
    counts += bytes_of(double(values.counts[i]));
  }
  const std::string histogram = fixed(1, values.min) + fixed(2, values.max) + fixed(3, n) +
                                fixed(4, values.mean * n) + fixed(5, squares) + text_field(6, limits) +
                                text_field(7, counts);
  event(text_field(5, text_field(1, text_field(1, tag) + text_field(5, histogram))), step, time);
}

void EventFile::image(std::string_view tag, int64_t channels, int64_t height, int64_t width,
                      std::string_view png, int64_t step, double time) {
  const std::string image = whole(1, height) + whole(2, width) + whole(3, channels) + text_field(4, png);
  event(text_field(5, text_field(1, text_field(1, tag) + text_field(4, image))), step, time);
}

void EventFile::event(const std::string& body, int64_t step, double time) {
  if (!file_.is_open()) return;
  const std::string data = record(fixed(1, time) + (step ? whole(2, step) : "") + body);
  std::string why;
  if (may_write(data.size())) {
    const int64_t written = file_.append(data);
    if (written == int64_t(data.size())) return;
    why = written < 0 ? std::strerror(errno) : "the disk is full";
  } else {
    why = disk_limit_sentence();
  }
  warn_(lunagrad::text(path_, ": ", why));
  file_.close();
}

}  // namespace lunagrad
