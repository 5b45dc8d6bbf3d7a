#include "script/run/order.h"

#include <nlohmann/json.hpp>

#include "runtime/error.h"

namespace lunagrad {

using Json = nlohmann::json;

std::string order_text(const Script& script) {
  const RunOptions& options = script.options;
  Json order = {{"path", script.path},        {"name", script.name},
                {"source", script.source},    {"arguments", options.arguments},
                {"set", options.set},         {"device", options.device},
                {"resume", options.resume},   {"strict_device", options.strict_device},
                {"guard", int(options.guard)}};
  if (options.seed) order["seed"] = *options.seed;
  if (options.steps) order["steps"] = *options.steps;
  Json edits = Json::array();
  for (const ParamEdit& edit : options.edits) edits.push_back({edit.step, edit.name, edit.value});
  order["edits"] = edits;
  return order.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Script script_of_order(const std::string& text) {
  try {
    const Json order = Json::parse(text);
    Script script;
    script.path = order.at("path");
    script.name = order.at("name");
    script.source = order.at("source");
    RunOptions& options = script.options;
    options.arguments = order.at("arguments").get<std::vector<std::string>>();
    options.set = order.at("set").get<std::map<std::string, std::string>>();
    options.device = order.at("device");
    options.resume = order.at("resume");
    options.strict_device = order.at("strict_device");
    options.guard = GuardLevel(order.at("guard").get<int>());
    if (order.contains("seed")) options.seed = order["seed"].get<uint64_t>();
    if (order.contains("steps")) options.steps = order["steps"].get<int64_t>();
    for (const Json& edit : order.at("edits")) options.edits.push_back({edit.at(0), edit.at(1), edit.at(2)});
    options.write_run = false;
    options.source = script.source;
    return script;
  } catch (const Json::exception& error) {
    fail("the order of the window's rank: ", error.what());
  }
}

}  // namespace lunagrad
