// Toolbar: the run's controls with their keys, its state and progress, the engine's memory, the settings of
// the next run, the layout. Its buttons run commands of the table; this file only draws them.
#include "ui/panels/toolbar.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <utility>

#include "runtime/core/figures.h"
#include "ui/panels/alarm_badge.h"
#include "ui/panels/run_progress.h"
#include "ui/panels/why_strip.h"
#include "ui/time/run_limits_text.h"
#include "ui/widgets/icon.h"
#include "ui/widgets/popup_at_button.h"
#include "ui/window/indented_text.h"
#include "ui/window/outlined.h"
#include "ui/window/texture.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr float kGap = 0.35f;
// Items of at least this rank are dropped before the labels of the controls: before all labels only memory,
// time and rate, before the labels of the main controls also layout and theme, which the menu has, too.
constexpr int kTimes = 11, kSpare = 9;

struct Status {
  std::string text;
  ImU32 color;
  const char* help;
};

Status status_of(Workbench& bench) {
  const Journal& journal = bench.journal();
  const Theme& t = theme();
  switch (journal.state()) {
    case SessionState::running:
      return {"running", t.good, "The script is running."};
    case SessionState::paused:
      return {"paused", t.warning, "The script waits. Every value of the step can be looked at."};
    case SessionState::stopping:
      return {"stopping", t.warning, "Stopping after this step. Press Stop again to interrupt it."};
    case SessionState::idle:
      break;
  }
  if (!journal.ended()) return {"ready", t.muted, "No run has been started yet."};
  switch (journal.outcome()) {
    case Outcome::ok:
      if (const auto& note = journal.not_finite())
        return {"finished, with " + note->kind, t.bad,
                "The script ran to its end, but its values are no numbers any more."};
      return {"finished", t.good, "The script ran to its end."};
    case Outcome::stopped:
      if (bench.control().time_is_over())
        return {"stopped: time limit", t.warning, "The run reached its time limit. The console shows it."};
      return {"stopped", t.warning, "The run was stopped before its end."};
    default: {
      // Names the failed step, which the tape shows: the progress next to this text counts only finished
      // steps.
      const TapeSnapshot* const tape = bench.tape().tape();
      const std::string in = tape && tape->failed ? " in step " + std::to_string(tape->step) : "";
      return {"failed" + in, t.bad, "The script ended with an error. The console shows it with its line."};
    }
  }
}

// An item of the row: its width and the function that draws it. In a narrow row the items of the highest rank
// are dropped first.
struct Piece {
  std::string name;  // name of the command that replaces it in the menu, "" for none
  int rank;
  float width;
  std::function<void()> draw;
};

struct Control {
  Icon icon;
  const char* label;
  const char* command;
  const char* item;  // name of the item in the description
  ImU32 color;
  int rank;
  const char* widest = nullptr;  // the longest label that it may have; null: its label
};

float control_width(const Control& control, bool label) {
  const float height = ImGui::GetFrameHeight(), size = std::round(height * 0.42f);
  const char* const longest = control.widest ? control.widest : control.label;
  return size + em(1.1f) + (label ? ImGui::CalcTextSize(longest).x + em(0.45f) : 0);
}

