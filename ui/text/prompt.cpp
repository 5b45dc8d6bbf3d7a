#include "ui/text/prompt.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr int kMostLines = 8;  // lines visible at the same time
constexpr size_t kMostOffers = 10;

int count_lines(const std::string& text) { return 1 + int(std::count(text.begin(), text.end(), '\n')); }

// The name that ends at the cursor, without the part up to its last . or :
std::string name_at_end(const std::string& text) {
  size_t begin = text.size();
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_'))
    --begin;
  return text.substr(begin);
}

}  // namespace

void EntryHistory::add(const std::string& entry) {
  if (entries_.empty() || entries_.back() != entry) entries_.push_back(entry);
  if (entries_.size() > kMost) entries_.erase(entries_.begin());
  at_ = entries_.size();
  draft_.clear();
}

const std::string* EntryHistory::back(const std::string& now) {
  if (at_ == 0) return nullptr;
  if (at_ == entries_.size()) draft_ = now;
  return &entries_[--at_];
}

const std::string* EntryHistory::on() {
  if (at_ == entries_.size()) return nullptr;
  return ++at_ == entries_.size() ? &draft_ : &entries_[at_];
}

// A backslash escapes line ends inside an entry, and itself.
std::string EntryHistory::as_text() const {
  std::string text;
  for (const std::string& entry : entries_) {
    for (const char c : entry) text += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
    text += '\n';
  }
  return text;
}

void EntryHistory::take_text(const std::string& text) {
  entries_.clear();
  std::string entry;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      entry += text[++i] == 'n' ? '\n' : text[i];
    } else if (text[i] == '\n') {
      if (!entry.empty()) entries_.push_back(std::exchange(entry, {}));
    } else if (text[i] != '\0') {
      entry += text[i];
    }
  }
  if (entries_.size() > kMost) entries_.erase(entries_.begin(), entries_.end() - std::ptrdiff_t(kMost));
  at_ = entries_.size();
}

float Prompt::height() const {
  const float line = ImGui::GetTextLineHeight() + 1;
  return float(std::min(count_lines(text_), kMostLines)) * line + 2 * ImGui::GetStyle().FramePadding.y + 2;
}

void Prompt::offer(const std::string& before, std::vector<std::string> names) {
  if (before != before_) return;  // the user has typed since then
  offers_ = std::move(names);
  typed_ = name_at_end(before).size();
  chosen_ = 0;
  answered_ = true;
}

void Prompt::accept(ImGuiInputTextCallbackData& data, const std::string& name) {
  if (name.size() < typed_) return;
  data.InsertChars(data.CursorPos, name.c_str() + typed_);
  open_ = false;
}

void Prompt::edit(ImGuiInputTextCallbackData& data) {
  const std::string before(data.Buf, size_t(data.CursorPos));
  if (open_ && before != before_) open_ = false;
  if (std::exchange(answered_, false) && before == before_ && !offers_.empty()) {
    // Inserts the common prefix immediately and offers the rest as a list.
    std::string common = offers_[0];
    for (const std::string& name : offers_) {
      size_t same = 0;
      while (same < std::min(common.size(), name.size()) && common[same] == name[same]) ++same;
      common.resize(same);
    }
    if (common.size() > typed_) {
      data.InsertChars(data.CursorPos, common.c_str() + typed_);
      typed_ = common.size();
      before_.assign(data.Buf, size_t(data.CursorPos));
    }
    open_ = offers_.size() > 1;
  }
  if (clicked_ >= 0) {
    accept(data, offers_[size_t(clicked_)]);
    clicked_ = -1;
  }
  const bool up = key_pressed(GLFW_KEY_UP), down = key_pressed(GLFW_KEY_DOWN);
  if (data.EventFlag == ImGuiInputTextFlags_CallbackCompletion) {
    if (open_) {
      chosen_ = (chosen_ + 1) % offers_.size();
    } else {
      before_ = before;
      (*complete_)(before);
    }
    return;
  }
  if (open_) {
    if (up) chosen_ = (chosen_ + offers_.size() - 1) % offers_.size();
    if (down) chosen_ = (chosen_ + 1) % offers_.size();
    return;
  }
  // Up on the first line and Down on the last line go to the history.
  const bool on_first = before.find('\n') == before.npos;
  const bool on_last =
      std::string_view(data.Buf + data.CursorPos, size_t(data.BufTextLen - data.CursorPos)).find('\n') ==
      std::string_view::npos;
  const std::string* entry = nullptr;
  if (up && std::exchange(on_first_, on_first))
    entry = history.back(std::string(data.Buf, size_t(data.BufTextLen)));
  if (down && std::exchange(on_last_, on_last)) entry = history.on();
  on_first_ = on_first;
  on_last_ = on_last;
  if (!entry) return;
  const std::string recalled = *entry;
  data.DeleteChars(0, data.BufTextLen);
  data.InsertChars(0, recalled.c_str());
}

