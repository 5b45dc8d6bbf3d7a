#include "ui/tape/tree.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <limits>
#include <string_view>

#include "runtime/core/hash.h"

namespace lunagrad {
namespace {

constexpr size_t kDeepest = 32;      // deeper module names are cut here
constexpr size_t kLongestUnit = 16;  // longest sequence of items that can repeat, as in `x = x + block(x)`
constexpr size_t kFew = 48;          // largest number of boxes in automatic mode
// The box of calls that backward passes made, for gradients of gradients. No module has a space in its name.
constexpr std::string_view kGradientOps = "gradient ops";
constexpr uint64_t kOutside = std::numeric_limits<uint64_t>::max();

using Item = TapeTree::Item;

bool is_number(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); });
}

// Names with the same stem, such as "fc1" and "fc2", may be repetitions of the same block; "query" and "key"
// may not.
std::string_view stem(std::string_view name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.remove_suffix(1);
  return name;
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty() && parts.size() < kDeepest) {
    const size_t dot = path.find('.');
    parts.push_back(path.substr(0, dot));
    path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
  }
  return parts;
}

class Builder {
 public:
  explicit Builder(const TapeSnapshot& tape) : tape_(tape), count_(tape.nodes.size()) {}

  TapeTree build() {
    link();
    enter_scopes();
    place_leaves();
    flatten();
    tree_.group_of.assign(count_, 0);
    emit(0, -1);
    name_nodes();
    return std::move(tree_);
  }

 private:
  // A call of a module, before repetitions are merged.
  struct Scope {
    std::string_view name, above;  // the last part of the path, and the part before it
    std::string path;
    uint64_t key = 0;
    int parent = -1;
    uint32_t depth = 0, begin = 0, end = 0;  // [begin, end): its nodes in flat_
    std::vector<Item> items;
  };

  bool is_leaf(uint32_t node) const { return tape_.nodes[node].op == "leaf"; }

  void link() {
    order_.resize(count_);
    for (uint32_t i = 0; i < count_; ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(),
              [&](uint32_t a, uint32_t b) { return tape_.nodes[a].id < tape_.nodes[b].id; });
    tree_.operands.resize(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      auto& operands = tree_.operands[i];
      for (const OperandInfo& input : tape_.nodes[i].inputs) {
        if (input.node == 0) continue;
        const auto found = std::lower_bound(order_.begin(), order_.end(), input.node,
                                            [&](uint32_t a, uint64_t id) { return tape_.nodes[a].id < id; });
        if (found == order_.end() || tape_.nodes[*found].id != input.node || *found == i) continue;
        if (std::find(operands.begin(), operands.end(), *found) == operands.end()) operands.push_back(*found);
      }
    }
  }

  void enter_scopes() {
    scopes_.emplace_back();
    scope_of_.assign(count_, 0);
    std::vector<uint32_t> open{0};
    std::unordered_map<uint64_t, uint64_t> calls;
    for (const uint32_t node : order_) {
      if (is_leaf(node)) continue;
      tree_.execution.push_back(node);
      const NodeInfo& info = tape_.nodes[node];
      const auto modules = components(info.module);
      std::vector<std::string_view> parts;
      if (!info.gradient_op.empty()) parts.push_back(kGradientOps);
      const size_t outside = parts.size();
      parts.insert(parts.end(), modules.begin(), modules.end());
      size_t same = 0;
      while (same < parts.size() && same + 1 < open.size() && scopes_[open[same + 1]].name == parts[same])
        ++same;
      open.resize(same + 1);
      for (; same < parts.size(); ++same) {
        const uint32_t parent = open.back();
        Scope scope;
        scope.name = parts[same];
        if (same > outside) scope.above = parts[same - 1];
        scope.path =
            same < outside
                ? std::string(parts[same])
                : info.module.substr(0, size_t(parts[same].data() - modules[0].data()) + parts[same].size());
        const uint64_t place = hash_of(scopes_[parent].key, parts[same]);
        scope.key = hash_of(place, calls[place]++);
        scope.parent = int(parent);
        scope.depth = uint32_t(open.size());
        open.push_back(uint32_t(scopes_.size()));
        scopes_[parent].items.push_back({true, open.back()});
        scopes_.push_back(std::move(scope));
      }
      scope_of_[node] = open.back();
      scopes_[open.back()].items.push_back({false, node});
    }
  }

