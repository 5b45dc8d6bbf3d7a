#include "script/chunk/globals.h"

#include <algorithm>

#include "script/chunk/follow.h"

namespace lunagrad {
namespace {

class Uses : public ChunkObserver {
 public:
  void reads(const Known& holder, const std::string& field, int line, bool) override {
    if (holder.is(Known::Kind::globals) && holder.name.empty())
      found.push_back({field, line, GlobalUse::Kind::read});
  }
  void assigns(const Known& holder, const std::string& field, int line) override {
    if (holder.is(Known::Kind::globals) && !field.empty())
      found.push_back(
          {field, line, holder.name.empty() ? GlobalUse::Kind::assigned : GlobalUse::Kind::declared});
  }

  std::vector<GlobalUse> found;
};

}  // namespace

std::vector<GlobalUse> global_uses(const CompiledFunction& chunk) {
  Uses uses;
  follow(chunk, {&uses});
  std::stable_sort(uses.found.begin(), uses.found.end(),
                   [](const GlobalUse& a, const GlobalUse& b) { return a.line < b.line; });
  return std::move(uses.found);
}

}  // namespace lunagrad
