#include "ui/panels/editor/past_text.h"

#include <algorithm>
#include <string>
#include <utility>

#include "script/run/diff.h"
#include "ui/base/counted.h"
#include "ui/editor/live_gutter.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

Document& PastText::choose(Workbench& bench, Document& document) {
  const StepTexts::Past* const past = bench.step_texts().in_place_of(document);
  const SourceTextPtr text = past ? past->text : nullptr;
  const bool same = text && is_of(document) && (text == text_ || text->content() == text_->content());
  if (same) return then_;
  text_ = text;
  of_ = document.id;
  compared_ = 0;
  if (!text) {
    compares_ = false;
    return document;
  }
  then_ = document.other_text(text->content());
  // The text appears at the line of the document's caret, as far as it has that line.
  const int line =
      LiveGutter::line_now(SourceText(document.buffer.content()), document.buffer.caret().line + 1, then_);
  then_.buffer.set_caret(then_.buffer.clamp({line < 0 ? document.buffer.caret().line : line, 0}));
  view_ = CodeEditor();
  view_.reveal(then_.buffer.caret().line);
  return then_;
}

void PastText::draw_strip(Workbench& bench, Document& document) {
  const StepTexts::Past* const past = bench.step_texts().in_place_of(document);
  if (!past) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, pad = em(0.4f);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->ChannelsSplit(2);  // the ground is drawn below, when its height is known
  list->ChannelsSetCurrent(1);
  ImGui::SetCursorScreenPos({at.x + pad, at.y + pad / 2});
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - 2 * pad);
  text_in(theme().text, "%s", past->sentence.c_str());
  bench.description().add_last("editor.past", past->sentence);
  const char* const back = past->live ? "Text of now" : "Live";
  if (text_ && bench.step_texts().refused()) {
    const std::string refusal = std::string("Nothing was changed: this text is only read. ") + back +
                                " leads back to the text that you can edit.";
    text_in(theme().warning, "%s", refusal.c_str());
    bench.description().add_last("editor.refused", refusal);
  }
  ImGui::PopTextWrapPos();
  if (text_) {
    if (tool_button("Difference to now", compares_)) compares_ = !compares_;
    bench.description().add_last("editor.past.difference", compares_ ? "on" : "off");
    explain("Shows which lines have been removed (-) and added (+) since.");
    ImGui::SameLine();
  }
  const bool goes_back = ImGui::Button(back);
  bench.description().add_last("editor.past.back", back);
  explain(past->live ? "Shows the file's text, which can be edited. Saving it reloads the run."
                     : "Shows the latest step in all panels, and here the text that can be edited.");
  ImGui::EndGroup();
  const float bottom = ImGui::GetItemRectMax().y + pad / 2;
  list->ChannelsSetCurrent(0);
  list->AddRectFilled(at, {at.x + width, bottom}, with_alpha(theme().warning, 0.18f), em(0.3f));
  list->ChannelsMerge();
  ImGui::SetCursorScreenPos({at.x, bottom + pad / 2});
  if (!goes_back) return;
  went_back_ = true;
  if (past->live)
    bench.step_texts().show_present();
  else
    bench.shown().go_live();
}

void PastText::compare(const Document& document) {
  if (compared_ == document.buffer.revision()) return;
  compared_ = document.buffer.revision();
  rows_.clear();
  removed_ = added_ = 0;
  reveal_ = -1;
  for (const DiffLine& line : line_diff(text_->content(), document.buffer.content())) {
    removed_ += line.sign == '-';
    added_ += line.sign == '+';
    if (line.sign != ' ' && reveal_ < 0) reveal_ = int(rows_.size());
    rows_.push_back({line.sign, std::to_string(line.left ? line.left : line.right), printable(line.text)});
  }
}

void PastText::draw_difference(Workbench& bench, const Document& document) {
  compare(document);
  const std::string count =
      counted(removed_, "line") + " removed (-), " + counted(added_, "line") + " added (+) since";
  text_in(theme().muted, "%s", count.c_str());
  bench.description().add_last("editor.difference", count);
  const Theme& t = theme();
  draw_diff("difference", rows_, ImGui::GetContentRegionAvail(), {t.good, t.bad, t.text, t.muted},
            std::exchange(reveal_, -1), [&](const DiffRow& row) {
              bench.description().add_last("editor.difference.line",
                                           std::string(1, row.sign) + " " + row.text);
            });
}

}  // namespace lunagrad
