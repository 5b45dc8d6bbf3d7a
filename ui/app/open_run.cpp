#include "ui/app/open_run.h"

#include <nlohmann/json.hpp>

#include "runtime/core/path_text.h"
#include "script/run/json.h"

namespace lunagrad {

using Json = nlohmann::ordered_json;

std::string text_of(const OpenRun& run) {
  Json json = {{"script", path_text(run.script)}, {"folder", path_text(run.folder)}};
  put_options(json, run.options);
  json["sandbox"] = run.options.sandbox;
  json["memory"] = run.options.memory;
  json["disk"] = run.options.disk;
  json["timeout"] = run.options.timeout;
  return json_text(json);
}

OpenRun open_run_from(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    OpenRun run{path_of_text(json.at("script").get<std::string>()),
                path_of_text(json.at("folder").get<std::string>()), options_in(json)};
    // Windows of earlier versions did not write it.
    run.options.sandbox = json.value("sandbox", false);
    run.options.memory = json.value("memory", size_t(0));
    run.options.disk = json.value("disk", size_t(0));
    run.options.timeout = json.value("timeout", 0.0);
    return run;
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace lunagrad
