#include "script/chunk/globals.h"

#include <algorithm>
#include <utility>

namespace lunagrad {

void GlobalUses::reads(const Known& holder, std::string_view field, int line, bool) {
  if (holder.is(KnownKind::globals) && holder.name.empty())
    uses_.push_back({std::string(field), line, GlobalUse::Kind::read});
}

void GlobalUses::assigns(const Known& holder, std::string_view field, int line) {
  if (holder.is(KnownKind::globals) && !field.empty())
    uses_.push_back({std::string(field), line,
                     holder.name.empty() ? GlobalUse::Kind::assigned : GlobalUse::Kind::declared});
}

std::vector<GlobalUse> GlobalUses::take() {
  std::stable_sort(uses_.begin(), uses_.end(),
                   [](const GlobalUse& a, const GlobalUse& b) { return a.line < b.line; });
  return std::move(uses_);
}

}  // namespace lunagrad
