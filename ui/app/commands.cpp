// The commands of the window: runs, scripts, panels, layouts, the window itself. A panel's own commands are
// in its file.
#include "ui/app/commands.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/window/theme.h"

namespace lunagrad {
namespace {

void add_run_commands(Workbench& bench) {
  Commands& commands = bench.commands();
  const auto state = [&bench] { return bench.journal().state(); };
  commands.add({"Run or continue", "F5", "Runs the script from the start, or continues after a pause.",
                [&bench] { bench.control().run(); }, [state] { return state() != SessionState::stopping; }});
  commands.add({"Stop", "Shift+F5", "Stops after the current step. Press again to interrupt it.",
                [&bench] { bench.control().stop(); }, [&bench] { return bench.journal().active(); }});
  commands.add({"Clean run", "Ctrl+F5", "Restarts the script from the start.",
                [&bench] { bench.control().restart(); }});
  commands.add({"Run again to the first NaN", "",
                "Repeats the run and pauses at the operation that makes the first NaN or Inf.",
                [&bench] { bench.control().run_to_not_finite(); },
                [&bench] { return bench.journal().not_finite().has_value(); }});
  commands.add({"Go on from the last good step", "",
                "After an error or a NaN: with the changed script, from the states of lg.run.state.",
                [&bench] { bench.control().go_on_after_failure(); },
                [&bench] { return bench.journal().ended() && !bench.journal().active(); }});
  commands.add({"Pause", "F6", "Pauses the run, or continues it.",
                [&bench] { bench.control().pause_or_resume(); },
                [state] { return state() == SessionState::running || state() == SessionState::paused; }});
  commands.add({"Step one iteration", "F8",
                "Runs one step of lg.run.steps, then pauses. After the end of a run it begins a new one.",
                [&bench] { bench.control().step(); }, [state] { return state() != SessionState::stopping; }});
  commands.add({"Step one operation", "F11", "Runs one operation, then pauses again.",
                [&bench] { bench.control().step_op(); },
                [state] { return state() == SessionState::paused; }});
  commands.add({"Step one line", "F10", "Runs to the next line of the script, then pauses again.",
                [&bench] { bench.control().step_line(); },
                [state] { return state() == SessionState::paused; }});
  for (const bool back : {true, false})
    commands.add({back ? "Previous selection" : "Next selection", back ? "Alt+Left" : "Alt+Right",
                  back ? "Selects the node that was selected before this one."
                       : "Selects the node that was selected after this one.",
                  [&bench, back] { bench.tape_actions().select_again(back ? -1 : 1); }});
  commands.add_composed(
      {"Deselect", "Escape", "Selects no node.", [&bench] { bench.tape_actions().select(-1); }});
}

void add_layout_commands(Workbench& bench, const WindowParts& parts) {
  Commands& commands = bench.commands();
  Regions& regions = parts.regions;
  for (const char* name : kPresets)
    commands.add_composed({std::string("Layout: ") + name, "", preset_help(name),
                           [&bench, name] { bench.actions().act("layout", {std::string(name)}); }});
  commands.add_source([&bench](std::string_view, std::vector<Command>& found) {
    for (const auto& [name, layout] : bench.settings().presets)
      found.push_back({"Layout: " + name, "", "A layout of your own.",
                       [&bench, name = name] { bench.actions().act("layout", {name}); }});
  });
  commands.add_composed(
      {"Panel: fill the window", "Ctrl+M", "Enlarges the focused panel to the whole window, or restores it.",
       [&bench, &regions] {
         const PanelLayout& layout = bench.settings().layout;
         regions.toggle_filling(bench, layout.maximized.empty() ? layout.focused : layout.maximized);
       },
       [&bench] { return bench.settings().layout.contains(bench.settings().layout.focused); }});
  const auto go = [&bench, &regions](int by) {
    const auto order = regions.order(bench.settings().layout);
    if (order.empty()) return;
    const auto now = std::find(order.begin(), order.end(), bench.settings().layout.focused);
    const int count = int(order.size());
    const int at = now == order.end() ? (by > 0 ? -1 : 0) : int(now - order.begin());
    regions.focus(bench, order[size_t((at + by + count) % count)]);
  };
  commands.add_composed({"Panel: next", "Ctrl+Tab", "Moves the focus to the next panel.", [go] { go(1); }});
  commands.add_composed(
      {"Panel: previous", "Ctrl+Shift+Tab", "Moves the focus to the previous panel.", [go] { go(-1); }});
  // The key selects a panel by its position on the screen; the palette lists it by name.
  for (int number = 1; number <= 9; ++number) {
    const auto nth = [&bench, &regions, number] {
      const auto order = regions.order(bench.settings().layout);
      return size_t(number) <= order.size() ? order[size_t(number) - 1] : std::string();
    };
    commands.add_composed({"Panel: number " + std::to_string(number), "Ctrl+" + std::to_string(number),
                           "Focuses the panel with this number.",
                           [&bench, &regions, nth] { regions.focus(bench, nth()); },
                           [nth] { return !nth().empty(); }});
  }
  for (const auto& panel : parts.panels) {
    const std::string title = panel->title();
    commands.add_composed({"Panel: " + title, "", "Shows and focuses this panel.",
                           [&bench, &regions, title] { regions.focus(bench, title); }});
  }
}

}  // namespace

void add_window_commands(Workbench& bench, const WindowParts& parts) {
  add_run_commands(bench);
  add_layout_commands(bench, parts);
  parts.regions.add_actions(bench);
  Commands& commands = bench.commands();
  commands.add_composed({"Window: all commands", "Ctrl+Shift+P",
                         "Finds commands by what they do, parameters, nodes and runs.",
                         [&palette = parts.palette] { palette.open_commands(); }});
  commands.add_composed({"Script: open", "Ctrl+P", "Opens a recent script, one nearby, or an example.",
                         [&bench, &palette = parts.palette] { palette.open_scripts(bench); }});
  commands.add_composed({"Window: keyboard shortcuts", "Ctrl+F1", "Lists all commands with their keys.",
                         [&sheet = parts.key_sheet] { sheet.open(); }});
  commands.add({"Window: light or dark", "", "Switches between the dark and the light theme.",
                [] { set_theme(!theme().dark); }});
  const auto scale_by = [&bench](float factor) {
    bench.shell().settings().scale = std::clamp(std::round(font_scale() * factor * 20) / 20, 0.75f, 4.0f);
  };
  commands.add({"Window: larger text", "Ctrl+=", "Enlarges text and controls.",
                [scale_by] { scale_by(1.1f); }, [] { return font_scale() < 4; }});
  commands.add({"Window: smaller text", "Ctrl+-", "Shrinks text and controls.",
                [scale_by] { scale_by(1 / 1.1f); }, [] { return font_scale() > 0.75f; }});
  commands.add({"Window: reset text size", "Ctrl+0", "Uses the monitor's scale again.",
                [&bench] { bench.shell().settings().scale = 0; }});
  commands.add_composed({"Next run: device, seed and arguments", "",
                         "What the next run computes on, its random numbers and its arg.",
                         parts.set_next_run});
  commands.add_composed(
      {"Window: close", "Ctrl+Q", "Closes the window. Asks first while a script is running.", parts.close});
}

}  // namespace lunagrad
