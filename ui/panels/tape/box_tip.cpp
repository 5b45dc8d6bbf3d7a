#include "ui/panels/tape/box_tip.h"

#include "runtime/core/op_name.h"
#include "ui/tape/groups.h"
#include "ui/tape/op_family.h"
#include "ui/widgets/value_view.h"
#include "ui/window/theme.h"

namespace lunagrad {

void draw_box_tip(Workbench& bench, const TapePicture& picture, size_t box, const ScreenArea& area,
                  const TapeMarks& marks) {
  const TapeTree::Item item = picture.boxes[box];
  begin_tip({.area = area, .key = box}, item.is_group
                                            ? bench.tape().tree()->groups[item.index].path
                                            : public_op_name(bench.tape().tape()->nodes[item.index].op));
  ImGui::PushTextWrapPos(em(30));
  if (item.is_group) {
    const TapeTree::Group& group = bench.tape().tree()->groups[item.index];
    bold_text(group.path);
    if (group.repeats > 0)
      text_in(theme().muted, "%u modules in a row that do the same on the same shapes. Click to see each.",
              group.repeats);
    else
      text_in(theme().muted, "A module of %u nodes. Click to see them.", group.node_count);
  } else {
    const NodeInfo& node = bench.tape().tape()->nodes[item.index];
    bold_text(public_op_name(node.op));
    ImGui::SameLine();
    text_in(theme().muted, "%s", op_family_name(op_family(node.op)));
    if (const char* doc = op_doc(node.op); *doc) text_in(theme().muted, "%s", doc);
    if (!node.module.empty()) ImGui::TextUnformatted(node.module.c_str());
    if (node.no_gradient) text_in(theme().muted, "%s", kNoGradient);
    for (const OperandInfo& output : node.outputs)
      ImGui::TextUnformatted((output.name + " " + shape_text(output.shape) + " " + output.dtype).c_str());
    if (const std::string planned = planned_text(bench.tape().tape()->plan, item.index).detail;
        !planned.empty())
      text_in(theme().muted, "%s", planned.c_str());
    if (const StepComparison* const compared = bench.step_comparing().shown())
      for (const auto& [name, words] : compared_rows(*compared, node.id))
        text_in(theme().text, "%s %s", name.c_str(), words.c_str());
    if (marks.boxes()[box].failed) text_in(theme().bad, "The run ended with an error here.");
    if (node.place.line > 0) {
      ImGui::Text("%s%s:%d", differentiates(node).c_str(), node.place.file.c_str(), node.place.line);
      const std::string line = bench.step_texts().line_of_tape(node.place);
      if (!line.empty()) {
        ImGui::PushFont(fonts().mono);
        text_in(theme().accent, "%s", line.c_str());
        ImGui::PopFont();
      }
    }
  }
  ImGui::PopTextWrapPos();
  end_tip();
}

void draw_frame_tip(Workbench& bench, const TapePicture& picture, size_t frame, const ScreenArea& area) {
  const TapeTree::Group& group = bench.tape().tree()->groups[picture.frames[frame]];
  begin_tip({.area = area, .key = picture.boxes.size() + frame}, group.path);
  ImGui::PushTextWrapPos(em(30));
  bold_text(group.path);
  text_in(theme().muted, "%u nodes. Click to close.", group.node_count);
  ImGui::PopTextWrapPos();
  end_tip();
}

}  // namespace lunagrad
