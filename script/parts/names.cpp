#include "script/parts/names.h"

#include <algorithm>

#include "runtime/core/error.h"

namespace lunagrad {

bool is_left_out(std::string_view name) {
  if (!name.starts_with("lg.")) return false;
  name.remove_prefix(3);
  const auto fields = part_fields();
  return std::any_of(fields.begin(), fields.end(), [&](const PartField& field) {
    const std::string_view path = field.path;
    return !field.built && name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '.');
  });
}

void fail_left_out(std::string_view what) { fail_as(ErrorKind::device, what, " is not part of this build"); }

}  // namespace lunagrad
