#pragma once
// Groups the tensors that a script holds by their owners. For the session's thread.
#include <map>
#include <string>
#include <vector>

#include "runtime/core/tensor.h"
#include "script/leaks/owner_name.h"
#include "script/view/leaks.h"

namespace lunagrad {

// A reference to a tensor that a step made.
struct HeldTensor {
  Tensor tensor;
  HeapPath path;
  Leak::What what = Leak::What::tapes;
  bool explained = false;  // a leak that was reported explains it
};

// The tensors of one owner. Keys that are no strings count as the same owner.
struct OwnerGroup {
  std::string key;  // stays the same from walk to walk
  HeapPath path;    // the path of one of the tensors; a string key that may be any is of kind entry
  HeapPath oldest;  // the path of the oldest tensor, once it is known
  std::vector<HeldTensor*> held;
};
using OwnerGroups = std::map<std::string, OwnerGroup>;

// The groups refer to `tensors`; explained tensors are left out.
OwnerGroups owner_groups(std::vector<HeldTensor>& tensors);
// Groups in which one string key may be any, too: a tensor belongs to one group for each string key of its
// path.
OwnerGroups memo_groups(std::vector<HeldTensor>& tensors);
std::vector<OwnerGroup*> largest_first(OwnerGroups&);

}  // namespace lunagrad
