#pragma once
// The workbench program: a Window, a Workbench, the panels in their regions, the commands with their keys,
// the settings, and the loop that draws only when there is something new. Drawing thread only.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ui/app/alive_marker.h"
#include "ui/app/closing.h"
#include "ui/app/drive.h"
#include "ui/app/notices.h"
#include "ui/app/open_run.h"
#include "ui/app/regions.h"
#include "ui/app/trust_question.h"
#include "ui/panels/toolbar.h"
#include "ui/panels/why_strip.h"
#include "ui/window/window.h"
#include "ui/workbench/key_sheet.h"
#include "ui/workbench/palette.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

class App {
 public:
  struct Options {
    std::string script;
    std::string opened_run;  // the folder of a run to look at, instead of a script
    RunOptions run;
    bool trust = false;  // --trust: the opened run has the user's rights, even if another user made it
    Window::Options window;
    bool sized = false, themed = false;  // true: set by the command line; false: as in the last session
    std::string state_folder;            // for settings and layout; "": nothing is kept
    bool times = false;                  // prints the duration of the start
    double main_began = 0;               // milliseconds between the process' start and main
    std::function<void()> restart;  // replaces the process by one that runs nothing; returns if that fails
    std::string drive;              // a Lua script, see drive.h
    std::vector<std::string> drive_arguments;  // the drive's arg[1…]
  };
  // Throws Error (kind device) if no window can be opened.
  explicit App(Options);
  ~App();
  // Returns the exit code when the window is closed or the drive has ended: 1 if the drive failed or Vulkan's
  // validation printed a message.
  int loop();
  // Closes the window and ends its run soon; can be called from a signal handler.
  static void terminate() { terminated_.store(true); }

 private:
  using Clock = std::chrono::steady_clock;
  // The options, completed by the kept settings.
  struct Start {
    Options options;
    Settings settings;
    std::string note;  // the error in the settings, if any
  };
  static Start prepare(Options);
  explicit App(Start);
  void open_at_start(const Start&);

  double frame_interval(bool dirty) const;
  void draw_frame();
  void draw_content();
  void handle_keys();
  void apply_scale();
  void keep_settings();
  void mark_run();
  void restore_run(const OpenRun&, Shell::Notice&);
  void keep_everything();
  [[noreturn]] void end_without_display(const char* why);
  void restart();
  bool script_hangs();
  void print_times() const;
  bool may_close();

  static std::atomic<bool> terminated_;

  const bool times_;
  const double main_began_;
  const std::function<void()> restart_;
  AliveMarker marker_;
  Window window_;
  Workbench bench_;
  std::vector<std::unique_ptr<Panel>> panels_;
  Regions regions_;
  Toolbar toolbar_;
  Palette palette_;
  KeySheet key_sheet_;
  Notices notices_;
  WhyStrip why_strip_;
  Closing closing_;
  TrustQuestion trust_question_;
  SettingsKeeper keeper_;
  std::unique_ptr<Drive> drive_;
  std::string titled_script_, marked_;
  float shown_scale_;        // scale of the loaded fonts, as in the settings
  bool popup_open_ = false;  // a popup was open at the end of the last frame
  int warm_ = 0;             // frames still to draw after the last input
  Clock::time_point drawn_at_{};
  bool quit_ = false;
};

// Milliseconds since the process was started.
double milliseconds_since_start();

}  // namespace lunagrad
