#include "ui/tape/fit.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_set>
#include <utility>

#include "ui/tape/parts.h"

namespace lunagrad {
namespace {

constexpr size_t kMostWrapped = 2000;  // boxes of a picture that is laid out several times
constexpr int kTrials = 9;             // lengths of rows that are tried
constexpr float kLeastBox =
    74 * 27;                     // area of the smallest box; more boxes than the room holds are not laid out
constexpr float kFits = 0.999f;  // as 1 with rounding errors

class Fitter {
 public:
  Fitter(const TapeSnapshot& tape, const CollapseState& state, const TextMeasure& measure,
         std::stop_token stop)
      : tape_(tape), state_(state), measure_(measure), stop_(std::move(stop)) {}

  // Opens the modules of the tree as long as the picture fits. Returns false if nothing fits.
  bool fit(const std::shared_ptr<const TapeTree>& tree) {
    made_.tree = tree;
    const std::vector<char> wanted = open_groups(*tree, with_ways(*tree));
    if (try_open(wanted)) return true;
    std::vector<char> open = least(*tree);
    if (!try_open(open)) return false;
    std::deque<uint32_t> waiting{0};
    while (!waiting.empty() && !stop_.stop_requested()) {
      const uint32_t at = waiting.front();
      waiting.pop_front();
      std::vector<char> more = open;
      for (const TapeTree::Item& item : tree->groups[at].items)
        if (item.is_group && wanted[item.index]) more[item.index] = 1;
      if (more != open && try_open(more)) open = std::move(more);
      for (const TapeTree::Item& item : tree->groups[at].items)
        if (item.is_group && open[item.index]) waiting.push_back(item.index);
    }
    return true;
  }

  // The picture with as few boxes as possible, although it does not fit.
  void take_least(const std::shared_ptr<const TapeTree>& tree) {
    made_.tree = tree;
    made_.open = least(*tree);
    made_.picture = wrapped_picture(tape_, *tree, made_.open, state_, measure_, stop_);
  }

  FittedTape& made() { return made_; }

  // Whether a module is closed only because it has many calls: parts of it would show more.
  bool long_is_closed() const {
    for (const TapeTree::Item& item : made_.picture.boxes) {
      if (!item.is_group) continue;
      const TapeTree::Group& group = made_.tree->groups[item.index];
      if (!group.part && group.repeats == 0 && !state_.exceptions.contains(group.key) &&
          calls_in(group, tape_) > kLongGroup)
        return true;
    }
    return false;
  }

 private:
  // What the user has opened, with the modules around it unless the user has closed them.
  CollapseState with_ways(const TapeTree& tree) const {
    CollapseState state = state_;
    for (const TapeTree::Group& group : tree.groups) {
      const auto own = state_.exceptions.find(group.key);
      if (own == state_.exceptions.end() || !own->second) continue;
      for (int at = group.parent; at > 0; at = tree.groups[size_t(at)].parent)
        state.exceptions.try_emplace(tree.groups[size_t(at)].key, true);
    }
    return state;
  }

  // The root and what the user has opened.
  std::vector<char> least(const TapeTree& tree) const {
    CollapseState closed = with_ways(tree);
    closed.mode = CollapseState::Mode::depth;
    closed.depth = 0;
    return open_groups(tree, closed);
  }

  bool try_open(const std::vector<char>& open) {
    const float room = state_.room.width * state_.room.height;
    size_t boxes = 0;
    for (size_t g = 0; g < open.size(); ++g)
      if (open[g]) boxes += made_.tree->groups[g].items.size();
    if (stop_.stop_requested() || float(boxes) * kLeastBox > room) return false;
    TapePicture picture = wrapped_picture(tape_, *made_.tree, open, state_, measure_, stop_);
    if (scale_in(state_.room, picture) < kFits) return false;
    made_.open = open;
    made_.picture = std::move(picture);
    return true;
  }

