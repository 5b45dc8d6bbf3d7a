#pragma once
// Declares the commands of the program with their arguments and flags. CLI11 parses the command line. It
// takes 15 s to compile in each file that includes it, so only flags.cpp and commands.cpp include it. Parsing
// writes each value into the variable that is passed here; the variable must live until then. For the main
// thread.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace lunagrad {

// The program while its commands are being declared.
struct Program {
  CLI::App& app;
  std::string command_line;  // as the user typed it
};
// Runs a command after the command line was parsed. Returns the exit code.
using Action = std::function<int()>;

// A command of the program.
CLI::App& add_command(Program&, const char* name, const char* about);
// A subcommand of another command, which then requires a subcommand. Flags of the outer command may follow
// it.
CLI::App& add_command(CLI::App& parent, const char* name, const char* about);
bool is_chosen(const CLI::App& command);
void set_footer(CLI::App& command, const char* text);  // the last paragraph of its help

// Positional arguments: required, optional, required and one of `words`, any number, and exactly `count` (0:
// at least one).
void add_argument(CLI::App& command, const char* name, std::string& value, const char* about);
void add_optional_argument(CLI::App& command, const char* name, std::string& value, const char* about);
void add_argument(CLI::App& command, const char* name, std::string& value,
                  const std::vector<std::string>& words, const char* about);
void add_arguments(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about);
void add_required_arguments(CLI::App& command, const char* name, std::vector<std::string>& values,
                            const char* about, int count = 0);

// Flags and options. `value_name` is the name of the value in the help text.
void add_flag(CLI::App& command, const char* name, bool& value, const char* about);
void add_option(CLI::App& command, const char* name, std::string& value, const char* about,
                const char* value_name = "");
void add_option(CLI::App& command, const char* name, std::optional<uint64_t>& value, const char* about);
void add_option(CLI::App& command, const char* name, std::optional<int64_t>& value,
                const char* about);  // not negative
void add_option(CLI::App& command, const char* name, int64_t& value, std::pair<int64_t, int64_t> range,
                const char* about);
// A number within a range.
void add_option(CLI::App& command, const char* name, double& value, std::pair<double, double> range,
                const char* about);
void add_seconds(CLI::App& command, const char* name, double& value, const char* about);  // above 0
// The user gives MiB, at least 8; `bytes` is set in bytes.
void add_mebibytes(CLI::App& command, const char* name, size_t& bytes, const char* about);
// The user gives a number with its unit: 16MiB, 256k, 100B.
void add_size(CLI::App& command, const char* name, size_t& bytes, const char* about);
// A flag, or NAME=SIZE: without a size `bytes` becomes `usual`.
void add_size_flag(CLI::App& command, const char* name, size_t& bytes, size_t usual, const char* about);
// The option may be repeated; numbers may also be separated by commas.
void add_list(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about);
void add_list(CLI::App& command, const char* name, std::vector<int>& values, std::pair<int, int> range,
              const char* about);
// The value is one of `words`. `take` gets the index of the word that the user gave.
void add_choice(CLI::App& command, const char* name, std::vector<std::string> words,
                std::function<void(size_t)> take, const char* about);
// Option or argument `name` requires or excludes another one. Both must have been added.
void add_need(CLI::App& command, const char* name, const char* needed);
void add_exclusion(CLI::App& command, const char* name, const char* excluded);

// The help of a command such as "runs show", or of the program for ""; "" when there is no such command.
std::string help_of(const CLI::App& program, const std::string& command = "");

// The help texts of a command, of its flags and of its subcommands.
struct FlagText {
  std::vector<std::string> names;  // "--output", "-o"; empty for a positional argument
  std::string value;               // the name of its value, "" when it takes none
  std::string about;
};
struct CommandText {
  std::string name, about;
  std::vector<FlagText> flags;
  std::vector<CommandText> commands;
};
CommandText describe(const CLI::App& command);

}  // namespace lunagrad
