#include "ui/tape_model.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "ui/op_family.h"
#include "ui/widgets/value_view.h"

namespace lunagrad {
namespace {

using Index = std::unordered_map<uint64_t, uint32_t>;

Index index_of(const TapeSnapshot& tape) {
  Index index;
  index.reserve(tape.nodes.size());
  for (uint32_t i = 0; i < tape.nodes.size(); ++i) index.emplace(tape.nodes[i].id, i);
  return index;
}

// FNV-1a (Fowler, Noll, Vo).
class Hash {
 public:
  void add(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) byte(uint8_t(value >> shift));
  }
  void add(const std::string& text) {
    for (char c : text) byte(uint8_t(c));
    byte(0);
  }
  uint64_t value() const { return value_; }

 private:
  void byte(uint8_t b) { value_ = (value_ ^ b) * 1099511628211u; }
  uint64_t value_ = 14695981039346656037u;
};

std::string lower(std::string text) {
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

CanvasNode canvas_node(const NodeInfo& node) {
  CanvasNode shown;
  const OpFamily family = op_family(node.op);
  shown.color = int(family);
  shown.pill = family == OpFamily::leaf;
  shown.title = node.op.substr(std::min(node.op.find_first_not_of('_'), node.op.size()));
  if (shown.pill && !node.outputs.empty() && !node.outputs[0].name.empty())
    shown.title = node.outputs[0].name;
  if (!node.outputs.empty()) shown.line = shape_text(node.outputs[0].shape);
  if (node.outputs.size() > 1) shown.line += " +" + std::to_string(node.outputs.size() - 1);
  if (!shown.pill && !node.module.empty()) shown.line += "  " + node.module;
  return shown;
}

}  // namespace

uint64_t tape_structure(const TapeSnapshot& tape) {
  const Index index = index_of(tape);
  Hash hash;
  for (const NodeInfo& node : tape.nodes) {
    hash.add(node.op);
    hash.add(node.module);
    hash.add(node.inputs.size());
    for (const OperandInfo& input : node.inputs) {
      const auto found = index.find(input.node);
      hash.add(found == index.end() ? UINT64_MAX : found->second);
    }
    for (const OperandInfo& output : node.outputs) {
      hash.add(output.name);
      hash.add(output.shape.size());
      for (int64_t size : output.shape) hash.add(uint64_t(size));
    }
  }
  return hash.value();
}

CanvasGraph tape_picture(const TapeSnapshot& tape, const TextMeasure& measure, std::stop_token stop) {
  CanvasGraph picture;
  const Index index = index_of(tape);
  for (uint32_t i = 0; i < tape.nodes.size(); ++i) {
    picture.nodes.push_back(canvas_node(tape.nodes[i]));
    picture.graph.boxes.push_back(canvas_box(picture.nodes.back(), measure));
    for (const OperandInfo& input : tape.nodes[i].inputs)
      if (const auto maker = index.find(input.node); input.node != 0 && maker != index.end())
        picture.graph.edges.push_back({maker->second, i});
  }
  picture.layout = layout_graph(picture.graph, {}, stop);
  return picture;
}

std::string searchable_text(const NodeInfo& node) {
  std::string text =
      node.op + ' ' + node.module + ' ' + node.place.file + ':' + std::to_string(node.place.line);
  for (const auto* side : {&node.inputs, &node.outputs})
    for (const OperandInfo& operand : *side)
      text += ' ' + operand.name + ' ' + shape_text(operand.shape) + ' ' + operand.dtype;
  return lower(text);
}

bool contains_words(const std::string& text, const std::string& words) {
  size_t begin = 0;
  const std::string wanted = lower(words);
  while (begin < wanted.size()) {
    const size_t end = std::min(wanted.find(' ', begin), wanted.size());
    if (end > begin && text.find(wanted.substr(begin, end - begin)) == text.npos) return false;
    begin = end + 1;
  }
  return true;
}

TapeModel::TapeModel(TextMeasure measure, std::function<void()> wake)
    : measure_(std::move(measure)),
      wake_(std::move(wake)),
      thread_([this](std::stop_token stop) { work(stop); }) {}

void TapeModel::offer(TapePtr tape) {
  if (!tape || tape == offered_) return;
  offered_ = tape;
  {
    std::lock_guard lock(mutex_);
    requested_ = std::move(tape);
  }
  changed_.notify_one();
}

bool TapeModel::update() {
  Shown next;
  {
    std::lock_guard lock(mutex_);
    next = std::move(ready_);
    ready_ = {};
  }
  if (!next.tape) return false;
  keep_selection(next);
  shown_ = std::move(next);
  return true;
}

void TapeModel::clear() {
  shown_ = {};
  offered_.reset();
  selected_ = -1;
  std::lock_guard lock(mutex_);
  requested_.reset();
  ready_ = {};
}

void TapeModel::select(int node) {
  selected_ = shown_.tape && node >= 0 && size_t(node) < shown_.tape->nodes.size() ? node : -1;
}

const NodeInfo* TapeModel::selected_node() const {
  return selected_ >= 0 ? &shown_.tape->nodes[size_t(selected_)] : nullptr;
}

int TapeModel::find_node(uint64_t id) const {
  if (!shown_.tape || id == 0) return -1;
  for (size_t i = 0; i < shown_.tape->nodes.size(); ++i)
    if (shown_.tape->nodes[i].id == id) return int(i);
  return -1;
}

// In a tape of another structure the selected node is the one of the same op, module and line, if it is the
// only one.
void TapeModel::keep_selection(const Shown& next) {
  const NodeInfo* old = selected_node();
  if (!old || next.structure == shown_.structure) return;
  int found = -1, count = 0;
  for (size_t i = 0; i < next.tape->nodes.size(); ++i) {
    const NodeInfo& node = next.tape->nodes[i];
    if (node.op != old->op || node.module != old->module || node.place.line != old->place.line) continue;
    if (node.op == "leaf" && node.id != old->id) continue;
    found = int(i);
    ++count;
  }
  selected_ = count == 1 ? found : -1;
}

void TapeModel::work(std::stop_token stop) {
  Shown last;
  while (!stop.stop_requested()) {
    TapePtr tape;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return bool(requested_); })) return;
      tape = std::exchange(requested_, nullptr);
    }
    const uint64_t structure = tape_structure(*tape);
    if (!last.picture || structure != last.structure) {
      auto picture = std::make_shared<CanvasGraph>(tape_picture(*tape, measure_, stop));
      if (stop.stop_requested()) return;
      last.picture = std::move(picture);
      last.structure = structure;
    }
    last.tape = tape;
    {
      std::lock_guard lock(mutex_);
      ready_ = last;
    }
    wake_();
  }
}

}  // namespace lunagrad
