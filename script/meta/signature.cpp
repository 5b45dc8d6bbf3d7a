#include "script/meta/signature.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "runtime/core/figures.h"
#include "runtime/core/in_place.h"

namespace lunagrad {
namespace {

// The op's long form: the record for calls that need parameters which the op's own record lacks. The op
// itself if it has no long form.
const Op& full_form(const Op& op) {
  static const std::unordered_map<std::string_view, const Op*> forms = [] {
    std::unordered_map<std::string_view, const Op*> map;
    for (const Op* form : all_ops())
      if (form->short_form) map.emplace(form->short_form, form);
    return map;
  }();
  const auto found = forms.find(op.name);
  return found == forms.end() ? op : *found->second;
}

bool extends(const Op& full, const Op& op) {
  if (&full == &op || full.inputs.size() != op.inputs.size() || full.params.size() < op.params.size())
    return false;
  for (size_t i = 0; i < op.params.size(); ++i)
    if (std::strcmp(full.params[i].name, op.params[i].name) != 0) return false;
  return true;
}

// The place of an argument in the record's order of arguments.
size_t rank(const Op& op, const Slot& slot) {
  for (size_t i = 0; i < op.order.size(); ++i)
    if (std::strcmp(op.order[i], slot.name) == 0) return i;
  return op.order.size();
}

Signature signature_of(const Op& short_form) {
  const Op& op = full_form(short_form);
  Signature signature{
      &short_form, &op, {}, short_form.params.empty(), op.number_inputs, extends(op, short_form), false, {}};
  signature.creates = op.creates || op.inputs.empty();
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    signature.slots.push_back({op.inputs[i].name, true, i, !op.inputs[i].optional});
    signature.only_inputs &= !op.inputs[i].optional && !op.inputs[i].list;
  }
  for (size_t i = 0; i < op.params.size(); ++i)
    signature.slots.push_back(
        {op.params[i].name, false, i, !op.params[i].optional && !op.params[i].fallback.present()});
  std::stable_sort(signature.slots.begin(), signature.slots.end(),
                   [&](const Slot& a, const Slot& b) { return rank(op, a) < rank(op, b); });
  for (const Slot& slot : signature.slots) {
    if (!signature.names.empty()) signature.names += ", ";
    signature.names += slot.name;
  }
  if (signature.creates) signature.names += ", device, requires_grad";
  return signature;
}

int64_t to_position(int64_t index) { return index < 0 ? index : index + 1; }

}  // namespace

Signature make_signature(const Op& op) { return signature_of(op); }

const Slot* Signature::find(std::string_view name) const {
  for (const Slot& slot : slots)
    if (name == slot.name) return &slot;
  // NumPy's names, which PyTorch takes too.
  if (name == "axis") return find("dim");
  if (name == "keepdims") return find("keepdim");
  return nullptr;
}

bool Signature::spreads(size_t slot) const {
  for (size_t i = slot + 1; i < slots.size(); ++i) {
    if (slots[i].is_input) return false;
    const ParamKind kind = full->params[slots[i].index].kind;
    if (kind != ParamKind::boolean && kind != ParamKind::dtype && kind != ParamKind::choice) return false;
  }
  return true;
}

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> all = [] {
    std::vector<Signature> made;
    for (const Op* op : all_ops()) made.push_back(signature_of(*op));
    return made;
  }();
  return all;
}

std::span<const Alias> aliases() {
  // PyTorch's aliases; the names of torch.special are in lua/lunagrad/special.lua.
  static constexpr Alias all[] = {{"absolute", "abs"},
                                  {"arccos", "acos"},
                                  {"arccosh", "acosh"},
                                  {"arcsin", "asin"},
                                  {"arcsinh", "asinh"},
                                  {"arctan", "atan"},
                                  {"arctan2", "atan2"},
                                  {"arctanh", "atanh"},
                                  {"argwhere", "nonzero"},
                                  {"clip", "clamp"},
                                  {"concat", "cat"},
                                  {"concatenate", "cat"},
                                  {"conj_physical", "conj"},
                                  {"divide", "div"},
                                  {"fix", "trunc"},
                                  {"ger", "outer"},
                                  {"greater", "gt"},
                                  {"greater_equal", "ge"},
                                  {"less", "lt"},
                                  {"less_equal", "le"},
                                  {"moveaxis", "movedim"},
                                  {"multiply", "mul"},
                                  {"native_channel_shuffle", "channel_shuffle"},
                                  {"negative", "neg"},
                                  {"not_equal", "ne"},
                                  {"repeat", "tile"},
                                  {"row_stack", "vstack"},
                                  {"subtract", "sub"},
                                  {"swapaxes", "transpose"},
                                  {"swapdims", "transpose"},
                                  {"true_divide", "div"}};
  return all;
}

const Signature* find_signature(std::string_view op) {
  static const std::unordered_map<std::string_view, const Signature*> by_name = [] {
    std::unordered_map<std::string_view, const Signature*> map;
    for (const Signature& signature : signatures()) map.emplace(signature.op->name, &signature);
    return map;
  }();
  auto found = by_name.find(op);
  for (const Alias& alias : aliases())
    if (found == by_name.end() && op == alias.name) found = by_name.find(alias.op);
  return found == by_name.end() ? nullptr : found->second;
}

std::string table_of(const Op& op) {
  const std::string_view name = op.name;
  return std::string(name.substr(0, name.find('.') == name.npos ? 0 : name.find('.')));
}

bool has_in_place_form(const Op& op) {
  return (op.elementwise >= 0 && !op.hidden() && !op.inputs.empty()) || has_composed_in_place_form(op);
}

std::string print_value(const ParamSpec& spec, const Value& value) {
  switch (value.kind) {
    case Value::Kind::none:
      return "nil";
    case Value::Kind::boolean:
      return value.b ? "true" : "false";
    case Value::Kind::real:
      return shortest_number(value.f);
    case Value::Kind::integer:
      break;
    case Value::Kind::list: {
      std::string text = "{";
      for (int i = 0; i < value.list.size(); ++i) {
        const int64_t item = value.list[i];
        text += (i ? ", " : "") + std::to_string(spec.kind == ParamKind::dims ? to_position(item) : item);
      }
      return text + "}";
    }
  }
  if (spec.kind == ParamKind::dtype) return std::string("\"") + dtype_name(DType(value.i)) + "\"";
  if (spec.kind == ParamKind::text) return "\"" + interned(uint32_t(value.i)) + "\"";
  if (!spec.choices.empty()) return std::string("\"") + spec.choices[size_t(value.i)] + "\"";
  const bool counts_from_one = spec.kind == ParamKind::dim || spec.kind == ParamKind::position;
  return std::to_string(counts_from_one ? to_position(value.i) : value.i);
}

}  // namespace lunagrad