int Prompt::callback(ImGuiInputTextCallbackData* data) {
  Prompt& prompt = *static_cast<Prompt*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    prompt.text_.resize(size_t(data->BufTextLen));
    data->Buf = prompt.text_.data();
  } else {
    prompt.edit(*data);
  }
  return 0;
}

bool Prompt::draw(const char* hint, float width, const Colors& colors,
                  const std::function<void(const std::string&)>& complete,
                  const std::function<void(const std::string&)>& describe) {
  complete_ = &complete;
  if (std::exchange(focus_, false)) ImGui::SetKeyboardFocusHere();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  // While the list is open, Enter takes the chosen name, and Escape, which normally clears the field, closes
  // the list.
  const bool choosing = open_;
  const std::string kept = choosing ? text_ : std::string();
  constexpr auto flags = ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CtrlEnterForNewLine |
                         ImGuiInputTextFlags_CallbackCompletion | ImGuiInputTextFlags_CallbackAlways |
                         ImGuiInputTextFlags_CallbackResize;
  bool enter = ImGui::InputTextMultiline("##prompt", text_.data(), text_.capacity() + 1, {width, height()},
                                         flags, callback, this);
  const bool active = ImGui::IsItemActive();
  if (text_.empty() && *hint)
    ImGui::GetWindowDrawList()->AddText(
        {corner.x + ImGui::GetStyle().FramePadding.x, corner.y + ImGui::GetStyle().FramePadding.y},
        colors.muted,
        fitting_text(hint, {ImGui::GetFont(), ImGui::GetFontSize()},
                     ImGui::GetItemRectSize().x - 2 * ImGui::GetStyle().FramePadding.x)
            .c_str());
  if (choosing && enter && chosen_ < offers_.size()) {
    text_ = before_ + offers_[chosen_].substr(std::min(typed_, offers_[chosen_].size())) +
            text_.substr(std::min(before_.size(), text_.size()));
    open_ = false;
    focus_ = true;
    enter = false;
  }
  if (choosing && key_pressed(GLFW_KEY_ESCAPE)) {
    text_ = kept;
    open_ = false;
    focus_ = true;
  }
  if (open_) draw_offers(corner, colors, describe);
  if (open_ && !active && clicked_ < 0 && !focus_) open_ = false;
  if (!enter || text_.find_first_not_of(" \t\n") == text_.npos) return false;
  entered_ = std::exchange(text_, {});
  while (!entered_.empty() && entered_.back() == '\n') entered_.pop_back();
  history.add(entered_);
  focus_ = true;
  return true;
}

void Prompt::draw_offers(ImVec2 corner, const Colors& colors,
                         const std::function<void(const std::string&)>& describe) {
  const size_t count = std::min(offers_.size(), kMostOffers),
               first = chosen_ >= count ? chosen_ - count + 1 : 0;
  const float line = ImGui::GetTextLineHeightWithSpacing(), pad = em(0.4f);
  float width = em(8);
  for (size_t i = first; i < first + count; ++i)
    width = std::max(width, ImGui::CalcTextSize(offers_[i].c_str()).x);
  const std::string more =
      std::to_string(chosen_ + 1) + " of " + std::to_string(offers_.size()) + ", Enter takes it";
  width = std::max(width, ImGui::CalcTextSize(more.c_str()).x) + 2 * pad;
  const float height = float(count + 1) * line + 2 * pad;
  const ImVec2 at{corner.x, std::max(corner.y - height - 2, 0.0f)};
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const ImU32 back = ImGui::GetColorU32(ImGuiCol_PopupBg), border = ImGui::GetColorU32(ImGuiCol_Border);
  list->AddRectFilled(at, {at.x + width, at.y + height}, back, em(0.25f));
  list->AddRect(at, {at.x + width, at.y + height}, border, em(0.25f));
  for (size_t i = first; i < first + count; ++i) {
    const ImVec2 from{at.x, at.y + pad + float(i - first) * line}, to{at.x + width, from.y + line};
    if (i == chosen_) list->AddRectFilled(from, to, with_alpha(colors.accent, 0.3f));
    list->AddText({from.x + pad, from.y}, colors.text, offers_[i].c_str());
    if (describe) describe(offers_[i]);
    if (ImGui::IsMouseHoveringRect(from, to, false) && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      clicked_ = int(i);
      focus_ = true;
    }
  }
  list->AddText({at.x + pad, at.y + pad + float(count) * line}, colors.muted, more.c_str());
}

}  // namespace lunagrad
