#include "gpu/groups/fused_rows_text.h"

#include "gpu/groups/fused_pieces.h"
#include "runtime/core/error.h"

namespace lunagrad::gpu {
namespace {

using Kind = FusedOperand::Kind;

// "in3_0": operand 0 of member 3.
std::string name_of(size_t i, size_t k) { return text("in", i, "_", k); }

bool is_per_element(const FusedOperand& x) {
  return x.kind == Kind::direct || x.kind == Kind::strided || x.kind == Kind::column;
}

class RowsText {
 public:
  explicit RowsText(const FusedShape& shape) : shape_(shape) {}

  std::string write() const {
    std::string whole = fused_beginning(shape_);
    whole +=
        "shared vec2 meeting[256];\n"
        "T reduce_product(T a, T b) { return a * b; }\n"
        "T reduce_largest(T a, T b) { return lg_max(a, b); }\n"
        "T reduce_smallest(T a, T b) { return lg_min(a, b); }\n";
    whole += "void main() {\n" + fused_variables(shape_) + loads(Kind::number) + loads(Kind::single);
    whole += text("  const uint kAlong = ", shape_.along, ", side = 256 / kAlong;\n",
                  "  const uint rows = arguments.count, columns = arguments.columns;\n"
                  "  const uint along = gl_LocalInvocationID.x % kAlong;\n"
                  "  const uint beside = gl_LocalInvocationID.x / kAlong;\n"
                  "  const uint blocks = (rows + side - 1) / side;\n"
                  "  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {\n"
                  "    const uint row = block * side + beside;\n"
                  "    const bool there = row < rows;\n");
    whole += loads(Kind::row);
    for (size_t i = 0; i < shape_.members.size(); ++i)
      if (is_held(i)) whole += text("    ", piece(), " h", i, "[", shape_.turns, "];\n");
    int stages = 0;
    for (const FusedMember& member : shape_.members) stages = std::max(stages, member.stage + 1);
    for (int stage = 0; stage < stages; ++stage) whole += elements_of(stage) + rows_of(stage);
    return whole + "  }\n}\n";
  }

 private:
  // Type of the part of a row that an invocation takes in one turn.
  const char* piece() const { return shape_.vector ? "vec4" : "T"; }
  bool is_reduction(size_t i) const { return shape_.members[i].reduction != RowReduction::Kind::none; }
  bool is_held(size_t i) const { return shape_.members[i].outlasts && !shape_.members[i].row; }

  // Loads the operands of this kind: once, or once for each row.
  std::string loads(Kind kind) const {
    std::string lines;
    for (size_t i = 0; i < shape_.members.size(); ++i)
      for (size_t k = 0; k < 5; ++k) {
        const FusedOperand& x = shape_.members[i].operands[k];
        if (x.kind != kind) continue;
        const std::string declared = "const T " + name_of(i, k) + " = ", type = type_number(x.type);
        const int at = x.index;
        if (kind == Kind::number) lines += text("  ", declared, "n", at, ";\n");
        if (kind == Kind::single) lines += text("  ", declared, "load_float(a", at, ", 0L, ", type, ");\n");
        if (kind == Kind::row)
          lines += text("    ", declared, "there ? load_float(a", at, ", int64_t(row), ", type, ") : 0.0;\n");
      }
    return lines;
  }

  std::string turns(const std::string& body) const {
    return text("    [[unroll]] for (uint k = 0; k < ", shape_.turns,
                "; ++k) {\n      const uint i = (along + k * ", "kAlong)", shape_.vector ? " * 4" : "",
                ";\n      if (!there || i >= columns) continue;\n", body, "    }\n");
  }

  // Loads a piece of an operand that differs by column.
  std::string load(size_t i, size_t k) const {
    const FusedOperand& x = shape_.members[i].operands[k];
    const std::string to = "      " + name_of(i, k) + "[k]", type = type_number(x.type);
    const int at = x.index;
    const bool in_row = x.kind != Kind::column;
    if (shape_.vector && x.kind != Kind::strided && comes_in_fours(x.type))
      return text(to, " = load_four(a", at, ", ",
                  in_row ? "int64_t(row) * (columns / 4) + i / 4" : "int64_t(i / 4)", ", ", type, ");\n");
    const std::string element = shape_.vector ? "i + j" : "i";
    const std::string place = x.kind == Kind::strided
                                  ? text("place(row * columns + ", element, ", ", int(x.walk), ")")
                              : in_row ? "int64_t(row) * columns + " + element
                                       : "int64_t(" + element + ")";
    const std::string value = text(" = load_float(a", at, ", ", place, ", ", type, ");\n");
    if (!shape_.vector) return to + value;
    return "      [[unroll]] for (uint j = 0; j < 4; ++j)\n  " + to + "[j]" + value;
  }

  std::string operand(size_t i, size_t k) const {
    const FusedMember& member = shape_.members[i];
    const FusedOperand& x = member.operands[k];
    const char* const lane = shape_.vector ? "[j]" : "";
    if (x.kind == Kind::absent) return "0.0";
    if (is_per_element(x)) return name_of(i, k) + "[k]" + lane;
    if (x.kind != Kind::member) return name_of(i, k);
    const FusedMember& read = shape_.members[x.index];
    return !read.row && read.stage < member.stage ? text("h", int(x.index), "[k]", lane)
                                                  : text("r", int(x.index));
  }

