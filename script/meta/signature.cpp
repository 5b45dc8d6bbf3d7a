#include "script/meta/signature.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "runtime/figures.h"

namespace lunagrad {
namespace {

// The ops whose argument order in PyTorch is not "operands, then parameters".
struct Order {
  const char* op;
  std::vector<const char*> names;
};
const std::vector<Order>& orders() {
  static const std::vector<Order> all = {
      {"layer_norm", {"input", "normalized_shape", "weight", "bias", "eps"}},
      {"rms_norm", {"input", "normalized_shape", "weight", "eps"}},
      {"group_norm", {"input", "num_groups", "weight", "bias", "eps"}},
      {"index_select", {"input", "dim", "index"}},
      {"index_add", {"input", "dim", "index", "source", "alpha"}},
      {"gather", {"input", "dim", "index"}},
      {"scatter_add", {"input", "dim", "index", "src"}},
      {"scatter", {"input", "dim", "index", "src"}},
      {"index_copy", {"input", "dim", "index", "source"}},
      {"index_fill", {"input", "dim", "index", "value"}},
      {"einsum", {"equation", "operands"}},
  };
  return all;
}

// Ops with a second record for calls that use more parameters than the first one has.
constexpr const char* kLongForms[][2] = {
    {"add", "_add_alpha"}, {"sub", "_sub_alpha"},   {"div", "_div_rounding"}, {"clamp", "_clamp_bounds"},
    {"sum", "_sum_dtype"}, {"mean", "_mean_dtype"}, {"prod", "_prod_dtype"}};

const Op& full_form(const Op& op) {
  for (const auto& [name, form] : kLongForms)
    if (std::strcmp(name, op.name) == 0) return *find_op(form);
  return op;
}

size_t rank(const Order* order, const Slot& slot) {
  if (!order) return 0;
  for (size_t i = 0; i < order->names.size(); ++i)
    if (std::strcmp(order->names[i], slot.name) == 0) return i;
  return order->names.size();
}

// Operands that broadcast may be numbers, but not conditions or masks.
uint32_t number_inputs(const Op& op) {
  if (op.elementwise >= 0) return ~0u;
  static constexpr std::pair<const char*, uint32_t> kOthers[] = {
      {"where", 0b110},     {"scatter", 0b100},   {"index_fill", 0b100},   {"repeat_interleave", 0b10},
      {"_add_alpha", 0b11}, {"_sub_alpha", 0b11}, {"_div_rounding", 0b11}, {"_clamp_bounds", 0b111},
      {"isclose", 0b11},    {"complex", 0b11}};
  for (const auto& [name, numbers] : kOthers)
    if (std::strcmp(op.name, name) == 0) return numbers;
  return 0;
}

Signature make_signature(const Op& short_form) {
  const Op& op = full_form(short_form);
  Signature signature{&short_form, &op, {}, short_form.params.empty(), number_inputs(op), false, {}};
  signature.creates = op.inputs.empty() || std::string_view(op.name).ends_with("_like");
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    signature.slots.push_back({op.inputs[i].name, true, i, !op.inputs[i].optional});
    signature.only_inputs &= !op.inputs[i].optional && !op.inputs[i].list;
  }
  for (size_t i = 0; i < op.params.size(); ++i)
    signature.slots.push_back(
        {op.params[i].name, false, i, !op.params[i].optional && !op.params[i].fallback.present()});
  const Order* order = nullptr;
  for (const Order& candidate : orders())
    if (std::strcmp(candidate.op, op.name) == 0) order = &candidate;
  std::stable_sort(signature.slots.begin(), signature.slots.end(),
                   [&](const Slot& a, const Slot& b) { return rank(order, a) < rank(order, b); });
  for (const Slot& slot : signature.slots) {
    if (!signature.names.empty()) signature.names += ", ";
    signature.names += slot.name;
  }
  if (signature.creates) signature.names += ", device, requires_grad";
  return signature;
}

int64_t to_position(int64_t index) { return index < 0 ? index : index + 1; }

}  // namespace

const Slot* Signature::find(std::string_view name) const {
  for (const Slot& slot : slots)
    if (name == slot.name) return &slot;
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
    for (const Op* op : all_ops()) made.push_back(make_signature(*op));
    return made;
  }();
  return all;
}

const Signature* find_signature(std::string_view op) {
  static const std::unordered_map<std::string_view, const Signature*> by_name = [] {
    std::unordered_map<std::string_view, const Signature*> map;
    for (const Signature& signature : signatures()) map.emplace(signature.op->name, &signature);
    return map;
  }();
  const auto found = by_name.find(op);
  return found == by_name.end() ? nullptr : found->second;
}

bool has_in_place_form(const Op& op) { return op.elementwise >= 0 && !op.hidden() && !op.inputs.empty(); }

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
