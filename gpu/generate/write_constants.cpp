// Writes a C++ header with the specialization constants of all shaders, under their GLSL names, so that their
// ids and values are written in the GLSL alone. Runs during the build:
//   write-constants FOLDER HEADER
// Each file of FOLDER that has a main() becomes a struct: conv.comp becomes shaders::Conv. Its members are
// the specialization constants in lower case, in the order of their ids, with the GLSL's default values, and
// the named literals (`const uint kResult = 0`) of the shader and of the files that it includes. Two
// constants of one shader with the same id are an error.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/generate/program.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kTypesFile = "memory.glsl";  // its element types become a struct of their own

struct Constant {
  int id;
  std::string type, name, value;
};
struct Literal {
  std::string name, value;
};
struct Source {
  std::vector<std::string> includes;
  std::vector<Constant> constants;
  std::vector<Literal> literals;
  bool has_main = false;
};

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return word;
}

// "matmul_parts.comp" becomes "MatmulParts".
std::string struct_name(const std::string& file) {
  std::string name;
  bool begins = true;
  for (const char c : fs::path(file).stem().string()) {
    if (c != '_') name += begins ? char(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '_';
  }
  return name;
}

// The unread rest of a line. A part that does not follow leaves the rest as it is.
class Line {
 public:
  explicit Line(std::string_view rest) : rest_(rest) {}

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  // Letters, digits and underscores.
  std::string take_word() {
    const auto in_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), in_word);
    const std::string word(rest_.begin(), end);
    rest_.remove_prefix(word.size());
    return word;
  }
  bool take_number(int& number) {
    if (rest_.empty() || !std::isdigit(static_cast<unsigned char>(rest_[0]))) return false;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return false;
    rest_.remove_prefix(size_t(end - rest_.data()));
    return true;
  }
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// "layout(constant_id = 3) const uint MODE = kNone;", or "layout(local_size_x_id = 0) in;".
bool read_constant(Line line, Constant& constant) {
  if (line.take("layout(local_size_x_id = ")) {
    constant.type = "uint32_t", constant.name = "local_size_x", constant.value = "1";
    return line.take_number(constant.id) && line.take(") in;");
  }
  if (!line.take("layout(constant_id = ") || !line.take_number(constant.id) || !line.take(") const "))
    return false;
  const std::string type = line.take_word();
  if ((type != "bool" && type != "uint") || !line.take(" ")) return false;
  constant.type = type == "bool" ? "bool" : "uint32_t";
  constant.name = lower(line.take_word());
  if (constant.name.empty() || !line.take(" = ")) return false;
  constant.value = line.take_word();
  return !constant.value.empty() && line.take(";");
}

// "kMode = 3u": a decimal number, or a hexadecimal one with small letters.
bool read_literal(Line item, Literal& literal) {
  item.skip_spaces();
  literal.name = item.take_word();
  if (!literal.name.starts_with('k') || literal.name.size() == 1 || !item.take(" = ")) return false;
  literal.value = item.take_word();
  if (literal.value.ends_with('u')) literal.value.pop_back();
  const bool hexadecimal = literal.value.starts_with("0x");
  const std::string_view digits = std::string_view(literal.value).substr(hexadecimal ? 2 : 0);
  return !digits.empty() && item.rest().empty() &&
         digits.find_first_not_of(hexadecimal ? "0123456789abcdef" : "0123456789") == digits.npos;
}

Source parse(const fs::path& path) {
  Source source;
  std::istringstream lines(lunagrad::gpu::read_text(path));
  for (std::string text; std::getline(lines, text);) {
    Line line(text);
    if (text.starts_with("void main()")) source.has_main = true;
    if (line.take("#include \"")) {
      source.includes.emplace_back(line.rest().substr(0, line.rest().rfind('"')));
    } else if (line.take("const uint ") && line.rest().find(';') != std::string_view::npos) {
      std::istringstream items(std::string(line.rest().substr(0, line.rest().find(';'))));
      Literal literal;
      for (std::string item; std::getline(items, item, ',');)
        if (read_literal(Line(item), literal)) source.literals.push_back(literal);
    } else if (Constant constant{}; read_constant(line, constant)) {
      source.constants.push_back(constant);
    } else if (text.starts_with("layout") && (text.find("constant_id") != std::string::npos ||
                                              text.find("local_size_x_id") != std::string::npos)) {
      throw std::runtime_error(path.string() + ": cannot read: " + text);
    }
  }
  return source;
}

// "f(a), f(b), f(c)".
template <class List, class F>
std::string join(const List& list, F&& f) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : ", ") + f(element);
  return text;
}

