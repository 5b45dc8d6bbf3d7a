#include "capi/ops.h"

#include <string_view>
#include <unordered_map>

#include "capi/structs.h"
#include "runtime/core/trace.h"

namespace lunagrad::capi {
namespace {

constexpr size_t kOpInfo = 56, kArgumentInfo = 80;  // sizes of the first versions
static_assert(sizeof(lg_op_info) == kOpInfo && sizeof(lg_argument_info) == kArgumentInfo);

struct Table {
  Table() {
    for (const Signature& signature : signatures()) {
      if (signature.op->hidden()) continue;
      entries.push_back({&signature, false, signature.op->name, {}, {}});
      if (has_in_place_form(*signature.op))
        entries.push_back({&signature, true, signature.op->name + std::string("_"), {}, {}});
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      OpEntry& entry = entries[i];
      for (const Alias& alias : aliases())
        if (entry.signature->op->name == std::string_view(alias.op))
          entry.aliases.push_back(alias.name + std::string(entry.in_place ? "_" : ""));
    }
    for (size_t i = 0; i < entries.size(); ++i) by_name.emplace(entries[i].name, i);
    for (size_t i = 0; i < entries.size(); ++i)
      for (const std::string& alias : entries[i].aliases) {
        by_name.emplace(alias, i);
        entries[i].alias_pointers.push_back(alias.c_str());
      }
  }

  std::vector<OpEntry> entries;
  std::unordered_map<std::string_view, size_t> by_name;
};

const Table& table() {
  static const Table instance;
  return instance;
}

const lg_op* op_handle(size_t index) {
  return reinterpret_cast<const lg_op*>(uintptr_t(Kind::op) << 32 | index);
}

lg_kind kind_of(const ParamSpec& spec) {
  switch (spec.kind) {
    case ParamKind::boolean:
      return LG_BOOLEAN;
    case ParamKind::integer:
    case ParamKind::dim:
    case ParamKind::position:
      return LG_INTEGER;
    case ParamKind::real:
      return LG_REAL;
    case ParamKind::number:
      return LG_NUMBER;
    case ParamKind::integers:
    case ParamKind::dims:
      return LG_INTEGERS;
    case ParamKind::dtype:
      return LG_DTYPE;
    case ParamKind::choice:
      return LG_CHOICE;
    case ParamKind::text:
      return LG_TEXT;
  }
  return LG_NONE;
}

void describe_default(const ParamSpec& spec, lg_argument_info& info) {
  const Value& value = spec.fallback;
  switch (value.kind) {
    case Value::Kind::none:
      return;
    case Value::Kind::boolean:
      info.default_kind = LG_BOOLEAN;
      info.default_integer = value.b;
      return;
    case Value::Kind::real:
      info.default_kind = LG_REAL;
      info.default_real = value.f;
      return;
    case Value::Kind::list:
      info.default_kind = LG_INTEGERS;
      info.default_list = value.list.begin();
      info.default_list_length = size_t(value.list.size());
      return;
    case Value::Kind::integer:
      break;
  }
  if (spec.kind == ParamKind::dtype) {
    info.default_kind = LG_DTYPE;
    info.default_integer = value.i;
  } else if (spec.kind == ParamKind::text) {
    info.default_kind = LG_TEXT;
    info.default_text = interned(uint32_t(value.i)).c_str();
  } else if (!spec.choices.empty()) {
    info.default_kind = LG_TEXT;
    info.default_text = spec.choices[size_t(value.i)];
  } else {
    info.default_kind = LG_INTEGER;
    info.default_integer = value.i;
  }
}

}  // namespace

const std::vector<OpEntry>& op_entries() { return table().entries; }

const OpEntry& entry_of(const lg_op* op) {
  const auto bits = reinterpret_cast<uintptr_t>(op);
  const std::vector<OpEntry>& entries = op_entries();
  if (bits >> 32 != uintptr_t(Kind::op) || uint32_t(bits) >= entries.size()) [[unlikely]]
    refuse_handle(op, Kind::op);
  return entries[uint32_t(bits)];
}

}  // namespace lunagrad::capi

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

