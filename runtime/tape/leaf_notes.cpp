#include "runtime/tape/leaf_notes.h"

#include <unordered_map>

#include "runtime/core/figures.h"
#include "runtime/tape/node.h"

namespace lunagrad {
namespace {

std::unordered_map<uint64_t, std::shared_ptr<LeafNote>>& notes() {
  static thread_local std::unordered_map<uint64_t, std::shared_ptr<LeafNote>> all;  // by node id
  return all;
}

}  // namespace

void note_leaves(const std::vector<Tensor>& leaves, const std::shared_ptr<LeafNote>& note) {
  for (const Tensor& leaf : leaves)
    if (leaf.node()) notes()[leaf.node()->id] = note;
}

std::string leaf_note(uint64_t node) {
  const auto found = notes().find(node);
  if (found == notes().end()) return {};
  const LeafNote& note = *found->second;
  std::string said = "travelled in " + note.way + " (" + bytes_figure(note.bytes) + ", " + note.op;
  if (note.seconds > 0) said += " " + duration_figure(1e9 * note.seconds);
  return said + ")" + (note.rest.empty() ? "" : "; " + note.rest);
}

void forget_leaf_notes() { notes().clear(); }

}  // namespace lunagrad
