#pragma once
// Divides long modules, and a long script without modules, into parts of consecutive calls, so that they can
// be collapsed like modules. Parts have the same keys in every step and for every size of the window. Pure;
// any thread.
#include <unordered_map>

#include "ui/tape/tree.h"

namespace lunagrad {

// Groups of up to this many calls and modules are not divided.
constexpr size_t kLongGroup = 24;
constexpr uint32_t kLeastPart = 8;

// The tree with every long group divided into parts of `size` calls and modules, long parts again; 0 divides
// only the groups whose parts the user has opened or closed, in which these parts stay whatever the size.
// Equal modules in a row are not divided.
TapeTree with_parts(const TapeTree&, const TapeSnapshot&, uint32_t size,
                    const std::unordered_map<uint64_t, bool>& exceptions);
// The number of calls and modules in a group, without leaves.
size_t calls_in(const TapeTree::Group&, const TapeSnapshot&);

}  // namespace lunagrad
