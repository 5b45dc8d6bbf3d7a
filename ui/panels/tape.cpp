// Tape: the nodes of the latest backward pass as a graph, data flowing downwards. A click selects a node for
// the inspector.
#include <cstdio>

#include "ui/op_family.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/widgets/graph_canvas.h"

namespace lunagrad {
namespace {

class TapePanel final : public Panel {
 public:
  const char* title() const override { return "Tape"; }
  Region region() const override { return Region::upper_right; }

  void draw_tools(Workbench& bench) override {
    ImGui::SetNextItemWidth(em(10));
    if (ImGui::InputTextWithHint("##search", "search", search_, sizeof search_)) searched_ = nullptr;
    bench.description.add_last("tape.search", search_);
    explain(
        "Words of an op, module, name, shape, dtype or source line. What does not match all of them fades.");
    ImGui::SameLine();
    if (ImGui::Button("Fit")) canvas_.fit();
    bench.description.add_last("tape.fit", "");
    explain("Shows the whole tape. Drag pans, the wheel zooms, a click selects.");
    if (const TapeSnapshot* tape = bench.tape.tape()) {
      ImGui::SameLine();
      char text[80];
      if (search_[0])
        std::snprintf(text, sizeof text, "%zu of %zu nodes", found_count_, tape->nodes.size());
      else
        std::snprintf(text, sizeof text, "%zu nodes, step %lld", tape->nodes.size(),
                      static_cast<long long>(tape->step));
      ImGui::AlignTextToFramePadding();
      text_in(theme().muted, "%s", text);
      bench.description.add_last("tape.summary", text);
    }
  }

  void draw(Workbench& bench) override {
    const CanvasGraph* picture = bench.tape.picture();
    if (!picture || picture->nodes.empty()) {
      if (bench.tape.laying_out())
        draw_empty("Laying out the tape", "This takes a moment for a tape of many thousand nodes.");
      else
        draw_empty("No tape yet",
                   "Run a script that calls backward(): the nodes of its latest step appear here.");
      structure_ = 0;
      return;
    }
    if (bench.tape.structure() != structure_) {
      structure_ = bench.tape.structure();
      canvas_.fit();
      searched_ = nullptr;
    }
    search(bench);
    const Theme& t = theme();
    const GraphCanvas::Colors colors{t.canvas, t.grid,  t.panel,  t.text,   t.muted,
                                     t.faint,  t.faint, t.accent, t.accent, t.family.data()};
    GraphCanvas::Marks marks{bench.tape.selected(), search_[0] ? &found_ : nullptr};
    const auto& nodes = bench.tape.tape()->nodes;
    const auto describe = [&](int node, ImVec2 min, ImVec2 max) {
      const CanvasNode& shown = picture->nodes[size_t(node)];
      bench.description.add("tape.node", shown.title + " " + shown.line, min, max);
    };
    using Visit = std::function<void(int, ImVec2, ImVec2)>;
    const int clicked = canvas_.draw("canvas", *picture, ImGui::GetContentRegionAvail(), colors, marks,
                                     bench.description.enabled() ? Visit(describe) : Visit());
    if (clicked >= -1) bench.tape.select(clicked);
    if (canvas_.hovered() >= 0 && !ImGui::IsMouseDown(ImGuiMouseButton_Left))
      show_tip(bench, nodes[size_t(canvas_.hovered())]);
  }

 private:
  void search(Workbench& bench) {
    const TapeSnapshot* tape = bench.tape.tape();
    if (!search_[0] || searched_ == tape) return;
    searched_ = tape;
    found_.assign(tape->nodes.size(), 0);
    found_count_ = 0;
    for (size_t i = 0; i < tape->nodes.size(); ++i) {
      if (!contains_words(searchable_text(tape->nodes[i]), search_)) continue;
      found_[i] = 1;
      ++found_count_;
    }
  }

  static void show_tip(Workbench& bench, const NodeInfo& node) {
    ImGui::BeginTooltip();
    bold_text(node.op);
    ImGui::SameLine();
    text_in(theme().muted, "%s", op_family_name(op_family(node.op)));
    ImGui::PushTextWrapPos(em(30));
    if (const char* doc = op_doc(node.op); *doc) text_in(theme().muted, "%s", doc);
    ImGui::PopTextWrapPos();
    if (node.place.line > 0) {
      ImGui::Text("%s:%d", node.place.file.c_str(), node.place.line);
      const std::string& line = bench.source_line(node.place);
      if (!line.empty()) {
        ImGui::PushFont(fonts().mono);
        text_in(theme().accent, "%s", line.c_str());
        ImGui::PopFont();
      }
    }
    ImGui::EndTooltip();
  }

  GraphCanvas canvas_;
  uint64_t structure_ = 0;
  char search_[128] = "";
  const TapeSnapshot* searched_ = nullptr;
  std::vector<char> found_;
  size_t found_count_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_tape_panel() { return std::make_unique<TapePanel>(); }

}  // namespace lunagrad
