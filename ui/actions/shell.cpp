#include "ui/actions/shell.h"

namespace lunagrad {

void Shell::use_layout(const std::string& name, const PanelLayout& layout) {
  settings_.layout = layout;
  settings_.preset = name;
}

void Shell::keep_layout(const std::string& name) {
  settings_.presets[name] = settings_.layout;
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
