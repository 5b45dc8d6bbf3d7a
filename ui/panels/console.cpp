// Console: the output of the script, errors in their colour with links to their lines, and a prompt for Lua
// that the session evaluates at its next safe point, also while the script runs. Its second tab lists what
// the user did in the window.
#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/io/atomic_file.h"
#include "script/meta/explain.h"
#include "ui/base/disk_thread.h"
#include "ui/panels/action_list.h"
#include "ui/runs/console_lines.h"
#include "ui/text/log_view.h"
#include "ui/text/prompt.h"
#include "ui/window/outlined.h"
#include "ui/window/theme.h"
#include "ui/workbench/links.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

using Kind = ConsoleLine::Kind;
constexpr Kind kKinds[] = {Kind::output, Kind::warning, Kind::error, Kind::command, Kind::note};
constexpr const char* kKindNames[] = {"output", "warnings", "errors", "commands", "notes"};
constexpr uint32_t kAllKinds = (1u << std::size(kKinds)) - 1;

class ConsolePanel final : public Panel {
 public:
  const char* title() const override { return "Console"; }
  Region region() const override { return Region::lower_left; }
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    const auto show = [this, &bench](bool actions) {
      bench.actions().act("show_panel", {std::string(title())});
      bench.actions().act("show_actions", {actions});
    };
    bench.actions().add({"show_actions", "on",
                         [this](const ActionArguments& given) { shows_actions_ = given.flag(0, "on"); }});
    bench.commands().add_composed({"Console: actions", "",
                                   "Shows what was done in the window, as lines of Lua.",
                                   [show] { show(true); }});
    bench.commands().add_composed(
        {"Console: output", "", "Shows the output of the script.", [show] { show(false); }});
    add_own_command(bench, "Clear", "Removes all lines.", [&bench] { bench.shell().clear_console(); });
    add_own_command(
        bench, "Copy", "Copies all visible lines.", [this, &bench] { copy(bench); },
        [this] { return lines_.size() > 0; });
    add_own_command(bench, "Evaluate Lua", "Focuses the prompt, which evaluates Lua in the run.", [this] {
      shows_actions_ = false;
      prompt_.focus();
    });
  }

  void draw_tools(Workbench& bench) override {
    draw_tab(bench, "Output", false, "Output and errors of the script.");
    ImGui::SameLine(0, em(0.2f));
    draw_tab(bench, "Actions", true, "What was done in the window, as lines of Lua that do it again.");
    ImGui::SameLine();
    if (shows_actions_) return actions_.draw_tools(bench);
    ImGui::SetNextItemWidth(em(7));
    ImGui::InputTextWithHint("##filter", "filter", filter_, sizeof filter_);
    bench.description().add_last("console.filter", filter_);
    explain("Shows lines that contain this text.");
    ImGui::SameLine();
    draw_kinds(bench);
    ImGui::SameLine();
    if (ImGui::Button("Copy")) copy(bench);
    bench.description().add_last("console.copy", "");
    explain("Copies all visible lines. To copy some, select them with the mouse and press Ctrl+C.");
    ImGui::SameLine();
    if (ImGui::Button("Clear")) bench.shell().clear_console();
    bench.description().add_last("console.clear", "");
    explain("Clears the console.");
    if (!view_.following()) {
      ImGui::SameLine();
      if (tool_button("Scroll to end", true)) view_.scroll_to_end();
      bench.description().add_last("console.to_end", "");
      explain("Scrolls to the newest line and follows.");
    }
  }

  void draw(Workbench& bench) override {
    if (shows_actions_) return actions_.draw(bench);
    const Journal& journal = bench.journal();
    if (!std::exchange(began_, true)) read_history(bench.shell().state_folder());
    lines_.set_filter(filter_, kinds_);
    lines_.update(journal);
    const float input = prompt_height() + ImGui::GetStyle().ItemSpacing.y;
    const ImVec2 room = ImGui::GetContentRegionAvail(), size{room.x, std::max(room.y - input, 1.0f)};
    if (lines_.size() == 0) {
      ImGui::BeginChild("empty", size);
      if (journal.lines().empty())
        draw_empty("Nothing printed yet", "Output and errors of the script appear here.");
      else
        draw_empty("No lines match",
                   lines_.hidden() == 1
                       ? "One line is hidden."
                       : (count_figure(int64_t(lines_.hidden())) + " lines are hidden.").c_str());
      ImGui::EndChild();
    } else {
      draw_lines(bench, size);
    }
    describe(bench);
    draw_prompt(bench);
  }

 private:
  void draw_tab(Workbench& bench, const char* label, bool actions, const char* help) {
    if (tool_button(label, shows_actions_ == actions) && shows_actions_ != actions)
      bench.actions().act("show_actions", {actions});
    bench.description().add_last("console.tab",
                                 std::string(label) + (shows_actions_ == actions ? " shown" : ""));
    explain(help);
  }

  static ImU32 color(Kind kind) {
    switch (kind) {
      case Kind::warning:
        return theme().warning;
      case Kind::error:
        return theme().bad;
      case Kind::command:
        return theme().accent;
      case Kind::note:
        return theme().muted;
      case Kind::output:
        break;
    }
    return theme().text;
  }

  static const char* mark(const ConsoleLine& line) {
    if (line.part > 0) return "";
    switch (line.kind) {
      case Kind::warning:
        return "!";
      case Kind::error:
        return "×";
      case Kind::command:
        return ">";
      case Kind::note:
        return "·";
      case Kind::output:
        break;
    }
    return "";
  }

  void draw_kinds(Workbench& bench) {
    const bool all = kinds_ == kAllKinds;
    if (tool_button(all ? "All kinds" : "Some kinds", !all)) ImGui::OpenPopup("kinds");
    bench.description().add_last("console.kinds", all ? "all" : "some");
    explain("Chooses which kinds of lines to show.");
    if (!ImGui::BeginPopup("kinds")) return;
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      bool shown = kinds_ >> int(kKinds[i]) & 1;
      if (tick_box(kKindNames[i], &shown)) kinds_ ^= 1u << int(kKinds[i]);
      bench.description().add_last("console.kind", std::string(kKindNames[i]) + (shown ? " on" : " off"));
    }
    ImGui::EndPopup();
  }

  const ConsoleLine& line(const Journal& journal, size_t i) const {
    return journal.lines()[size_t(lines_[i].line - journal.lines_dropped())];
  }

  void copy(const Workbench& bench) const {
    std::string text;
    for (size_t i = 0; i < lines_.size(); ++i) text += line(bench.journal(), i).text + '\n';
    ImGui::SetClipboardText(text.c_str());
  }

  // A visible line with its links; it has a mark at its end when its traceback is collapsed.
  LogLine shown_line(const Journal& journal, size_t i) {
    const ConsoleLine& its = line(journal, i);
    const ConsoleLines::Shown& shown = lines_[i];
    LogLine made;
    made.color = color(its.kind);
    made.mark = mark(its);
    made.text = its.text;
    if (shown.opens) {
      const char* const lines = shown.collapsed == 1 ? " more line" : " more lines";
      text_ = its.text + (shown.collapsed ? "  ▸ " + std::to_string(shown.collapsed) + lines : "  ▾ less");
      made.text = text_;
      made.links.emplace_back(its.text.size() + 2, text_.size());
    }
    if (its.kind == Kind::error || its.kind == Kind::warning)
      for (const PlaceInText& place : places_in(its.text)) made.links.emplace_back(place.begin, place.end);
    return made;
  }

  void draw_lines(Workbench& bench, ImVec2 size) {
    const Journal& journal = bench.journal();
    const LogContent content{lines_.first(), lines_.size(), lines_.version(),
                             [&](size_t i) { return shown_line(journal, i); }};
    const LogView::Click click =
        view_.draw("log", content, size, {with_alpha(theme().accent, 0.25f), theme().accent, theme().faint});
    if (click.happened) follow(bench, click);
  }

  void follow(Workbench& bench, const LogView::Click& click) {
    const ConsoleLines::Shown shown = lines_[click.line];
    const ConsoleLine& its = line(bench.journal(), click.line);
    if (shown.opens && click.link == 0) return lines_.toggle(shown.line - its.part);
    const std::vector<PlaceInText> places = places_in(its.text);
    const size_t place = click.link - (shown.opens ? 1 : 0);
    if (place < places.size()) go_to_line(bench, whole(its, places[place].place));
  }

  // Messages shorten long file names. The event's own place has the full name.
  static SourcePlace whole(const ConsoleLine& line, const SourcePlace& place) {
    return place.line == line.place.line && place.file.starts_with("...") ? line.place : place;
  }

  void describe(Workbench& bench) const {
    if (!bench.description().enabled()) return;
    for (size_t i = lines_.size() - std::min<size_t>(lines_.size(), 200); i < lines_.size(); ++i) {
      const ConsoleLine& its = line(bench.journal(), i);
      bench.description().add_last(its.kind == Kind::error ? "console.error" : "console.line", its.text);
      if (lines_[i].opens)
        bench.description().add_last(
            "console.fold", lines_[i].collapsed ? std::to_string(lines_[i].collapsed) + " folded" : "open");
    }
  }

  float prompt_height() const {
    ImGui::PushFont(fonts().mono);
    const float height = prompt_.height();
    ImGui::PopFont();
    return height;
  }

  void draw_prompt(Workbench& bench) {
    take_offers();
    ImGui::PushFont(fonts().mono);
    ImGui::AlignTextToFramePadding();
    text_in(theme().accent, ">");
    ImGui::SameLine();
    const Theme& t = theme();
    const auto complete = [&](const std::string& before) {
      bench.live_session().complete(
          before, [waiting = offers_, before, wake = bench.wake()](std::vector<std::string> names) {
            {
              const std::lock_guard lock(waiting->mutex);
              waiting->before = before;
              waiting->names = std::move(names);
              waiting->fresh = true;
            }
            wake();
          });
    };
    const bool entered = prompt_.draw("Lua in this run:  model  or  1 + 1  or  ?softmax", -1,
                                      {t.text, t.faint, t.accent}, complete, [&](const std::string& name) {
                                        const ImVec2 at = ImGui::GetItemRectMin();
                                        bench.description().add("console.offer", name, at, at);
                                      });
    bench.description().add_last("console.input", prompt_.text());
    ImGui::PopFont();
    if (prompt_.text().empty())
      explain(
          "Enter evaluates Lua in the script, also while it runs. Ctrl+Enter: new line. Up and Down: "
          "history. Tab: complete. ?name: help.");
    if (!entered) return;
    evaluate(bench, prompt_.entered());
    view_.scroll_to_end();
    keep_history();
  }

  static void evaluate(Workbench& bench, const std::string& code) {
    if (code[0] != '?') return bench.control().evaluate(code);
    bench.shell().write(Kind::command, code + "\n");
    bench.shell().write(Kind::output, answer(code.substr(1)));
  }

  void take_offers() {
    const std::lock_guard lock(offers_->mutex);
    if (!std::exchange(offers_->fresh, false)) return;
    prompt_.offer(offers_->before, std::move(offers_->names));
  }

  // Reads the entries of earlier starts. If the file cannot be read, it is not overwritten.
  void read_history(const std::string& folder) {
    if (folder.empty()) return;
    file_ = folder + "/console_history";
    std::error_code ignored;
    if (!std::filesystem::exists(file_, ignored)) return;
    try {
      prompt_.history.take_text(read_file(file_));
    } catch (const Error&) {
      file_.clear();
    }
  }

  // Errors are ignored: a history that cannot be written is not worth an error message per line.
  void keep_history() {
    if (file_.empty()) return;
    disk_.post([file = file_, text = prompt_.history.as_text()] {
      try {
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        write_file(file, text);
      } catch (const std::exception&) {
      }
    });
  }

  // Shared with the session's thread.
  struct Offers {
    std::mutex mutex;
    bool fresh = false;
    std::string before;
    std::vector<std::string> names;
  };

  bool began_ = false, shows_actions_ = false;
  ActionList actions_;
  std::string file_;  // file of the history, "" for none
  LogView view_;
  ConsoleLines lines_;
  Prompt prompt_;
  std::shared_ptr<Offers> offers_ = std::make_shared<Offers>();
  char filter_[256] = "";
  uint32_t kinds_ = kAllKinds;
  std::string text_;  // the text of the last requested line
  DiskThread disk_;   // writes the history
};

}  // namespace

std::unique_ptr<Panel> make_console_panel() { return std::make_unique<ConsolePanel>(); }

}  // namespace lunagrad
