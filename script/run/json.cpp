#include "script/run/json.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "runtime/core/path_text.h"
#include "runtime/io/checksum.h"
#include "runtime/system/clock.h"

namespace lunagrad {

namespace {

// The first and the last entry of a text with a checksum. If one of them is damaged, the other still shows
// that the text has a checksum, unlike a text of an earlier version.
constexpr std::string_view kMark = "\"checksummed\"", kSum = "\"checksum\"";
constexpr size_t kEnds = 64;  // bytes at each end of the text in which an entry is searched

// Whether the text contains the word with at most three wrong bytes.
bool resembles(std::string_view text, std::string_view word) {
  constexpr int kMost = 3;
  for (size_t at = 0; at + word.size() <= text.size(); ++at) {
    int others = 0;
    for (size_t i = 0; i < word.size() && others <= kMost; ++i) others += text[at + i] != word[i];
    if (others <= kMost) return true;
  }
  return false;
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string with_checksum(std::string object) {
  const bool empty = object.find_first_not_of(' ', 1) == object.rfind('}');
  object.insert(1, std::string(kMark) + ":true" + (empty ? "" : ","));
  const size_t end = object.rfind('}');
  const std::string sum = checksum_text(hash_of(object.data(), end));
  return object.replace(end, 1, "," + std::string(kSum) + ":\"" + sum + "\"}");
}

std::string checked_text(const Json& object, int indent) {
  if (indent < 0) return with_checksum(json_text(object));
  Json marked{{"checksummed", true}};
  marked.update(object);
  std::string text = json_text(marked, indent);
  text.resize(text.size() - 2);  // without its last line, "}"
  const std::string sum = checksum_text(hash_of(text.data(), text.size()));
  return text + ",\n" + std::string(size_t(indent), ' ') + std::string(kSum) + ": \"" + sum + "\"\n}";
}

bool is_damaged(std::string_view text) {
  const size_t begin = text.find('"');
  if (begin == text.npos || text.find('\0') != text.npos) return true;
  const bool marked = text.substr(begin).starts_with(kMark);
  const std::string_view head = text.substr(0, std::min(text.size(), kEnds));
  const std::string_view tail = text.substr(text.size() - head.size());
  const auto drop = [&text](std::string_view last) {
    const bool there = text.ends_with(last);
    if (there) text.remove_suffix(last.size());
    return there;
  };
  const auto drop_space = [&text] { text = text.substr(0, text.find_last_not_of(" \n") + 1); };
  drop_space();
  bool whole = drop("}");
  drop_space();
  whole = whole && drop("\"") && text.size() >= kChecksumDigits;
  bool ends_with_sum = false;
  if (whole) {
    const std::string_view sum = text.substr(text.size() - kChecksumDigits);
    text.remove_suffix(kChecksumDigits);
    drop("\"");
    drop(" ");
    if (drop(":") && drop(kSum)) {
      drop_space();
      return !drop(",") || sum != checksum_text(hash_of(text.data(), text.size()));
    }
    ends_with_sum = sum.find_first_not_of("0123456789abcdef") == sum.npos;
  }
  return marked || ends_with_sum || resembles(head, kMark) || resembles(tail, kSum);
}

void erase_checksum(Json& object) {
  object.erase("checksummed");
  object.erase("checksum");
}

void put_options(Json& json, const RunOptions& options) {
  json["arguments"] = path_texts(options.arguments);
  json["set"] = Json::object();
  for (const auto& [name, value] : options.set) json["set"][name] = path_text(value);
  json["device"] = options.device;
  if (options.seed) json["seed"] = *options.seed;
  if (options.steps) json["steps"] = *options.steps;
}

RunOptions options_in(const Json& json) {
  RunOptions options;
  for (const Json& argument : json.at("arguments"))
    options.arguments.push_back(path_of_text(argument.get<std::string>()));
  for (const auto& [name, value] : json.at("set").items())
    options.set[name] = path_of_text(value.get<std::string>());
  options.device = json.at("device");
  if (json.contains("seed")) options.seed = json["seed"].get<uint64_t>();
  if (json.contains("steps")) options.steps = json["steps"].get<int64_t>();
  return options;
}

std::string utc_now() {
  const std::tm utc = utc_of(std::time(nullptr));
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return stamp;
}

}  // namespace lunagrad
