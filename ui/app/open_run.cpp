#include "ui/app/open_run.h"

#include "script/run/json.h"

namespace lunagrad {

using Json = nlohmann::ordered_json;

std::string text_of(const OpenRun& run) {
  Json json = {{"script", run.script}, {"folder", run.folder}};
  put_options(json, run.options);
  return json_text(json);
}

OpenRun open_run_from(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    return {json.at("script"), json.at("folder"), options_in(json)};
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace lunagrad
