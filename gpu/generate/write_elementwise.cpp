// Writes the GLSL source of the elementwise kernels from the column texts of elementwise.def. Each row and
// computation type gets one file: elementwise_tanh_f32.comp, elementwise_add_i64.comp,
// elementwise_exp_c64.comp. Also writes row_texts.h, from which the shaders of groups are written at run
// time. Runs during the build; the arguments are the folder to write to and the folder of the shaders.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/generate/integer_division.h"
#include "gpu/generate/program.h"
#include "gpu/generate/row_params.h"

namespace {

struct Row {
  std::string_view name;
  std::string_view fields;  // members of Params, a line each
  std::string_view types;
  std::string_view result;
  std::string_view value;
  std::vector<std::string_view> gradients;
};

#define REAL(name, fallback) "  T " #name ";\n"
#define REQUIRED(name) "  T " #name ";\n"
#define BOUND(name, when_absent) "  T " #name ";\n"
#define CHOICE(name, first, second) "  int " #name ";\n"
#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) \
  {#name, "" params "", #types, #result, #value, {#gx}},
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  {#name, "" params "", #types, #result, #value, {#ga, #gb}},
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  {#name, "" params "", #types, #result, #value, {#ga, #gb, #gc}},
const Row kRows[] = {
#include "runtime/elementwise/elementwise.def"
};

std::string arguments(size_t arity) { return arity == 1 ? "T x" : arity == 2 ? "T a, T b" : "T a, T b, T c"; }

enum class Numbers { floats, integers, complexes };

// Translates an expression of elementwise.def to GLSL. Quotients become calls, since Vulkan does not define a
// / b for large b (functions.glsl). For complex numbers, which have no operators in GLSL, products and
// comparisons become calls too.
class Expression {
 public:
  Expression(std::string_view text, Numbers numbers) : rest_(text), numbers_(numbers) {}

  std::string translate() {
    std::string text = binary(0);
    if (take("?")) {
      const std::string yes = translate();
      take(":");
      text += " ? " + yes + " : " + translate();
    }
    return text;
  }

 private:
  struct Operator {
    std::string_view sign;
    int level;
    const char* function;          // replaces the operator, or null
    const char* complex_function;  // the same for complex numbers
  };
  static constexpr Operator kOperators[] = {
      {"||", 0, nullptr, nullptr},   {"&&", 1, nullptr, nullptr},     {"==", 2, nullptr, nullptr},
      {"!=", 2, nullptr, nullptr},   {"<=", 3, nullptr, nullptr},     {">=", 3, nullptr, "lg_at_least"},
      {"<", 3, nullptr, "lg_below"}, {">", 3, nullptr, nullptr},      {"+", 4, nullptr, nullptr},
      {"-", 4, nullptr, nullptr},    {"*", 5, nullptr, "lg_product"}, {"/", 5, "lg_quotient", "lg_quotient"}};

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  bool take(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  const Operator* take_operator(int lowest) {
    for (const Operator& found : kOperators)
      if (found.level >= lowest && take(found.sign)) return &found;
    return nullptr;
  }

  // Parses operators of at least this level; left-associative.
  std::string binary(int lowest) {
    std::string left = operand();
    while (const Operator* found = take_operator(lowest)) {
      const std::string right = binary(found->level + 1);
      const char* const function = numbers_ == Numbers::complexes ? found->complex_function : found->function;
      left = function ? std::string(function) + "(" + left + ", " + right + ")"
                      : left + " " + std::string(found->sign) + " " + right;
    }
    return left;
  }

  std::string operand() {
    for (const char* const sign : {"-", "!"})
      if (take(sign)) return sign + operand();
    std::string text = take("(") ? inside(")") : word();
    if (take("(")) text += inside(")");
    return text;
  }
  // A name, or a number whose exponent may have a sign.
  std::string word() {
    skip_spaces();
    const bool number = std::isdigit(static_cast<unsigned char>(rest_.front()));
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_' ||
                                rest_[n] == '.' || (number && rest_[n] == '-' && rest_[n - 1] == 'e')))
      ++n;
    const std::string text(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return text;
  }
  // The rest of a parenthesized expression or of a list of arguments.
  std::string inside(const char* end) {
    std::string text = "(" + translate();
    while (take(",")) text += ", " + translate();
    take(end);
    return text + end;
  }

  std::string_view rest_;
  Numbers numbers_;
};

// Replaces the value and gradients of rows with real results by their complex form
// (ops/elementwise/cpu/complex_kernels.cpp).
Row of_complex_numbers(Row row) {
  if (row.name == "abs") row.gradients = {"sel(x == K(0), K(0), g * (conj(x) / abs(x)))"};
  if (row.name == "norm_sq") {
    row.value = "x * conj(x)";
    row.gradients = {"K(2) * g * conj(x)"};
  }
  return row;
}

// Formulas of elementwise.def that have a GLSL function of their own, which needs fewer steps or stays in
// range.
struct ShortForm {
  std::string_view formula, function;
};
constexpr ShortForm kShortForms[] = {
    {"tanh(log1p(exp(x)))", "tanh_log1p_of_exp(x)"},
    {"log1p(exp(x * p.beta))", "log1p_of_exp(x * p.beta)"},
    {"log1p(exp(-abs(", "log1p_below_one(exp_of_negative(-abs("},
    {"log1p(exp2(-abs(", "log1p_below_one(exp2_of_negative(-abs("},
    {"sel(x < K(-1), log(erfcx(x * K(-0.70710678118654752440)) * K(0.5)) - K(0.5) * x * x, "
     "log1p(K(-0.5) * erfc(x * K(0.70710678118654752440))))",
     "log_ndtr(x)"}};

std::string shortened(std::string_view text) {
  std::string result(text);
  for (const ShortForm& form : kShortForms)
    for (size_t at; (at = result.find(form.formula)) != std::string::npos;)
      result.replace(at, form.formula.size(), form.function);
  return result;
}

bool in_some_row(const ShortForm& form) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return row.value.find(form.formula) != std::string_view::npos; });
}

// Whether the row uses a function of special.glsl, which other kernels leave out.
bool is_special(const Row& row) {
  std::string text(row.value);
  for (const std::string_view gradient : row.gradients) text += gradient;
  for (const char* const function :
       {"erfc", "erfinv", "ndtri(", "lgamma(", "digamma(", "zeta(", "i0(", "i1(", "i0e(", "i1e("})
    if (text.find(function) != std::string::npos) return true;
  return false;
}

// The body of a function that returns the expression. `precise` keeps the driver from contracting products
// and sums: it could otherwise do so in a group's kernel (fused_pieces.cpp) and not in the op's own.
std::string returning(const char* type, const std::string& expression) {
  return std::string(" {\n  precise const ") + type + " result = " + expression + ";\n  return result;\n}\n";
}

std::string source(const Row& row, Numbers numbers, bool divides) {
  const size_t arity = row.gradients.size();
  const bool boolean = row.result == "bool";
  const bool has_gradient = numbers != Numbers::integers && !boolean;
  const auto translated = [&](std::string_view text) {
    const std::string used = numbers == Numbers::floats ? shortened(text) : std::string(text);
    return Expression(used, numbers).translate();
  };
  std::ostringstream out;
  out << "#version 460\n#extension GL_GOOGLE_include_directive : require\n#define T ";
  switch (numbers) {
    case Numbers::floats:
      out << "float\n";
      out << "#define HAS_VECTORS\n";
      break;
    case Numbers::integers:
      out << "int64_t\n#define T_IS_INTEGER\n";
      if (divides) out << "#define DIVIDES\n";
      break;
    case Numbers::complexes:
      out << "vec2\n#define T_IS_COMPLEX\n";
      break;
  }
  if (has_gradient) out << "#define HAS_GRADIENT\n";
  if (numbers == Numbers::floats && is_special(row)) out << "#define HAS_SPECIAL\n";
  out << "#include \"vocabulary.glsl\"\n\n";
  out << "struct Params {\n" << (row.fields.empty() ? "  int none;\n" : row.fields) << "};\n\n";
  const char* const type = boolean ? "bool" : "T";
  out << type << " row(" << arguments(arity) << ", Params p)" << returning(type, translated(row.value));
  out << type << " value(T v0, T v1, T v2, Params p) {\n  return row("
      << (arity == 1   ? "v0"
          : arity == 2 ? "v0, v1"
                       : "v0, v1, v2")
      << ", p);\n}\n";
  if (has_gradient) {
    for (size_t i = 0; i < arity; ++i)
      out << "T gradient_" << i << "(T g, " << arguments(arity) << ", T y, Params p)"
          << returning("T", translated(row.gradients[i]));
    out << "T gradient(uint i, T v0, T v1, T v2, T v3, T v4, Params p) {\n";
    const char* operands = arity == 1 ? "v0, v1, v2" : arity == 2 ? "v0, v1, v2, v3" : "v0, v1, v2, v3, v4";
    for (size_t i = 0; i + 1 < arity; ++i)
      out << "  if (i == " << i << ") return gradient_" << i << "(" << operands << ", p);\n";
    out << "  return gradient_" << arity - 1 << "(" << operands << ", p);\n}\n";
  }
  out << "T param(uint i);\nParams make_params() {\n  return Params("
      << lunagrad::gpu::row_params(row.fields, [](int i) { return "param(" + std::to_string(i) + ")"; })
      << ");\n}\n\n";
  out << "#include \"elementwise/elementwise.glsl\"\n";
  return out.str();
}

// The file with its includes inserted.
std::string flattened(const std::filesystem::path& file) {
  std::istringstream in(lunagrad::gpu::read_text(file));
  std::ostringstream out;
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kInclude = "#include \"";
    if (line.starts_with(kInclude))
      out << flattened(file.parent_path() / line.substr(kInclude.size(), line.rfind('"') - kInclude.size()));
    else
      out << line << "\n";
  }
  return out.str();
}

