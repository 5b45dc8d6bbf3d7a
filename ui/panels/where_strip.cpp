#include "ui/panels/where_strip.h"

#include <algorithm>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr const char* kAskWhy = "Why?";
constexpr const char* kLive = "Live";

using Reason = PausePosition::Reason;

// The text, or its beginning and end if it is wider than `width`.
std::string fitting(const std::string& text, float width) {
  const auto fits = [&](size_t bytes) {
    return ImGui::CalcTextSize(without_middle(text, bytes).c_str()).x <= width;
  };
  if (fits(text.size())) return text;
  size_t most = 0;
  for (size_t step = text.size(); step > 0; step /= 2)
    while (most + step < text.size() && fits(most + step)) most += step;
  return most < 6 ? std::string() : without_middle(text, most);
}

int node_of_pause(Workbench& bench) { return bench.tape().find_node(bench.journal().standing_node()); }

}  // namespace

std::optional<PauseText> WhereStrip::text_of(Workbench& bench) const {
  const ShownStep& shown = bench.shown();
  if (!shown.live()) {
    if (!shown.at_replay()) return std::nullopt;
    PauseText text;
    text.reason = "Step " + count_figure(shown.cursor()) + ", computed again";
    text.values = "The run is at step " + count_figure(bench.journal().step()) + ".";
    text.action = kLive;
    return text;
  }
  const PausePtr& pause = bench.journal().pause();
  if (!pause) return std::nullopt;
  PauseText text = pause_text(*pause);
  const bool past = pause->step > shown.cursor() && shown.cursor() > 0;
  if (past) text.reason += ", panels show step " + count_figure(shown.cursor());
  if (text.op.empty()) text.values = bench.texts().source_line(pause->place);
  if (pause->reason == Reason::not_finite && node_of_pause(bench) >= 0) {
    text.action = kAskWhy;
    text.command.clear();
  }
  return text;
}

void WhereStrip::act(Workbench& bench, const PauseText& text) {
  if (text.action == kLive) return bench.shown().go_live();
  if (!text.command.empty()) {
    const Command* const command = bench.commands().find(text.command);
    if (command && bench.commands().enabled(*command)) bench.commands().run(*command);
    return;
  }
  const int node = node_of_pause(bench);
  if (node < 0) return;
  bench.tape_actions().select(node);
  bench.shell().raise_panel("Inspector", "Tape");
  if (text.action == kAskWhy) bench.why().ask_node(node);
}

void WhereStrip::draw(Workbench& bench, float width) {
  std::optional<PauseText> text = text_of(bench);
  const bool present = text.has_value();
  if (present) {
    shown_ = std::move(text);
    const PausePtr& pause = bench.journal().pause();
    bad_ = pause && (pause->reason == Reason::error || pause->reason == Reason::not_finite);
  } else if (bench.journal().state() != SessionState::running || !bench.control().single_step() ||
             !bench.shown().live()) {
    shown_.reset();
  }
  if (shown_) draw_row(bench, width, present);
}

void WhereStrip::draw_row(Workbench& bench, float width, bool present) {
  const PauseText text = *shown_;  // a copy: an action may change it
  const float gap = em(0.6f), padding = 2 * ImGui::GetStyle().FramePadding.x, inset = em(0.2f);
  const float row = ImGui::GetFrameHeight() + 2 * inset;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImU32 color = bad_ ? theme().bad : theme().warning;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + width, at.y + row}, with_alpha(color, present ? 0.16f : 0.08f), em(0.3f));
  list->AddRectFilled(at, {at.x + em(0.25f), at.y + row}, color, em(0.1f));
  ImGui::BeginDisabled(!present);
  float x = at.x + em(0.8f);
  const float action = text.action.empty() ? 0 : ImGui::CalcTextSize(text.action.c_str()).x + padding + gap;
  float right = at.x + width - inset;
  // A narrow row has the reason and the action.
  const bool acts = right - x > action + em(6);
  if (acts) right -= action;
  const auto write = [&](const char* item, const std::string& whole, float most, ImU32 ink, ImFont* font) {
    if (font) ImGui::PushFont(font);
    const std::string part = fitting(whole, std::min(most, right - x));
    if (!part.empty()) {
      ImGui::SetCursorScreenPos({x, at.y + inset});
      ImGui::AlignTextToFramePadding();
      text_in(present ? ink : theme().faint, "%s", part.c_str());
      x += ImGui::GetItemRectSize().x + gap;
    }
    if (font) ImGui::PopFont();
    if (part.empty()) return;
    bench.description().add_last(item, whole);
    if (part != whole) explain(whole.c_str());
  };
  write("where.reason", text.reason, std::max((right - x) * 0.45f, em(8)), theme().text, fonts().bold);
  if (const float wide = ImGui::CalcTextSize(text.place.c_str()).x + padding;
      !text.place.empty() && x + wide < right) {
    ImGui::SetCursorScreenPos({x, at.y + inset});
    const PausePtr pause = bench.journal().pause();
    if (ImGui::Button((text.place + "##where").c_str()) && pause)
      bench.texts().go_to(SourcePlace(pause->place));
    bench.description().add_last("where.place", text.place);
    explain("The line where the run stands. Click: opens it in the editor.");
    x += wide + gap;
  }
  if (!text.op.empty()) write("where.op", text.op, em(16), theme().accent, fonts().bold);
  if (!text.values.empty() && right - x > em(4))
    write("where.values", text.values, right - x, theme().text, nullptr);
  if (acts && action > 0) {
    ImGui::SetCursorScreenPos({at.x + width - inset - action + gap, at.y + inset});
    const bool pressed = ImGui::Button((text.action + "##where.action").c_str());
    bench.description().add_last("where.action", text.action);
    const Command* const command = bench.commands().find(text.command);
    explain(command                ? command->help.c_str()
            : text.action == kLive ? "Shows the latest step in all panels and follows the run."
                                   : "Shows the operands in the Inspector, and what made them.");
    if (pressed) act(bench, text);
  }
  ImGui::EndDisabled();
  ImGui::SetCursorScreenPos({at.x, at.y + row + em(0.4f)});
}

}  // namespace lunagrad
