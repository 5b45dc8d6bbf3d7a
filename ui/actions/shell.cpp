#include "ui/actions/shell.h"

namespace lunagrad {

Shell::Shell(Journal& journal, std::function<void()> wake)
    : journal_(journal), background_tasks_(std::move(wake)) {
  actions_.moment = [this] {
    const bool paused = journal_.state() == SessionState::paused;
    Actions::Moment now{paused ? "paused" : "running", journal_.step(), journal_.pauses(), journal_.ends()};
    if (!journal_.active()) now.state = journal_.ended() ? "ended" : "";
    return now;
  };
  actions_.on_error = [this](const std::string& error) { write(ConsoleLine::Kind::error, error + "\n"); };
  actions_.add({"action", "name",
                [this](const ActionArguments& given) {
                  const Command* command = commands_.find(given.text(0, "name"));
                  if (!command) given.refuse("there is no command \"" + given.text(0, "name") + '"');
                  command->run();
                },
                [this](const ActionArguments& given) -> std::string {
                  const Command* command = commands_.find(given.text(0, "name"));
                  return !command || commands_.enabled(*command) ? ""
                                                                 : command->name + " is not possible now";
                }});
  actions_.add({"keep_layout", "name", [this](const ActionArguments& given) {
                  settings_.presets[given.text(0, "name")] = settings_.layout;
                  settings_.preset = given.text(0, "name");
                }});
  actions_.add({"clear_console", "", [this](const ActionArguments&) { journal_.clear_console(); }});
}

void Shell::use_layout(const std::string& name, const PanelLayout& layout) {
  settings_.layout = layout;
  settings_.preset = name;
}

void Shell::notice(Notice notice) {
  write(ConsoleLine::Kind::warning, notice.sentence + "\n");
  notices_.push_back(std::move(notice));
}

void Shell::dismiss_notice() {
  if (!notices_.empty()) notices_.erase(notices_.begin());
}

void Shell::search_help(const std::string& query) {
  help_query_ = query;
  show_panel("Examples and help");
}

}  // namespace lunagrad
