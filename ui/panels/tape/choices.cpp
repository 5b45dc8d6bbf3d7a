#include "ui/panels/tape/choices.h"

#include "runtime/core/op_name.h"
#include "ui/base/counted.h"
#include "ui/tape/groups.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

std::string pass_text(const PassInfo& pass) {
  const std::string place = file_and_line(pass.place);
  return (pass.inner ? "inner " : "") + public_op_name(pass.op) + (place.empty() ? "" : ", " + place);
}

using Mode = CollapseState::Mode;
constexpr OpenChoice kOpenChoices[] = {
    {"few boxes", "Open few modules", Mode::automatic, 0, "Opens outer modules while few boxes are visible."},
    {"all closed", "Close all modules", Mode::depth, 0, "Closes every module."},
    {"depth 1", "Open one level of modules", Mode::depth, 1, "Opens the outermost modules."},
    {"depth 2", "Open two levels of modules", Mode::depth, 2, "Opens two levels of modules."},
    {"depth 3", "Open three levels of modules", Mode::depth, 3, "Opens three levels of modules."},
    {"all open", "Open all modules", Mode::all, 0, "Opens every module."},
};

}  // namespace

std::span<const OpenChoice> open_choices() { return kOpenChoices; }

void draw_direction_choice(Workbench& bench) {
  static constexpr struct {
    const char *name, *help;
  } kDirections[] = {{"auto", "Left to right if the panel is wider than high, otherwise top to bottom."},
                     {"right", "Left to right."},
                     {"down", "Top to bottom."}};
  std::string& chosen = bench.shell().settings().tape_direction;
  const bool open = ImGui::BeginCombo("##direction", ("flow: " + chosen).c_str());
  bench.description().add_last("tape.direction", bench.tape().collapse().sideways ? "right" : "down");
  if (!open) {
    explain("The direction in which data flows.");
    return;
  }
  for (const auto& one : kDirections) {
    if (ImGui::Selectable(one.name, chosen == one.name)) chosen = one.name;
    bench.description().add_last("tape.direction_choice", one.name);
    explain(one.help);
  }
  ImGui::EndCombo();
}

void draw_pass_choice(Workbench& bench, const TapeSnapshot& tape) {
  const std::string label = tape.pass < 0 ? "forward" : pass_text(tape.passes[size_t(tape.pass)]);
  // The list and the tooltip show the file; the button has no space for it.
  std::string brief = label;
  if (tape.pass >= 0) {
    const PassInfo& pass = tape.passes[size_t(tape.pass)];
    brief = public_op_name(pass.op) + ", line " + std::to_string(pass.place.line);
  }
  const bool open = ImGui::BeginCombo("##pass", brief.c_str());
  bench.description().add_last("tape.pass", label);
  if (!open) {
    explain((label +
             "\nWhich backward pass of the step is shown: at first the pass of the outer loss. A pass is "
             "inner if a later one goes through the gradients that it made.")
                .c_str());
    return;
  }
  if (ImGui::Selectable("outer loss")) bench.live_session().choose_pass(0);
  bench.description().add_last("tape.pass_choice", "outer loss");
  for (size_t i = 0; i < tape.passes.size(); ++i) {
    const PassInfo& pass = tape.passes[i];
    const std::string text = pass_text(pass) + ", " + counted(int64_t(pass.nodes), "node");
    ImGui::PushID(int(i));
    if (ImGui::Selectable(text.c_str(), int(i) == tape.pass)) bench.live_session().choose_pass(pass.key);
    bench.description().add_last("tape.pass_choice", text);
    ImGui::PopID();
  }
  ImGui::EndCombo();
}

void draw_group_switch(Workbench& bench, const StepPlan* plan) {
  bool& on = bench.shell().settings().tape_groups;
  if (tool_button("Groups", on)) on = !on;
  bench.description().add_last("tape.groups", on ? "on" : "off");
  explain(("Marks the calls that are computed in one pass over memory, and what they do not write. " +
           (plan ? plan_origin(*plan) + " " + plan_summary(*plan) + "."
                 : "No step was deferred and planned yet."))
              .c_str());
}

}  // namespace lunagrad
