#include "ui/app/open_run.h"

#include <nlohmann/json.hpp>

namespace lunagrad {

using Json = nlohmann::ordered_json;

std::string text_of(const OpenRun& run) {
  Json json = {{"script", run.script}, {"folder", run.folder}};
  json["arguments"] = run.options.arguments;
  json["set"] = run.options.set;
  json["device"] = run.options.device;
  if (run.options.seed) json["seed"] = *run.options.seed;
  if (run.options.steps) json["steps"] = *run.options.steps;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

OpenRun open_run_from(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    OpenRun run;
    run.script = json.at("script");
    run.folder = json.at("folder");
    run.options.arguments = json.at("arguments").get<std::vector<std::string>>();
    run.options.set = json.at("set").get<std::map<std::string, std::string>>();
    run.options.device = json.at("device");
    if (json.contains("seed")) run.options.seed = json["seed"].get<uint64_t>();
    if (json.contains("steps")) run.options.steps = json["steps"].get<int64_t>();
    return run;
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace lunagrad
