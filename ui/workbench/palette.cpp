#include "ui/workbench/palette.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "script/meta/library.h"
#include "ui/base/fuzzy.h"
#include "ui/window/field_focus.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostScripts = 1000;

void add_scripts(const fs::path& folder, std::vector<std::string>& paths) {
  std::error_code failed;
  std::vector<std::string> found;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().extension() == ".lua" && found.size() < kMostScripts)
      found.push_back(entry->path().lexically_normal().string());
  std::sort(found.begin(), found.end());
  for (std::string& path : found)
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
}

}  // namespace

std::vector<Example> find_examples() {
  std::error_code failed;
  const fs::path folder = fs::weakly_canonical(library_directory() + "/../examples", failed);
  std::vector<std::string> paths;
  add_scripts(folder, paths);
  std::vector<Example> examples;
  for (const std::string& path : paths) {
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    line.erase(0, line.starts_with("--") ? line.find_first_not_of("- ") : 0);
    // Leaves out a sentence that continues in the next line.
    if (const size_t end = line.rfind(". "); end != std::string::npos && !line.ends_with('.'))
      line.erase(end + 1);
    examples.push_back({path, fs::path(path).stem().string(), printable(line)});
  }
  return examples;
}

std::vector<std::string> nearby_scripts(const std::vector<std::string>& recent, const std::string& script) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const std::string& path : recent)
    if (fs::exists(path, failed)) paths.push_back(path);
  if (!script.empty()) add_scripts(fs::path(script).parent_path(), paths);
  add_scripts(fs::current_path(failed), paths);
  for (const Example& example : find_examples())
    if (std::find(paths.begin(), paths.end(), example.path) == paths.end()) paths.push_back(example.path);
  return paths;
}

void Palette::start(Mode mode) {
  mode_ = mode;
  opening_ = true;
  typed_[0] = '\0';
  chosen_ = 0;
}

void Palette::open_commands() { start(Mode::commands); }

void Palette::open_scripts(const Workbench& bench) {
  scripts_ = nearby_scripts(bench.settings().recent, bench.script());
  start(Mode::scripts);
}

std::vector<Palette::Entry> Palette::entries(Workbench& bench) const {
  std::vector<Entry> entries;
  if (mode_ == Mode::commands) {
    for (const CommandPtr& command : bench.commands().matching(typed_))
      entries.push_back({command->name, command->key, command->help,
                         [&bench, command] { return bench.commands().enabled(*command); },
                         [&bench, command] {
                           // What a command of a panel does may be visible only there.
                           if (!command->panel.empty()) bench.shell().show_panel(command->panel);
                           bench.commands().run(*command);
                         }});
    return entries;
  }
  const auto offer = [&](const std::string& path) {
    const std::string name = printable(fs::path(path).filename().string());
    entries.push_back(
        {name, "", short_path(path), [] { return true; }, [&bench, path] { bench.control().open(path); }});
  };
  std::error_code failed;
  std::string typed = typed_;
  if (const char* home = std::getenv("HOME"); home && typed.starts_with("~/")) typed.replace(0, 1, home);
  if (fs::is_regular_file(typed, failed)) offer(typed);
  std::vector<std::pair<int, const std::string*>> found;
  for (const std::string& path : scripts_) {
    // A match in the file name scores more than a match in the whole path.
    const auto name = fuzzy_score(typed_, fs::path(path).filename().string());
    const auto whole = fuzzy_score(typed_, path);
    if (name || whole) found.emplace_back(name ? *name + 100000 : *whole, &path);
  }
  if (typed_[0])
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [score, path] : found)
    if (*path != typed) offer(*path);
  return entries;
}

