#include "runtime/tape/used_gradients.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lunagrad {
namespace {

struct Used {
  uint64_t leaf;      // id of its node
  uint64_t gradient;  // id of its tensor
  uint32_t version;   // version of its storage
  bool summed;        // a pass has added to it since the step
};
constexpr size_t kWatched = 64;
thread_local std::vector<Used> watched;  // the latest is last

Used* find(uint64_t leaf) {
  const auto found =
      std::find_if(watched.begin(), watched.end(), [&](const Used& used) { return used.leaf == leaf; });
  return found == watched.end() ? nullptr : &*found;
}

}  // namespace

bool use_gradient(const Tensor& x) {
  const Node* const leaf = x.node().get();
  if (!leaf || !leaf->is_leaf() || !leaf->grad.defined()) return false;
  Used* used = find(leaf->id);
  if (!used) {
    if (watched.size() == kWatched) watched.erase(watched.begin());
    used = &watched.emplace_back(Used{leaf->id, 0, 0, false});
  }
  const bool summed = used->summed && used->gradient == leaf->grad.id();
  *used = {leaf->id, leaf->grad.id(), leaf->grad.storage().version, false};
  return summed;
}

Summing::Summing(const Node& leaf) : leaf_(leaf) {
  const Used* const used = find(leaf.id);
  used_ = used && used->gradient == leaf.grad.id() && used->version == leaf.grad.storage().version;
}

Summing::~Summing() {
  if (Used* const used = find(leaf_.id))
    *used = {leaf_.id, used_ ? leaf_.grad.id() : 0, leaf_.grad.storage().version, used_};
}

}  // namespace lunagrad
