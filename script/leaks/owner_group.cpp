#include "script/leaks/owner_group.h"

#include <algorithm>

namespace lunagrad {
namespace {

void put(OwnerGroups& groups, HeldTensor& held, const HeapPath& path) {
  std::string key = owner_name(path, true) + ' ' + to_string(owner_line(path)) + ' ' + leak_name(held.what);
  OwnerGroup& group = groups[key];
  if (group.held.empty()) group.path = group.oldest = path;
  group.key = std::move(key);
  group.held.push_back(&held);
}

}  // namespace

OwnerGroups owner_groups(std::vector<HeldTensor>& tensors) {
  OwnerGroups groups;
  for (HeldTensor& held : tensors)
    if (!held.explained) put(groups, held, without_repeats(held.path));
  return groups;
}

OwnerGroups memo_groups(std::vector<HeldTensor>& tensors) {
  OwnerGroups groups;
  for (HeldTensor& held : tensors) {
    if (held.explained) continue;
    const HeapPath path = without_repeats(held.path);
    for (size_t i = 0; i < path.size(); ++i)
      if (is_name(path[i])) put(groups, held, with_any_name(path, i));
  }
  return groups;
}

std::vector<OwnerGroup*> largest_first(OwnerGroups& groups) {
  std::vector<OwnerGroup*> sorted;
  for (auto& [key, group] : groups) sorted.push_back(&group);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const OwnerGroup* a, const OwnerGroup* b) { return a->held.size() > b->held.size(); });
  return sorted;
}

}  // namespace lunagrad
