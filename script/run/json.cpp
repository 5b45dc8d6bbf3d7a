#include "script/run/json.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "runtime/io/checksum.h"

namespace lunagrad {

using Json = nlohmann::ordered_json;

Json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string with_checksum(std::string object) {
  const size_t end = object.rfind('}');
  const std::string sum = checksum_text(hash_of(object.data(), end));
  return object.replace(end, 1, ",\"checksum\":\"" + sum + "\"}");
}

std::string checked_text(const Json& object, int indent) {
  std::string text = json_text(object, indent);
  if (indent < 0) return with_checksum(std::move(text));
  text.resize(text.size() - 2);  // without its last line, "}"
  const std::string sum = checksum_text(hash_of(text.data(), text.size()));
  return text + ",\n" + std::string(size_t(indent), ' ') + "\"checksum\": \"" + sum + "\"\n}";
}

bool is_damaged(std::string_view text) {
  constexpr size_t kLongest = 64;  // of the entry with the checksum, with what stands around it
  if (text.find('\0') != text.npos) return true;
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kLongest));
  const auto drop = [&text](std::string_view last) {
    const bool there = text.ends_with(last);
    if (there) text.remove_suffix(last.size());
    return there;
  };
  const auto drop_space = [&text] { text = text.substr(0, text.find_last_not_of(" \n") + 1); };
  drop_space();
  const bool closed = drop("}");
  drop_space();
  std::string_view sum;
  if (closed && drop("\"") && text.size() >= kChecksumDigits) {
    sum = text.substr(text.size() - kChecksumDigits);
    text.remove_suffix(kChecksumDigits);
  }
  if (!sum.empty() && (drop("\"checksum\":\"") || drop("\"checksum\": \""))) {
    drop_space();
    return !drop(",") || sum != checksum_text(hash_of(text.data(), text.size()));
  }
  // The entry itself may be damaged: its form, or its name.
  const bool is_sum = !sum.empty() && sum.find_first_not_of("0123456789abcdef") == sum.npos;
  return end.find("\"checksum\":") != end.npos ||
         (is_sum && (text.ends_with("\":\"") || text.ends_with("\": \"")));
}

void put_options(Json& json, const RunOptions& options) {
  json["arguments"] = options.arguments;
  json["set"] = options.set;
  json["device"] = options.device;
  if (options.seed) json["seed"] = *options.seed;
  if (options.steps) json["steps"] = *options.steps;
}

RunOptions options_in(const Json& json) {
  RunOptions options;
  options.arguments = json.at("arguments").get<std::vector<std::string>>();
  options.set = json.at("set").get<std::map<std::string, std::string>>();
  options.device = json.at("device");
  if (json.contains("seed")) options.seed = json["seed"].get<uint64_t>();
  if (json.contains("steps")) options.steps = json["steps"].get<int64_t>();
  return options;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return stamp;
}

}  // namespace lunagrad