std::string in_glsl(const std::string& text) { return Expression(text, Numbers::floats).translate(); }

std::string literal(std::string_view text) { return "R\"GLSL(" + std::string(text) + ")GLSL\""; }

// The float rows as a table, and the functions that their expressions use.
std::string row_texts(const std::filesystem::path& shaders) {
  std::ostringstream out;
  out << "// Written by the build from elementwise.def and the files of gpu/ops/glsl/.\n"
         "inline constexpr const char* kVocabulary = "
      << literal(flattened(shaders / "vocabulary.glsl")) << ";\n"
      << "inline constexpr RowText kRowTexts[] = {\n";
  for (const Row& row : kRows) {
    const auto translated = [&](std::string_view text) {
      return row.types == "integer" ? literal("") : literal(in_glsl(shortened(text)));
    };
    out << "{" << literal(row.fields) << ", " << (row.result == "bool") << ", " << is_special(row) << ", "
        << translated(row.value) << ", {";
    for (const std::string_view gradient : row.gradients) out << translated(gradient) << ", ";
    out << "}},\n";
  }
  out << "};\n";
  return out.str();
}

}  // namespace

int main(int count, char** words) {
  return lunagrad::gpu::run_program(count, words, {"FOLDER", "SHADERS"}, [&] {
    using lunagrad::gpu::write_if_changed;
    for (const ShortForm& form : kShortForms)
      if (!in_some_row(form))
        throw std::runtime_error("no row of elementwise.def has the formula " + std::string(form.formula));
    const std::filesystem::path folder = words[1];
    write_if_changed(folder / "row_texts.h", row_texts(words[2]));
    for (size_t i = 0; i < std::size(kRows); ++i) {
      const Row& row = kRows[i];
      const std::string name = "elementwise_" + std::string(row.name);
      const bool divides = lunagrad::gpu::divides_integers(lunagrad::Row(int(i)));
      if (row.types != "integer")
        write_if_changed(folder / (name + "_f32.comp"), source(row, Numbers::floats, divides));
      if (row.types != "float")
        write_if_changed(folder / (name + "_i64.comp"), source(row, Numbers::integers, divides));
      if (takes_complex(lunagrad::Row(int(i))))
        write_if_changed(folder / (name + "_c64.comp"),
                         source(of_complex_numbers(row), Numbers::complexes, divides));
    }
  });
}
