// Writes the GLSL source of the elementwise kernels from the text of the columns of elementwise.def, one file
// for each row and type computed in: elementwise_tanh_f32.comp, elementwise_add_i64.comp. Runs during the
// build; the argument is the folder to write to.
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Row {
  std::string_view name;
  std::string_view fields;   // members of Params
  std::string_view readers;  // their values, each with a comma behind
  std::string_view types;
  std::string_view result;
  std::string_view value;
  std::vector<std::string_view> gradients;
};

#define REAL(name, fallback) "  T " #name ";\n"
#define REQUIRED(name) "  T " #name ";\n"
#define BOUND(name, when_absent) "  T " #name ";\n"
#define CHOICE(name, first, second) "  int " #name ";\n"
#define EW1(name, params, types, result, value, gx, lo, hi, doc) "" params "",
#define EW2(name, params, types, result, value, ga, gb, lo, hi, doc) "" params "",
#define EW3(name, params, types, result, value, ga, gb, gc, lo, hi, doc) "" params "",
constexpr std::string_view kFields[] = {
#include "runtime/ops/elementwise.def"
};

#define REAL(name, fallback) "param,"
#define REQUIRED(name) "param,"
#define BOUND(name, when_absent) "param,"
#define CHOICE(name, first, second) "int,"
#define EW1(name, params, types, result, value, gx, lo, hi, doc) "" params "",
#define EW2(name, params, types, result, value, ga, gb, lo, hi, doc) "" params "",
#define EW3(name, params, types, result, value, ga, gb, gc, lo, hi, doc) "" params "",
constexpr std::string_view kReaders[] = {
#include "runtime/ops/elementwise.def"
};

#define EW1(name, params, types, result, value, gx, lo, hi, doc) \
  {#name, "", "", #types, #result, #value, {#gx}},
#define EW2(name, params, types, result, value, ga, gb, lo, hi, doc) \
  {#name, "", "", #types, #result, #value, {#ga, #gb}},
#define EW3(name, params, types, result, value, ga, gb, gc, lo, hi, doc) \
  {#name, "", "", #types, #result, #value, {#ga, #gb, #gc}},
const Row kRows[] = {
#include "runtime/ops/elementwise.def"
};

std::string arguments(size_t arity) { return arity == 1 ? "T x" : arity == 2 ? "T a, T b" : "T a, T b, T c"; }

// "param,int," becomes "param(0), int(param(1))".
std::string params_of(std::string_view readers) {
  std::ostringstream out;
  int index = 0;
  while (!readers.empty()) {
    const size_t comma = readers.find(',');
    if (index) out << ", ";
    if (readers.substr(0, comma) == "int")
      out << "int(param(" << index << "))";
    else
      out << "param(" << index << ")";
    readers.remove_prefix(comma + 1);
    ++index;
  }
  return out.str();
}

// The expression with its quotients as calls: Vulkan promises nothing of a / b for large b (functions.glsl).
std::string with_quotients(std::string_view expression) {
  std::string text(expression);
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  const auto behind = [&](size_t i, int step) {  // the next character that is no space
    for (i += size_t(step); i < text.size() && text[i] == ' ';) i += size_t(step);
    return i;
  };
  // From a parenthesis to the one that belongs to it.
  const auto partner = [&](size_t i, int step) {
    for (int depth = 0;; i += size_t(step)) {
      depth += (text[i] == '(') - (text[i] == ')');
      if (depth == 0) return i;
    }
  };
  for (size_t slash; (slash = text.find('/')) != std::string::npos;) {
    // To the left all factors of the term, a sign too; to the right one factor.
    size_t first = slash;
    for (size_t i = behind(slash, -1); i < text.size(); i = behind(i, -1)) {
      const bool sign = text[i] == '-';
      const size_t before = behind(i, -1);
      const bool binary = sign && before < text.size() && (is_word(text[before]) || text[before] == ')');
      if (!(is_word(text[i]) || text[i] == ')' || text[i] == '*' || (sign && !binary))) break;
      if (text[i] == ')') i = partner(i, -1);
      first = i;
    }
    size_t end = behind(slash, 1);
    if (text[end] == '-') end = behind(end, 1);
    while (end < text.size() && is_word(text[end])) ++end;
    if (end < text.size() && text[end] == '(') end = partner(end, 1) + 1;
    const size_t right = behind(slash, 1);
    const std::string left = text.substr(first, text.find_last_not_of(' ', slash - 1) + 1 - first);
    text.replace(first, end - first, "lg_quotient(" + left + ", " + text.substr(right, end - right) + ")");
  }
  return text;
}

std::string source(const Row& row, bool integer) {
  const size_t arity = row.gradients.size();
  const bool boolean = row.result == "bool";
  const bool has_gradient = !integer && !boolean;
  std::ostringstream out;
  out << "#version 460\n#extension GL_GOOGLE_include_directive : require\n";
  out << "#define T " << (integer ? "int64_t\n#define T_IS_INTEGER" : "float") << "\n";
  if (has_gradient) out << "#define HAS_GRADIENT\n";
  out << "#include \"vocabulary.glsl\"\n\n";
  out << "struct Params {\n" << (row.fields.empty() ? "  int none;\n" : row.fields) << "};\n\n";
  out << (boolean ? "bool" : "T") << " row(" << arguments(arity) << ", Params p) {\n  return "
      << with_quotients(row.value) << ";\n}\n";
  out << (boolean ? "bool" : "T") << " value(T v0, T v1, T v2, Params p) {\n  return row("
      << (arity == 1   ? "v0"
          : arity == 2 ? "v0, v1"
                       : "v0, v1, v2")
      << ", p);\n}\n";
  if (has_gradient) {
    for (size_t i = 0; i < arity; ++i)
      out << "T gradient_" << i << "(T g, " << arguments(arity) << ", T y, Params p) {\n  return "
          << with_quotients(row.gradients[i]) << ";\n}\n";
    out << "T gradient(uint i, T v0, T v1, T v2, T v3, T v4, Params p) {\n";
    const char* operands = arity == 1 ? "v0, v1, v2" : arity == 2 ? "v0, v1, v2, v3" : "v0, v1, v2, v3, v4";
    for (size_t i = 0; i + 1 < arity; ++i)
      out << "  if (i == " << i << ") return gradient_" << i << "(" << operands << ", p);\n";
    out << "  return gradient_" << arity - 1 << "(" << operands << ", p);\n}\n";
  }
  out << "T param(uint i);\nParams make_params() {\n  return Params("
      << (row.fields.empty() ? "0" : params_of(row.readers)) << ");\n}\n\n";
  out << "#include \"elementwise.glsl\"\n";
  return out.str();
}

// Leaves a file alone that says the same already, so that it is not compiled again.
void write(const std::filesystem::path& path, const std::string& text) {
  std::ifstream old(path);
  std::ostringstream before;
  before << old.rdbuf();
  if (old && before.str() == text) return;
  std::ofstream(path) << text;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", words[0]);
    return 2;
  }
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < std::size(kRows); ++i) {
    Row row = kRows[i];
    row.fields = kFields[i];
    row.readers = kReaders[i];
    write(folder / ("elementwise_" + std::string(row.name) + "_f32.comp"), source(row, false));
    if (row.types != "float")
      write(folder / ("elementwise_" + std::string(row.name) + "_i64.comp"), source(row, true));
  }
}
