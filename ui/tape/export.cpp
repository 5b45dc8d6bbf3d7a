#include "ui/tape/export.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/path_text.h"
#include "runtime/io/graphviz.h"
#include "runtime/io/quoting.h"
#include "ui/widgets/value_view.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

// Rounds to tenths of a unit; the decimal sign does not depend on the locale.
std::string number(float value) {
  const long tenths = std::lround(double(value) * 10);
  std::string text = tenths < 0 ? "-" : "";
  text += std::to_string(std::labs(tenths) / 10);
  if (tenths % 10) text += '.' + std::to_string(std::labs(tenths) % 10);
  return text;
}

class Svg {
 public:
  Svg(const CanvasGraph& graph, const GraphCanvas::Colors& colors) : graph_(graph), colors_(colors) {}

  std::string draw() {
    constexpr float kMargin = 16;
    const float width = graph_.layout.width + 2 * kMargin, height = graph_.layout.height + 2 * kMargin;
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(width), "\" height=\"", number(height),
        "\" viewBox=\"", number(graph_.low.x - kMargin), " ", number(graph_.low.y - kMargin), " ",
        number(width), " ", number(height), "\" font-family=\"sans-serif\" text-anchor=\"middle\">\n");
    add("<rect x=\"", number(graph_.low.x - kMargin), "\" y=\"", number(graph_.low.y - kMargin),
        "\" width=\"100%\" height=\"100%\" fill=\"", hex_color(colors_.background), "\"/>\n");
    for (const CanvasFrame& frame : graph_.frames) add_frame(frame);
    for (size_t e = 0; e + 1 < graph_.layout.first.size(); ++e) add_edge(e);
    for (size_t b = 0; b < graph_.nodes.size(); ++b) add_box(b);
    add("</svg>\n");
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void add(const Parts&... parts) {
    (out_.append(parts), ...);
  }

  void add_rect(GraphPoint low, GraphPoint high, float rounding, ImU32 fill, float opacity, ImU32 stroke) {
    add("<rect x=\"", number(low.x), "\" y=\"", number(low.y), "\" width=\"", number(high.x - low.x),
        "\" height=\"", number(high.y - low.y), "\" rx=\"", number(rounding), "\" fill=\"", hex_color(fill),
        "\" fill-opacity=\"", number(opacity), "\" stroke=\"", hex_color(stroke), "\"/>\n");
  }

  void add_text(float x, float y, float size, bool bold, ImU32 ink, std::string_view text) {
    if (text.empty()) return;
    add("<text x=\"", number(x), "\" y=\"", number(y), "\" font-size=\"", number(size),
        bold ? "\" font-weight=\"bold" : "", "\" fill=\"", hex_color(ink), "\">", xml_text(path_text(text)),
        "</text>\n");
  }

  void add_frame(const CanvasFrame& frame) {
    add_rect(frame.low, frame.high, 8, colors_.muted, 0.1f, colors_.faint);
    add_text(frame.low.x + 22 + frame.title_width / 2, frame.low.y + 16, 12.8f, true, colors_.muted,
             frame.title);
  }

  void add_edge(size_t e) {
    const GraphLayout& layout = graph_.layout;
    const uint32_t begin = layout.first[e], end = layout.first[e + 1];
    if (end < begin + 2) return;
    GraphPoint last = layout.points[begin];
    add("<path fill=\"none\" stroke=\"", hex_color(colors_.edge), "\" stroke-width=\"1.4\" d=\"M",
        number(last.x), " ", number(last.y));
    for (uint32_t p = begin + 1; p < end; ++p) {
      const GraphPoint next = layout.points[p];
      if (!layout.curved || std::abs(next.x - last.x) < 1.5f || std::abs(next.y - last.y) < 1.5f) {
        add("L", number(next.x), " ", number(next.y));
      } else if (layout.sideways) {
        const float middle = (last.x + next.x) / 2;
        add("C", number(middle), " ", number(last.y), " ", number(middle), " ", number(next.y), " ",
            number(next.x), " ", number(next.y));
      } else {
        const float middle = (last.y + next.y) / 2;
        add("C", number(last.x), " ", number(middle), " ", number(next.x), " ", number(middle), " ",
            number(next.x), " ", number(next.y));
      }
      last = next;
    }
    const GraphPoint before = layout.points[end - 2];
    const bool down = last.y >= before.y;
    const char* arrow = layout.sideways && std::abs(before.x - last.x) >= 1.5f ? "l-7 -4v8z"
                        : down                                                 ? "l-4 -7h8z"
                                                                               : "l-4 7h8z";
    add("\"/>\n<path fill=\"", hex_color(colors_.edge), "\" d=\"M", number(last.x), " ", number(last.y),
        arrow, "\"/>\n");
  }

  void add_box(size_t b) {
    const CanvasNode& node = graph_.nodes[b];
    const GraphPoint c = graph_.layout.centers[b];
    const Graph::Box box = graph_.graph.boxes[b];
    const GraphPoint low{c.x - box.width / 2, c.y - box.height / 2},
        high{c.x + box.width / 2, c.y + box.height / 2};
    const ImU32 hue = colors_.palette[node.color], body = blend(colors_.box, hue, node.opens ? 0.24f : 0.15f);
    const float rounding = node.pill ? box.height / 2 : 6;
    if (node.opens) add_rect({low.x + 4, low.y + 4}, {high.x + 4, high.y + 4}, rounding, body, 1, hue);
    add_rect(low, high, rounding, body, 1, hue);
    add_text(c.x, node.line.empty() ? c.y + 5 : c.y - 3, 15, true, colors_.text, node.title);
    add_text(c.x, c.y + 15, 12.8f, false, colors_.muted, node.line);
  }

  const CanvasGraph& graph_;
  const GraphCanvas::Colors& colors_;
  std::string out_;
};

}  // namespace

std::string tape_as_dot(const TapeSnapshot& tape) {
  std::vector<DotNode> nodes;
  nodes.reserve(tape.nodes.size());
  std::vector<uint64_t> ids;
  for (const NodeInfo& node : tape.nodes) ids.push_back(node.id);
  std::sort(ids.begin(), ids.end());
  for (const NodeInfo& node : tape.nodes) {
    DotNode dot;
    dot.id = 'n' + std::to_string(node.id);
    dot.leaf = node.op == "leaf";
    const bool named = dot.leaf && !node.outputs.empty() && !node.outputs[0].name.empty();
    dot.lines.push_back(named ? node.outputs[0].name : node.op);
    if (!node.outputs.empty())
      dot.lines.push_back(shape_text(node.outputs[0].shape) + ' ' + node.outputs[0].dtype);
    if (node.place.line > 0) dot.lines.push_back(node.place.file + ':' + std::to_string(node.place.line));
    for (const OperandInfo& input : node.inputs)
      if (std::binary_search(ids.begin(), ids.end(), input.node))
        dot.inputs.push_back('n' + std::to_string(input.node));
    nodes.push_back(std::move(dot));
  }
  return dot_text(nodes);
}

std::string picture_as_svg(const CanvasGraph& graph, const GraphCanvas::Colors& colors) {
  return Svg(graph, colors).draw();
}

}  // namespace lunagrad
