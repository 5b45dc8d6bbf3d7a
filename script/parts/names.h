#pragma once
// The names of the optional parts of a build, in lg. cmake/parts.cmake lists the parts; what a build leaves
// out is still known by name, so that its use is an Error that says so. No Lua, no state; any thread.
#include <span>
#include <string_view>

namespace lunagrad {

// A field of lg that belongs to a part. lg.surgery is the table of the module "lunagrad.surgery";
// lg.io.onnx_export is the function that the module "lunagrad.onnx" returns.
struct PartField {
  const char* path;  // "surgery", "io.onnx_export"
  const char* module;
  bool built;
};
std::span<const PartField> part_fields();
// Whether a name of lg, such as "lg.surgery.undo", belongs to a part that this build leaves out.
bool is_left_out(std::string_view name);

// Throws the Error "WHAT is not part of this build", of kind device, as for a device that the build lacks.
[[noreturn]] void fail_left_out(std::string_view what);

}  // namespace lunagrad
