// Parameters: the parameters that the script declared with lg.run.param and lg.run.live, as sliders, boxes
// and choices. A changed value reaches the run at its next step; changes can be undone.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/core/figures.h"
#include "ui/window/field_focus.h"
#include "ui/window/input.h"
#include "ui/window/outlined.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

class ParametersPanel final : public Panel {
 public:
  const char* title() const override { return "Parameters"; }
  Region region() const override { return Region::lower_left; }
  // Parameters have the values of now.
  std::optional<PanelStep> shown_step(const Workbench& bench) const override {
    if (bench.shown().latest() == 0) return std::nullopt;
    return PanelStep{bench.shown().latest()};
  }

  void add_commands(Workbench& bench) override {
    add_own_command(
        bench, "Rerun with these", kRerunHelp,
        [&bench] { bench.control().rerun_with(bench.control().params().chosen()); },
        [&bench] { return !bench.control().params().chosen().empty(); });
    add_own_command(
        bench, "Undo the last change", "Gives the parameter its value of before.",
        [&bench] { bench.control().undo_param(); },
        [&bench] { return !bench.control().params().edits().empty(); });
    bench.commands().add_source([this, &bench](std::string_view, std::vector<Command>& found) {
      for (const ParamInfo& param : bench.session().params()) {
        Command command{"Parameter: " + param.name, "", "Edits its value, now " + param.value + ".",
                        [this, &bench, name = param.name] {
                          bench.shell().show_panel(title());
                          wanted_ = name;
                        }};
        command.synonyms = "setting hyperparameter hyper slider set change value";
        found.push_back(std::move(command));
      }
    });
  }

  void draw_tools(Workbench& bench) override {
    const auto& edits = bench.control().params().edits();
    if (edits.empty() && bench.control().params().chosen().empty()) return;
    if (!edits.empty()) {
      if (ImGui::Button("Undo")) bench.control().undo_param();
      bench.description().add_last("params.undo", edits.empty() ? "" : edits.back().name);
      std::string list = "Undoes the last change. Ctrl+Z. Changes so far:";
      const auto& now = bench.control().params().edits();
      for (size_t i = now.size(); i-- > 0 && now.size() - i <= 12;)
        list += "\nstep " + std::to_string(now[i].step) + ": " + now[i].name + " " + now[i].before + " -> " +
                now[i].after;
      explain(list.c_str());
      ImGui::SameLine();
    }
    if (ImGui::Button("Rerun with these")) bench.control().rerun_with(bench.control().params().chosen());
    bench.description().add_last("params.rerun", "");
    explain(kRerunHelp);
  }

