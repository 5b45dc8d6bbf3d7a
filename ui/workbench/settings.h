#pragma once
// What the window keeps between starts: a JSON file in the state folder. Reading never fails: what is damaged
// is left out, with a sentence that says so. Any thread.
#include <future>
#include <map>
#include <string>
#include <vector>

#include "ui/workbench/layout.h"

namespace lunagrad {

struct Settings {
  PanelLayout layout;
  bool has_layout = false;                     // false: the window opens for the first time
  std::string preset = "Watch";                // the one that was chosen last
  std::map<std::string, PanelLayout> presets;  // the user's own, by name
  int width = 1280, height = 800;
  bool dark = true;
  float scale = 0;                          // of fonts and measures, 0: the monitor's
  std::vector<std::string> recent;          // scripts, the latest first
  std::map<std::string, std::string> keys;  // name of a command -> its key
  std::string script;                       // that was open last

  bool operator==(const Settings&) const = default;
  void remember(const std::string& script);  // at the front of `recent`
};

std::string settings_file(const std::string& folder);
// The default values when there is no file. `note` gets what was wrong with it, if anything.
Settings read_settings(const std::string& folder, std::string& note);
std::string settings_text(const Settings&);

// Writes the settings when they have changed, on a thread of its own, since a disk may be slow. One thread.
class SettingsKeeper {
 public:
  explicit SettingsKeeper(std::string folder) : folder_(std::move(folder)) {}  // "" keeps nothing
  ~SettingsKeeper() = default;

  // Begins to write if nothing is being written. The result is a sentence when the last writing failed, once.
  std::string keep(const Settings&);
  // The same, and waits for the end.
  std::string finish(const Settings&);
  const std::string& folder() const { return folder_; }

 private:
  std::string result();

  std::string folder_;
  Settings written_;
  bool any_ = false;
  std::future<std::string> writing_;
};

}  // namespace lunagrad
