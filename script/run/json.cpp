#include "script/run/json.h"

#include <cmath>
#include <ctime>

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
