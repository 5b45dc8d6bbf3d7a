#pragma once
// The parameters of a row of elementwise.def in GLSL. Used by the build's shader writer and by the writer of
// groups at run time. Pure; any thread.
#include <string>
#include <string_view>

namespace lunagrad::gpu {

// The arguments of the constructor of a row's Params. `fields` has its members, a line each: "  T value;" or
// "  int choice;". `number(i)` is the GLSL of the i-th number: "param(0), int(param(1))". Without members
// there is one that stands for none.
template <class Number>
std::string row_params(std::string_view fields, Number number) {
  if (fields.empty()) return "0";
  std::string list;
  for (int i = 0; !fields.empty(); ++i, fields.remove_prefix(fields.find('\n') + 1)) {
    if (i > 0) list += ", ";
    list += fields.starts_with("  int ") ? "int(" + number(i) + ")" : number(i);
  }
  return list;
}

}  // namespace lunagrad::gpu