void draw_control(Workbench& bench, const Control& control, bool label) {
  const Command* command = bench.commands().find(control.command);
  const bool enabled = command && bench.commands().enabled(*command);
  const float height = ImGui::GetFrameHeight(), size = std::round(height * 0.42f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  ImGui::PushID(control.item);
  if (ImGui::Button("##button", {control_width(control, label), height})) bench.commands().run(*command);
  ImGui::PopID();
  bench.description().add_last(control.item, std::string(control.label) + (enabled ? "" : " disabled"));
  if (command)
    explain((std::string(control.label) + ". " + command->help +
             (command->key.empty() ? "" : " " + command->key + "."))
                .c_str());
  ImGui::EndDisabled();
  const float strength = enabled ? 1.0f : 0.35f;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_icon(list, control.icon, {at.x + em(0.55f), std::round(at.y + (height - size) / 2)}, size,
            with_alpha(control.color, strength));
  if (label)
    list->AddText({at.x + em(1) + size, at.y + ImGui::GetStyle().FramePadding.y},
                  with_alpha(theme().text, strength), control.label);
}

void draw_status(Workbench& bench, float width) {
  const Status status = status_of(bench);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + width, at.y + height}, with_alpha(status.color, 0.16f), height / 2);
  list->AddCircleFilled({at.x + em(0.8f), at.y + height / 2}, em(0.28f), status.color, 16);
  list->AddText({at.x + em(1.4f), at.y + ImGui::GetStyle().FramePadding.y}, theme().text,
                status.text.c_str());
  ImGui::Dummy({width, height});
  bench.description().add_last("state", status.text);
  explain(status.help);
}

void draw_not_finite_popup(Workbench& bench, const NotFiniteNote& note) {
  ImGui::PushTextWrapPos(em(34));
  bold_text(note.headline);
  indented_text(note.explanation);
  ImGui::PopTextWrapPos();
  bench.description().add_last("not_finite.explanation", note.explanation);
  const Alarm* const worst = bench.gradients().alarms().worst();
  if (worst && worst->found && worst->kind == AlarmKind::nan) {
    if (why_button(bench, "not_finite.why", "Follows the causes over what was recorded.")) {
      bench.why().ask_alarm(Alarm(*worst));
      ImGui::CloseCurrentPopup();
    }
    ImGui::SameLine();
  }
  if (ImGui::Button("Run again to the first NaN")) {
    bench.commands().run("Run again to the first NaN");
    ImGui::CloseCurrentPopup();
  }
  bench.description().add_last("not_finite.again", "");
  explain(
      "Runs the script again with the same seed and arguments, pauses at the operation that makes the first "
      "NaN "
      "or Inf, and shows its operands.");
  ImGui::SameLine();
  if (note.place.line > 0) {
    if (ImGui::Button("Show line")) {
      bench.texts().go_to(SourcePlace(note.place));
      ImGui::CloseCurrentPopup();
    }
    bench.description().add_last("not_finite.line", "");
    explain("Opens the line in the editor.");
    ImGui::SameLine();
  }
  ImGui::BeginDisabled(bench.journal().active());
  if (ImGui::Button("Go on from the last good step")) {
    bench.commands().run("Go on from the last good step");
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndDisabled();
  bench.description().add_last("not_finite.go_on", "");
  explain(
      "With the changed script, from the states that lg.run.state registers, as they were before the NaN. "
      "During "
      "a run, saving the script does it.");
}

void draw_not_finite_warning(Workbench& bench, float width) {
  const NotFiniteNote note = *bench.journal().not_finite();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  const bool pressed = ImGui::InvisibleButton("##not_finite", {width, height});
  const bool hovered = ImGui::IsItemHovered();
  bench.description().add_last("not_finite", note.headline);
  explain((note.headline + ". Click: why, and what to do.").c_str());
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + width, at.y + height}, with_alpha(theme().bad, hovered ? 0.45f : 0.28f),
                      em(0.3f));
  list->AddRect(at, {at.x + width, at.y + height}, theme().bad, em(0.3f));
  list->PushClipRect(at, {at.x + width - em(0.4f), at.y + height}, true);
  list->AddText({at.x + em(0.7f), at.y + ImGui::GetStyle().FramePadding.y}, theme().text,
                note.headline.c_str());
  list->PopClipRect();
  if (pressed) ImGui::OpenPopup("not_finite");
  if (!begin_popup_at_button("not_finite", at, {at.x + width, at.y + height})) return;
  draw_not_finite_popup(bench, note);
  ImGui::EndPopup();
}

