#include "script/chunk/classes.h"

#include <algorithm>
#include <string_view>

namespace lunagrad {

bool ClassFields::is_ours(const Known& value) {
  return value.is(KnownKind::type) || value.is(KnownKind::object);
}

void ClassFields::makes_class(const Known& type, const Known& parent) {
  Class& made = classes_[type.type];
  made.name = type.name;
  if (parent.is(KnownKind::type))
    made.parent = parent.type;
  else if (!parent.is(KnownKind::library) || parent.name != "lg.nn.Module")
    made.open = true;
}

void ClassFields::reads(const Known& holder, std::string_view field, int line, bool) {
  if (holder.is(KnownKind::object) && !field.starts_with('_'))
    reads_.push_back({holder.type, std::string(field), line});
}

void ClassFields::assigns(const Known& holder, std::string_view field, int) {
  if (!is_ours(holder))
    elsewhere_.emplace(field);
  else if (field.empty())
    classes_[holder.type].open = true;
  else
    classes_[holder.type].fields.emplace(field);
}

// self:register_buffer("mask", x) adds a field; rawset(self, name, x) adds a field with an unknown name.
void ClassFields::calls(const Known& function, std::span<const Known> arguments, int) {
  if (arguments.empty() || !is_ours(arguments[0])) return;
  Class& owner = classes_[arguments[0].type];
  if (function.is(KnownKind::function))
    owner.open |= function.name == "rawset" || function.name == "setmetatable";
  constexpr std::string_view kAdding[] = {"register_buffer", "register_parameter", "add_module",
                                          "register_module"};
  if (!function.is(KnownKind::method) ||
      std::find(std::begin(kAdding), std::end(kAdding), function.name) == std::end(kAdding))
    return;
  if (arguments.size() > 1 && arguments[1].is(KnownKind::text))
    owner.fields.emplace(arguments[1].name);
  else
    owner.open = true;
}

std::vector<ClassFields::Missing> ClassFields::missing(
    const std::function<bool(const std::string& field)>& of_library) const {
  std::vector<Missing> found;
  for (const Read& read : reads_) {
    if (elsewhere_.count(read.field) || of_library(read.field)) continue;
    std::vector<std::string> known;
    bool has = false;
    for (int type = read.type; type >= 0 && !has;) {
      const auto owner = classes_.find(type);
      if (owner == classes_.end()) break;
      has = owner->second.open || owner->second.fields.count(read.field);
      known.insert(known.end(), owner->second.fields.begin(), owner->second.fields.end());
      type = owner->second.parent;
    }
    if (!has) found.push_back({classes_.at(read.type).name, read.field, std::move(known), read.line});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Missing& a, const Missing& b) { return a.line < b.line; });
  return found;
}

}  // namespace lunagrad
