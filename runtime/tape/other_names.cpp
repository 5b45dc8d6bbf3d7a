#include "runtime/tape/other_names.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace lunagrad {
namespace {

constexpr size_t kMostNames = 64;  // of one thing

using Names = std::shared_ptr<std::vector<uint32_t>>;

std::unordered_map<uint32_t, Names>& names() {
  static thread_local std::unordered_map<uint32_t, Names> all;  // by each of the names
  return all;
}

}  // namespace

void note_other_name(uint32_t name, uint32_t other) {
  if (name == other) return;
  Names& of_one = names()[name];
  if (!of_one) of_one = std::make_shared<std::vector<uint32_t>>(1, name);
  if (of_one->size() >= kMostNames || std::find(of_one->begin(), of_one->end(), other) != of_one->end())
    return;
  of_one->push_back(other);
  names()[other] = of_one;
}

std::vector<uint32_t> other_names(uint32_t name) {
  const auto found = names().find(name);
  if (found == names().end()) return {};
  std::vector<uint32_t> others = *found->second;
  std::erase(others, name);
  return others;
}

void forget_other_names() { names().clear(); }

}  // namespace lunagrad
