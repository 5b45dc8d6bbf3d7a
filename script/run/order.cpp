#include "script/run/order.h"

#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "script/run/json.h"

namespace lunagrad {

std::string order_text(const Script& script) {
  const RunOptions& options = script.options;
  Json order = {{"path", script.path},
                {"name", script.name},
                {"source", script.source},
                {"resume", options.resume},
                {"strict_device", options.strict_device},
                {"eager", options.eager},
                {"guard", int(options.guard)},
                {"sandbox", options.sandbox},
                {"memory", options.memory},
                {"disk", options.disk},
                {"folder", options.folder},
                {"modules", options.modules},
                {"stand_ins", options.stand_ins}};
  put_options(order, options);
  Json edits = Json::array();
  for (const ParamEdit& edit : options.edits) edits.push_back({edit.step, edit.name, edit.value});
  order["edits"] = edits;
  std::string bytes;
  Json::to_cbor(order, bytes);  // Lua strings are bytes, which JSON would change
  return bytes;
}

Script script_of_order(const std::string& bytes) {
  try {
    const Json order = Json::from_cbor(bytes);
    Script script;
    script.path = order.at("path");
    script.name = order.at("name");
    script.source = order.at("source");
    RunOptions& options = script.options = options_in(order);
    options.resume = order.at("resume");
    options.strict_device = order.at("strict_device");
    options.eager = order.at("eager");
    options.guard = GuardLevel(order.at("guard").get<int>());
    options.sandbox = order.at("sandbox");
    options.memory = order.at("memory");
    options.disk = order.at("disk");
    options.folder = order.at("folder");
    options.modules = order.at("modules").get<Modules>();
    options.stand_ins = order.at("stand_ins").get<std::map<std::string, std::string>>();
    for (const Json& edit : order.at("edits")) options.edits.push_back({edit.at(0), edit.at(1), edit.at(2)});
    options.write_run = false;
    options.source = script.source;
    return script;
  } catch (const Json::exception& error) {
    fail("the order of the window's rank: ", error.what());
  }
}

}  // namespace lunagrad
