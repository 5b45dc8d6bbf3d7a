// Graphviz's layout of a picture: writes its boxes as sizes without texts, each open module as a cluster, and
// reads back the positions of the boxes and the lines between them.
#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>
#include <unordered_map>

#include "runtime/system/processes.h"
#include "ui/tape/picture.h"

namespace lunagrad {
namespace {

constexpr float kInch = 72;

class Question {
 public:
  Question(const TapePicture& picture, const TapeTree& tree) : picture_(picture), tree_(tree) {
    out_.imbue(std::locale::classic());
  }

  std::string text() {
    out_ << "digraph g {\nnodesep=0.25; ranksep=0.31; node [shape=box, fixedsize=true, label=\"\"];\n";
    inside_.resize(tree_.groups.size());
    for (uint32_t b = 0; b < picture_.boxes.size(); ++b) inside_[home(picture_.boxes[b])].push_back(b);
    frame_of_.assign(tree_.groups.size(), -1);
    for (size_t f = 0; f < picture_.frames.size(); ++f) frame_of_[picture_.frames[f]] = int(f);
    write(0);
    for (const Graph::Edge& edge : picture_.canvas.graph.edges)
      out_ << 'n' << edge.from << " -> n" << edge.to << ";\n";
    out_ << "}\n";
    return out_.str();
  }

 private:
  uint32_t home(TapeTree::Item item) const {
    return item.is_group ? uint32_t(tree_.groups[item.index].parent) : tree_.group_of[item.index];
  }

  void write(uint32_t group) {
    for (const uint32_t b : inside_[group]) {
      const Graph::Box box = picture_.canvas.graph.boxes[b];
      out_ << 'n' << b << " [width=" << box.width / kInch << ", height=" << box.height / kInch << "];\n";
    }
    for (const TapeTree::Item& item : tree_.groups[group].items) {
      if (!item.is_group || frame_of_[item.index] < 0) continue;
      // A label as wide as the title reserves space for the title.
      const float title = picture_.canvas.frames[size_t(frame_of_[item.index])].title_width + 34;
      out_ << "subgraph cluster" << item.index << " {\nmargin=" << kFramePad
           << "; fontsize=" << kFrameTitle - 8 << "; label=\"" << std::string(size_t(title / 8) + 1, 'x')
           << "\";\n";
      write(item.index);
      out_ << "}\n";
    }
  }

