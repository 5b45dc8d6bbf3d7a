#include "ui/tape/parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "runtime/core/hash.h"
#include "runtime/core/op_name.h"

namespace lunagrad {
namespace {

using Item = TapeTree::Item;

class Divider {
 public:
  Divider(const TapeTree& tree, const TapeSnapshot& tape, uint32_t size,
          const std::unordered_map<uint64_t, bool>& exceptions)
      : tree_(tree), tape_(tape), size_(size), exceptions_(exceptions) {}

  TapeTree divide() {
    made_.group_of.resize(tree_.group_of.size());
    made_.node_key = tree_.node_key;
    made_.execution = tree_.execution;
    made_.operands = tree_.operands;
    copy(0, -1);
    return std::move(made_);
  }

 private:
  bool is_call(Item item) const { return item.is_group || tape_.nodes[item.index].op != "leaf"; }

  static uint64_t part_key(uint64_t group, uint32_t size, size_t number) {
    return hash_of(hash_of(group, "part"), uint64_t(size) << 32 | uint64_t(number));
  }

  uint32_t copy(uint32_t group, int parent) {
    TapeTree::Group copied = tree_.groups[group];
    const std::vector<Item> items = std::exchange(copied.items, {});
    const uint32_t size = size_of(copied, items);
    const uint32_t index = add(std::move(copied), parent);
    fill(index, items, size);
    return index;
  }

  uint32_t add(TapeTree::Group group, int parent) {
    group.parent = parent;
    group.depth = parent < 0 ? 0 : made_.groups[size_t(parent)].depth + 1;
    made_.groups.push_back(std::move(group));
    return uint32_t(made_.groups.size() - 1);
  }

  // The size of the parts of a group; 0: it is not divided.
  uint32_t size_of(const TapeTree::Group& group, std::span<const Item> items) const {
    if (group.repeats > 0) return 0;
    const auto calls = size_t(std::count_if(items.begin(), items.end(), [&](Item i) { return is_call(i); }));
    if (calls <= kLongGroup) return 0;
    for (uint32_t size = kLeastPart; !exceptions_.empty() && size < calls; size *= 2)
      for (size_t number = 0; number * size < calls; ++number)
        if (exceptions_.contains(part_key(group.key, size, number))) return size;
    return size_;
  }

  void fill(uint32_t group, std::span<const Item> items, uint32_t size) {
    const auto calls = size_t(std::count_if(items.begin(), items.end(), [&](Item i) { return is_call(i); }));
    if (size == 0 || calls <= size) {
      for (const Item item : items) {
        Item placed = item;
        if (item.is_group)
          placed.index = copy(item.index, int(group));
        else
          made_.group_of[item.index] = group;
        made_.groups[group].items.push_back(placed);
      }
      return;
    }
    const size_t parts = (calls + size - 1) / size;
    for (size_t number = 0, begin = 0; begin < items.size(); ++number) {
      // A part ends behind a call, so that leaves are in the part of their reader.
      size_t end = begin;
      for (uint32_t taken = 0; end < items.size() && (taken < size || number + 1 == parts); ++end)
        taken += is_call(items[end]);
      const std::span<const Item> own = items.subspan(begin, end - begin);
      const uint32_t part = add(described(group, own, size, number, parts), int(group));
      made_.groups[group].items.push_back({true, part});
      fill(part, own, own.size() > kLongGroup ? std::max(size / 8, kLeastPart) : 0);
      begin = end;
    }
  }

  TapeTree::Group described(uint32_t group, std::span<const Item> items, uint32_t size, size_t number,
                            size_t parts) const {
    const TapeTree::Group& whole = made_.groups[group];
    TapeTree::Group part;
    part.part = true;
    part.key = part_key(whole.key, size, number);
    std::string first, last;
    for (const Item item : items) {
      part.node_count += item.is_group ? tree_.groups[item.index].node_count : 1;
      if (!is_call(item)) continue;
      last = item.is_group ? tree_.groups[item.index].name : public_op_name(tape_.nodes[item.index].op);
      if (first.empty()) first = last;
    }
    part.name = first == last ? first : first + " … " + last;
    const std::string place = std::to_string(number + 1) + " of " + std::to_string(parts);
    part.path = whole.path + (whole.path.empty() ? "part " : ", part ") + place;
    part.line = place + ": " + std::to_string(part.node_count) + " nodes";
    return part;
  }

  const TapeTree& tree_;
  const TapeSnapshot& tape_;
  const uint32_t size_;
  const std::unordered_map<uint64_t, bool>& exceptions_;
  TapeTree made_;
};

}  // namespace

TapeTree with_parts(const TapeTree& tree, const TapeSnapshot& tape, uint32_t size,
                    const std::unordered_map<uint64_t, bool>& exceptions) {
  return Divider(tree, tape, size, exceptions).divide();
}

size_t calls_in(const TapeTree::Group& group, const TapeSnapshot& tape) {
  return size_t(std::count_if(group.items.begin(), group.items.end(), [&](Item item) {
    return item.is_group || tape.nodes[item.index].op != "leaf";
  }));
}

}  // namespace lunagrad
