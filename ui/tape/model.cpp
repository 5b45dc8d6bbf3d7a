#include "ui/tape/model.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/core/hash.h"
#include "runtime/core/lower_case.h"
#include "runtime/core/op_name.h"
#include "ui/tape/fit.h"
#include "ui/widgets/value_view.h"

namespace lunagrad {
namespace {

// How long our own picture waits for Graphviz's picture, so that small tapes do not jump.
constexpr auto kPatience = std::chrono::milliseconds(250);
constexpr auto kLongest = std::chrono::seconds(5);
// Graphviz is not called while the tape changes its structure from step to step.
constexpr auto kRest = std::chrono::seconds(1);

// The states differ at most in what the user has opened and closed.
bool fitted_alike(CollapseState a, const CollapseState& b) {
  a.exceptions = b.exceptions;
  return a == b;
}

// What was open and closed stays so, except for what the user has opened and closed.
CollapseState pinned(CollapseState state, const TapeTree& tree, const std::vector<char>& open) {
  for (size_t g = 1; g < tree.groups.size(); ++g)
    if (open[size_t(tree.groups[g].parent)]) state.exceptions.try_emplace(tree.groups[g].key, open[g] != 0);
  return state;
}

}  // namespace

uint64_t tape_structure(const TapeSnapshot& tape) {
  std::unordered_map<uint64_t, uint64_t> index;
  index.reserve(tape.nodes.size());
  for (size_t i = 0; i < tape.nodes.size(); ++i) index.emplace(tape.nodes[i].id, i);
  Hash hash;
  for (const NodeInfo& node : tape.nodes) {
    hash.add(node.op);
    hash.add(node.module);
    hash.add(uint64_t(!node.gradient_op.empty()) << 1 | uint64_t(node.no_gradient));
    hash.add(node.place.file);
    hash.add(uint64_t(node.place.line));
    hash.add(uint64_t(node.inputs.size()));
    for (const OperandInfo& input : node.inputs) {
      const auto found = index.find(input.node);
      hash.add(found == index.end() ? UINT64_MAX : found->second);
    }
    for (const OperandInfo& output : node.outputs) {
      hash.add(output.name);
      hash.add(output.dtype);
      hash.add(uint64_t(output.shape.size()));
      for (const int64_t size : output.shape) hash.add(uint64_t(size));
    }
  }
  return hash.value();
}

std::string node_words(const NodeInfo& node) {
  std::string text = node.op + ' ' + public_op_name(node.op) + ' ' + node.module;
  for (const auto* side : {&node.inputs, &node.outputs})
    for (const OperandInfo& operand : *side)
      text += ' ' + operand.name + ' ' + shape_text(operand.shape) + ' ' + operand.dtype;
  for (const std::string& name : node.also) text += ' ' + name;
  return text;
}

std::string searchable_text(const NodeInfo& node) {
  return lower_case(node_words(node) + ' ' + node.place.file + ':' + std::to_string(node.place.line));
}

bool contains_words(const std::string& text, const std::string& words) {
  size_t begin = 0;
  const std::string wanted = lower_case(words);
  const std::string_view left(wanted);
  while (begin < wanted.size()) {
    const size_t end = std::min(wanted.find(' ', begin), wanted.size());
    if (end > begin && text.find(left.substr(begin, end - begin)) == text.npos) return false;
    begin = end + 1;
  }
  return true;
}

TapeModel::TapeModel(TextMeasure measure, std::function<void()> wake, std::string dot)
    : measure_(std::move(measure)),
      wake_(std::move(wake)),
      dot_(std::move(dot)),
      thread_([this](std::stop_token stop) { work(stop); }) {}

void TapeModel::ask(uint64_t anchor) {
  if (!offered_) return;
  {
    std::lock_guard lock(mutex_);
    requested_ = {offered_, asked_, anchor, generation_};
  }
  changed_.notify_one();
}

void TapeModel::offer(TapePtr tape) {
  if (!tape || tape == offered_) return;
  offered_ = std::move(tape);
  ask(0);
}

void TapeModel::set_collapse(CollapseState state, uint64_t anchor) {
  if (state == asked_) return;
  asked_ = std::move(state);
  ask(anchor);
}

void TapeModel::set_open(uint32_t group, bool open) {
  if (!shown_.tree || group >= shown_.tree->groups.size()) return;
  CollapseState state = asked_;
  const uint64_t key = shown_.tree->groups[group].key;
  state.exceptions[key] = open;
  set_collapse(std::move(state), key);
}

void TapeModel::open_around(int node) {
  if (!shown_.tree || node < 0 || size_t(node) >= shown_.tree->group_of.size()) return;
  CollapseState state = asked_;
  for (int g = int(shown_.tree->group_of[size_t(node)]); g > 0; g = shown_.tree->groups[size_t(g)].parent)
    if (!shown_.open[size_t(g)]) state.exceptions[shown_.tree->groups[size_t(g)].key] = true;
  set_collapse(std::move(state));
}

bool TapeModel::update() {
  Shown next;
  {
    std::lock_guard lock(mutex_);
    next = std::move(ready_);
    ready_ = {};
  }
  if (!next.tape) return false;
  keep_marks(next);
  shown_ = std::move(next);
  return true;
}

void TapeModel::clear() {
  shown_ = {};
  offered_.reset();
  former_.reset();
  selected_ = -1;
  lit_.clear();
  std::lock_guard lock(mutex_);
  requested_ = {};
  ready_ = {};
  ++generation_;
}

void TapeModel::select(int node) {
  selected_ = shown_.tape && node >= 0 && size_t(node) < shown_.tape->nodes.size() ? node : -1;
  ++selections_;
  if (selected_ >= 0) trail_.visit(shown_.structure, selected_);
}

void TapeModel::select_again(int by) {
  if (const std::optional<int> node = trail_.go(shown_.structure, by)) select(*node);
}

void TapeModel::light(std::vector<int> nodes) {
  const size_t count = shown_.tape ? shown_.tape->nodes.size() : 0;
  std::erase_if(nodes, [&](int node) { return node < 0 || size_t(node) >= count; });
  lit_ = std::move(nodes);
}

const NodeInfo* TapeModel::selected_node() const {
  return selected_ >= 0 ? &shown_.tape->nodes[size_t(selected_)] : nullptr;
}

// Nodes are ordered newest first.
int TapeModel::find_node(uint64_t id) const {
  if (!shown_.tape || id == 0) return -1;
  const auto& nodes = shown_.tape->nodes;
  const auto found = std::lower_bound(nodes.begin(), nodes.end(), id,
                                      [](const NodeInfo& node, uint64_t wanted) { return node.id > wanted; });
  return found != nodes.end() && found->id == id ? int(found - nodes.begin()) : -1;
}

// On a tape of another structure, marks move to the nodes with the same keys.
void TapeModel::keep_marks(const Shown& next) {
  if (next.structure == shown_.structure || !shown_.tree) return;
  std::vector<int*> marks;
  if (selected_ >= 0) marks.push_back(&selected_);
  for (int& node : lit_) marks.push_back(&node);
  if (marks.empty()) return;
  std::unordered_map<uint64_t, int> index;
  for (size_t i = 0; i < next.tree->node_key.size(); ++i) index.emplace(next.tree->node_key[i], int(i));
  for (int* mark : marks) {
    const auto found = index.find(shown_.tree->node_key[size_t(*mark)]);
    *mark = found == index.end() ? -1 : found->second;
  }
  std::erase(lit_, -1);
}

void TapeModel::work(std::stop_token stop) {
  Shown last;
  while (!stop.stop_requested()) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return bool(requested_.tape); })) return;
      request = std::exchange(requested_, {});
    }
    const auto before = last.picture;
    const uint64_t structure = last.structure;
    const bool fresh = draw(request, last, stop);
    if (stop.stop_requested()) return;
    const auto now = Clock::now();
    const bool restless = structure != last.structure && structure != 0 && now - restructured_ < kRest;
    if (structure != last.structure) restructured_ = now;
    // Graphviz cannot place leaves beside their node, so sideways pictures do not use it.
    // It does not wrap rows either.
    if (fresh && !restless && !dot_.empty() && !request.collapse.sideways &&
        last.picture->canvas.layout.rows == 1 && last.picture->boxes.size() <= kMostForDot)
      refine(request, last, before, stop);
    else
      publish(last);
  }
}