// The options of the current or last run; before the first run, the options of the next run.
const RunOptions& limited_options(Workbench& bench) {
  const bool begun = bench.journal().active() || bench.journal().ended();
  return begun ? bench.control().options_of_run() : bench.control().options();
}

void draw_limits(Workbench& bench, const std::string& label, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRect(at, {at.x + width, at.y + height}, with_alpha(theme().accent, 0.6f), em(0.3f));
  list->AddText({at.x + em(0.6f), at.y + ImGui::GetStyle().FramePadding.y}, theme().text, label.c_str());
  ImGui::Dummy({width, height});
  bench.description().add_last("limits", label);
  explain(limits_sentences(limited_options(bench), bench.script()).c_str());
}

void draw_figure(Workbench& bench, const char* item, const std::string& text, const char* help) {
  ImGui::AlignTextToFramePadding();
  text_in(theme().muted, "%s", text.c_str());
  bench.description().add_last(item, text);
  explain(help);
}

// An item of a figure: at least as wide as `usual`, so that few figures move what follows them.
Piece figure_piece(int rank, const std::string& text, float usual, std::function<void()> draw) {
  return {"", rank, std::max(usual, ImGui::CalcTextSize(text.c_str()).x + em(0.4f)), std::move(draw)};
}

// The remaining time if it is known, otherwise the time since the run began.
Piece time_piece(Workbench& bench) {
  const double left = seconds_left(bench.journal());
  const bool known = left >= 0 && bench.journal().state() == SessionState::running;
  const std::string text = known ? time_text(left) + " left" : time_text(bench.journal().elapsed());
  return figure_piece(12, text, em(6), [&bench, text, known] {
    draw_figure(bench, "elapsed", text,
                known ? "Time left at the current rate." : "Time since the run began, pauses included.");
  });
}

Piece rate_piece(Workbench& bench) {
  char text[64];
  const double rate =
      bench.journal().state() == SessionState::paused ? 0 : bench.journal().steps_per_second();
  std::snprintf(text, sizeof text, rate >= 100 ? "%.0f steps/s" : "%.1f steps/s", rate);
  return figure_piece(13, text, em(7.2f), [&bench, text = std::string(text)] {
    draw_figure(bench, "rate", text, "Steps per second, over the last two seconds.");
  });
}

constexpr double kMiB = 1 << 20;

void draw_memory(Workbench& bench, const Session::Memory& memory, const std::string& text) {
  char window[120];
  std::snprintf(window, sizeof window,
                "%.1f MiB of its %.0f MiB, %.1f MiB for kept steps and %.1f MiB for pictures",
                double(bench.shown().memory_held()) / kMiB, double(bench.shown().memory_budget()) / kMiB,
                double(bench.shown().history().bytes) / kMiB, double(Texture::bytes_in_use()) / kMiB);
  char help[300];
  std::snprintf(
      help, sizeof help,
      "Memory of all tensors on the run's device now; %.1f MiB at its peak.\nOf the window alone: %s.",
      double(memory.peak) / kMiB, window);
  draw_figure(bench, "memory", text, help);
  bench.description().add_last("memory.window", window);
}

Piece memory_piece(Workbench& bench) {
  const Session::Memory memory = bench.session().memory();
  char text[64];
  std::snprintf(text, sizeof text, "%.1f MiB", double(memory.in_use) / kMiB);
  return figure_piece(11, text, em(5.5f),
                      [&bench, memory, text = std::string(text)] { draw_memory(bench, memory, text); });
}

std::string settings_label(Workbench& bench) {
  const RunOptions& options = bench.control().options();
  return (options.device.empty() ? "cpu" : options.device) + ", seed " +
         (bench.control().new_seed() ? "new" : std::to_string(options.seed.value_or(0)));
}

}  // namespace