  void draw(Workbench& bench) override {
    const std::vector<ParamInfo> params = bench.session().params();
    bench.control().update_params(params);
    if (params.empty()) {
      draw_empty("No parameters yet",
                 "Declare values with lg.run.param(name, value) or lg.run.live(name, value) to change them "
                 "here, also during a run.");
      return;
    }
    if (ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows) && !ImGui::GetIO().WantTextInput &&
        ImGui::GetIO().KeyCtrl && key_pressed(GLFW_KEY_Z, false))
      bench.control().undo_param();
    const auto flags =
        ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH;
    if (!ImGui::BeginTable("params", 4, flags)) return;
    ImGui::TableSetupColumn("name");
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("reset");
    // Where space is short, values come first; the tooltip has the whole state.
    const float room = ImGui::GetContentRegionAvail().x;
    ImGui::TableSetupColumn("state", ImGuiTableColumnFlags_WidthFixed,
                            std::clamp(room - em(16), em(5), em(11)));
    for (const ParamInfo& param : params) {
      ImGui::PushID(param.name.c_str());
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::AlignTextToFramePadding();
      ImGui::TextUnformatted(param.name.c_str());
      explain(about(param).c_str());
      ImGui::TableNextColumn();
      ImGui::SetNextItemWidth(-1);
      if (param.name == wanted_) {
        ImGui::SetScrollHereY();
        focus_next_field();
        wanted_.clear();
      }
      draw_value(bench, param);
      bench.description().add_last(("params.value." + param.name).c_str(),
                                   bench.control().params().value(param));
      ImGui::TableNextColumn();
      draw_reset(bench, param);
      ImGui::TableNextColumn();
      draw_state(bench, param);
      ImGui::PopID();
    }
    ImGui::EndTable();
  }

 private:
  static constexpr const char* kRerunHelp = "Restarts the script with these values.";

  static std::string about(const ParamInfo& param) {
    std::string text = param.live ? "Live: read at every step."
                                  : "Read when the script asks for it, usually once before its loop.";
    if (param.min || param.max)
      text += "\nFrom " + (param.min ? general_number(*param.min) : "any") + " to " +
              (param.max ? general_number(*param.max) : "any") + ".";
    text += "\nThe script says " + param.fallback + ".";
    if (param.place.line > 0)
      text += "\nDeclared at " + param.place.file + ":" + std::to_string(param.place.line) + ".";
    return text;
  }

  void draw_value(Workbench& bench, const ParamInfo& param) {
    const std::string& value = bench.control().params().value(param);
    const auto set = [&](const std::string& text, bool dragging = false) {
      bench.control().set_param(param, text, dragging);
    };
    if (!param.choices.empty()) {
      if (!ImGui::BeginCombo("##value", value.c_str())) return;
      for (const std::string& choice : param.choices) {
        if (ImGui::Selectable(choice.c_str(), choice == value)) set(choice);
        bench.description().add_last("params.choice", choice);
      }
      ImGui::EndCombo();
    } else if (!param.number && (value == "true" || value == "false")) {
      bool on = value == "true";
      if (tick_box("##value", &on)) set(on ? "true" : "false");
    } else if (param.number && param.min && param.max) {
      draw_slider(bench, param, value);
    } else {
      char text[256];
      std::snprintf(text, sizeof text, "%s", editing_ == param.name ? typed_ : value.c_str());
      if (ImGui::InputText("##value", text, sizeof text, ImGuiInputTextFlags_EnterReturnsTrue)) {
        set(text);
        editing_.clear();
      } else if (ImGui::IsItemActive()) {
        editing_ = param.name;
        std::memcpy(typed_, text, sizeof text);
      } else if (editing_ == param.name) {
        editing_.clear();
      }
      explain("Enter applies the value.");
    }
  }

  static void draw_slider(Workbench& bench, const ParamInfo& param, const std::string& value) {
    const auto flags = param.log ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None;
    bool changed = false;
    std::string text;
    if (param.integer) {
      int64_t number = std::strtoll(value.c_str(), nullptr, 10);
      const int64_t low = int64_t(std::ceil(*param.min)), high = int64_t(std::floor(*param.max));
      changed = ImGui::SliderScalar("##value", ImGuiDataType_S64, &number, &low, &high, "%lld", flags);
      text = std::to_string(number);
    } else {
      double number = std::strtod(value.c_str(), nullptr);
      const double low = *param.min, high = *param.max;
      // As many digits as the slider's pixels distinguish; the full value is shown next to it.
      changed = ImGui::SliderScalar("##value", ImGuiDataType_Double, &number, &low, &high, "%.4g", flags);
      text = general_number(std::strtod(number_figure(number).c_str(), nullptr));
    }
    if (changed) bench.control().set_param(param, text, true);
    if (ImGui::IsItemDeactivated()) bench.control().end_param_drag();
    explain("Drag, or Ctrl+click to type a number.");
  }

  static void draw_reset(Workbench& bench, const ParamInfo& param) {
    const bool same = bench.control().params().value(param) == param.fallback;
    if (same) {
      ImGui::Dummy({em(3), 1});
      return;
    }
    if (ImGui::Button("Reset")) bench.control().set_param(param, param.fallback);
    bench.description().add_last(("params.reset." + param.name).c_str(), param.fallback);
    explain(("Back to " + param.fallback + ", as the script says.").c_str());
  }

  static void draw_state(Workbench& bench, const ParamInfo& param) {
    const std::string& refusal = bench.control().params().refusal(param.name);
    std::string text, help;
    ImU32 color = theme().muted;
    if (!refusal.empty()) {
      text = "refused: " + refusal;
      help = text;
      color = theme().bad;
    } else if (bench.control().params().on_its_way(param.name)) {
      const bool active = bench.journal().active();
      text = active ? "applies at the next step" : "for the next run";
      help = active ? "Applied at the end of the current step."
                    : "Nothing is running. 'Rerun with these' uses it.";
      color = theme().warning;
    } else if (!param.live && bench.control().params().chosen().count(param.name)) {
      text = "needs a rerun";
      help =
          "The script reads it only before its loop. 'Rerun with these' restarts it; lg.run.live makes it "
          "live.";
      color = theme().warning;
    } else {
      text = param.live ? "live" : "read once";
      help = about(param);
    }
    ImGui::AlignTextToFramePadding();
    text_in(color, "%s", text.c_str());
    bench.description().add_last(("params.state." + param.name).c_str(), text);
    explain(help.c_str());
  }

  std::string wanted_;   // the parameter whose field gets the focus
  std::string editing_;  // the parameter whose field is being edited
  char typed_[256] = "";
};

}  // namespace

std::unique_ptr<Panel> make_parameters_panel() { return std::make_unique<ParametersPanel>(); }

}  // namespace lunagrad