  const TapeSnapshot& tape_;
  const CollapseState& state_;
  const TextMeasure& measure_;
  std::stop_token stop_;
  FittedTape made_;
};

}  // namespace

float scale_in(PictureRoom room, const TapePicture& picture) {
  const GraphLayout& layout = picture.canvas.layout;
  return std::min(room.width / std::max(layout.width, 1.0f), room.height / std::max(layout.height, 1.0f));
}

TapePicture wrapped_picture(const TapeSnapshot& tape, const TapeTree& tree, const std::vector<char>& open,
                            const CollapseState& state, const TextMeasure& measure, std::stop_token stop) {
  const auto drawn = [&](float longest) {
    return tape_picture(tape, tree, open, measure, stop, state.sideways, longest);
  };
  TapePicture best = drawn(0);
  if (state.room.width <= 0 || state.room.height <= 0 || best.boxes.size() > kMostWrapped) return best;
  float scale = scale_in(state.room, best);
  const float along = state.sideways ? state.room.width : state.room.height;
  const auto length = [&](const TapePicture& picture) {
    return state.sideways ? picture.canvas.layout.width : picture.canvas.layout.height;
  };
  // Only a picture that is too long gains by wrapping. Shorter rows make it wider, so that the best length is
  // in between: first the room's own, then by halving.
  const auto too_long = [&](const TapePicture& picture) {
    return along / std::max(length(picture), 1.0f) <= scale_in(state.room, picture) * 1.0001f;
  };
  if (scale >= kFits || !too_long(best)) return best;
  float least = 100, most = length(best), longest = std::clamp(0.85f * along, least, most);
  for (int trial = 0; trial < kTrials && !stop.stop_requested() && 1.02f * least < most; ++trial) {
    TapePicture picture = drawn(longest);
    const float its = scale_in(state.room, picture);
    // Of several lengths that fit, the longest has the fewest rows.
    const bool fits = its >= kFits;
    (fits || !too_long(picture) ? least : most) = longest;
    if (fits || its > scale * 1.01f) {
      scale = its;
      best = std::move(picture);
    }
    longest = std::sqrt(least * most);
  }
  return best;
}

FittedTape fitted_tape(const TapeSnapshot& tape, const std::shared_ptr<const TapeTree>& whole,
                       const CollapseState& state, const TextMeasure& measure, std::stop_token stop) {
  size_t longest = 0;
  for (const TapeTree::Group& group : whole->groups)
    if (group.repeats == 0) longest = std::max(longest, calls_in(group, tape));
  Fitter fitter(tape, state, measure, stop);
  std::shared_ptr<const TapeTree> tree;
  FittedTape first;  // that fits, although a long module is closed
  for (uint32_t size = 0; size == 0 || (longest > kLongGroup && 2 * size <= longest + 1);
       size = size == 0 ? kLeastPart : 2 * size) {
    if (stop.stop_requested()) return {};
    tree = size == 0 && (longest <= kLongGroup || state.exceptions.empty())
               ? whole
               : std::make_shared<const TapeTree>(with_parts(*whole, tape, size, state.exceptions));
    if (!fitter.fit(tree)) continue;
    if (!fitter.long_is_closed()) return std::move(fitter.made());
    if (!first.tree) first = std::move(fitter.made());
  }
  if (first.tree) return first;
  fitter.take_least(tree);
  return std::move(fitter.made());
}

uint32_t collapsed_to_fit(const TapeTree& whole, const TapeTree& tree, const CollapseState& state,
                          const TapePicture& picture) {
  if (state.mode != CollapseState::Mode::automatic || state.room.width <= 0) return 0;
  const std::vector<char> open = open_groups(whole, state);
  std::unordered_set<uint64_t> wanted;
  for (size_t g = 0; g < open.size(); ++g)
    if (open[g]) wanted.insert(whole.groups[g].key);
  return uint32_t(std::count_if(picture.boxes.begin(), picture.boxes.end(), [&](TapeTree::Item item) {
    return item.is_group && (tree.groups[item.index].part || wanted.contains(tree.groups[item.index].key));
  }));
}

}  // namespace lunagrad
