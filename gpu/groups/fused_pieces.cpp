#include "gpu/groups/fused_pieces.h"

#include "gpu/generate/row_params.h"
#include "runtime/core/error.h"

namespace lunagrad::gpu {
namespace {

struct RowText {
  const char* fields;  // members of the parameters' struct, a line each
  bool boolean, special;
  const char* value;
  const char* gradients[3];
};
#include "shaders/row_texts.h"

// The operands of the row's expression, as a parameter list.
std::string parameters_of(ElementwiseUse use, int arity) {
  const std::string operands = arity == 1 ? "T x" : arity == 2 ? "T a, T b" : "T a, T b, T c";
  return use.gradient < 0 ? operands : "T g, " + operands + ", T y";
}

std::string function_of(const FusedMember& member, size_t i) {
  const ElementwiseUse use = member.use;
  const RowText& row = kRowTexts[use.row];
  const char* const type = row.boolean ? "bool" : "T";
  return text("struct P", i, " {\n", *row.fields ? row.fields : "  int none;\n", "};\n", type, " f", i, "(",
              parameters_of(use, row_traits(use.row).arity), ", P", i, " p) {\n  precise const ", type,
              " result = ", use.gradient < 0 ? row.value : row.gradients[use.gradient],
              ";\n  return result;\n}\n");
}

// "P2(n3, int(n4))"
std::string params_of(const FusedMember& member, size_t i) {
  const auto number = [&](int k) { return text("n", member.first_param + k); };
  return text("P", i, "(", row_params(kRowTexts[member.use.row].fields, number), ")");
}

std::string rounded(const std::string& value, DType type) {
  if (type == DType::f16) return "half_to_float(float_to_half(" + value + "))";
  if (type == DType::bf16) return "bfloat_to_float(float_to_bfloat(" + value + "))";
  return value;
}

}  // namespace

std::string type_number(DType type) { return text(int(type), "u"); }

std::string opaque(const std::string& value, DType type) { return "opaque(" + rounded(value, type) + ")"; }

std::string member_value(const FusedMember& member, size_t i,
                         const std::function<std::string(size_t)>& operand) {
  std::string value;
  if (!member.use) {
    value = operand(0);
  } else {
    const int arity = row_traits(member.use.row).arity;
    const int operands = member.use.gradient < 0 ? arity : arity + 2;
    value = text("f", i, "(");
    for (int k = 0; k < operands; ++k) value += operand(size_t(k)) + ", ";
    value += params_of(member, i) + ")";
    if (kRowTexts[member.use.row].boolean && member.use.gradient < 0) value = "(" + value + " ? 1.0 : 0.0)";
  }
  if (member.result == DType::boolean && !member.use) value = "(" + value + " != 0.0 ? 1.0 : 0.0)";
  return opaque(value, member.result);
}

std::string fused_beginning(const FusedShape& shape) {
  bool special = false;
  std::string functions;
  for (size_t i = 0; i < shape.members.size(); ++i) {
    const FusedMember& member = shape.members[i];
    if (!member.use) continue;
    special |= kRowTexts[member.use.row].special;
    functions += function_of(member, i);
  }
  std::string whole =
      text("#version 460\n#define T float\n", special ? "#define HAS_SPECIAL\n" : "", kVocabulary);
  whole += text(
      "layout(local_size_x = 256) in;\n"
      "layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {\n"
      "  uint64_t address[",
      int(shape.addresses), "];\n  uint count, columns, zero, padding;\n  T number[", shape.numbers + 1,
      "];\n  uint size[", kMaxDims, "];\n  int64_t stride[", shape.walks + 1, "][", kMaxDims,
      "];\n};\n"
      "layout(push_constant, scalar) uniform Push { Arguments arguments; };\n"
      // Local copies, since compilers must assume that stores change the arguments.
      "uint zero, size[",
      shape.dims + 1, "];\nint64_t stride[", shape.walks + 1, "][", shape.dims + 1,
      "];\n"
      // `zero` is 0, which the compiler cannot know. So it does not contract operations across two members.
      "T opaque(T x) { return uintBitsToFloat(floatBitsToUint(x) ^ zero); }\n"
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
  return whole + functions;
}

std::string fused_variables(const FusedShape& shape) {
  std::string lines = "  zero = arguments.zero;\n";
  for (int at = 0; at < shape.addresses; ++at)
    lines += text("  const uint64_t a", at, " = arguments.address[", at, "];\n");
  for (int at = 0; at < shape.numbers; ++at)
    lines += text("  const T n", at, " = arguments.number[", at, "];\n");
  if (shape.walks > 0)
    lines += text("  for (uint d = 0; d < ", int(shape.dims),
                  "; ++d) {\n    size[d] = arguments.size[d];\n    [[unroll]] for (uint k = 0; k < ",
                  int(shape.walks), "; ++k) stride[k][d] = arguments.stride[k][d];\n  }\n");
  return lines;
}

}  // namespace lunagrad::gpu
