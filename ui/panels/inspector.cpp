// Inspector: every field of the selected node's record, the value and gradient of any tensor there, and whether the node
// computes right: its gradient against differences, the devices against each other.
#include <array>
#include <cmath>
#include <cstdio>

#include "ui/op_family.h"
#include "ui/panel.h"
#include "ui/tensor_pane.h"
#include "ui/theme.h"

namespace lunagrad {
namespace {

std::string duration_text(double ns) {
  char text[32];
  if (ns <= 0) return "not measured";
  if (ns < 1e3)
    std::snprintf(text, sizeof text, "%.0f ns", ns);
  else if (ns < 1e6)
    std::snprintf(text, sizeof text, "%.1f µs", ns / 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f ms", ns / 1e6);
  return text;
}

std::string bytes_text(int64_t bytes) {
  char text[32];
  if (bytes < 1024)
    std::snprintf(text, sizeof text, "%lld bytes", static_cast<long long>(bytes));
  else if (bytes < 1024 * 1024)
    std::snprintf(text, sizeof text, "%.1f KiB", double(bytes) / 1024);
  else
    std::snprintf(text, sizeof text, "%.1f MiB", double(bytes) / (1024 * 1024));
  return text;
}

// Text that may be cut: all of it under the mouse.
void cut_text(ImU32 color, const std::string& text) {
  const float room = ImGui::GetContentRegionAvail().x;
  text_in(color, "%s", text.c_str());
  if (ImGui::CalcTextSize(text.c_str()).x > room) explain(text.c_str());
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

class InspectorPanel final : public Panel {
 public:
  const char* title() const override { return "Inspector"; }
  Region region() const override { return Region::lower_right; }

  void draw_tools(Workbench& bench) override {
    const NodeInfo* node = bench.tape.selected_node();
    if (!node) return;
    ImGui::AlignTextToFramePadding();
    text_in(theme().family[size_t(op_family(node->op))], "%s", node->op.c_str());
    bench.description.add_last("inspector.op", node->op);
    const std::string step = "step " + std::to_string(bench.shown_step()) + (bench.live() ? "" : " (kept)");
    ImGui::SameLine(0, em(0.6f));
    text_in(bench.live() ? theme().muted : theme().warning, "%s", step.c_str());
    bench.description.add_last("inspector.step", step);
    explain("The step that everything shows. The keys , and . go back and forth between the kept ones.");
    if (const char* doc = op_doc(node->op); *doc) {
      ImGui::SameLine(0, em(0.6f));
      cut_text(theme().muted, doc);
    }
  }

  void draw(Workbench& bench) override {
    const NodeInfo* node = bench.tape.selected_node();
    if (!node) {
      draw_empty("No node selected",
                 "Click a node of the tape: its record, its value and its gradient appear here.");
      return;
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool beside = room.x > em(30);
    const float record_width = beside ? std::floor(std::min(room.x * 0.46f, em(34))) : room.x;
    const float record_height = beside ? room.y : std::floor(room.y * 0.5f);
    ImGui::BeginChild("record", {record_width, record_height});
    draw_actions(bench, *node);
    draw_record(bench, *node);
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0, em(0.9f));
    ImGui::BeginChild("value", {0, 0});
    if (bench.inquiry.node() == node->id)
      draw_answers(bench, *node);
    else
      draw_values(bench, *node);
    ImGui::EndChild();
  }

 private:
  static void row(Workbench& bench, const char* name, const std::string& value, const char* help) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    cut_text(theme().muted, name);
    explain(help);
    ImGui::TableNextColumn();
    cut_text(theme().text, value);
    bench.description.add_last("inspector.field", std::string(name) + " = " + value);
  }

  static bool action(Workbench& bench, const char* label, const char* item, const char* help) {
    const bool pressed = ImGui::Button(label);
    bench.description.add_last(item, label);
    explain(help);
    ImGui::SameLine(0, em(0.4f));
    return pressed;
  }

  static void draw_actions(Workbench& bench, const NodeInfo& node) {
    if (node.op == "leaf") return;
    const int64_t step = bench.tape.tape()->step;
    if (action(bench, "Check gradient", "inspector.check_gradient",
               "Runs the node again in f64 and compares its gradient with central differences. The run is left as it is."))
      bench.inquiry.check_gradient(bench.session, step, node.id);
    if (action(bench, "Compare devices", "inspector.compare_devices",
               "Runs the node on the CPU and on the GPU, with the same inputs, and shows where the results differ."))
      bench.inquiry.compare_devices(bench.session, step, node.id);
    if (action(bench, "Break here", "inspector.break_here",
               "Pauses the run wherever the node's line is reached; a second click takes the breakpoint away."))
      bench.toggle_breakpoint(node);
    ImGui::NewLine();
  }

  void draw_place(Workbench& bench, const NodeInfo& node) {
    const std::string place = node.place.file + ":" + std::to_string(node.place.line);
    ImGui::PushStyleColor(ImGuiCol_Text, theme().accent);
    if (ImGui::Selectable(place.c_str())) bench.go_to(node.place);
    ImGui::PopStyleColor();
    bench.description.add_last("inspector.place", place);
    explain((place + "\nThe line that made the node. A click goes there.").c_str());
    const std::string& line = bench.source_line(node.place);
    if (line.empty()) return;
    ImGui::PushFont(fonts().mono);
    cut_text(theme().text, line);
    ImGui::PopFont();
  }

  void draw_record(Workbench& bench, const NodeInfo& node) {
    if (node.place.line > 0) draw_place(bench, node);
    if (ImGui::BeginTable("fields", 2, ImGuiTableFlags_SizingFixedFit)) {
      ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, em(6.2f));
      ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
      if (!node.module.empty())
        row(bench, "module", node.module, "The module that was running when the call was made.");
      for (const auto& [name, value] : node.attributes)
        row(bench, name.c_str(), value, "A parameter of the call. Positions count from 1, as in Lua.");
      if (node.op != "leaf") {
        row(bench, "forward", duration_text(node.forward_ns), "Time of the call itself.");
        row(bench, "backward", duration_text(node.backward_ns),
            "Time that its gradient took in the latest backward.");
      }
      row(bench, "memory", bytes_text(node.bytes) + " on " + node.device,
          "Of its outputs, and where it ran.");
      row(bench, "node", std::to_string(node.id),
          "Its id, which grows with time: operands have smaller ones.");
      ImGui::EndTable();
    }
    if (!node.inputs.empty()) draw_operands(bench, "Inputs", "inspector.input", node.inputs, true, false);
    draw_operands(bench, "Outputs", "inspector.output", node.outputs, false, node.op == "leaf");
  }

  void draw_operands(Workbench& bench, const char* heading, const char* item,
                     const std::vector<OperandInfo>& operands, bool inputs, bool leaf) {
    ImGui::Dummy({1, em(0.2f)});
    bold_text(heading);
    const auto flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollX;
    const float height = (ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y) * float(operands.size() + 1) +
                         ImGui::GetStyle().ScrollbarSize + 4;
    if (!ImGui::BeginTable(heading, 5, flags, {0, height})) return;
    for (const char* column : {"name", "shape", "dtype", "strides", "saved"}) ImGui::TableSetupColumn(column);
    ImGui::TableNextRow();
    for (const char* column : {"name", "shape", "dtype", "strides", "saved"}) {
      ImGui::TableNextColumn();
      text_in(theme().faint, "%s", column);
      if (*column == 's' && column[1] == 'a')
        explain(
            "Whether the gradient reads this value, and its version then and now. A value that was changed "
            "in "
            "between makes backward() fail.");
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      ImGui::TableNextRow();
      ImGui::PushID(int(i));
      draw_operand(bench, item, operands[i], int(i), inputs, leaf);
      ImGui::PopID();
    }
    ImGui::EndTable();
  }

  static void draw_operand(Workbench& bench, const char* item, const OperandInfo& operand, int i, bool inputs, bool leaf) {
    ImGui::TableNextColumn();
    const std::string name = operand.name.empty() ? std::to_string(i + 1) : operand.name;
    const int maker = inputs ? bench.tape.find_node(operand.node) : -1;
    if (maker >= 0) {
      ImGui::PushStyleColor(ImGuiCol_Text, theme().accent);
      if (ImGui::Selectable(name.c_str())) bench.tape.select(maker);
      ImGui::PopStyleColor();
      explain("Click to select the node that made it.");
    } else {
      ImGui::TextUnformatted(name.c_str());
    }
    bench.description.add_last(item, name + " " + shape_text(operand.shape));
    ImGui::TableNextColumn();
    const bool shown = bench.inspects_input() == inputs && bench.inspected() == i;
    if (ImGui::Selectable((shape_text(operand.shape) + "##show").c_str(), shown))
      inputs ? bench.inspect_input(i) : bench.inspect_output(i);
    bench.description.add_last("inspector.show", name + " " + shape_text(operand.shape));
    explain("Click to show its value and its gradient.");
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(operand.dtype.c_str());
    ImGui::TableNextColumn();
    text_in(theme().muted, "%s", shape_text(operand.strides).c_str());
    ImGui::TableNextColumn();
    if (!operand.saved)
      text_in(theme().faint, "no");
    else if (leaf || operand.saved_version == operand.version_now)  // an optimizer may write to its leaves
      text_in(theme().muted, "v%u", operand.version_now);
    else
      text_in(theme().bad, "v%u, now v%u", operand.saved_version, operand.version_now);
  }

  void draw_values(Workbench& bench, const NodeInfo& node) {
    const auto& side = bench.inspects_input() ? node.inputs : node.outputs;
    if (side.empty() || size_t(bench.inspected()) >= side.size()) return;
    const OperandInfo& tensor = side[size_t(bench.inspected())];
    const bool same_kind = choice_.shape == tensor.shape;
    choice_.fit(tensor.shape);
    if (!same_kind) value_.reset(), gradient_.reset();
    const auto tiles = bench.probe.value_tiles();
    draw_slice_controls(bench, choice_, tensor.dtype, tiles && tiles->available ? tiles->tiles : 0);
    if (!bench.told().empty()) {
      cut_text(theme().muted, bench.told());
      bench.description.add_last("inspector.told", bench.told());
    }
    const std::string label = node.op == "leaf" ? tensor.name : node.op + "-" + tensor.name;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool beside = room.x > em(30) && room.x > 1.2f * room.y;
    const float gap = em(0.6f);
    const ImVec2 half = beside ? ImVec2{(room.x - gap) / 2, room.y} : ImVec2{room.x, (room.y - gap) / 2};
    const ValueProbe::Look before_value = value_.look(choice_), before_gradient = gradient_.look(choice_);
    ImGui::BeginChild("output", half);
    value_.draw(bench, choice_, label);
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0, gap);
    ImGui::BeginChild("gradient", {0, 0});
    gradient_.draw(bench, choice_, label);
    ImGui::EndChild();
    // Both show the same part of the same slice.
    if (!same_look(before_value, value_.look(choice_)))
      gradient_.follow(value_);
    else if (!same_look(before_gradient, gradient_.look(choice_)))
      value_.follow(gradient_);
    bench.probe.value_look = value_.look(choice_);
    bench.probe.gradient_look = gradient_.look(choice_);
  }