// The place of an input or a parameter in the signature.
uint32_t place_of(const Signature& signature, bool is_input, size_t index) {
  uint32_t place = 0;
  for (const auto& slot : signature.slots) {
    if (slot.is_input == is_input && slot.index == index) break;
    ++place;
  }
  return place;
}

}  // namespace

lg_code lg_op_find(const char* name, const lg_op** op) {
  return capi::wall([&] {
    require(name, "name");
    require(op, "op");
    const auto found = table().by_name.find(name);
    if (found == table().by_name.end()) refuse(LG_NOT_FOUND, "there is no operation '", name, "'");
    *op = op_handle(found->second);
  });
}

lg_code lg_op_count(size_t* count) {
  return capi::wall([&] {
    require(count, "count");
    *count = op_entries().size();
  });
}

lg_code lg_op_at(size_t index, const lg_op** op) {
  return capi::wall([&] {
    require(op, "op");
    if (index >= op_entries().size())
      refuse(LG_NOT_FOUND, "there are ", op_entries().size(), " operations, and index is ", index);
    *op = op_handle(index);
  });
}

lg_code lg_op_get_info(const lg_op* op, lg_op_info* info) {
  return capi::wall([&] {
    const OpEntry& entry = entry_of(op);
    const Op& full = *entry.signature->full;
    lg_op_info found{};
    found.flags = (!full.inputs.empty() && full.inputs.back().list ? LG_OP_LIST : 0) |
                  (entry.in_place ? LG_OP_IN_PLACE : 0) |
                  (entry.signature->creates && !entry.in_place ? LG_OP_CREATES : 0) |
                  (full.random ? LG_OP_RANDOM : 0);
    found.name = entry.name.c_str();
    found.sentence = entry.signature->op->doc;
    found.aliases = entry.alias_pointers.data();
    found.n_aliases = entry.alias_pointers.size();
    found.n_inputs = full.inputs.size();
    found.n_params = full.params.size();
    write_struct(info, found, kOpInfo, "lg_op_info");
  });
}

lg_code lg_op_get_input(const lg_op* op, size_t index, lg_argument_info* info) {
  return capi::wall([&] {
    const OpEntry& entry = entry_of(op);
    const Signature& signature = *entry.signature;
    const Op& full = *signature.full;
    if (index >= full.inputs.size())
      refuse(LG_NOT_FOUND, entry.name, " has ", full.inputs.size(), " inputs, and index is ", index);
    const InputSpec& spec = full.inputs[index];
    lg_argument_info found{};
    found.flags = (spec.optional ? 0 : LG_ARGUMENT_REQUIRED) | (spec.list ? LG_ARGUMENT_LIST : 0) |
                  (signature.numbers >> index & 1 ? LG_ARGUMENT_NUMBER : 0);
    found.name = spec.name;
    found.position = place_of(signature, true, index);
    found.kind = LG_TENSOR;
    write_struct(info, found, kArgumentInfo, "lg_argument_info");
  });
}

lg_code lg_op_get_param(const lg_op* op, size_t index, lg_argument_info* info) {
  return capi::wall([&] {
    const OpEntry& entry = entry_of(op);
    const Signature& signature = *entry.signature;
    const Op& full = *signature.full;
    if (index >= full.params.size())
      refuse(LG_NOT_FOUND, entry.name, " has ", full.params.size(), " parameters, and index is ", index);
    const ParamSpec& spec = full.params[index];
    const bool is_dim =
        spec.kind == ParamKind::dim || spec.kind == ParamKind::dims || spec.kind == ParamKind::position;
    lg_argument_info found{};
    found.flags = (spec.optional || spec.fallback.present() ? 0 : LG_ARGUMENT_REQUIRED) |
                  (is_dim ? LG_ARGUMENT_DIM : 0);
    found.name = spec.name;
    found.position = place_of(signature, false, index);
    found.kind = kind_of(spec);
    describe_default(spec, found);
    found.choices = spec.choices.data();
    found.n_choices = uint32_t(spec.choices.size());
    write_struct(info, found, kArgumentInfo, "lg_argument_info");
  });
}
