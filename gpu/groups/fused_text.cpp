#include "gpu/groups/fused_text.h"

#include "gpu/groups/fused_pieces.h"
#include "gpu/groups/fused_rows_text.h"
#include "runtime/core/error.h"

namespace lunagrad::gpu {
namespace {

constexpr int kInFlight = 4;  // elements or vectors that an invocation loads before it computes

// Loads the operands in memory into variables: numbers and single elements once, other operands into arrays
// of the elements that an invocation loads before it computes. In the vector form, operands with direct
// access are loaded four elements at a time.
struct Loads {
  std::string once, declared, in_turn;
};

void add_loads(const FusedShape& shape, size_t i, Loads& result) {
  for (size_t k = 0; k < 5; ++k) {
    const FusedOperand& x = shape.members[i].operands[k];
    const std::string name = text("in", i, "_", k), address = text("a", int(x.index));
    const std::string type = type_number(x.type), index = shape.vector ? "i * 4 + j" : "i";
    const auto declare = [&] {
      result.declared += text("    ", shape.vector ? "vec4 " : "T ", name, "[", kInFlight, "];\n");
    };
    const auto load_each = [&](const std::string& place) {
      declare();
      result.in_turn +=
          text(shape.vector ? "      [[unroll]] for (uint j = 0; j < 4; ++j) " : "      ", name, "[k]",
               shape.vector ? "[j]" : "", " = load_float(", address, ", ", place, ", ", type, ");\n");
    };
    switch (x.kind) {
      default:
        break;
      case FusedOperand::Kind::number:
        result.once += text("  const T ", name, " = n", int(x.index), ";\n");
        break;
      case FusedOperand::Kind::single:
        result.once += text("  const T ", name, " = load_float(", address, ", 0L, ", type, ");\n");
        break;
      case FusedOperand::Kind::direct:
        if (shape.vector && comes_in_fours(x.type)) {
          declare();
          result.in_turn += text("      ", name, "[k] = load_four(", address, ", int64_t(i), ", type, ");\n");
        } else {
          load_each("int64_t(" + index + ")");
        }
        break;
      case FusedOperand::Kind::strided:
        load_each(text("place(", index, ", ", int(x.walk), ")"));
        break;
    }
  }
}

std::string operand(const FusedShape& shape, size_t i, size_t k) {
  const FusedOperand& x = shape.members[i].operands[k];
  switch (x.kind) {
    case FusedOperand::Kind::absent:
      return "0.0";
    case FusedOperand::Kind::member:
      return text("r", int(x.index));
    case FusedOperand::Kind::number:
    case FusedOperand::Kind::single:
      return text("in", i, "_", k);
    default:
      break;
  }
  return text("in", i, "_", k, "[k]", shape.vector ? "[j]" : "");
}

std::string fused_elements_glsl(const FusedShape& shape) {
  std::string outputs, compute, keep, store;
  Loads loads;
  for (size_t i = 0; i < shape.members.size(); ++i) {
    const FusedMember& member = shape.members[i];
    add_loads(shape, i, loads);
    compute += text("      const T r", i, " = ",
                    member_value(member, i, [&](size_t k) { return operand(shape, i, k); }), ";\n");
    if (member.store < 0) continue;
    const std::string to = text("a", int(member.store), ", int64_t(i), ", type_number(member.result));
    if (shape.vector && member.result != DType::boolean) {
      outputs += text("      vec4 out", i, ";\n");
      keep += text("      out", i, "[j] = r", i, ";\n");
      store += text("    store_four(", to, ", out", i, ");\n");
    } else {
      keep += text("      store_float(a", int(member.store), ", int64_t(", shape.vector ? "i * 4 + j" : "i",
                   "), ", type_number(member.result), ", r", i, ");\n");
    }
  }
  std::string whole = fused_beginning(shape) + "void main() {\n" + fused_variables(shape);
  whole += loads.once;
  const std::string turns =
      text("    [[unroll]] for (uint k = 0; k < ", kInFlight,
           "; ++k) {\n      const uint i = first + k * apart;\n      if (i >= end) continue;\n");
  whole += text("  const uint end = arguments.count", shape.vector ? " / 4" : "",
                ", apart = gl_NumWorkGroups.x * gl_WorkGroupSize.x;\n"
                "  for (uint first = gl_GlobalInvocationID.x; first < end; first += apart * ",
                kInFlight, ") {\n", loads.declared, turns, loads.in_turn, "    }\n", turns, outputs,
                shape.vector ? "      [[unroll]] for (uint j = 0; j < 4; ++j) {\n" : "      {\n", compute,
                keep, "      }\n", store, "    }\n  }\n}\n");
  return whole;
}

}  // namespace

std::string signature(const FusedShape& shape) {
  std::string key;
  key.reserve(6 + shape.members.size() * (9 + 4 * std::size(FusedMember{}.operands)));
  const auto add = [&](auto value) { key.push_back(char(value)); };
  add(shape.vector);
  add(shape.dims), add(shape.along), add(shape.along >> 8), add(shape.turns), add(shape.turns >> 8);
  for (const FusedMember& member : shape.members) {
    add(member.use.row), add(member.use.row >> 8), add(member.use.gradient), add(member.result);
    add(member.first_param), add(member.store), add(member.reduction), add(member.row), add(member.stage);
    for (const FusedOperand& x : member.operands) add(x.kind), add(x.index), add(x.walk), add(x.type);
  }
  return key;
}

std::string fused_glsl(const FusedShape& shape) {
  return shape.along ? fused_rows_glsl(shape) : fused_elements_glsl(shape);
}

}  // namespace lunagrad::gpu
