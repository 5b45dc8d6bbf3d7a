// Inspector: every field of the selected node's record, and the value and gradient of one of its outputs.
#include <cmath>
#include <cstdio>

#include "ui/op_family.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/widgets/value_view.h"

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
    if (const char* doc = op_doc(node->op); *doc) {
      ImGui::SameLine();
      text_in(theme().muted, "%s", doc);
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
    const float record_width = beside ? std::floor(room.x * 0.52f) : room.x;
    const float record_height = beside ? room.y : std::floor(room.y * 0.5f);
    ImGui::BeginChild("record", {record_width, record_height});
    draw_record(bench, *node);
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0, em(0.9f));
    ImGui::BeginChild("value", {0, 0});
    draw_values(bench, *node);
    ImGui::EndChild();
  }

 private:
  static void row(Workbench& bench, const char* name, const std::string& value, const char* help) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_in(theme().muted, "%s", name);
    explain(help);
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(value.c_str());
    bench.description.add_last("inspector.field", std::string(name) + " = " + value);
  }

  void draw_record(Workbench& bench, const NodeInfo& node) {
    if (node.place.line > 0) {
      text_in(theme().muted, "%s:%d", node.place.file.c_str(), node.place.line);
      bench.description.add_last("inspector.place", node.place.file + ":" + std::to_string(node.place.line));
      const std::string& line = bench.source_line(node.place);
      if (!line.empty()) {
        ImGui::PushFont(fonts().mono);
        text_in(theme().text, "%s", line.c_str());
        ImGui::PopFont();
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", line.c_str());
      }
    }
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
    const auto flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH;
    if (!ImGui::BeginTable(heading, 5, flags)) return;
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
      const OperandInfo& operand = operands[i];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(int(i));
      const std::string name = operand.name.empty() ? std::to_string(i + 1) : operand.name;
      const int maker = inputs ? bench.tape.find_node(operand.node) : -1;
      if (maker >= 0) {
        ImGui::PushStyleColor(ImGuiCol_Text, theme().accent);
        if (ImGui::Selectable(name.c_str())) bench.tape.select(maker);
        ImGui::PopStyleColor();
        explain("Click to select the node that made it.");
      } else if (!inputs && operands.size() > 1) {
        if (ImGui::Selectable(name.c_str(), bench.inspected_output() == int(i))) bench.inspect_output(int(i));
        explain("Click to show this output.");
      } else {
        ImGui::TextUnformatted(name.c_str());
      }
      bench.description.add_last(item, name + " " + shape_text(operand.shape));
      ImGui::PopID();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(shape_text(operand.shape).c_str());
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
    ImGui::EndTable();
  }

  void draw_values(Workbench& bench, const NodeInfo& node) {
    if (node.outputs.empty()) return;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool beside = room.x > em(24) && room.x > 1.4f * room.y;
    const float gap = em(0.6f);
    const ImVec2 half = beside ? ImVec2{(room.x - gap) / 2, room.y} : ImVec2{room.x, (room.y - gap) / 2};
    ImGui::BeginChild("output", half);
    draw_value(bench, "Value", "inspector.value", bench.probe.value(), value_map_);
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0, gap);
    ImGui::BeginChild("gradient", {0, 0});
    draw_value(bench, "Gradient", "inspector.gradient", bench.probe.gradient(), gradient_map_);
    ImGui::EndChild();
  }

  static void draw_value(Workbench& bench, const char* heading, const char* item,
                         const std::shared_ptr<const ValueView>& view, Heatmap& map) {
    bold_text(heading);
    if (!view) {
      text_in(theme().faint, "reading…");
      return;
    }
    if (!view->available) {
      ImGui::PushTextWrapPos(0);
      text_in(theme().muted, "%s", view->reason.c_str());
      ImGui::PopTextWrapPos();
      bench.description.add_last(item, view->reason);
      return;
    }
    ImGui::SameLine(0, em(0.7f));
    text_in(theme().muted, "%s %s", shape_text(view->shape).c_str(), view->dtype.c_str());
    if (view->count > 1) {
      text_in(theme().muted, "mean %.3g  std %.3g", view->mean, view->std);
      if (view->zeros > 0) {
        ImGui::SameLine(0, em(0.6f));
        text_in(theme().muted, "zeros %.0f %%", 100.0 * double(view->zeros) / double(view->count));
      }
    }
    if (view->nans + view->infs > 0)
      text_in(theme().bad, "%lld NaN, %lld Inf", static_cast<long long>(view->nans),
              static_cast<long long>(view->infs));
    const CellGrid grid{view->shape, view->values, view->count, view->min, view->max};
    const HeatmapColors colors{
        theme().canvas, theme().border, theme().text, theme().muted, IM_COL32(255, 0, 200, 255),
        theme().dark};
    ImGui::BeginGroup();
    const ImVec2 left = ImGui::GetContentRegionAvail();
    map.draw(heading, grid, left.x - 2, left.y - 2, colors);
    ImGui::EndGroup();
    bench.description.add_last(item, shape_text(view->shape) + " min " + short_number(view->min) + " max " +
                                         short_number(view->max));
  }

  Heatmap value_map_, gradient_map_;
};

}  // namespace

std::unique_ptr<Panel> make_inspector_panel() { return std::make_unique<InspectorPanel>(); }

}  // namespace lunagrad
