#pragma once
// What a search for owners may say when it found none: only as much as it has searched. Pure; any thread.
#include <string>

#include "script/view/leaks.h"

namespace lunagrad {

struct OwnerWords {
  std::string headline, sentence;
};

// `report`: of the latest search, without owners; null: there was none. `watching`: each step is searched
// from now on.
OwnerWords words_without_owners(const LeakReport* report, bool watching);

}  // namespace lunagrad
