#include "ui/panels/time/probe_list.h"

#include <imgui.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "ui/panels/time/form_width.h"
#include "ui/window/field_focus.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

// Parses "", "12" or "train.lua:12". Returns nothing for another text.
std::optional<SourcePlace> parse_place(const std::string& text) {
  SourcePlace place;
  if (text.empty()) return place;
  const size_t colon = text.rfind(':'), begin = colon == text.npos ? 0 : colon + 1;
  const auto [end, problem] = std::from_chars(text.data() + begin, text.data() + text.size(), place.line);
  if (problem != std::errc() || end != text.data() + text.size() || place.line < 1) return std::nullopt;
  if (colon != text.npos) place.file = text.substr(0, colon);
  return place;
}

}  // namespace

void propose_probe(Workbench& bench, Probe probe) {
  bench.probes().propose(std::move(probe));
  bench.shell().show_panel("Time");
}

void propose_probe_at_caret(Workbench& bench) {
  const Document* const text = bench.texts().documents().active();
  if (!text || bench.step_texts().refuses_change(*text)) return;
  Probe probe;
  probe.place.line = int(text->buffer.caret().line) + 1;
  if (!text->path.empty() && !same_file(text->path, bench.script())) probe.place.file = text->path;
  propose_probe(bench, std::move(probe));
}

void draw_probe_item(Workbench& bench, const std::string& parameter, const SourcePlace& place) {
  const bool chosen = ImGui::MenuItem("Add a probe...");
  bench.description().add_last("probes.item", parameter);
  explain("A value of each step of the run, past and coming, as a curve.");
  if (!chosen) return;
  Probe probe;
  if (parameter.empty()) {
    probe.place = place;
  } else {
    probe.expression = "norm of lg.surgery.get(" + quoted_lua(parameter) + ").grad";
    probe.name = parameter + " gradient norm";
  }
  propose_probe(bench, std::move(probe));
}

bool ProbeList::take_proposed(Workbench& bench) {
  const std::optional<Probe> proposed = bench.probes().take_proposed();
  if (!proposed) return false;
  std::snprintf(expression_, sizeof expression_, "%s", proposed->expression.c_str());
  std::snprintf(name_, sizeof name_, "%s", proposed->name.c_str());
  std::snprintf(place_, sizeof place_, "%s",
                proposed->place.line == 0
                    ? ""
                    : ((proposed->place.file.empty() ? "" : proposed->place.file + ":") +
                       std::to_string(proposed->place.line))
                          .c_str());
  problem_.clear();
  opens_ = true;
  return true;
}

void ProbeList::draw(Workbench& bench) {
  ImGui::PushID("probes");
  draw_progress(bench);
  draw_list(bench);
  ImGui::PopID();
}

void ProbeList::draw_button(Workbench& bench) {
  if (ImGui::Button("Add a probe...")) bench.probes().propose({});
  bench.description().add_last("probes.new", "");
  explain("A value of each step of the run, past and coming, as a curve.");
}

void ProbeList::draw_form(Workbench& bench) {
  if (std::exchange(opens_, false)) ImGui::OpenPopup("probe");
  ImGui::PushStyleColor(ImGuiCol_PopupBg, theme().panel);  // its button contrasts with it
  const bool open = ImGui::BeginPopup("probe");
  ImGui::PopStyleColor();
  if (!open) return;
  const bool entered = draw_fields(bench);
  const bool pressed = ImGui::Button("Add probe");
  bench.description().add_last("probes.add", "");
  explain(
      "Evaluates it from the next step on. A replay beside the run adds the values of earlier steps. Enter.");
  if ((entered || pressed) && add(bench)) ImGui::CloseCurrentPopup();
  if (!problem_.empty()) {
    ImGui::PushTextWrapPos(kFormWidth * em(1));
    text_in(theme().bad, "%s", problem_.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("probes.problem", problem_);
  }
  ImGui::EndPopup();
}

// Returns true when Enter was pressed.
bool ProbeList::draw_fields(Workbench& bench) {
  constexpr ImGuiInputTextFlags kEnter = ImGuiInputTextFlags_EnterReturnsTrue;
  bool entered = false;
  const auto field = [&](const char* id, const char* hint, char* text, size_t size, const char* help) {
    ImGui::SetNextItemWidth(kFormWidth * em(1));
    entered |= ImGui::InputTextWithHint((std::string("##") + id).c_str(), hint, text, size, kEnter);
    bench.description().add_last(id, text);
    explain(help);
  };
  if (ImGui::IsWindowAppearing()) focus_next_field();
  field("probes.expression", "expression: norm of model.fc1.weight.grad", expression_, sizeof expression_,
        "Lua that gives a number or a tensor of one element, with the variables that the script's functions "
        "have: "
        "model.fc1.weight.grad:norm(), or \"norm of\", \"mean of\", \"max of\" a tensor. It only looks: an "
        "expression that writes is an error.");
  field("probes.place", "at the end of each step, or train.lua:12", place_, sizeof place_,
        "Empty: at the end of each step. A line, as 12 or train.lua:12: each time that it is about to run, "
        "with "
        "the local variables that it sees.");
  field("probes.name", "name (the expression)", name_, sizeof name_, "Its name in Curves.");
  return entered;
}

// Returns false when the probe is refused; the form shows why.
bool ProbeList::add(Workbench& bench) {
  Probe probe;
  probe.expression = expression_;
  probe.name = name_;
  const std::optional<SourcePlace> place = parse_place(place_);
  if (!place) {
    problem_ = "\"" + std::string(place_) + "\" is no line: write 12 or train.lua:12";
    return false;
  }
  probe.place = *place;
  problem_ = bench.probes().add(probe);
  return problem_.empty();
}

void ProbeList::draw_progress(Workbench& bench) {
  const auto progress = bench.probes().progress();
  if (!progress) return;
  const int64_t from = progress->from - 1, all = std::max<int64_t>(progress->to - from, 1);
  const std::string text =
      "repeats step " + std::to_string(progress->at) + " of " + std::to_string(progress->to);
  const float button = ImGui::CalcTextSize("Cancel").x + 3 * ImGui::GetStyle().FramePadding.x;
  ImGui::ProgressBar(std::clamp(float(progress->at - from) / float(all), 0.0f, 1.0f),
                     {std::max(ImGui::GetContentRegionAvail().x - button - em(0.5f), em(4)), 0},
                     text.c_str());
  bench.description().add_last("probes.progress", text);
  explain("Repeats earlier steps beside the run for the values of the probes there.");
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::Button("Cancel")) bench.probes().cancel();
  bench.description().add_last("probes.cancel", "");
  explain("Leaves earlier steps without values. The run itself is not touched.");
}

