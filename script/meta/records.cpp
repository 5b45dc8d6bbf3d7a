// Prints the records of all ops as JSON, for tools: tests/reference/generate.py reads the examples.
#include <nlohmann/json.hpp>
#include <ostream>

#include "runtime/core/trace.h"
#include "script/meta/annotations.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

using Json = nlohmann::ordered_json;

const char* family_name(OpFamily family) {
  constexpr const char* kNames[] = {"view",          "linear_algebra", "elementwise", "reduction",
                                    "normalization", "leaf",           "loss",        "other"};
  return kNames[size_t(family)];
}

const char* autocast_name(AutocastPolicy policy) {
  // by_kind, lower_precision, f32, promote, own, as the command `meta` prints them.
  constexpr const char* kNames[] = {"by_kind", "narrow", "wide", "widest", "own"};
  return kNames[size_t(policy)];
}

const char* kind_name(ExampleOperand::Kind kind) {
  constexpr const char* kNames[] = {"real", "complex", "index", "boolean", "absent"};
  return kNames[size_t(kind)];
}

// A parameter as PyTorch takes it: choices and types by name, positions counted from 0 as in the engine.
Json value_of(const ParamSpec& spec, const Value& value) {
  switch (value.kind) {
    case Value::Kind::none:
      return nullptr;
    case Value::Kind::boolean:
      return value.b;
    case Value::Kind::real:
      return value.f;
    case Value::Kind::list: {
      Json list = Json::array();
      for (const int64_t item : value.list) list.push_back(item);
      return list;
    }
    case Value::Kind::integer:
      break;
  }
  if (spec.kind == ParamKind::dtype) return dtype_name(DType(value.i));
  if (spec.kind == ParamKind::text) return interned(uint32_t(value.i));
  if (!spec.choices.empty()) return spec.choices[size_t(value.i)];
  return value.i;
}

Json operand_of(const Op& op, size_t i, const ExampleOperand& operand) {
  const InputSpec& spec = op.inputs[std::min(i, op.inputs.size() - 1)];
  Json shape = Json::array();
  for (const int64_t size : operand.shape) shape.push_back(size);
  return {{"name", spec.name},
          {"kind", kind_name(operand.kind)},
          {"shape", shape},
          {"low", operand.low},
          {"high", operand.high}};
}

Json example_of(const Op& op, const OpExample& example) {
  Json inputs = Json::array(), params = Json::object();
  for (size_t i = 0; i < example.inputs.size(); ++i) inputs.push_back(operand_of(op, i, example.inputs[i]));
  for (size_t i = 0; i < example.params.size(); ++i)
    if (example.params[i].present()) params[op.params[i].name] = value_of(op.params[i], example.params[i]);
  return {{"inputs", inputs}, {"params", params}};
}

Json record_of(const Op& op) {
  Json arguments = Json::array(), examples = Json::array();
  for (const Slot& slot : find_signature(op.name)->slots) arguments.push_back(slot.name);
  for (const OpExample& example : examples_of(op))
    if (!example.error) examples.push_back(example_of(op, example));
  return {{"name", op.name},
          {"doc", op.doc},
          {"arguments", arguments},
          {"family", family_name(op.family)},
          {"autocast", autocast_name(op.autocast)},
          {"flops", op.flops.text ? op.flops.text : ""},
          {"composition", op.is_composition()},
          {"complex", op.complex},
          {"random", op.random},
          {"examples", examples}};
}

}  // namespace

void print_records(std::ostream& out) {
  Json records = Json::array();
  for (const Op* op : all_ops()) records.push_back(record_of(*op));
  out << records.dump(1) << '\n';
}

}  // namespace lunagrad