bool TapeModel::draw(const Request& request, Shown& last, std::stop_token stop) {
  const uint64_t structure = tape_structure(*request.tape);
  const bool changed = !last.tree || structure != last.structure;
  const bool turned = last.collapse.sideways != request.collapse.sideways;
  const bool fit = changed || !last.picture || !fitted_alike(last.collapse, request.collapse);
  const bool same = !fit && last.collapse == request.collapse;
  last.tape = request.tape;
  last.generation = request.generation;
  last.collapse = request.collapse;
  if (changed) {
    last.structure = structure;
    last.whole = std::make_shared<TapeTree>(tape_tree(*request.tape));
    auto texts = std::make_shared<std::vector<std::string>>();
    texts->reserve(request.tape->nodes.size());
    for (const NodeInfo& node : request.tape->nodes) texts->push_back(searchable_text(node));
    last.texts = std::move(texts);
  }
  if (same) return false;
  FittedTape made;
  if (fit && request.collapse.mode == CollapseState::Mode::automatic && request.collapse.room.width > 0) {
    made = fitted_tape(*request.tape, last.whole, request.collapse, measure_, stop);
    if (stop.stop_requested()) return false;
  } else {
    made.tree = fit ? last.whole : last.tree;
    made.open =
        open_groups(*made.tree, fit ? request.collapse : pinned(request.collapse, *last.tree, last.open));
    if (!changed && !turned && last.picture && made.tree == last.tree && made.open == last.open &&
        request.collapse.room.width <= 0)
      return false;
    made.picture = wrapped_picture(*request.tape, *made.tree, made.open, request.collapse, measure_, stop);
  }
  auto picture = std::make_shared<TapePicture>(std::move(made.picture));
  last.kept = last.picture && !turned ? keep_places(*picture, *last.picture, request.anchor) : 0;
  last.collapsed = collapsed_to_fit(*last.whole, *made.tree, request.collapse, *picture);
  last.picture = std::move(picture);
  last.tree = std::move(made.tree);
  last.open = std::move(made.open);
  last.by_dot = false;
  return true;
}

