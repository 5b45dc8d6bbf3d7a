#include "script/chunk/fields.h"

#include <algorithm>
#include <utility>

namespace lunagrad {

void FieldUses::reads(const Known& holder, std::string_view field, int line, bool) {
  if (holder.is(KnownKind::library)) uses_.push_back({std::string(holder.name), std::string(field), line});
}

void FieldUses::assigns(const Known& holder, std::string_view field, int line) {
  if (holder.is(KnownKind::library) && !field.empty())
    uses_.push_back({std::string(holder.name), std::string(field), line, true});
}

std::vector<FieldUse> FieldUses::take() {
  std::stable_sort(uses_.begin(), uses_.end(),
                   [](const FieldUse& a, const FieldUse& b) { return a.line < b.line; });
  return std::move(uses_);
}

}  // namespace lunagrad