  const TapePicture& picture_;
  const TapeTree& tree_;
  std::ostringstream out_;
  std::vector<std::vector<uint32_t>> inside_;  // boxes of each open group
  std::vector<int> frame_of_;
};

// A point of a piecewise cubic Bézier curve.
GraphPoint on_curve(const GraphPoint* p, float t) {
  const float s = 1 - t, a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
  return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x,
          a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

// Reads the output of `dot -Tplain`. Returns false if it does not match the input.
bool read_answer(const std::string& answer, const CanvasGraph& canvas, GraphLayout& layout) {
  std::istringstream in(answer);
  in.imbue(std::locale::classic());
  std::unordered_map<uint64_t, std::vector<GraphPoint>> lines;
  const size_t count = canvas.nodes.size();
  layout.centers.assign(count, {NAN, NAN});
  layout.curved = false;
  double height = 0;
  const auto number_of = [](const std::string& name) {
    return name.size() > 1 && name[0] == 'n' ? size_t(std::strtoul(name.c_str() + 1, nullptr, 10)) : SIZE_MAX;
  };
  const auto read_point = [&](GraphPoint& p) {
    double x = 0, y = 0;
    in >> x >> y;
    p = {float(x) * kInch, float(height - y) * kInch};
  };
  for (std::string kind; in >> kind;) {
    std::string name, rest;
    if (kind == "graph") {
      double scale = 0, width = 0;
      in >> scale >> width >> height;
    } else if (kind == "node") {
      in >> name;
      const size_t box = number_of(name);
      if (box >= count) return false;
      read_point(layout.centers[box]);
    } else if (kind == "edge") {
      std::string to;
      size_t points = 0;
      in >> name >> to >> points;
      if (number_of(name) >= count || number_of(to) >= count || points > 10000) return false;
      std::vector<GraphPoint> control(points);
      for (GraphPoint& p : control) read_point(p);
      auto& line = lines[uint64_t(number_of(name)) << 32 | number_of(to)];
      if (points > 0) line.push_back(control[0]);
      for (size_t i = 0; i + 3 < points; i += 3)
        for (int k = 1; k <= 6; ++k) line.push_back(on_curve(&control[i], float(k) / 6));
    } else {
      break;
    }
    std::getline(in, rest);
  }
  for (const GraphPoint& p : layout.centers)
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) return false;
  for (const Graph::Edge& edge : canvas.graph.edges) {
    layout.first.push_back(uint32_t(layout.points.size()));
    const auto found = lines.find(uint64_t(edge.from) << 32 | edge.to);
    if (found == lines.end() || found->second.size() < 2) return false;
    layout.points.insert(layout.points.end(), found->second.begin(), found->second.end());
    // dot ends an edge where its arrow begins; the canvas draws its own arrows.
    layout.points.back().y = layout.centers[edge.to].y - canvas.graph.boxes[edge.to].height / 2;
  }
  layout.first.push_back(uint32_t(layout.points.size()));
  return true;
}

struct Bounds {
  GraphPoint low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
  void add(GraphPoint a, GraphPoint b) {
    low = {std::min(low.x, a.x), std::min(low.y, a.y)};
    high = {std::max(high.x, b.x), std::max(high.y, b.y)};
  }
};

}  // namespace

bool arrange_with_dot(TapePicture& picture, const TapeTree& tree, const std::function<bool()>& stop,
                      const std::string& program, std::string& reason) {
  CanvasGraph& canvas = picture.canvas;
  if (canvas.nodes.empty() || canvas.nodes.size() > kMostForDot) return false;
  const FilterRun run = run_filter(program, {"-Tplain"}, Question(picture, tree).text(), stop);
  if (run.end == FilterRun::End::missing) reason = "missing";
  if (run.end == FilterRun::End::failed) reason = run.reason;
  if (run.end != FilterRun::End::done) return false;
  GraphLayout layout;
  if (!read_answer(run.output, canvas, layout)) {
    reason = "its answer does not fit the graph";
    return false;
  }
  // A frame surrounds its content; inner frames come first.
  std::vector<Bounds> held(tree.groups.size());
  for (size_t b = 0; b < canvas.nodes.size(); ++b) {
    const TapeTree::Item item = picture.boxes[b];
    const GraphPoint c = layout.centers[b];
    const Graph::Box box = canvas.graph.boxes[b];
    held[item.is_group ? size_t(tree.groups[item.index].parent) : tree.group_of[item.index]].add(
        {c.x - box.width / 2, c.y - box.height / 2}, {c.x + box.width / 2, c.y + box.height / 2});
  }
  std::vector<CanvasFrame> frames = canvas.frames;
  for (size_t f = frames.size(); f-- > 0;) {
    CanvasFrame& frame = frames[f];
    const Bounds& inner = held[picture.frames[f]];
    const float room = std::max(frame.title_width + 34 - (inner.high.x - inner.low.x), 2 * kFramePad) / 2;
    frame.low = {inner.low.x - room, inner.low.y - kFrameTitle};
    frame.high = {inner.high.x + room, inner.high.y + kFramePad};
    held[size_t(tree.groups[picture.frames[f]].parent)].add(frame.low, frame.high);
  }
  Bounds all = held[0];
  for (const GraphPoint& p : layout.points) all.add(p, p);
  layout.width = all.high.x - all.low.x;
  layout.height = all.high.y - all.low.y;
  canvas.layout = std::move(layout);
  canvas.frames = std::move(frames);
  canvas.low = all.low;
  canvas.index();
  return true;
}

}  // namespace lunagrad
