#include "ui/text/prompt.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "ui/window/field_focus.h"
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
  if (!waits_ || before != before_) return;  // the user has typed, or pressed Escape, since then
  waits_ = false;
  offers_ = std::move(names);
  typed_ = name_at_end(before).size();
  chosen_ = 0;
  answered_ = true;
}

void Prompt::accept(ImGuiInputTextCallbackData& data, const std::string& name) {
  open_ = false;
  if (name.size() >= typed_) data.InsertChars(data.CursorPos, name.c_str() + typed_);
}

void Prompt::submit(ImGuiInputTextCallbackData& data) {
  std::string text(data.Buf, size_t(data.BufTextLen));
  if (text.find_first_not_of(" \t\n") == text.npos) return;
  while (text.back() == '\n') text.pop_back();
  entered_ = std::move(text);
  history.add(entered_);
  data.DeleteChars(0, data.BufTextLen);
  submitted_ = true;
}

void Prompt::edit(ImGuiInputTextCallbackData& data) {
  const std::string before(data.Buf, size_t(data.CursorPos));
  if (before != before_) open_ = waits_ = false;
  if (std::exchange(escaped_, false)) {
    open_ = waits_ = answered_ = false;
    return;
  }
  if (std::exchange(entering_, false)) {
    if (open_ && chosen_ < offers_.size())
      accept(data, offers_[chosen_]);
    else
      submit(data);
    return;
  }
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
      waits_ = true;
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
  if (std::exchange(focus_, false)) focus_next_field();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  // Enter takes the chosen name of an open list or else submits the entry, and Escape closes the list. Dear
  // ImGui would end the input with either key: what is typed before the field had the focus again would be
  // lost, and Escape would also restore an earlier text.
  entering_ = !ImGui::GetIO().KeyCtrl && (key_pressed(GLFW_KEY_ENTER) || key_pressed(GLFW_KEY_KP_ENTER));
  escaped_ = (open_ || waits_) && key_pressed(GLFW_KEY_ESCAPE);
  constexpr auto flags = ImGuiInputTextFlags_CtrlEnterForNewLine | ImGuiInputTextFlags_CallbackCompletion |
                         ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_CallbackResize;
  {
    const HiddenKey enter(entering_ ? GLFW_KEY_ENTER : 0), keypad(entering_ ? GLFW_KEY_KP_ENTER : 0),
        escape(escaped_ ? GLFW_KEY_ESCAPE : 0);
    ImGui::InputTextMultiline("##prompt", text_.data(), text_.capacity() + 1, {width, height()}, flags,
                              callback, this);
  }
  const bool active = ImGui::IsItemActive();
  if (text_.empty() && *hint)
    ImGui::GetWindowDrawList()->AddText(
        {corner.x + ImGui::GetStyle().FramePadding.x, corner.y + ImGui::GetStyle().FramePadding.y},
        colors.muted,
        fitting_text(hint, {ImGui::GetFont(), ImGui::GetFontSize()},
                     ImGui::GetItemRectSize().x - 2 * ImGui::GetStyle().FramePadding.x)
            .c_str());
  if (open_) draw_offers(corner, colors, describe);
  if (open_ && !active && clicked_ < 0 && !focus_) open_ = false;
  return std::exchange(submitted_, false);
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
