#pragma once
// The settings that the window keeps between starts: a JSON file in the state folder. Reading never fails: a
// damaged file is ignored and reported. Any thread.
#include <future>
#include <map>
#include <string>
#include <vector>

#include "ui/actions/layout.h"

namespace lunagrad {

inline constexpr int kLeastKeyframes = 16, kMostKeyframes = 65536;  // MiB

struct Settings {
  PanelLayout layout;
  bool has_layout = false;                     // false: the window opens for the first time
  std::string preset = "Inspect";              // the preset chosen last
  std::map<std::string, PanelLayout> presets;  // the user's own, by name
  int width = 1280, height = 800;
  bool dark = true;
  float scale = 0;                          // scale of fonts and measures; 0: the monitor's scale
  std::vector<std::string> recent;          // scripts, the latest first
  std::map<std::string, std::string> keys;  // name of a command -> its key
  std::string script;                       // the script that was open last
  int statistics_every = 0;                 // steps between two measured steps; 0: chosen by cost
  std::string tape_direction = "auto";      // direction of the tape's picture: "auto", "right" or "down"
  int keyframe_mebibytes = 256;             // memory for keyframes of the run, to go back to any of its steps
  bool tape_groups = false;                 // the tape shows which calls are computed together

  bool operator==(const Settings&) const = default;
  void remember(const std::string& script);  // at the front of `recent`
};

std::string settings_file(const std::string& folder);
// The defaults if there is no file. `note` gets an error text if it is damaged.
Settings read_settings(const std::string& folder, std::string& note);
std::string settings_text(const Settings&);

// Writes changed settings on a separate thread, since a disk may be slow. One thread.
class SettingsKeeper {
 public:
  explicit SettingsKeeper(std::string folder) : folder_(std::move(folder)) {}  // "" keeps nothing
  ~SettingsKeeper() = default;

  // Starts writing unless a write is in progress. Returns the error text of the last write, once; otherwise
  // "".
  std::string keep(const Settings&);
  // Like keep(), and waits until the file is written.
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