class Shaders {
 public:
  explicit Shaders(const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".comp" || entry.path().extension() == ".glsl")
        if (!sources_.try_emplace(entry.path().filename().string(), parse(entry.path())).second)
          throw std::runtime_error("two shaders have the name " + entry.path().filename().string());
    for (const Literal& type : sources_.at(kTypesFile).literals) values_[type.name] = type.value;
  }

  std::string header() {
    std::ostringstream out;
    out << "// Written by gpu/generate/write_constants.cpp from the shaders of gpu/ops/.\n#pragma "
           "once\n#include <array>\n"
           "#include <cstdint>\n#include <span>\n#include <string_view>\n\n"
           "namespace lunagrad::gpu::shaders {\n\n// "
        << kTypesFile << "\nstruct ElementType {\n";
    write_literals(out, sources_.at(kTypesFile).literals);
    out << "};\n\n";
    for (const auto& [file, source] : sources_)
      if (source.has_main) write_struct(out, file);
    write_table(out);
    out << "}  // namespace lunagrad::gpu::shaders\n";
    return std::move(out).str();
  }

 private:
  // Collects the file and its includes, each once, includes first.
  void collect(const std::string& file, std::set<std::string>& seen, std::vector<const Source*>& all) const {
    const auto found = sources_.find(file);
    if (found == sources_.end() || file == kTypesFile || !seen.insert(file).second) return;
    for (const std::string& included : found->second.includes) collect(included, seen, all);
    all.push_back(&found->second);
  }
  // The file whose main() a module runs: one of its direct or indirect includes, else the module itself.
  std::string main_file(const std::string& module) const {
    for (const std::string& included : sources_.at(module).includes) {
      if (!sources_.count(included)) continue;
      const std::string found = main_file(included);
      if (sources_.at(found).has_main) return found;
    }
    return module;
  }

  static void write_literals(std::ostream& out, const std::vector<Literal>& literals) {
    for (const Literal& literal : literals)
      out << "  static constexpr uint32_t " << literal.name << " = " << literal.value << ";\n";
  }

  void write_struct(std::ostream& out, const std::string& file) {
    std::set<std::string> seen;
    std::vector<const Source*> all;
    collect(file, seen, all);
    std::map<int, Constant> constants;
    std::map<std::string, std::string> values = values_;
    std::vector<Literal> literals;
    for (const Source* source : all) {
      for (const Literal& literal : source->literals) values[literal.name] = literal.value;
      literals.insert(literals.end(), source->literals.begin(), source->literals.end());
      for (const Constant& constant : source->constants)
        if (const auto [at, fresh] = constants.try_emplace(constant.id, constant); !fresh)
          throw std::runtime_error(file + ": constant_id " + std::to_string(constant.id) +
                                   " is also the id of " + at->second.name + " and of " + constant.name);
    }
    out << "// " << file << "\nstruct " << struct_name(file) << " {\n";
    if (file.ends_with(".comp"))
      out << "  static constexpr std::string_view kShader = \"" << fs::path(file).stem().string() << "\";\n";
    write_literals(out, literals);
    const std::string name = struct_name(file), array = text("std::array<uint32_t, ", constants.size(), ">");
    const auto all_of = [&](auto&& f) { return join(constants, f); };
    out << "  static constexpr " << array << " kIds{"
        << all_of([](const auto& entry) { return std::to_string(entry.first); }) << "};\n";
    for (const auto& [id, constant] : constants) {
      const auto named = values.find(constant.value);
      out << "  " << constant.type << ' ' << constant.name << " = "
          << (named == values.end() ? constant.value : named->second) << ";\n";
    }
    size_t at = 0;
    out << "  constexpr " << array << " values() const { return {"
        << all_of([](const auto& entry) { return entry.second.name; }) << "}; }\n  static constexpr " << name
        << " of_values(std::span<const uint32_t> values) {\n    return {" << all_of([&](const auto& entry) {
             return text("values[", at++, entry.second.type == "bool" ? "] != 0" : "]");
           })
        << "};\n  }\n};\n\n";
  }

  // Modules that the build writes, such as elementwise_add_f32, take their constants from the file that they
  // include.
  void write_table(std::ostream& out) const {
    out << "// The ids of a module's constants, in the order of values().\n"
           "constexpr std::span<const uint32_t> constant_ids(std::string_view module) {\n";
    for (const auto& [file, source] : sources_)
      if (file.ends_with(".comp"))
        out << "  if (module == \"" << fs::path(file).stem().string() << "\") return "
            << struct_name(main_file(file)) << "::kIds;\n";
    for (const auto& [file, source] : sources_)
      if (file.ends_with(".glsl") && source.has_main)
        out << "  if (module.starts_with(\"" << fs::path(file).stem().string() << "_\")) return "
            << struct_name(file) << "::kIds;\n";
    out << "  return {};\n}\n\n";
  }

  std::map<std::string, Source> sources_;
  std::map<std::string, std::string> values_;  // of the element types
};

}  // namespace

int main(int count, char** words) {
  return lunagrad::gpu::run_program(count, words, {"FOLDER", "HEADER"}, [&] {
    lunagrad::gpu::write_if_changed(words[2], Shaders(words[1]).header());
  });
}