  void draw_answers(Workbench& bench, const NodeInfo& node) {
    if (bench.inquiry.checking() || bench.inquiry.comparing()) {
      text_in(theme().muted, "%s", bench.inquiry.checking() ? "checking the gradient…" : "running on both devices…");
      bench.description.add_last("inspector.busy", "");
      if (ImGui::Button("Cancel")) bench.inquiry.cancel();
      bench.description.add_last("inspector.cancel", "");
      return;
    }
    if (ImGui::Button("Back to the values")) {
      bench.inquiry.close();
      return;
    }
    bench.description.add_last("inspector.back", "");
    if (const auto check = bench.inquiry.gradient(node.id)) draw_check(bench, *check);
    if (const auto comparison = bench.inquiry.devices(node.id)) draw_comparison(bench, *comparison);
  }

  static void reason(Workbench& bench, const std::string& what) {
    ImGui::PushTextWrapPos(0);
    text_in(theme().warning, "%s", what.c_str());
    ImGui::PopTextWrapPos();
    bench.description.add_last("inspector.verdict", what);
  }

  static void draw_check(Workbench& bench, const GradientCheck& check) {
    if (!check.ran) return reason(bench, "not checked: " + check.reason);
    const std::string verdict = check.ok ? "✓ the gradient is right" : "✗ the gradient is wrong";
    text_in(check.ok ? theme().good : theme().bad, "%s", verdict.c_str());
    bench.description.add_last("inspector.verdict", verdict);
    ImGui::SameLine(0, em(0.6f));
    text_in(theme().muted, "f64, %.2g s, tolerance %.0e", check.seconds, check.tolerance);
    explain("In double precision, by (f(x + h) - f(x - h)) / 2h with h = 1e-5 max(1, |x|), f being the sum of the outputs "
            "times fixed weights. Errors are relative to max(1, largest difference quotient).");
    const auto flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollX |
                       ImGuiTableFlags_ScrollY;
    constexpr const char* kColumns[] = {"input", "", "worst error", "at", "gradient", "difference", "checked", "kinks"};
    if (!ImGui::BeginTable("check", 8, flags)) return;
    for (const char* column : kColumns) ImGui::TableSetupColumn(column);
    ImGui::TableNextRow();
    for (const char* column : kColumns) {
      ImGui::TableNextColumn();
      text_in(theme().faint, "%s", column);
      if (*column == 'k')
        explain("Elements where the slopes to both sides differ, as relu's at 0: any gradient between them is right.");
    }
    for (const GradientCheck::Input& input : check.inputs) {
      const std::string cells[] = {input.name + " " + shape_text(input.shape),
                                   input.ok ? "right" : "wrong",
                                   number_text(input.worst),
                                   input.at.empty() && !input.shape.empty() ? "" : position_text(input.at) + (input.imaginary ? " i" : ""),
                                   number_text(input.gradient),
                                   number_text(input.difference),
                                   std::to_string(input.checked) + " of " + std::to_string(input.count),
                                   std::to_string(input.kinks)};
      ImGui::TableNextRow();
      std::string whole;
      for (size_t i = 0; i < std::size(cells); ++i) {
        ImGui::TableNextColumn();
        text_in(i == 1 ? input.ok ? theme().good : theme().bad : theme().text, "%s", cells[i].c_str());
        whole += cells[i] + " ";
      }
      bench.description.add_last("inspector.checked", whole);
    }
    ImGui::EndTable();
  }