  // The loads, elements and partial reductions of a stage.
  std::string elements_of(int stage) const {
    std::string declared, loaded, outputs, compute, store, reductions;
    for (size_t i = 0; i < shape_.members.size(); ++i) {
      const FusedMember& member = shape_.members[i];
      if (member.stage != stage || (member.row && !is_reduction(i))) continue;
      for (size_t k = 0; k < 5; ++k) {
        if (!is_per_element(member.operands[k])) continue;
        declared += text("    ", piece(), " ", name_of(i, k), "[", shape_.turns, "];\n");
        loaded += load(i, k);
      }
      if (is_reduction(i)) {
        declared += member.reduction == RowReduction::Kind::sum
                        ? text("    vec2 s", i, " = vec2(opaque(0.0), 0.0);\n")
                        : text("    T s", i, " = opaque(", identity(member.reduction), ");\n");
        reductions += reduce_piece(i);
        continue;
      }
      const char* const lane = shape_.vector ? "[j]" : "";
      compute += text("      const T r", i, " = ",
                      member_value(member, i, [&](size_t k) { return operand(i, k); }), ";\n");
      if (is_held(i)) compute += text("      h", i, "[k]", lane, " = r", i, ";\n");
      if (member.store < 0) continue;
      const std::string type = type_number(member.result);
      const int at = member.store;
      if (shape_.vector && comes_in_fours(member.result)) {
        outputs += text("      vec4 out", i, ";\n");
        compute += text("      out", i, "[j] = r", i, ";\n");
        store += text("      store_four(a", at, ", int64_t(row) * (columns / 4) + i / 4, ", type, ", out", i,
                      ");\n");
      } else {
        compute += text("      store_float(a", at, ", int64_t(row) * columns + i",
                        shape_.vector ? " + j" : "", ", ", type, ", r", i, ");\n");
      }
    }
    std::string lines = declared;
    if (!loaded.empty()) lines += turns(loaded);
    const char* const each =
        shape_.vector ? "      [[unroll]] for (uint j = 0; j < 4; ++j) {\n" : "      {\n";
    const std::string computed = compute.empty() ? "" : outputs + each + compute + "      }\n" + store;
    if (!computed.empty() || !reductions.empty()) lines += turns(computed + reductions);
    return lines;
  }

  static const char* identity(RowReduction::Kind reduction) {
    return reduction == RowReduction::Kind::product   ? "1.0"
           : reduction == RowReduction::Kind::largest ? "-infinity()"
                                                      : "infinity()";
  }
  static std::string both(RowReduction::Kind reduction, const std::string& a, const std::string& b) {
    const char* const name = reduction == RowReduction::Kind::product   ? "product"
                             : reduction == RowReduction::Kind::largest ? "largest"
                                                                        : "smallest";
    return text("reduce_", name, "(", a, ", ", b, ")");
  }

  // Like with() and with_vector() of reduce_f32.comp; the second part of a sum covers values out of f32's
  // range.
  std::string reduce_piece(size_t i) const {
    const FusedMember& member = shape_.members[i];
    const FusedOperand& x = member.operands[0];
    const std::string v = x.kind == Kind::member ? text("h", int(x.index), "[k]") : name_of(i, 0) + "[k]";
    if (member.reduction == RowReduction::Kind::sum)
      return text("      s", i, " = ", shape_.vector ? "with_four" : "with_one", "(s", i, ", ", v, ");\n");
    const auto of_two = [&](const std::string& a, const std::string& b) {
      return both(member.reduction, a, b);
    };
    const std::string whole =
        shape_.vector ? of_two(of_two(v + ".x", v + ".y"), of_two(v + ".z", v + ".w")) : v;
    return text("      s", i, " = ", of_two(text("s", i), whole), ";\n");
  }

  // The row results of a stage. All invocations of a row hold them.
  std::string rows_of(int stage) const {
    std::string lines;
    for (size_t i = 0; i < shape_.members.size(); ++i) {
      const FusedMember& member = shape_.members[i];
      if (!member.row || member.stage != stage) continue;
      if (is_reduction(i)) {
        if (shape_.along > 1) lines += meet(i);
        const std::string factor = text("n", int(member.first_param));
        const std::string value = member.reduction == RowReduction::Kind::sum
                                      ? text("end_of_sum(s", i, ", ", factor, ")")
                                      : text("s", i, " * ", factor);
        lines += text("    const T r", i, " = ", opaque(value, member.result), ";\n");
      } else {
        lines += text("    const T r", i, " = ",
                      member_value(member, i, [&](size_t k) { return operand(i, k); }), ";\n");
      }
      if (member.store >= 0)
        lines += text("    if (along == 0 && there) store_float(a", int(member.store), ", int64_t(row), ",
                      type_number(member.result), ", r", i, ");\n");
    }
    return lines;
  }

  // Like the end of main() in reduce.glsl.
  std::string meet(size_t i) const {
    const RowReduction::Kind reduction = shape_.members[i].reduction;
    const bool sum = reduction == RowReduction::Kind::sum;
    const std::string part = sum ? "" : ".x";
    const std::string own = "meeting[gl_LocalInvocationID.x]" + part;
    const std::string other = "meeting[gl_LocalInvocationID.x + apart]" + part;
    return text("    barrier();\n    ", own, " = s", i,
                ";\n    [[unroll]] for (uint apart = kAlong / 2; apart > 0; ",
                "apart /= 2) {\n      barrier();\n      if (along < apart) ", own, " = ",
                sum ? "added_sums(" + own + ", " + other + ")" : both(reduction, own, other),
                ";\n    }\n    barrier();\n    s", i, " = meeting[beside * kAlong]", part, ";\n");
  }

  const FusedShape& shape_;
};

}  // namespace

std::string fused_rows_glsl(const FusedShape& shape) { return RowsText(shape).write(); }

}  // namespace lunagrad::gpu
