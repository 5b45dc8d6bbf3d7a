#include "ui/actions/settings.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"

namespace lunagrad {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRecent = 20;

Json layout_json(const PanelLayout& layout) {
  Json json = {{"columns", layout.columns},
               {"left_rows", layout.left_rows},
               {"right_rows", layout.right_rows},
               {"focused", layout.focused},
               {"maximized", layout.maximized}};
  for (size_t region = 0; region < kRegions; ++region)
    json["regions"][kRegionNames[region]] = {{"tabs", layout.tabs[region]}, {"front", layout.front[region]}};
  return json;
}

float share(const Json& json, const char* name, float otherwise) {
  return std::clamp(json.value(name, otherwise), 0.15f, 0.85f);
}

PanelLayout layout_from(const Json& json) {
  PanelLayout layout;
  layout.columns = share(json, "columns", layout.columns);
  layout.left_rows = share(json, "left_rows", layout.left_rows);
  layout.right_rows = share(json, "right_rows", layout.right_rows);
  layout.focused = json.value("focused", "");
  layout.maximized = json.value("maximized", "");
  for (size_t region = 0; region < kRegions; ++region) {
    const Json& own = json.at("regions").at(kRegionNames[region]);
    for (const Json& title : own.at("tabs"))
      if (!layout.contains(title.get<std::string>())) layout.tabs[region].push_back(title);
    layout.front[region] = own.value("front", "");
  }
  return layout;
}

Settings settings_from(const Json& json) {
  Settings settings;
  if (json.contains("layout")) {
    settings.layout = layout_from(json["layout"]);
    settings.has_layout = true;
  }
  settings.preset = json.value("preset", settings.preset);
  if (json.contains("presets"))
    for (const auto& [name, layout] : json["presets"].items()) settings.presets[name] = layout_from(layout);
  if (json.contains("window")) {
    settings.width = std::clamp(json["window"].value("width", settings.width), 200, 16384);
    settings.height = std::clamp(json["window"].value("height", settings.height), 100, 16384);
  }
  settings.dark = json.value("theme", "dark") != "light";
  settings.scale = json.value("scale", 0.0f);
  if (settings.scale != 0) settings.scale = std::clamp(settings.scale, 0.75f, 4.0f);
  settings.script = json.value("script", "");
  settings.statistics_every = std::clamp(json.value("statistics every", 0), 0, 1000000);
  settings.tape_direction = json.value("tape direction", settings.tape_direction);
  settings.keyframe_mebibytes =
      std::clamp(json.value("keyframes MiB", settings.keyframe_mebibytes), kLeastKeyframes, kMostKeyframes);
  settings.tape_groups = json.value("tape groups", settings.tape_groups);
  if (json.contains("recent")) settings.recent = json["recent"].get<std::vector<std::string>>();
  settings.recent.resize(std::min(settings.recent.size(), kMostRecent));
  if (json.contains("keys")) settings.keys = json["keys"].get<std::map<std::string, std::string>>();
  return settings;
}

// Returns an error text, or "".
std::string write_settings(const std::string& folder, const Settings& settings) {
  try {
    std::filesystem::create_directories(folder);
    write_file(settings_file(folder), settings_text(settings));
    return {};
  } catch (const std::exception& error) {
    return std::string("The layout and settings cannot be kept: ") + error.what();
  }
}

}  // namespace

void Settings::remember(const std::string& opened) {
  std::erase(recent, opened);
  recent.insert(recent.begin(), opened);
  recent.resize(std::min(recent.size(), kMostRecent));
  script = opened;
}

std::string settings_file(const std::string& folder) { return folder + "/workbench.json"; }

std::string settings_text(const Settings& settings) {
  Json json = {{"layout", layout_json(settings.layout)},
               {"preset", settings.preset},
               {"window", {{"width", settings.width}, {"height", settings.height}}},
               {"theme", settings.dark ? "dark" : "light"},
               {"scale", settings.scale},
               {"script", settings.script},
               {"statistics every", settings.statistics_every},
               {"tape direction", settings.tape_direction},
               {"tape groups", settings.tape_groups},
               {"keyframes MiB", settings.keyframe_mebibytes},
               {"recent", settings.recent},
               {"keys", settings.keys}};
  for (const auto& [name, layout] : settings.presets) json["presets"][name] = layout_json(layout);
  // A path may contain bytes that are not valid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Settings read_settings(const std::string& folder, std::string& note) {
  std::error_code none;
  const std::string file = settings_file(folder);
  if (folder.empty() || !std::filesystem::exists(file, none)) return {};
  try {
    return settings_from(Json::parse(read_file(file)));
  } catch (const std::exception& error) {
    note = file + " is damaged and was left out: " + error.what();
    return {};
  }
}

std::string SettingsKeeper::result() { return writing_.valid() ? writing_.get() : std::string(); }

std::string SettingsKeeper::keep(const Settings& settings) {
  if (folder_.empty() || (any_ && settings == written_)) return {};
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
  std::string failed = result();
  written_ = settings;
  any_ = true;
  writing_ = std::async(std::launch::async, write_settings, folder_, settings);
  return failed;
}

std::string SettingsKeeper::finish(const Settings& settings) {
  std::string failed = result();
  if (folder_.empty() || (any_ && settings == written_ && failed.empty())) return failed;
  written_ = settings;
  any_ = true;
  return write_settings(folder_, settings);
}

}  // namespace lunagrad
