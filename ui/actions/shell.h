#pragma once
// The services that panels share: the settings with the panel layout, the actions and their record, the
// commands and their keys, notices, lines for the console, the description of the frame, background tasks for
// the disk, and screenshots. Owns all of them except the console, which is part of the journal. Drawing
// thread only.
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/actions/commands.h"
#include "ui/actions/settings.h"
#include "ui/base/background_tasks.h"
#include "ui/base/description.h"
#include "ui/record/actions.h"
#include "ui/runs/journal.h"

namespace lunagrad {

class Shell {
 public:
  // Saves the rectangle from `min` to `max` of the window as a PNG file with the next frame. `done` gets the
  // error text, or "" on success.
  using TakePicture = std::function<void(const std::string& path, ImVec2 min, ImVec2 max,
                                         std::function<void(const std::string&)> done)>;

  // `journal` outlives the shell. `wake` requests a frame; it is called on any thread.
  Shell(Journal& journal, std::function<void()> wake);

  // Reports finished background tasks to the panels. Once a frame. Returns true when a task has finished.
  bool update() { return background_tasks_.update(); }

  Settings& settings() { return settings_; }
  const Settings& settings() const { return settings_; }
  void use_layout(const std::string& name, const PanelLayout& layout);
  void keep_layout(const std::string& name) {
    actions_.act("keep_layout", {name});
  }  // saves the current layout as one of the user's own
  void show_panel(const std::string& title) { settings_.layout.show(title); }  // in front, with the focus
  // Brings the panel to the front of its region, unless that would hide panel `beside`.
  void raise_panel(const std::string& title, const std::string& beside) {
    settings_.layout.raise(title, beside);
  }

  Actions& actions() { return actions_; }
  const Actions& actions() const { return actions_; }
  Commands& commands() { return commands_; }
  const Commands& commands() const { return commands_; }
  Description& description() { return description_; }
  BackgroundTasks& background_tasks() { return background_tasks_; }

  // The folder of files that outlive the window; "": no files are kept.
  const std::string& state_folder() const { return state_folder_; }
  void set_state_folder(std::string folder) { state_folder_ = std::move(folder); }

  // Appends to the console.
  void write(ConsoleLine::Kind kind, std::string_view text) { journal_.write(kind, text); }
  void clear_console() { actions_.act("clear_console"); }
  // A sentence above the panels. If it has a label, it has a button that runs `action`.
  struct Notice {
    std::string sentence, label, help;
    std::function<void()> action;
  };
  // Shows the sentence above the panels until the user dismisses it, and in the console.
  void notice(const std::string& sentence) { notice(Notice{sentence, {}, {}, {}}); }
  void notice(Notice);
  const std::vector<Notice>& notices() const { return notices_; }  // oldest first
  void dismiss_notice();                                           // the oldest

  // Shows the help panel with a search for `query`; the panel takes the query when it is drawn.
  void search_help(const std::string& query);
  std::string take_help_query() { return std::exchange(help_query_, {}); }

  void set_take_picture(TakePicture take) { take_picture_ = std::move(take); }
  bool can_take_picture() const { return bool(take_picture_); }  // false without a window
  void take_picture(const std::string& path, ImVec2 min, ImVec2 max,
                    std::function<void(const std::string&)> done) {
    take_picture_(path, min, max, std::move(done));
  }

 private:
  Journal& journal_;
  Settings settings_;
  Actions actions_;
  Commands commands_{actions_};
  Description description_;
  std::string state_folder_, help_query_;
  std::vector<Notice> notices_;
  TakePicture take_picture_;
  BackgroundTasks background_tasks_;
};

}  // namespace lunagrad
