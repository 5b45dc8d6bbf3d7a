#pragma once
// Groups the tensors that a script holds by their owners. For the session's thread.
#include <map>
#include <string>
#include <vector>

#include "runtime/tensor.h"
#include "script/leaks/owner_name.h"
#include "script/view/leaks.h"

namespace lunagrad {

// A reference to a tensor that a step made.
struct HeldTensor {
  Tensor tensor;
  HeapPath path;
  Leak::What what = Leak::What::tapes;
  bool explained = false;  // a leak has been told for it
};

// The tensors of one owner, which keeps them under any key that is no string.
struct OwnerGroup {
  std::string key;  // stays the same from walk to walk
  HeapPath path;    // of one of them; a string key that may be any is an entry
  HeapPath oldest;  // the path of the oldest, once it is known
  std::vector<HeldTensor*> held;
};
using OwnerGroups = std::map<std::string, OwnerGroup>;

// The groups refer to `tensors`; those that are explained are left out.
OwnerGroups owner_groups(std::vector<HeldTensor>& tensors);
// Owners that keep them under any string, too: a tensor belongs to one for each string key of its path.
OwnerGroups memo_groups(std::vector<HeldTensor>& tensors);
std::vector<OwnerGroup*> largest_first(OwnerGroups&);

}  // namespace lunagrad
