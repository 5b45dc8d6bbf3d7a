// Writes the GLSL source of the optimizers' kernels from the text of optimizers.def, one file for each
// record, for example optimizer_adam.comp. gpu/ops/optimizer/optimizer.glsl defines the vocabulary of the
// updates and has the rest of the kernel. Runs during the build; the argument is the folder to write to.
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/generate/program.h"

namespace {

struct Record {
  std::string_view name;
  std::string_view states;  // "exp_avg,?max_exp_avg_sq,": conditional states begin with a question mark
  // "lr,!amsgrad,": numbers and derived values; flags begin with an exclamation mark
  std::string_view numbers;
  std::string_view update;  // statements
};

#define STATE(name) #name ","
#define STATE_IF(condition, name) "?" #name ","
#define NUMBER(name, sample) #name ","
#define COUNT(name, sample) #name ","
#define FLAG(name) "!" #name ","
#define DERIVED(name, expression) #name ","
#define TEXT(...) #__VA_ARGS__
#define OPTIMIZER(name, doc, states, numbers, derived, ...) \
  {#name, "" states "", "" numbers derived "", TEXT(__VA_ARGS__)},
constexpr Record kRecords[] = {
#include "runtime/optimizer/optimizers.def"
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> items;
  for (; !list.empty(); list.remove_prefix(list.find(',') + 1))
    items.emplace_back(list.substr(0, list.find(',')));
  return items;
}

std::string source(const Record& record) {
  const std::vector<std::string> states = split(record.states), numbers = split(record.numbers);
  std::ostringstream flags, values, loads, stores;
  for (size_t i = 0; i < states.size(); ++i) {
    const bool conditional = states[i][0] == '?';
    const std::string name = states[i].substr(conditional);
    if (conditional) flags << "const bool has_" << name << " = (STATES >> " << i << " & 1u) != 0u;\n";
    loads << "  V " << name << " = states[" << i << "];\n";
    stores << "  states[" << i << "] = " << name << ";\n";
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i][0] == '!')
      values << "  const bool " << numbers[i].substr(1) << " = number[" << i << "] != 0.0;\n";
    else
      values << "  const V " << numbers[i] << " = number[" << i << "];\n";
  }
  std::ostringstream out;
  out << "#version 460\n#extension GL_GOOGLE_include_directive : require\n#include "
         "\"optimizer/optimizer.glsl\"\n\n"
      << flags.str() << "\nvoid update(inout V p, V g, inout V states[MOST_STATES]) {\n"
      << values.str() << loads.str() << "  ";
  // A line for each statement.
  for (const char c : record.update) out << c << (c == ';' || c == '{' || c == '}' ? "\n " : "");
  out << "\n" << stores.str() << "}\n";
  return out.str();
}

}  // namespace

int main(int count, char** words) {
  return lunagrad::gpu::run_program(count, words, {"FOLDER"}, [&] {
    const std::filesystem::path folder = words[1];
    for (const Record& record : kRecords)
      lunagrad::gpu::write_if_changed(folder / ("optimizer_" + std::string(record.name) + ".comp"),
                                      source(record));
  });
}