void Palette::draw_entries(Workbench& bench, bool take) {
  const float line = ImGui::GetTextLineHeightWithSpacing(), row = 2 * line + em(0.3f);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGuiListClipper clipper;
  clipper.Begin(int(found_.size()), row);
  std::optional<int> taken;
  if (take && !found_.empty()) taken = chosen_;
  if (scroll_) {
    const float at = float(chosen_) * row, view = ImGui::GetWindowHeight();
    if (at < ImGui::GetScrollY()) ImGui::SetScrollY(at);
    if (at + row > ImGui::GetScrollY() + view) ImGui::SetScrollY(at + row - view);
    scroll_ = false;
  }
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const Entry& entry = found_[size_t(i)];
      const bool enabled = entry.enabled();
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      ImGui::PushID(i);
      if (ImGui::InvisibleButton("entry", {width, row})) taken = i;
      ImGui::PopID();
      if (ImGui::IsItemHovered() && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0))
        chosen_ = i;
      bench.description().add_last("palette.entry",
                                   entry.title + (entry.key.empty() ? "" : "  " + entry.key) +
                                       (i == chosen_ ? " chosen" : "") + (enabled ? "" : " disabled"));
      ImDrawList* list = ImGui::GetWindowDrawList();
      if (i == chosen_) {
        list->AddRectFilled(at, {at.x + width, at.y + row}, with_alpha(theme().accent, 0.22f), em(0.3f));
        list->AddRectFilled(at, {at.x + 3, at.y + row}, theme().accent);
      }
      const float key = ImGui::CalcTextSize(entry.key.c_str()).x;
      const auto write = [&](ImFont* font, float down, ImU32 color, const std::string& text, float room) {
        const Fonts::Label label{font, ImGui::GetFontSize()};
        list->AddText(font, label.size, {at.x + em(0.7f), at.y + em(0.25f) + down}, color,
                      fitting_text(text, label, room - em(1.5f)).c_str());
      };
      write(fonts().bold, 0, enabled ? theme().text : theme().faint, entry.title, width - key - em(0.8f));
      write(fonts().body, line, theme().muted, (enabled ? "" : "(not now) ") + entry.help, width);
      list->AddText({at.x + width - key - em(0.8f), at.y + em(0.25f)}, theme().muted, entry.key.c_str());
    }
  clipper.End();
  ImGui::PopStyleVar();
  if (taken && found_[size_t(*taken)].enabled()) {
    ImGui::CloseCurrentPopup();
    mode_ = Mode::closed;
    found_[size_t(*taken)].run();
  }
}

void Palette::draw(Workbench& bench) {
  if (mode_ == Mode::closed) return;
  if (opening_) ImGui::OpenPopup("palette");
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  const ImVec2 size{std::min(em(42), window.x - em(1)), std::min(em(30), window.y - em(1))};
  ImGui::SetNextWindowPos({(window.x - size.x) / 2, std::min(em(3.5f), window.y - size.y)});
  ImGui::SetNextWindowSize(size);
  if (!ImGui::BeginPopup("palette", ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav)) {
    mode_ = Mode::closed;
    return;
  }
  if (opening_) focus_next_field();
  const bool opens = std::exchange(opening_, false);
  if (key_pressed(GLFW_KEY_ESCAPE, false)) ImGui::CloseCurrentPopup();
  ImGui::SetNextItemWidth(-1);
  struct Moves {
    int by = 0;
  } moves;
  const bool scripts = mode_ == Mode::scripts;
  const std::string before = typed_;
  const bool take = ImGui::InputTextWithHint(
      "##typed", scripts ? "a script's name, or a path" : "what to do, or a parameter, node or run", typed_,
      sizeof typed_, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackHistory,
      [](ImGuiInputTextCallbackData* data) {
        static_cast<Moves*>(data->UserData)->by += data->EventKey == ImGuiKey_UpArrow ? -1 : 1;
        return 0;
      },
      &moves);
  bench.description().add_last("palette", scripts ? "scripts" : "commands");
  if (before != typed_) chosen_ = 0;
  // A tape that is laid out while the palette is open adds its nodes, unless the user chooses an entry.
  const bool more = chosen_ == 0 && moves.by == 0 && nodes_ != bench.tape().texts();
  if (opens || before != typed_ || more) {
    found_ = entries(bench);
    nodes_ = bench.tape().texts();
  }
  chosen_ = std::clamp(chosen_ + moves.by, 0, std::max(int(found_.size()) - 1, 0));
  if (moves.by != 0) scroll_ = true;
  ImGui::BeginChild("entries", {0, 0});
  if (found_.empty()) {
    text_in(theme().muted, scripts ? "No script of this name. A path opens any file." : "No such command.");
    bench.description().add_last("palette.none", "");
  }
  draw_entries(bench, take);
  ImGui::EndChild();
  ImGui::EndPopup();
}

}  // namespace lunagrad
