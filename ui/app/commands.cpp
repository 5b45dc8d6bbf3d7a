// The commands of the window: runs, scripts, panels, layouts, the window itself. A panel's own commands are
// in its file.
#include <algorithm>
#include <cmath>

#include "ui/app/app.h"
#include "ui/window/theme.h"

namespace lunagrad {

void App::add_commands() {
  add_run_commands();
  add_layout_commands();
  regions_.add_actions(bench_);
  Commands& commands = bench_.commands();
  commands.add_composed({"Window: all commands", "Ctrl+Shift+P", "Finds any command by a few letters.",
                         [this] { palette_.open_commands(); }});
  commands.add_composed({"Script: open", "Ctrl+P", "Opens a recent script, one nearby, or an example.",
                         [this] { palette_.open_scripts(bench_); }});
  commands.add_composed({"Window: keyboard shortcuts", "Ctrl+F1", "Lists all commands with their keys.",
                         [this] { key_sheet_.open(); }});
  commands.add({"Window: light or dark", "", "Switches between the dark and the light theme.",
                [] { set_theme(!theme().dark); }});
  const auto scale_by = [this](float factor) {
    bench_.shell().settings().scale = std::clamp(std::round(font_scale() * factor * 20) / 20, 0.75f, 4.0f);
  };
  commands.add({"Window: larger text", "Ctrl+=", "Enlarges text and controls.",
                [scale_by] { scale_by(1.1f); }, [] { return font_scale() < 4; }});
  commands.add({"Window: smaller text", "Ctrl+-", "Shrinks text and controls.",
                [scale_by] { scale_by(1 / 1.1f); }, [] { return font_scale() > 0.75f; }});
  commands.add({"Window: reset text size", "Ctrl+0", "Uses the monitor's scale again.",
                [this] { bench_.shell().settings().scale = 0; }});
  commands.add_composed({"Window: close", "Ctrl+Q",
                         "Closes the window. Asks first while a script is running.",
                         [this] { window_.set_wants_to_close(true); }});
}

void App::add_run_commands() {
  Commands& commands = bench_.commands();
  const auto state = [this] { return bench_.journal().state(); };
  commands.add({"Run or continue", "F5", "Runs the script from the start, or continues after a pause.",
                [this] { bench_.control().run(); }, [state] { return state() != SessionState::stopping; }});
  commands.add({"Stop", "Shift+F5", "Stops after the current step. Press again to interrupt it.",
                [this] { bench_.control().stop(); }, [this] { return bench_.journal().active(); }});
  commands.add({"Clean run", "Ctrl+F5", "Restarts the script from the start.",
                [this] { bench_.control().restart(); }});
  commands.add({"Run again to the first NaN", "",
                "Repeats the run and pauses at the operation that makes the first NaN or Inf.",
                [this] { bench_.control().run_to_not_finite(); },
                [this] { return bench_.journal().not_finite().has_value(); }});
  commands.add({"Go on from the last good step", "",
                "After an error or a NaN: with the changed script, from the states of lg.run.state.",
                [this] { bench_.control().go_on_after_failure(); },
                [this] { return bench_.journal().ended() && !bench_.journal().active(); }});
  commands.add({"Pause", "F6", "Pauses the run, or continues it.",
                [this] { bench_.control().pause_or_resume(); },
                [state] { return state() == SessionState::running || state() == SessionState::paused; }});
  commands.add({"Step one iteration", "F8",
                "Runs one step of lg.run.steps, then pauses. After the end of a run it begins a new one.",
                [this] { bench_.control().step(); }, [state] { return state() != SessionState::stopping; }});
  commands.add({"Step one operation", "F11", "Runs one operation, then pauses again.",
                [this] { bench_.control().step_op(); }, [state] { return state() == SessionState::paused; }});
  commands.add({"Step one line", "F10", "Runs to the next line of the script, then pauses again.",
                [this] { bench_.control().step_line(); },
                [state] { return state() == SessionState::paused; }});
  for (const bool back : {true, false})
    commands.add({back ? "Previous selection" : "Next selection", back ? "Alt+Left" : "Alt+Right",
                  back ? "Selects the node that was selected before this one."
                       : "Selects the node that was selected after this one.",
                  [this, back] { bench_.tape_actions().select_again(back ? -1 : 1); }});
  commands.add_composed(
      {"Deselect", "Escape", "Selects no node.", [this] { bench_.tape_actions().select(-1); }});
}

void App::add_layout_commands() {
  Commands& commands = bench_.commands();
  for (const char* name : kPresets)
    commands.add_composed({std::string("Layout: ") + name, "", preset_help(name),
                           [this, name] { bench_.actions().act("layout", {std::string(name)}); }});
  commands.add_composed(
      {"Panel: fill the window", "Ctrl+M", "Enlarges the focused panel to the whole window, or restores it.",
       [this] {
         const PanelLayout& layout = bench_.settings().layout;
         regions_.toggle_filling(bench_, layout.maximized.empty() ? layout.focused : layout.maximized);
       },
       [this] { return bench_.settings().layout.contains(bench_.settings().layout.focused); }});
  const auto go = [this](int by) {
    const auto order = regions_.order(bench_.settings().layout);
    if (order.empty()) return;
    const auto now = std::find(order.begin(), order.end(), bench_.settings().layout.focused);
    const int count = int(order.size());
    const int at = now == order.end() ? (by > 0 ? -1 : 0) : int(now - order.begin());
    regions_.focus(bench_, order[size_t((at + by + count) % count)]);
  };
  commands.add_composed({"Panel: next", "Ctrl+Tab", "Moves the focus to the next panel.", [go] { go(1); }});
  commands.add_composed(
      {"Panel: previous", "Ctrl+Shift+Tab", "Moves the focus to the previous panel.", [go] { go(-1); }});
  // The key selects a panel by its position on the screen; the palette lists it by name.
  for (int number = 1; number <= 9; ++number) {
    const auto nth = [this, number] {
      const auto order = regions_.order(bench_.settings().layout);
      return size_t(number) <= order.size() ? order[size_t(number) - 1] : std::string();
    };
    commands.add_composed({"Panel: number " + std::to_string(number), "Ctrl+" + std::to_string(number),
                           "Focuses the panel with this number.",
                           [this, nth] { regions_.focus(bench_, nth()); }, [nth] { return !nth().empty(); }});
  }
  for (const auto& panel : panels_) {
    const std::string title = panel->title();
    commands.add_composed({"Panel: " + title, "", "Shows and focuses this panel.",
                           [this, title] { regions_.focus(bench_, title); }});
  }
}

}  // namespace lunagrad
