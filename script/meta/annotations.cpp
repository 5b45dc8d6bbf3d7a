#include "script/meta/annotations.h"

#include <ostream>
#include <set>

#include "runtime/io/format.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

std::string lua_type(const ParamSpec& spec) {
  switch (spec.kind) {
    case ParamKind::boolean:
      return "boolean";
    case ParamKind::integer:
    case ParamKind::dim:
    case ParamKind::position:
      return "integer";
    case ParamKind::real:
      if (!spec.choices.empty()) break;
      return "number";
    case ParamKind::number:
      return "number|boolean";
    case ParamKind::integers:
      if (!spec.choices.empty()) break;
      return "integer|integer[]";
    case ParamKind::dims:
      return "integer|integer[]";
    case ParamKind::dtype:
      return "lunagrad.DType";
    case ParamKind::text:
      return "string";
    case ParamKind::choice:
      break;
  }
  std::string names = spec.kind == ParamKind::integers ? "integer|integer[]"
                      : spec.kind == ParamKind::real   ? "number"
                                                       : "";
  for (const char* choice : spec.choices)
    names += (names.empty() ? "\"" : "|\"") + std::string(choice) + "\"";
  return names;
}

std::string lua_type(const Signature& signature, const Slot& slot) {
  if (!slot.is_input) return lua_type(signature.full->params[slot.index]);
  if (signature.full->inputs[slot.index].list) return "Tensor[]";
  return signature.numbers >> slot.index & 1 ? "Tensor|number" : "Tensor";
}

// "end" is an argument name in PyTorch and a keyword in Lua.
std::string lua_name(const char* name) {
  const std::string given = name;
  return given == "end" ? "end_" : given;
}

std::string default_of(const Signature& signature, const Slot& slot) {
  if (slot.is_input) return {};
  const ParamSpec& spec = signature.full->params[slot.index];
  return spec.fallback.present() ? " default " + print_value(spec, spec.fallback) : std::string();
}

void print_function(std::ostream& out, const Signature& signature, const std::string& where,
                    const std::string& name, bool method) {
  out << "\n---" << signature.full->doc << '\n';
  std::string arguments;
  for (size_t i = method ? 1 : 0; i < signature.slots.size(); ++i) {
    const Slot& slot = signature.slots[i];
    out << "---@param " << lua_name(slot.name) << (slot.required ? " " : "? ") << lua_type(signature, slot)
        << default_of(signature, slot) << '\n';
    arguments += lua_name(slot.name) + ", ";
  }
  out << "---@param options? table by name: " << signature.names << '\n';
  out << "---@return Tensor ...\n";
  out << "function " << where << name << '(' << arguments << "options) end\n";
}

}  // namespace

void print_format_meta(std::ostream& out) {
  out << "---@class lunagrad.io\nlocal io = {}\n";
  for (const FileFormat* format : file_formats()) {
    if (format->takes_options) continue;
    const std::string table = std::string("io.") + format->name;
    out << '\n'
        << table << " = {}\n\n---" << format->about << "\n---@param path string\n---@return Tensor\n"
        << "function " << table << ".load(path) end\n\n---" << format->about
        << "\n---@param path string\n---@param values Tensor\nfunction " << table
        << ".save(path, values) end\n";
  }
}

void print_meta(std::ostream& out) {
  out << "---@meta\n\n---@alias lunagrad.DType ";
  for (int i = 0; i < kDTypeCount; ++i) out << (i ? "|" : "") << '"' << dtype_name(DType(i)) << '"';
  out << "\n\n---An array of numbers on a device. Its node records how it was computed.\n---@class Tensor\n"
         "---@field requires_grad boolean\n---@field grad Tensor?\n---@field grad_fn string?\n"
         "---@field is_leaf boolean\n---@field retains_grad boolean\n---@field shape lunagrad.Size\n"
         "---@field ndim integer\n---@field itemsize integer\n---@field nbytes integer\n"
         "---@field is_cpu boolean\n---@field is_vulkan boolean\n---@field data Tensor\n"
         "---@field T Tensor\n---@field mT Tensor\n---@field mH Tensor\n---@field H Tensor\n"
         "---@operator add(Tensor|number): Tensor\n---@operator sub(Tensor|number): Tensor\n"
         "---@operator mul(Tensor|number): Tensor\n---@operator div(Tensor|number): Tensor\n"
         "---@operator pow(Tensor|number): Tensor\n---@operator mod(Tensor|number): Tensor\n"
         "---@operator idiv(Tensor|number): Tensor\n---@operator unm: Tensor\n---@operator len: integer\n"
         "local Tensor = {}\n\n---@class lunagrad\nlocal lg = {}\n";
  std::set<std::string> tables;
  for (const Signature& signature : signatures()) {
    const Op& op = *signature.op;
    if (op.hidden()) continue;
    const std::string table = table_of(op);
    if (!table.empty() && tables.insert(table).second) out << "\nlg." << table << " = {}\n";
    print_function(out, signature, "lg.", op.name, false);
    if (!table.empty() || op.inputs.empty() || op.inputs[0].list) continue;
    out << "\nTensor." << op.name << " = lg." << op.name << '\n';
    if (has_in_place_form(op)) print_function(out, signature, "Tensor:", op.name + std::string("_"), true);
  }
  for (const Alias& alias : aliases()) {
    if (std::string_view(alias.name) == "repeat") continue;  // a keyword of Lua
    const Op& op = *find_signature(alias.op)->op;
    out << "\nlg." << alias.name << " = lg." << alias.op << '\n';
    if (!op.inputs.empty() && !op.inputs[0].list)
      out << "Tensor." << alias.name << " = lg." << alias.op << '\n';
    if (has_in_place_form(op)) out << "Tensor." << alias.name << "_ = Tensor." << alias.op << "_\n";
  }
  out << '\n';
  print_format_meta(out);
  out << "\nreturn lg\n";
}

}  // namespace lunagrad