  uint32_t common_scope(uint32_t a, uint32_t b) const {
    while (scopes_[a].depth > scopes_[b].depth) a = uint32_t(scopes_[a].parent);
    while (scopes_[b].depth > scopes_[a].depth) b = uint32_t(scopes_[b].parent);
    while (a != b) a = uint32_t(scopes_[a].parent), b = uint32_t(scopes_[b].parent);
    return a;
  }

  // The module that owns a leaf: "net.norm.weight" belongs to "net.norm", also if a module inside reads it. A
  // name that begins with no module around the reader tells by its dots how deep its owner is below the
  // model.
  uint32_t own_scope(uint32_t leaf, uint32_t scope) const {
    const auto& outputs = tape_.nodes[leaf].outputs;
    if (outputs.empty()) return scope;
    const std::string_view name = outputs[0].name;
    for (uint32_t at = scope; at != 0; at = uint32_t(scopes_[at].parent)) {
      const std::string& path = scopes_[at].path;
      if (name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.') return at;
    }
    const auto dots = size_t(std::count(name.begin(), name.end(), '.'));
    while (scopes_[scope].depth > dots + 1) scope = uint32_t(scopes_[scope].parent);
    return scope;
  }

  // A parameter goes into the innermost module that contains all its readers, directly before the first of
  // them; a parameter whose name belongs to an outer module stays there. Gradient ops, which read the
  // parameters of their forward ops again, only count if nothing else reads the parameter.
  void place_leaves() {
    constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> first_reader(count_, kNone), leaves;
    for (const bool gradients : {false, true})
      for (const uint32_t node : tree_.execution) {
        if (tape_.nodes[node].gradient_op.empty() == gradients) continue;
        for (const uint32_t operand : tree_.operands[node]) {
          if (!is_leaf(operand)) continue;
          if (first_reader[operand] == kNone) {
            first_reader[operand] = node;
            scope_of_[operand] = own_scope(operand, scope_of_[node]);
            leaves.push_back(operand);
          } else if (gradients != tape_.nodes[first_reader[operand]].gradient_op.empty()) {
            scope_of_[operand] = common_scope(scope_of_[operand], scope_of_[node]);
          }
        }
      }
    std::unordered_map<uint64_t, std::vector<uint32_t>> before;  // by item: kind and index
    const auto slot = [](Item item) { return uint64_t(item.is_group) << 32 | item.index; };
    for (const uint32_t leaf : leaves) {
      Item item{false, first_reader[leaf]};
      for (uint32_t scope = scope_of_[item.index]; scope != scope_of_[leaf];
           scope = uint32_t(scopes_[scope].parent))
        item = {true, scope};
      before[slot(item)].push_back(leaf);
    }
    std::vector<Item> items;
    for (Scope& scope : scopes_) {
      items.clear();
      if (&scope == &scopes_[0])
        for (const uint32_t node : order_)
          if (is_leaf(node) && first_reader[node] == kNone) items.push_back({false, node});
      for (const Item& item : scope.items) {
        if (const auto found = before.find(slot(item)); found != before.end())
          for (const uint32_t leaf : found->second) items.push_back({false, leaf});
        items.push_back(item);
      }
      scope.items = items;
    }
  }

  // Numbers the nodes so that the nodes of a scope are contiguous, and hashes each node.
  void flatten() {
    position_.assign(count_, 0);
    std::vector<std::pair<uint32_t, size_t>> open{{0, 0}};
    while (!open.empty()) {
      auto& [scope, next] = open.back();
      if (next == 0) scopes_[scope].begin = uint32_t(flat_.size());
      if (next == scopes_[scope].items.size()) {
        scopes_[scope].end = uint32_t(flat_.size());
        open.pop_back();
        continue;
      }
      const Item item = scopes_[scope].items[next++];
      if (item.is_group) {
        open.emplace_back(item.index, 0);
      } else {
        position_[item.index] = uint32_t(flat_.size());
        flat_.push_back(item.index);
      }
    }
    looks_.resize(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      const NodeInfo& node = tape_.nodes[i];
      Hash hash;
      hash.add(node.op);
      for (const OperandInfo& output : node.outputs) {
        hash.add(output.dtype);
        hash.add(output.shape.size());
        for (const int64_t size : output.shape) hash.add(uint64_t(size));
      }
      looks_[i] = hash.value();
    }
  }

  // Hash of the nodes flat_[begin, end), relative to `scope`: the nodes, the edges between them, and the
  // names of the modules below `scope`.
  uint64_t range_hash(uint32_t begin, uint32_t end, uint32_t scope) const {
    Hash hash;
    for (uint32_t p = begin; p < end; ++p) {
      const uint32_t node = flat_[p], own = scope_of_[node];
      hash.add(looks_[node]);
      if (own != scope) {
        hash.add(scopes_[own].depth - scopes_[scope].depth);
        hash.add(stem(scopes_[own].name));
      }
      for (const uint32_t operand : tree_.operands[node]) {
        const uint32_t at = position_[operand];
        hash.add(at >= begin && at < end ? at - begin : kOutside);
      }
    }
    return hash.value();
  }

  uint32_t item_begin(Item item) const {
    return item.is_group ? scopes_[item.index].begin : position_[item.index];
  }
  uint32_t item_end(Item item) const {
    return item.is_group ? scopes_[item.index].end : position_[item.index] + 1;
  }

  uint64_t item_hash(Item item) const {
    if (!item.is_group) return looks_[item.index];
    const Scope& scope = scopes_[item.index];
    return hash_of(range_hash(scope.begin, scope.end, item.index), stem(scope.name));
  }

  // The number of consecutive repetitions of the items [at, at + length) of a scope.
  size_t repeats(const std::vector<Item>& items, const std::vector<uint64_t>& hashes, uint32_t scope,
                 size_t at, size_t length) const {
    const auto unit = [&](size_t from) {
      return range_hash(item_begin(items[from]), item_end(items[from + length - 1]), scope);
    };
    size_t times = 1;
    uint64_t first = 0;
    for (size_t next = at + length; next + length <= items.size(); next += length, ++times) {
      if (!std::equal(hashes.begin() + ptrdiff_t(at), hashes.begin() + ptrdiff_t(at + length),
                      hashes.begin() + ptrdiff_t(next)))
        break;
      if (times == 1) first = unit(at);
      if (unit(next) != first) break;
    }
    return times;
  }

  static std::string shown_name(const Scope& scope) {
    std::string name(scope.name);
    return is_number(name) && !scope.above.empty() ? std::string(scope.above) + '.' + name : name;
  }

  uint32_t add_group(std::string name, std::string path, uint64_t key, int parent) {
    TapeTree::Group group;
    group.name = std::move(name);
    group.path = std::move(path);
    group.key = key;
    group.parent = parent;
    group.depth = parent < 0 ? 0 : tree_.groups[size_t(parent)].depth + 1;
    tree_.groups.push_back(std::move(group));
    const uint32_t index = uint32_t(tree_.groups.size() - 1);
    if (parent >= 0) tree_.groups[size_t(parent)].items.push_back({true, index});
    return index;
  }

  // The content of a module that runs a single operation: a frame around it would only take space.
  Item without_frame(Item item) const {
    Item inside = item;
    while (inside.is_group && scopes_[inside.index].items.size() == 1) {
      if (scopes_[inside.index].name == kGradientOps) return item;
      inside = scopes_[inside.index].items[0];
    }
    return inside.is_group ? item : inside;
  }

  void emit_item(Item item, uint32_t group) {
    item = without_frame(item);
    if (item.is_group) {
      emit(item.index, int(group));
    } else {
      tree_.groups[group].items.push_back(item);
      tree_.group_of[item.index] = group;
    }
  }

  void emit(uint32_t scope, int parent) {
    std::string name = shown_name(scopes_[scope]);
    const uint64_t key = scopes_[scope].key;
    // A module that only calls another one needs no box of its own.
    while (scope != 0 && scopes_[scope].items.size() == 1 && scopes_[scope].items[0].is_group) {
      scope = scopes_[scope].items[0].index;
      name += '.';
      name += scopes_[scope].name;
    }
    const Scope& whole = scopes_[scope];
    const uint32_t group = add_group(std::move(name), whole.path, key, parent);
    tree_.groups[group].node_count = whole.end - whole.begin;
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> groups_before{0};
    for (const Item& item : whole.items) {
      hashes.push_back(item_hash(item));
      groups_before.push_back(groups_before.back() + item.is_group);
    }
    for (size_t i = 0; i < whole.items.size();) {
      size_t length = 0, times = 1;
      for (size_t l = 1; l <= kLongestUnit && i + 2 * l <= whole.items.size(); ++l) {
        if (groups_before[i + l] == groups_before[i]) continue;  // a unit contains at least one module
        const size_t n = repeats(whole.items, hashes, scope, i, l);
        if (n > 1 && n * l > times * length) length = l, times = n;
      }
      if (times == 1) {
        emit_item(whole.items[i++], group);
        continue;
      }
      const size_t end = i + length * times;
      const auto module_from = [&](size_t from) {
        while (!whole.items[from].is_group) ++from;
        return scopes_[whole.items[from].index];
      };
      const Scope first = module_from(i), last = module_from(end - length);
      std::string title = shown_name(first), path = first.path;
      if (first.name != last.name) {
        title += " … " + std::string(last.name);
        path += " … " + std::string(last.name);
      }
      uint32_t repeated = group;
      if (scope != 0 &&
          end - i ==
              whole.items.size()) {  // nothing but the repetition: the scope becomes the merged group itself
        tree_.groups[repeated].name = std::move(title);
      } else {
        repeated = add_group(std::move(title), std::move(path), hash_of(first.key, "repeats"), int(group));
        tree_.groups[repeated].node_count = item_end(whole.items[end - 1]) - item_begin(whole.items[i]);
      }
      tree_.groups[repeated].repeats = uint32_t(times);
      for (; i < end; ++i) emit_item(whole.items[i], repeated);
    }
  }

  void name_nodes() {
    tree_.node_key.resize(count_);
    std::unordered_map<uint64_t, uint64_t> seen;
    for (const uint32_t i : flat_) {
      const NodeInfo& node = tape_.nodes[i];
      Hash hash;
      hash.add(scopes_[scope_of_[i]].key);
      hash.add(node.op);
      hash.add(uint64_t(node.place.line));
      if (is_leaf(i) && !node.outputs.empty()) hash.add(node.outputs[0].name);
      tree_.node_key[i] = hash_of(hash.value(), seen[hash.value()]++);
    }
  }

  const TapeSnapshot& tape_;
  const size_t count_;
  TapeTree tree_;
  std::vector<uint32_t> order_;  // nodes, oldest first
  std::vector<Scope> scopes_;
  std::vector<uint32_t> scope_of_;         // scope of each node
  std::vector<uint32_t> flat_, position_;  // nodes in the order of the tree, and the position of each
  std::vector<uint64_t> looks_;
};

}  // namespace

