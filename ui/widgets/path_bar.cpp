#include "ui/widgets/path_bar.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "ui/window/field_focus.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

constexpr size_t kListed = 8;
constexpr int kMostEntries = 10000;  // most entries read from a folder

std::string with_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return home && (path == "~" || path.starts_with("~/")) ? home + path.substr(1) : path;
}

}  // namespace

std::vector<std::string> path_completions(const std::string& beginning, size_t most) {
  const size_t slash = beginning.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : beginning.substr(0, slash + 1);
  const std::string name = beginning.substr(folder.size());
  std::vector<std::string> found;
  std::error_code error;
  int looked_at = 0;
  fs::directory_iterator entry(folder.empty() ? "." : with_home(folder), error), end;
  for (; !error && entry != end && looked_at++ < kMostEntries; entry.increment(error)) {
    const std::string candidate = entry->path().filename().string();
    if (!candidate.starts_with(name) || (candidate[0] == '.' && !name.starts_with('.'))) continue;
    std::error_code ignored;
    const bool is_folder = entry->is_directory(ignored);
    if (is_folder || candidate.ends_with(".lua") || !name.empty())
      found.push_back(folder + candidate + (is_folder ? "/" : ""));
  }
  std::sort(found.begin(), found.end());
  if (found.size() > most) found.resize(most);
  return found;
}

std::string common_beginning(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  size_t length = paths[0].size();
  for (const std::string& path : paths) {
    const auto [differs, unused] =
        std::mismatch(paths[0].begin(), paths[0].begin() + std::ptrdiff_t(length), path.begin(), path.end());
    length = size_t(differs - paths[0].begin());
  }
  return paths[0].substr(0, length);
}

void PathBar::open(std::string label, std::string path) {
  label_ = std::move(label);
  path_ = std::move(path);
  error_.clear();
  looked_at_ = "\n";  // not a path, so that the disk is read again
  open_ = focus_ = true;
}

std::optional<std::string> PathBar::draw(const Describe& describe) {
  std::optional<std::string> entered;
  if (!open_) return entered;
  if (std::exchange(focus_, false)) focus_next_field();
  ImGui::SetNextItemWidth(std::max(em(6), ImGui::GetContentRegionAvail().x - em(9)));
  const auto complete = [](ImGuiInputTextCallbackData* data) {
    const std::string path(data->Buf, size_t(data->BufTextLen));
    const std::string longer = common_beginning(path_completions(path, SIZE_MAX));
    if (longer.size() > path.size()) data->InsertChars(data->BufTextLen, longer.c_str() + path.size());
    return 0;
  };
  if (ImGui::InputTextWithHint("##path", "path of a file; Tab completes", &path_,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion,
                               complete))
    entered = path_;
  describe("editor.path", path_);
  const bool left = ImGui::IsItemDeactivated();
  ImGui::SameLine();
  if (ImGui::Button(label_.c_str())) entered = path_;
  describe("editor.path.enter", label_);
  ImGui::SameLine(0, em(0.2f));
  if (ImGui::Button("Cancel") || (left && key_pressed(GLFW_KEY_ESCAPE))) close();
  if (!error_.empty()) {
    ImGui::PushTextWrapPos(0);
    text_in(theme().bad, "%s", error_.c_str());
    ImGui::PopTextWrapPos();
    describe("editor.path.error", error_);
  }
  if (path_ != looked_at_) {
    looked_at_ = path_;
    completions_ = path_completions(path_, kListed);
  }
  ImGui::PushFont(fonts().mono);
  for (const std::string& path : completions_) {
    if (ImGui::Selectable(path.c_str())) {
      path_ = path;
      if (path.ends_with('/'))
        focus_ = true;
      else
        entered = path;
    }
    describe("editor.path.choice", path);
  }
  ImGui::PopFont();
  if (entered) entered = with_home(*entered);
  if (entered && entered->empty()) entered.reset();
  return entered;
}

}  // namespace lunagrad
