#include "ui/tape/picture.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/core/hash.h"
#include "runtime/core/op_name.h"
#include "ui/graph/rows.h"
#include "ui/graph/sideways.h"
#include "ui/tape/op_family.h"
#include "ui/widgets/value_view.h"

namespace lunagrad {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

CanvasNode node_label(const NodeInfo& node, const std::string& module_path) {
  CanvasNode shown;
  const OpFamily family = op_family(node.op);
  shown.color = int(family);
  shown.pill = family == OpFamily::leaf;
  shown.title = public_op_name(node.op);
  if (shown.pill && !node.outputs.empty() && !node.outputs[0].name.empty())
    shown.title = local_name(shown.name = node.outputs[0].name, module_path);
  if (shown.title == shown.name) shown.name.clear();
  shown.pale = node.no_gradient;
  if (!node.outputs.empty()) shown.line = shape_text(node.outputs[0].shape);
  if (!node.gradient_op.empty()) shown.line = "for " + public_op_name(node.gradient_op) + " " + shown.line;
  if (node.outputs.size() > 1) shown.line += " (1 of " + std::to_string(node.outputs.size()) + ")";
  return shown;
}

std::string count_with_noun(size_t count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

CanvasNode group_label(const TapeTree::Group& group) {
  CanvasNode shown;
  shown.color = int(OpFamily::other);
  shown.opens = true;
  shown.title = group.name;
  if (!group.line.empty()) {
    shown.line = group.line;
  } else if (group.repeats > 0) {
    shown.title += " ×" + std::to_string(group.repeats);
    shown.line =
        std::to_string(group.repeats) + " × " + count_with_noun(group.node_count / group.repeats, "node");
  } else {
    shown.line = count_with_noun(group.node_count, "node");
  }
  return shown;
}

// Lays out the open groups from the inside outwards. An edge that crosses the border of a group goes through
// a port: a box without size, pinned to the first or the last layer of the group.
class Composer {
 public:
  Composer(const TapeSnapshot& tape, const TapeTree& tree, const std::vector<char>& open,
           const TextMeasure& measure, std::stop_token stop, bool sideways, float longest)
      : tape_(tape),
        tree_(tree),
        open_(open),
        measure_(measure),
        stop_(std::move(stop)),
        sideways_(sideways),
        longest_(longest) {}

  TapePicture compose() {
    add_boxes();
    add_edges();
    for (size_t g = tree_.groups.size(); g-- > 0;) {
      if (!open_[g]) continue;
      arrange(uint32_t(g));
      if (stop_.stop_requested()) return {};
    }
    collect();
    return std::move(picture_);
  }

 private:
  // The content of an open group.
  struct Level {
    Graph graph;
    std::vector<uint32_t> source;  // for each edge: the box that its tensor comes from
    GraphLayout layout;
    float width = 0, height = 0;  // including the frame
    GraphPoint inner;             // origin of the layout in the frame
    GraphPoint origin;            // on the whole sheet
  };
  struct Place {
    uint32_t group = 0, local = 0;  // an open group, and the box's index in it
  };
  struct Piece {
    uint32_t group, edge;
  };

  static uint64_t pair(uint32_t a, uint32_t b) { return uint64_t(a) << 32 | b; }

  void add_boxes() {
    levels_.resize(tree_.groups.size());
    place_of_group_.resize(tree_.groups.size());
    shown_in_.assign(tree_.groups.size(), kNone);
    picture_.box_of.assign(tape_.nodes.size(), kNone);
    std::vector<uint32_t> group_box(tree_.groups.size(), kNone);
    for (uint32_t g = 0; g < tree_.groups.size(); ++g) {
      // The outermost closed group that contains this one, if there is one.
      const int parent = tree_.groups[g].parent;
      shown_in_[g] = open_[g]                                            ? kNone
                     : parent >= 0 && shown_in_[size_t(parent)] != kNone ? shown_in_[size_t(parent)]
                                                                         : g;
      if (!open_[g]) continue;
      for (const TapeTree::Item& item : tree_.groups[g].items) {
        const Place place{g, uint32_t(levels_[g].graph.boxes.size())};
        if (item.is_group) place_of_group_[item.index] = place;
        levels_[g].graph.boxes.emplace_back();
        if (item.is_group && open_[item.index]) continue;
        CanvasNode node = item.is_group ? group_label(tree_.groups[item.index])
                                        : node_label(tape_.nodes[item.index], tree_.module_of(g));
        levels_[g].graph.boxes.back() = canvas_box(node, measure_);
        levels_[g].graph.boxes.back().source = node.pill;
        if (item.is_group)
          group_box[item.index] = uint32_t(picture_.boxes.size());
        else
          picture_.box_of[item.index] = uint32_t(picture_.boxes.size());
        picture_.boxes.push_back(item);
        picture_.keys.push_back(item.is_group ? tree_.groups[item.index].key : tree_.node_key[item.index]);
        picture_.canvas.nodes.push_back(std::move(node));
        picture_.canvas.graph.boxes.push_back(levels_[g].graph.boxes.back());
        place_of_box_.push_back(place);
      }
    }
    for (size_t i = 0; i < tape_.nodes.size(); ++i)
      if (picture_.box_of[i] == kNone) picture_.box_of[i] = group_box[shown_in_[tree_.group_of[i]]];
  }

  void add_edges() {
    std::unordered_set<uint64_t> known;
    std::vector<uint32_t> nodes(tape_.nodes.size());
    for (uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
    std::sort(nodes.begin(), nodes.end(),
              [&](uint32_t a, uint32_t b) { return tape_.nodes[a].id < tape_.nodes[b].id; });
    for (const uint32_t node : nodes)
      for (const uint32_t operand : tree_.operands[node]) {
        const uint32_t from = picture_.box_of[operand], to = picture_.box_of[node];
        if (from != to && known.insert(pair(from, to)).second) add_edge(from, to);
      }
  }

  void add_edge(uint32_t from, uint32_t to) {
    picture_.canvas.graph.edges.push_back({from, to});
    const auto depth = [&](Place place) { return tree_.groups[place.group].depth; };
    const auto around = [&](Place place) { return place_of_group_[place.group]; };
    Place a = place_of_box_[from], b = place_of_box_[to];
    std::vector<Piece> inwards;
    pieces_.emplace_back();
    while (a.group != b.group) {
      if (depth(a) >= depth(b)) {
        pieces_.back().push_back(
            local_edge(a.group, a.local, port(leaving_, a.group, from, Graph::Pin::bottom), from));
        a = around(a);
      } else {
        inwards.push_back(
            local_edge(b.group, port(entering_, b.group, from, Graph::Pin::top), b.local, from));
        b = around(b);
      }
    }
    pieces_.back().push_back(local_edge(a.group, a.local, b.local, from));
    pieces_.back().insert(pieces_.back().end(), inwards.rbegin(), inwards.rend());
  }

  using Ports = std::unordered_map<uint64_t, uint32_t>;

  uint32_t port(Ports& ports, uint32_t group, uint32_t source, Graph::Pin pin) {
    auto& boxes = levels_[group].graph.boxes;
    const auto [found, fresh] = ports.try_emplace(pair(group, source), uint32_t(boxes.size()));
    if (fresh) boxes.push_back({0, 0, pin});
    return found->second;
  }

  Piece local_edge(uint32_t group, uint32_t from, uint32_t to, uint32_t source) {
    Level& level = levels_[group];
    const auto [found, fresh] =
        edges_.try_emplace(hash_of(pair(group, source), pair(from, to)), uint32_t(level.graph.edges.size()));
    if (fresh) {
      level.graph.edges.push_back({from, to});
      level.source.push_back(source);
    }
    return {group, found->second};
  }

  // The offset of a port on the border of an open group, from its center.
  float port_offset(const Ports& ports, uint32_t group, uint32_t source) const {
    const Level& level = levels_[group];
    const GraphPoint port = level.layout.centers[ports.at(pair(group, source))];
    return sideways_ ? level.inner.y + port.y - level.height / 2 : level.inner.x + port.x - level.width / 2;
  }

  void arrange(uint32_t g) {
    Level& level = levels_[g];
    const auto& items = tree_.groups[g].items;
    const auto open_item = [&](uint32_t local) {
      return local < items.size() && items[local].is_group && open_[items[local].index];
    };
    for (uint32_t i = 0; i < items.size(); ++i)
      if (open_item(i))
        level.graph.boxes[i] = {levels_[items[i].index].width, levels_[items[i].index].height};
    for (size_t e = 0; e < level.graph.edges.size(); ++e) {
      Graph::Edge& edge = level.graph.edges[e];
      if (open_item(edge.from)) edge.leave = port_offset(leaving_, items[edge.from].index, level.source[e]);
      if (open_item(edge.to)) edge.enter = port_offset(entering_, items[edge.to].index, level.source[e]);
    }
    level.layout = laid_out(level.graph);
    level.width = level.layout.width;
    level.height = level.layout.height;
    if (g == 0) return;
    const float title = measure_.bold(frame_title(g)) * 0.85f + 34;
    level.width = std::max(level.layout.width + 2 * kFramePad, title);
    level.inner = {(level.width - level.layout.width) / 2, kFrameTitle};
    // In a sideways picture a single row is vertically centered, so that edges through frames are straight.
    const bool centered = sideways_ && level.layout.rows == 1;
    level.height = kFrameTitle + level.layout.height + (centered ? kFrameTitle : kFramePad);
  }

  GraphLayout laid_out(const Graph& graph) const {
    GraphLayout layout = sideways_ ? layout_sideways(graph, stop_) : layout_graph(graph, {}, stop_);
    const float length = sideways_ ? layout.width : layout.height;
    if (longest_ <= 0 || length <= longest_) return layout;
    if (sideways_) return wrap_rows(graph, layout, longest_);
    return turned(wrap_rows(turned(graph), turned(std::move(layout)), longest_));
  }

  std::string frame_title(uint32_t g) const {
    const TapeTree::Group& group = tree_.groups[g];
    return group.repeats > 0 ? group.name + " ×" + std::to_string(group.repeats) : group.name;
  }

  void collect() {
    CanvasGraph& canvas = picture_.canvas;
    canvas.layout.width = levels_[0].layout.width;
    canvas.layout.height = levels_[0].layout.height;
    canvas.layout.sideways = sideways_;
    for (const Level& level : levels_) canvas.layout.rows = std::max(canvas.layout.rows, level.layout.rows);
    for (uint32_t g = 1; g < tree_.groups.size(); ++g) {
      if (!open_[g]) continue;
      Level& level = levels_[g];
      const Place place = place_of_group_[g];
      const Level& above = levels_[place.group];
      const GraphPoint center = above.layout.centers[place.local];
      const GraphPoint low{above.origin.x + center.x - level.width / 2,
                           above.origin.y + center.y - level.height / 2};
      level.origin = {low.x + level.inner.x, low.y + level.inner.y};
      CanvasFrame frame{frame_title(g), low, {low.x + level.width, low.y + level.height}, 0};
      frame.title_width = measure_.bold(frame.title) * 0.85f;
      canvas.frames.push_back(std::move(frame));
      picture_.frames.push_back(g);
      picture_.frame_keys.push_back(tree_.groups[g].key);
    }
    const auto on_sheet = [&](uint32_t g, GraphPoint p) {
      return GraphPoint{p.x + levels_[g].origin.x, p.y + levels_[g].origin.y};
    };
    for (const Place& place : place_of_box_)
      canvas.layout.centers.push_back(
          on_sheet(place.group, levels_[place.group].layout.centers[place.local]));
    for (const auto& pieces : pieces_) {
      canvas.layout.first.push_back(uint32_t(canvas.layout.points.size()));
      for (const Piece& piece : pieces) {
        const GraphLayout& layout = levels_[piece.group].layout;
        for (uint32_t p = layout.first[piece.edge]; p < layout.first[piece.edge + 1]; ++p)
          canvas.layout.points.push_back(on_sheet(piece.group, layout.points[p]));
      }
    }
    canvas.layout.first.push_back(uint32_t(canvas.layout.points.size()));
    canvas.index();
  }

  const TapeSnapshot& tape_;
  const TapeTree& tree_;
  const std::vector<char>& open_;
  const TextMeasure& measure_;
  std::stop_token stop_;
  const bool sideways_;
  const float longest_;
  TapePicture picture_;
  std::vector<Level> levels_;  // for each group; empty for closed groups
  std::vector<Place> place_of_group_, place_of_box_;
  std::vector<uint32_t> shown_in_;          // for a group that is not open: the visible closed group
  Ports leaving_, entering_;                // keyed by group and source
  Ports edges_;                             // keyed by group, source and both ends
  std::vector<std::vector<Piece>> pieces_;  // for each edge of the picture its pieces, beginning at its start
};

}  // namespace

TapePicture tape_picture(const TapeSnapshot& tape, const TapeTree& tree, const std::vector<char>& open,
                         const TextMeasure& measure, std::stop_token stop, bool sideways, float longest) {
  return Composer(tape, tree, open, measure, std::move(stop), sideways, longest).compose();
}

std::string local_name(const std::string& name, const std::string& module_path) {
  const std::string around = '.' + module_path;
  for (size_t dot = name.rfind('.'); dot != name.npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    if (around.ends_with('.' + name.substr(0, dot))) return name.substr(dot + 1);
  }
  return name;
}

double keep_places(TapePicture& next, const TapePicture& last, uint64_t anchor) {
  std::unordered_map<uint64_t, GraphPoint> before;
  for (size_t i = 0; i < last.keys.size(); ++i) before.emplace(last.keys[i], last.canvas.layout.centers[i]);
  GraphPoint by;
  std::vector<float> dx, dy;
  for (size_t i = 0; i < next.keys.size(); ++i) {
    const auto found = before.find(next.keys[i]);
    if (found == before.end()) continue;
    dx.push_back(found->second.x - next.canvas.layout.centers[i].x);
    dy.push_back(found->second.y - next.canvas.layout.centers[i].y);
  }
  // The title of a group stays under the mouse that opened or closed the group.
  const auto top = [&](const TapePicture& picture, GraphPoint& at) {
    for (size_t i = 0; i < picture.keys.size(); ++i)
      if (picture.keys[i] == anchor) {
        const GraphPoint c = picture.canvas.layout.centers[i];
        at = {c.x, c.y - picture.canvas.graph.boxes[i].height / 2};
        return true;
      }
    for (size_t f = 0; f < picture.frame_keys.size(); ++f)
      if (picture.frame_keys[f] == anchor) {
        const CanvasFrame& frame = picture.canvas.frames[f];
        at = {(frame.low.x + frame.high.x) / 2, frame.low.y};
        return true;
      }
    return false;
  };
  const auto median = [](std::vector<float>& of) {
    const auto middle = of.begin() + ptrdiff_t(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
  };
  GraphPoint was, is;
  if (anchor != 0 && top(last, was) && top(next, is))
    by = {was.x - is.x, was.y - is.y};
  else if (!dx.empty())
    by = {median(dx), median(dy)};
  const double kept = next.keys.empty() ? 0 : double(dx.size()) / double(next.keys.size());
  if (by.x == 0 && by.y == 0) return kept;
  const auto move = [&](GraphPoint& p) { p = {p.x + by.x, p.y + by.y}; };
  for (GraphPoint& p : next.canvas.layout.centers) move(p);
  for (GraphPoint& p : next.canvas.layout.points) move(p);
  for (CanvasFrame& frame : next.canvas.frames) move(frame.low), move(frame.high);
  move(next.canvas.low);
  next.canvas.index();
  return kept;
}

}  // namespace lunagrad