void Toolbar::draw_run_settings(Workbench& bench) {
  const RunOptions& options = bench.control().options();
  bold_text("Next run");
  ImGui::TextUnformatted("Device");
  devices_.look(wake_);
  if (!devices_.ready()) {
    text_in(theme().muted, "looking for devices");
    bench.description().add_last("run.device", "looking");
  } else {
    for (const DeviceList::Found& device : devices_.all()) {
      const bool chosen = device.name == (options.device.empty() ? "cpu" : options.device);
      if (radio_button(device.name.c_str(), chosen)) bench.control().set_device(device.name);
      bench.description().add_last("run.device", device.name + (chosen ? " chosen" : ""));
      ImGui::PushTextWrapPos(em(26));
      text_in(theme().muted, "%s", device.description.c_str());
      ImGui::PopTextWrapPos();
    }
    ImGui::PushTextWrapPos(em(26));
    if (!devices_.missing().empty()) text_in(theme().muted, "%s", devices_.missing().c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::Separator();
  ImGui::TextUnformatted("Seed of the random numbers");
  if (radio_button("fixed:", !bench.control().new_seed())) bench.control().set_new_seed(false);
  bench.description().add_last("run.seed.same", bench.control().new_seed() ? "" : "chosen");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em(10));
  if (ImGui::InputText("##seed", seed_, sizeof seed_, ImGuiInputTextFlags_CharsDecimal)) {
    bench.control().set_seed(std::strtoull(seed_, nullptr, 10));
  }
  bench.description().add_last("run.seed", seed_);
  explain("A whole number. lg.manual_seed in the script overrides it.");
  if (radio_button("random", bench.control().new_seed())) bench.control().set_new_seed(true);
  bench.description().add_last("run.seed.new", bench.control().new_seed() ? "chosen" : "");
  explain("A new seed for each run, kept in its config.json.");
  ImGui::Separator();
  ImGui::TextUnformatted("Arguments of the script");
  ImGui::SetNextItemWidth(em(24));
  if (ImGui::InputTextWithHint("##arguments", "FOLDER \"a name with spaces\"", arguments_,
                               sizeof arguments_)) {
    std::vector<std::string> words;
    std::istringstream in(arguments_);
    for (std::string word; in >> std::quoted(word);) words.push_back(word);
    bench.control().set_arguments(std::move(words));
  }
  bench.description().add_last("run.arguments", arguments_);
  explain("Passed to the script in arg and `...`, split at spaces; quotes keep a word together.");
}

// Takes over the fields that the user edits as text.
void Toolbar::read_run_settings(Workbench& bench) {
  const RunOptions& options = bench.control().options();
  std::snprintf(seed_, sizeof seed_, "%" PRIu64, options.seed.value_or(0));
  std::ostringstream words;
  for (const std::string& word : options.arguments)
    words << (words.tellp() > 0 ? " " : "")
          << (word.find_first_of(" \"") == word.npos && !word.empty()
                  ? word
                  : (std::ostringstream() << std::quoted(word)).str());
  std::snprintf(arguments_, sizeof arguments_, "%s", words.str().c_str());
}

void Toolbar::draw_menu(Workbench& bench, const std::vector<std::string>& left_out) {
  const auto item = [&](const Command& command) {
    if (ImGui::MenuItem(command.name.c_str(), command.key.c_str(), false, bench.commands().enabled(command)))
      bench.commands().run(command);
    bench.description().add_last("menu.item", command.name);
    explain(command.help.c_str());
  };
  for (const std::string& name : left_out)
    if (const Command* command = bench.commands().find(name)) item(*command);
  if (ImGui::BeginMenu("The next run")) {
    draw_run_settings(bench);
    ImGui::EndMenu();
  }
  bench.description().add_last("menu.next_run", "");
  ImGui::Separator();
  // The menu lists the window's own commands; commands of panels are in the palette.
  for (const Command& command : bench.commands().all())
    if (command.name.starts_with("Window: ") || command.name.starts_with("Script: ") ||
        command.name.starts_with("Layout: "))
      item(command);
  for (const auto& [name, layout] : bench.settings().presets) {
    if (ImGui::MenuItem(("Layout: " + name).c_str())) {
      bench.actions().act("layout", {name});
    }
    bench.description().add_last("menu.layout", name);
  }
  ImGui::Separator();
  ImGui::SetNextItemWidth(em(12));
  const bool entered = ImGui::InputTextWithHint("##name", "save layout as …", layout_name_,
                                                sizeof layout_name_, ImGuiInputTextFlags_EnterReturnsTrue);
  bench.description().add_last("menu.layout_name", layout_name_);
  ImGui::SameLine();
  if ((ImGui::Button("Keep") || entered) && layout_name_[0]) {
    bench.shell().keep_layout(layout_name_);
    layout_name_[0] = '\0';
    ImGui::CloseCurrentPopup();
  }
  bench.description().add_last("menu.keep_layout", "");
}

void Toolbar::draw(Workbench& bench) {
  const Theme& t = theme();
  const bool paused = bench.journal().state() == SessionState::paused;
  const Control controls[] = {
      {Icon::play, paused ? "Continue" : "Run", "Run or continue", "run", t.good, 0, "Continue"},
      {Icon::pause, "Pause", "Pause", "pause", t.warning, 1},
      {Icon::step, "Step", "Step one iteration", "step_button", t.accent, 3},
      {Icon::step_op, "Step op", "Step one operation", "step_op", t.accent, 6},
      {Icon::stop, "Stop", "Stop", "stop", t.bad, 2},
      {Icon::restart, "Clean run", "Clean run", "clean_run", t.good, 8},
  };
  const float padding = 2 * ImGui::GetStyle().FramePadding.x, gap = em(kGap), room = ImGui::GetWindowWidth();
  const float menu = ImGui::GetFrameHeight() + em(0.4f);
  std::vector<Piece> pieces;
  // Labels of the controls: all of them, only the most used ones, or none. Takes the first choice that leaves
  // space for all items that are not spare; times are dropped before labels.
  for (int labels = 2; labels >= 0; --labels) {
    const int spare = labels == 2 ? kTimes : kSpare;
    pieces.clear();
    for (const Control& control : controls) {
      const bool label = labels == 2 || (labels == 1 && control.rank <= 3);
      pieces.push_back({control.command, control.rank, control_width(control, label),
                        [&bench, &control, label] { draw_control(bench, control, label); }});
    }
    const std::string status = status_of(bench).text;
    const float state = widest({"stopping", "running", "paused", "finished", status.c_str()}) + em(2.1f);
    const float progress = progress_width(bench.journal()), cursor = cursor_width();
    pieces.push_back({"", 4, state, [&bench, state] { draw_status(bench, state); }});
    if (const auto& note = bench.journal().not_finite()) {
      // A narrow window shows the beginning of the text; the popup has all of it.
      const float whole = ImGui::CalcTextSize(note->headline.c_str()).x + em(1.4f);
      const float wide = std::min({whole, em(26), std::max(room * 0.3f, em(11))});
      pieces.push_back({"", -1, wide, [&bench, wide] { draw_not_finite_warning(bench, wide); }});
    }
    if (const std::string badge = alarm_badge(bench); !badge.empty())
      pieces.push_back(
          {"", -1, alarm_badge_width(badge), [&bench, badge] { draw_alarm_badge(bench, badge); }});
    if (const std::string limits = limits_label(limited_options(bench)); !limits.empty()) {
      const float wide = ImGui::CalcTextSize(limits.c_str()).x + em(1.2f);
      pieces.push_back({"", 4, wide, [&bench, limits, wide] { draw_limits(bench, limits, wide); }});
    }
    pieces.push_back({"", 5, progress, [&bench, progress] { draw_progress(bench, progress); }});
    // The way back from a past step stays as long as the step; a narrow row has no room to say "live".
    const bool past = !bench.shown().live() || bench.shown().coming();
    pieces.push_back({"", past ? 4 : 8, cursor, [&bench, cursor] { draw_cursor(bench, cursor); }});
    pieces.push_back(time_piece(bench));
    pieces.push_back(rate_piece(bench));
    pieces.push_back(memory_piece(bench));
    const std::string settings = settings_label(bench);
    pieces.push_back({"", 7, ImGui::CalcTextSize(settings.c_str()).x + padding, [this, &bench, settings] {
                        if (ImGui::Button((settings + "###settings").c_str())) opens_settings_ = true;
                        bench.description().add_last("run.settings", settings);
                        explain("Device, seed and arguments of the next run.");
                      }});
    const std::string preset = bench.settings().preset;
    pieces.push_back({"", 10, ImGui::CalcTextSize(preset.c_str()).x + padding, [&bench, preset] {
                        if (ImGui::Button((preset + "###preset").c_str())) ImGui::OpenPopup("presets");
                        const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
                        bench.description().add_last("preset", preset);
                        explain("Layout of the panels.");
                        if (!begin_popup_at_button("presets", min, max)) return;
                        for (const char* name : kPresets) {
                          if (ImGui::MenuItem(name, nullptr, preset == name))
                            bench.commands().run(std::string("Layout: ") + name);
                          bench.description().add_last("preset.choice", name);
                          explain(preset_help(name));
                        }
                        for (const auto& [name, layout] : bench.settings().presets)
                          if (ImGui::MenuItem(name.c_str(), nullptr, preset == name)) {
                            bench.actions().act("layout", {name});
                          }
                        ImGui::EndPopup();
                      }});
    const char* other = theme().dark ? "Light" : "Dark";
    pieces.push_back({"", 9, widest({"Light", "Dark"}) + padding, [&bench, other] {
                        if (ImGui::Button(other)) bench.commands().run("Window: light or dark");
                        bench.description().add_last("theme", other);
                        explain("Switches between the dark and the light theme.");
                      }});
    float needed = menu;
    for (const Piece& piece : pieces) needed += piece.rank < spare ? piece.width + gap : 0;
    if (needed <= room) break;
  }
  std::vector<std::string> left_out;
  const auto width = [&] {
    float sum = menu;
    for (const Piece& piece : pieces) sum += piece.width + gap;
    return sum;
  };
  while (!pieces.empty() && width() > room) {
    const auto last = std::max_element(pieces.begin(), pieces.end(),
                                       [](const Piece& a, const Piece& b) { return a.rank < b.rank; });
    if (!last->name.empty()) left_out.push_back(last->name);
    pieces.erase(last);
  }
  for (const Piece& piece : pieces) {
    const float left = ImGui::GetCursorPosX();
    piece.draw();
    ImGui::SameLine(left + piece.width + gap, 0);
  }
  const float height = ImGui::GetFrameHeight(), size = std::round(height * 0.45f);
  ImGui::SetCursorPosX(std::max(room - height, 0.0f));
  const ImVec2 at = ImGui::GetCursorScreenPos(), end{at.x + height, at.y + height};
  if (std::exchange(opens_settings_, false)) {
    read_run_settings(bench);
    ImGui::OpenPopup("run settings");
  }
  if (begin_popup_at_button("run settings", at, end)) {
    draw_run_settings(bench);
    ImGui::EndPopup();
  }
  if (room < menu) return;
  if (ImGui::Button("##menu", {height, height})) ImGui::OpenPopup("menu");
  bench.description().add_last("menu", "");
  explain("Menu: scripts, layouts, shortcuts, text size.");
  draw_icon(ImGui::GetWindowDrawList(), Icon::menu, {at.x + (height - size) / 2, at.y + (height - size) / 2},
            size, t.text);
  if (begin_popup_at_button("menu", at, end)) {
    draw_menu(bench, left_out);
    ImGui::EndPopup();
  }
}

}  // namespace lunagrad
