#include "ui/panels/why_strip.h"

#include <algorithm>
#include <string>

#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr const char* kWhy = "Why?";
// Distances in em.
constexpr float kAboveHead = 0.25f, kBelowLink = 0.1f, kLinkIndent = 1.6f, kLinkGap = 0.4f;

// The step that ran the link's line.
int64_t step_of(Workbench& bench, const WhyLink& link) {
  return link.step > 0 ? link.step : bench.why().trail()->step;
}

void follow(Workbench& bench, size_t index) {
  const WhyLink link = bench.why().trail()->links[index];
  if (const int node = bench.why().node_of(index); node >= 0) {
    bench.tape_actions().select(node);
    bench.shell().raise_panel("Inspector", "Tape");
  } else if (link.place.line > 0) {
    bench.texts().go_to(link.place, step_of(bench, link));
  } else if (link.step >= 0) {
    bench.shown().go_to(link.step);
  }
}

const char* help_of(const WhyLink& link) {
  if (link.node != 0) return "Click to select the node.";
  if (link.place.line > 0) return "Click to go to the line.";
  return link.step >= 0 ? "Click to show the step." : "";
}

}  // namespace

WhyStrip::LinkRow WhyStrip::row_of(const WhyLink& link, float width) {
  LinkRow row;
  row.line = file_and_line(link.place);
  row.step = link.step >= 0 ? "step " + std::to_string(link.step) : "";
  float buttons = 0;
  for (const std::string& label : {row.line, row.step})
    if (!label.empty())
      buttons += ImGui::CalcTextSize(label.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x + em(kLinkGap);
  row.wrap = std::max(width - em(kLinkIndent) - buttons - em(0.6f), em(8));
  row.text = ImGui::CalcTextSize(link.sentence.c_str(), nullptr, false, row.wrap).y;
  row.height = std::max(row.text, buttons > 0 ? ImGui::GetFrameHeight() : 0);
  return row;
}

void WhyStrip::draw_link(Workbench& bench, size_t index, float width) {
  const WhyLink& link = bench.why().trail()->links[index];
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float indent = em(kLinkIndent), gap = em(kLinkGap);
  const auto [line, step, wrap, text, height] = row_of(link, width);
  const char* const help = help_of(link);
  if (ImGui::Selectable("##cause", false, *help ? 0 : ImGuiSelectableFlags_Disabled, {indent + wrap, height}))
    follow(bench, index);
  bench.description().add_last("why.link", link.sentence);
  if (*help) explain(help);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float top = at.y + (height - text) / 2;
  if (index > 0) list->AddText({at.x + em(0.4f), top}, theme().muted, "←");
  list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.x + indent, top},
                *help ? theme().text : theme().muted, link.sentence.c_str(), nullptr, wrap);
  float x = at.x + indent + wrap + em(0.6f);
  const auto button = [&](const std::string& label, const char* item, const char* what) {
    ImGui::SetCursorScreenPos({x, at.y});
    const bool pressed = ImGui::Button(label.c_str());
    bench.description().add_last(item, label);
    explain(what);
    x += ImGui::GetItemRectSize().x + gap;
    return pressed;
  };
  if (!line.empty() && button(line, "why.line", "Opens the line in the editor."))
    bench.texts().go_to(link.place, step_of(bench, link));
  if (!step.empty() && button(step, "why.step", "Shows this step in all panels."))
    bench.shown().go_to(link.step);
  ImGui::SetCursorScreenPos({at.x, at.y + height});
  ImGui::Dummy({1, em(kBelowLink)});
}

void WhyStrip::draw(Workbench& bench, float width) {
  const WhyTrail* const shown = bench.why().trail();
  if (!shown) return;
  const WhyTrail& trail = *shown;
  const float row = ImGui::GetFrameHeightWithSpacing();
  float wanted = em(kAboveHead) + row;
  for (const WhyLink& link : trail.links)
    wanted += row_of(link, width).height + em(kBelowLink) + ImGui::GetStyle().ItemSpacing.y;
  // A panel of a host keeps a half of its height for itself.
  const float most = std::min(std::max(4 * row, ImGui::GetMainViewport()->Size.y * 0.34f),
                              std::max(2 * row, ImGui::GetContentRegionAvail().y * 0.5f));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, with_alpha(theme().accent, 0.1f));
  ImGui::BeginChild("why", {width, std::min(wanted, most)});
  ImGui::PopStyleColor();
  if (bench.why().number() != number_) ImGui::SetScrollY(0);
  number_ = bench.why().number();
  const std::string head = std::string(kWhy) + " " + trail.subject + ", step " + std::to_string(trail.step);
  ImGui::SetCursorPos({em(0.5f), em(kAboveHead)});
  ImGui::AlignTextToFramePadding();
  bold_text(head);
  bench.description().add_last("why.subject", head);
  ImGui::SameLine(std::max(ImGui::GetContentRegionAvail().x - em(1.9f), em(4)));
  const bool closes = ImGui::Button("x##why");
  bench.description().add_last("why.close", "");
  explain("Closes the answer.");
  for (size_t i = 0; i < trail.links.size(); ++i) {
    ImGui::PushID(int(i));
    draw_link(bench, i, ImGui::GetContentRegionAvail().x);
    ImGui::PopID();
  }
  ImGui::EndChild();
  ImGui::Dummy({1, em(0.2f)});
  if (closes) bench.why().close();
}

bool why_button(Workbench& bench, const char* item, const char* help) {
  const bool pressed = tool_button(kWhy);
  bench.description().add_last(item, kWhy);
  explain(help);
  return pressed;
}

bool why_entry(Workbench& bench, const char* item, const char* help) {
  const bool chosen = ImGui::MenuItem(kWhy);
  bench.description().add_last(item, kWhy);
  explain(help);
  return chosen;
}

}  // namespace lunagrad
