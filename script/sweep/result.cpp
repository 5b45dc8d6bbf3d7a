#include "script/sweep/result.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"
#include "runtime/io/json_text.h"
#include "script/run/json.h"

namespace lunagrad::sweep {
namespace {

constexpr const char* kEndings[] = {"finished", "rung", "failed"};

constexpr const char* kEnd = ".json";

}  // namespace

std::string path_of_result(const std::string& sweep, const Leg& leg) {
  return sweep + "/results/" + leg.name() + kEnd;
}

std::vector<Leg> legs_with_results(const std::string& sweep) {
  std::vector<Leg> legs;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(sweep + "/results", ignored)) {
    const std::filesystem::path name = entry.path().filename();
    if (name.extension() != kEnd) continue;
    if (std::optional<Leg> leg = parse_leg(name.stem().string())) legs.push_back(std::move(*leg));
  }
  return legs;
}

void write_result(const std::string& sweep, const Leg& leg, const Result& result) {
  nlohmann::ordered_json json = {
      {"trial", leg.trial}, {"leg", leg.leg}, {"ending", kEndings[int(result.ending)]}};
  if (result.value) {
    json["value"] = *result.value;
    json["value_step"] = result.value_step;
  }
  json["steps"] = result.steps;
  if (result.ending == Ending::failed) {
    json["error"] = result.error;
    json["exit_code"] = result.exit_code;
  }
  write_file(path_of_result(sweep, leg), checked_text(json) + "\n");
}

Result read_result(const std::string& sweep, const Leg& leg) {
  const std::string path = path_of_result(sweep, leg);
  try {
    const std::string text = read_regular_file(path);
    if (is_damaged(text)) fail("its checksum is another one");
    const auto json = parse_json<nlohmann::json>(text, "its text");
    if (json.at("trial") != leg.trial || json.at("leg") != leg.leg) fail("it is the result of another leg");
    Result result;
    const auto found =
        std::find(std::begin(kEndings), std::end(kEndings), json.at("ending").get<std::string>());
    if (found == std::end(kEndings)) fail("an unknown ending");
    result.ending = Ending(found - std::begin(kEndings));
    if (json.contains("value")) {
      result.value = json["value"].get<double>();
      result.value_step = json.at("value_step");
    }
    result.steps = json.at("steps");
    result.error = json.value("error", "");
    result.exit_code = json.value("exit_code", 0);
    return result;
  } catch (const std::exception& failure) {
    fail_as(ErrorKind::file, path, ": cannot be used: ", failure.what());
  }
}

}  // namespace lunagrad::sweep