bool TapeTree::inside(uint32_t group, uint32_t ancestor) const {
  while (groups[group].depth > groups[ancestor].depth) group = uint32_t(groups[group].parent);
  return group == ancestor;
}

int TapeTree::first_node(Item item) const {
  while (item.is_group) {
    if (groups[item.index].items.empty()) return -1;
    item = groups[item.index].items.front();
  }
  return int(item.index);
}

const std::string& TapeTree::module_of(uint32_t group) const {
  while (groups[group].part) group = uint32_t(groups[group].parent);
  return groups[group].path;
}

TapeTree tape_tree(const TapeSnapshot& tape) { return Builder(tape).build(); }

std::vector<char> open_groups(const TapeTree& tree, const CollapseState& state) {
  std::vector<char> open(tree.groups.size(), 0);
  const bool small = tree.group_of.size() <= kFew;
  size_t boxes = tree.groups[0].items.size();
  std::deque<uint32_t> waiting{0};
  while (!waiting.empty()) {
    const uint32_t at = waiting.front();
    waiting.pop_front();
    open[at] = 1;
    for (const TapeTree::Item& item : tree.groups[at].items) {
      if (!item.is_group) continue;
      const TapeTree::Group& group = tree.groups[item.index];
      bool opens = true;
      if (const auto exception = state.exceptions.find(group.key); exception != state.exceptions.end())
        opens = exception->second;
      else if (state.mode == CollapseState::Mode::depth)
        opens = group.depth <= state.depth;
      else if (state.mode == CollapseState::Mode::automatic && !small)
        opens = group.repeats == 0 && boxes - 1 + group.items.size() <= kFew;
      if (!opens) continue;
      boxes += group.items.size() - 1;
      waiting.push_back(item.index);
    }
  }
  return open;
}

}  // namespace lunagrad