// Calls Graphviz. Meanwhile snapshots of the same structure are taken over; any other request cancels the
// call.
void TapeModel::refine(const Request& request, Shown& last, std::shared_ptr<const TapePicture> before,
                       std::stop_token stop) {
  const auto began = Clock::now();
  bool published = false;
  const auto give_up = [&] {
    const auto took = Clock::now() - began;
    if (stop.stop_requested() || took > kLongest) return true;
    bool show = !published && took > kPatience;
    TapePtr newer;
    {
      std::lock_guard lock(mutex_);
      if (requested_.tape) {
        if (requested_.collapse != last.collapse || requested_.generation != last.generation) return true;
        newer = requested_.tape;
      }
    }
    if (newer) {
      if (tape_structure(*newer) != last.structure) return true;
      std::lock_guard lock(mutex_);
      if (requested_.tape == newer && requested_.collapse == last.collapse) {
        requested_ = {};
        last.tape = newer;
        show |= published;
      }
    }
    if (show) publish(last);
    published |= show;
    return false;
  };
  auto picture = std::make_shared<TapePicture>(*last.picture);
  std::string reason;
  const bool arranged = arrange_with_dot(*picture, *last.tree, give_up, dot_, reason);
  // Its picture may be larger than ours.
  const PictureRoom room = request.collapse.room;
  const bool fits =
      room.width <= 0 || scale_in(room, *picture) >= std::min(scale_in(room, *last.picture), 1.0f);
  if (arranged && fits) {
    const auto& base = published ? last.picture : before;
    if (base) last.kept = keep_places(*picture, *base, request.anchor);
    last.picture = std::move(picture);
    last.by_dot = true;
  } else if (reason == "missing") {
    dot_.clear();
    last.trouble = "Graphviz is not installed (package graphviz): the layout is our own";
  } else if (!reason.empty()) {
    last.trouble = "Graphviz: " + reason + "; the layout is our own";
  }
  publish(last);
}

void TapeModel::publish(const Shown& shown) {
  {
    std::lock_guard lock(mutex_);
    if (shown.generation != generation_) return;
    ready_ = shown;
  }
  wake_();
}

}  // namespace lunagrad