  void draw_comparison(Workbench& bench, const DeviceComparison& comparison) {
    if (!comparison.ran) return reason(bench, "not compared: " + comparison.reason);
    text_in(theme().muted, "CPU %.3g ms, %s %.3g ms", 1e3 * comparison.cpu_seconds, comparison.device.c_str(),
            1e3 * comparison.other_seconds);
    for (size_t i = 0; i < comparison.outputs.size(); ++i) {
      const DeviceComparison::Output& output = comparison.outputs[i];
      const std::string verdict = output.name + " " + shape_text(output.shape) + ": largest error " + number_text(output.largest) +
                                  ", " + number_text(output.relative) + " of the largest value; " +
                                  std::to_string(output.different) + " of " + std::to_string(output.count) + " differ";
      ImGui::PushTextWrapPos(0);
      text_in(theme().text, "%s", verdict.c_str());
      bench.description.add_last("inspector.verdict", verdict);
      if (output.largest > 0)
        text_in(theme().muted, "at %s: CPU %.9g, there %.9g", position_text(output.at).c_str(), output.cpu, output.other);
      ImGui::PopTextWrapPos();
      if (output.largest == 0 || output.errors.empty()) continue;
      Statistics range;
      range.max = output.largest;
      const HeatCells cells{output.cell_rows,    output.cell_columns, output.cell_rows * output.cell_columns, 0, 0,
                            output.cell_rows,    output.cell_columns, output.cell_rows,
                            output.cell_columns, output.errors};
      ImGui::PushID(int(i));
      const float height = ImGui::GetContentRegionAvail().y / float(comparison.outputs.size() - i) - 3 * ImGui::GetTextLineHeight();
      errors_.draw("errors", cells, color_range({}, range), {ImGui::GetContentRegionAvail().x - 2, height}, value_colors(),
                   [](int64_t r, int64_t c) { return "cell " + position_text(std::array{r, c}); });
      draw_color_legend(color_range({}, range), ImGui::GetContentRegionAvail().x, value_colors());
      explain("The largest error in each cell of the map.");
      ImGui::PopID();
    }
  }

  SliceChoice choice_;
  TensorPane value_{"Value", "inspector.value", false}, gradient_{"Gradient", "inspector.gradient", true};
  Heatmap errors_;
};

}  // namespace

std::unique_ptr<Panel> make_inspector_panel() { return std::make_unique<InspectorPanel>(); }

}  // namespace lunagrad
