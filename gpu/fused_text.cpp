#include "gpu/fused_text.h"

#include "runtime/error.h"

namespace lunagrad::gpu {
namespace {

constexpr int kInFlight = 4;  // elements or vectors that a thread loads before it computes

struct RowText {
  const char* fields;   // members of the parameters' struct
  const char* readers;  // "param," or "int," for each
  bool boolean, special;
  const char* value;
  const char* gradients[3];
};
#include "shaders/row_texts.h"

// The operands of the row's expression, as parameters of a function.
std::string parameters_of(ElementwiseUse use, int arity) {
  const std::string operands = arity == 1 ? "T x" : arity == 2 ? "T a, T b" : "T a, T b, T c";
  return use.gradient < 0 ? operands : "T g, " + operands + ", T y";
}

std::string function_of(const FusedMember& member, size_t i) {
  const ElementwiseUse use = member.use;
  const RowText& row = kRowTexts[use.row];
  const char* const type = row.boolean ? "bool" : "T";
  return text("struct P", i, " {\n", *row.fields ? row.fields : "  int none;\n", "};\n", type, " f", i, "(",
              parameters_of(use, row_traits(use.row).arity), ", P", i, " p) {\n  return ",
              use.gradient < 0 ? row.value : row.gradients[use.gradient], ";\n}\n");
}

// "P2(n3, int(n4))"
std::string params_of(const FusedMember& member, size_t i) {
  std::string_view readers = kRowTexts[member.use.row].readers;
  std::string list;
  for (int at = member.first_param; !readers.empty(); ++at) {
    const size_t comma = readers.find(',');
    const bool whole = readers.substr(0, comma) == "int";
    list += text(list.empty() ? "" : ", ", whole ? "int(" : "", "n", at, whole ? ")" : "");
    readers.remove_prefix(comma + 1);
  }
  return text("P", i, "(", list.empty() ? "0" : list, ")");
}

std::string type_number(DType type) { return text(int(type), "u"); }

// A result as the next member reads it from memory: rounded to its type.
std::string rounded(const std::string& value, DType type) {
  if (type == DType::f16) return "half_to_float(float_to_half(" + value + "))";
  if (type == DType::bf16) return "bfloat_to_float(float_to_bfloat(" + value + "))";
  return value;
}

// The operands in memory as variables: numbers and single elements once, arrays of what a thread loads before
// it computes. Those that lie in order are loaded four at a time in the vector form.
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
      case FusedOperand::Kind::absent:
      case FusedOperand::Kind::member:
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
    case FusedOperand::Kind::direct:
    case FusedOperand::Kind::strided:
      break;
  }
  return text("in", i, "_", k, "[k]", shape.vector ? "[j]" : "");
}

std::string computation(const FusedShape& shape, size_t i) {
  const FusedMember& member = shape.members[i];
  std::string value;
  if (!member.use) {
    value = operand(shape, i, 0);
  } else {
    const int arity = row_traits(member.use.row).arity;
    const int operands = member.use.gradient < 0 ? arity : arity + 2;
    value = text("f", i, "(");
    for (int k = 0; k < operands; ++k) value += operand(shape, i, size_t(k)) + ", ";
    value += params_of(member, i) + ")";
    if (kRowTexts[member.use.row].boolean && member.use.gradient < 0) value = "(" + value + " ? 1.0 : 0.0)";
  }
  if (member.result == DType::boolean && !member.use) value = "(" + value + " != 0.0 ? 1.0 : 0.0)";
  return text("      const T r", i, " = sealed(", rounded(value, member.result), ");\n");
}

}  // namespace

std::string signature(const FusedShape& shape) {
  std::string key;
  const auto add = [&](auto value) { key.push_back(char(value)); };
  add(shape.vector);
  add(shape.dims);
  for (const FusedMember& member : shape.members) {
    add(member.use.row), add(member.use.row >> 8), add(member.use.gradient), add(member.result);
    add(member.first_param), add(member.store);
    for (const FusedOperand& x : member.operands) add(x.kind), add(x.index), add(x.walk), add(x.type);
  }
  return key;
}

std::string fused_glsl(const FusedShape& shape) {
  bool special = false;
  std::string functions, outputs, compute, keep, store;
  Loads loads;
  for (size_t i = 0; i < shape.members.size(); ++i) {
    const FusedMember& member = shape.members[i];
    if (member.use) {
      special |= kRowTexts[member.use.row].special;
      functions += function_of(member, i);
    }
    add_loads(shape, i, loads);
    compute += computation(shape, i);
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
  std::string whole =
      text("#version 460\n#define T float\n", special ? "#define HAS_SPECIAL\n" : "", kVocabulary);
  whole += text(
      "layout(local_size_x = 256) in;\n"
      "layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {\n"
      "  uint64_t address[",
      int(shape.addresses), "];\n  uint count;\n  uint zero;\n  T number[", shape.numbers + 1,
      "];\n  uint size[", kMaxDims, "];\n  int64_t stride[", shape.walks + 1, "][", kMaxDims,
      "];\n};\n"
      "layout(push_constant, scalar) uniform Push { Arguments arguments; };\n"
      // Copies: compilers must assume that stores change the arguments.
      "uint zero, size[",
      shape.dims + 1, "];\nint64_t stride[", shape.walks + 1, "][", shape.dims + 1,
      "];\n"
      // A number whose origin the compiler cannot see: it must not join the operations of two members.
      "T sealed(T x) { return uintBitsToFloat(floatBitsToUint(x) ^ zero); }\n"
      "int64_t place(uint index, uint walk) {\n"
      "  int64_t at = 0;\n"
      "  [[unroll]] for (int d = ",
      int(shape.dims) - 1,
      "; d >= 0; --d) {\n"
      "    at += int64_t(d == 0 ? index : index % size[d]) * stride[walk][d];\n"
      "    index /= size[d];\n"
      "  }\n"
      "  return at;\n"
      "}\n");
  whole += functions;
  whole += "void main() {\n  zero = arguments.zero;\n";
  for (int at = 0; at < shape.addresses; ++at)
    whole += text("  const uint64_t a", at, " = arguments.address[", at, "];\n");
  for (int at = 0; at < shape.numbers; ++at)
    whole += text("  const T n", at, " = arguments.number[", at, "];\n");
  if (shape.walks > 0)
    whole += text("  for (uint d = 0; d < ", int(shape.dims),
                  "; ++d) {\n    size[d] = arguments.size[d];\n    [[unroll]] for (uint k = 0; k < ",
                  int(shape.walks), "; ++k) stride[k][d] = arguments.stride[k][d];\n  }\n");
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

}  // namespace lunagrad::gpu