void ProbeList::draw_list(Workbench& bench) {
  const std::vector<ProbeController::Item>& items = bench.probes().items();
  if (items.empty()) {
    ImGui::PushTextWrapPos(0);
    text_in(
        theme().muted,
        "A probe is a value of the script that nobody logged. Its curve stands in Curves from the first step "
        "of the run.");
    ImGui::PopTextWrapPos();
    return;
  }
  const auto flags =
      ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY;
  if (!ImGui::BeginTable("list", 4, flags, {0, std::max(ImGui::GetContentRegionAvail().y, em(5))})) return;
  ImGui::TableSetupColumn("probe", ImGuiTableColumnFlags_WidthStretch, 1);
  ImGui::TableSetupColumn("place", ImGuiTableColumnFlags_WidthFixed, em(5));
  ImGui::TableSetupColumn("state", ImGuiTableColumnFlags_WidthStretch, 1.3f);
  ImGui::TableSetupColumn("tools", ImGuiTableColumnFlags_WidthFixed);
  for (size_t i = 0; i < items.size(); ++i) {
    const ProbeController::Item item = items[i];  // a copy, since a button may remove the item
    ImGui::PushID(int(item.probe.id));
    draw_row(bench, item);
    ImGui::PopID();
  }
  ImGui::EndTable();
}

void ProbeList::draw_row(Workbench& bench, const ProbeController::Item& item) {
  const Probe& probe = item.probe;
  const std::string place = place_of(probe), state = bench.probes().state_of(item);
  const std::string whole = probe.name + ": " + probe.expression + " at " + place;
  const auto fitted = [](ImU32 color, const std::string& text) {
    const Fonts::Label font{ImGui::GetFont(), ImGui::GetFontSize()};
    text_in(color, "%s", fitting_text(text, font, ImGui::GetContentRegionAvail().x).c_str());
  };
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  fitted(theme().text, probe.name);
  bench.description().add_last("probes.probe", whole);
  explain(whole.c_str());
  if (probe.name != probe.expression) {
    ImGui::SameLine();
    if (ImGui::GetContentRegionAvail().x > em(2))
      fitted(theme().muted, probe.expression);
    else
      ImGui::NewLine();
  }
  ImGui::TableNextColumn();
  fitted(theme().muted, probe.place.line == 0 ? "each step" : place);
  explain(place.c_str());
  ImGui::TableNextColumn();
  // An error is shown in place of the state, so that it is visible in a low panel.
  ImGui::PushTextWrapPos(0);
  text_in(item.problem.empty() ? theme().muted : theme().bad, "%s",
          (item.problem.empty() ? state : item.problem).c_str());
  ImGui::PopTextWrapPos();
  bench.description().add_last("probes.state", probe.name + ": " + state);
  if (!item.problem.empty()) {
    bench.description().add_last("probes.error", probe.name + ": " + item.problem);
    explain((item.problem + "\n" + state).c_str());  // a low panel cuts it off
  }
  ImGui::TableNextColumn();
  if (item.stopped) {
    if (ImGui::SmallButton("Repeat")) bench.probes().fill(probe.name);
    bench.description().add_last("probes.fill", probe.name);
    explain("Repeats the earlier steps that have no values.");
    ImGui::SameLine();
  }
  const bool removed = ImGui::SmallButton("Remove");
  bench.description().add_last("probes.remove", probe.name);
  explain("Removes the probe with its curve.");
  if (removed) bench.probes().remove(probe.name);
}

}  // namespace lunagrad
