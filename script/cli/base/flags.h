#pragma once
// How the file of a command declares it: its name, arguments and flags, and what carries it out. CLI11, which
// reads them, takes 15 s to compile in each file that includes it, so only flags.cpp and commands.cpp do. A
// value is written into the variable that is given here when the command line is read; the variable must live
// until then. For the main thread.
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

// The program while its commands are declared.
struct Program {
  CLI::App& app;
  std::string command_line;  // as it was typed
};
// Carries out a command after the command line was read. Returns the exit code.
using Action = std::function<int()>;

// A command of the program.
CLI::App& add_command(Program&, const char* name, const char* about);
// A command within another, which then needs one of them; the outer one's flags may follow it.
CLI::App& add_command(CLI::App& parent, const char* name, const char* about);
bool is_chosen(const CLI::App& command);
void set_footer(CLI::App& command, const char* text);  // the last paragraph of its help

// Arguments by place: one that must be there, one that may be there, one out of a few words, any number of
// them, and either `count` or at least one.
void add_argument(CLI::App& command, const char* name, std::string& value, const char* about);
void add_optional_argument(CLI::App& command, const char* name, std::string& value, const char* about);
void add_argument(CLI::App& command, const char* name, std::string& value,
                  const std::vector<std::string>& words, const char* about);
void add_arguments(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about);
void add_required_arguments(CLI::App& command, const char* name, std::vector<std::string>& values,
                            const char* about,
                            int count = 0);  // 0: at least one

// Flags. `value_name` is what help calls the value.
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
// Given in MiB, at least 8, kept in bytes.
void add_mebibytes(CLI::App& command, const char* name, size_t& bytes, const char* about);
// May be repeated; numbers may also be parted by commas.
void add_list(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about);
void add_list(CLI::App& command, const char* name, std::vector<int>& values, std::pair<int, int> range,
              const char* about);
// One of a few words. `take` gets the position of the word that was given.
void add_choice(CLI::App& command, const char* name, std::vector<std::string> words,
                std::function<void(size_t)> take, const char* about);
// What an option or argument needs, or rules out; both were added before.
void add_need(CLI::App& command, const char* name, const char* needed);
void add_exclusion(CLI::App& command, const char* name, const char* excluded);

// The help of a command, or of the program for ""; "" when there is no such command.
std::string help_of(const CLI::App& program, const std::string& command = "");

// What a command says about itself, and the commands within it.
struct FlagText {
  std::vector<std::string> names;  // "--output", "-o"; empty for an argument by place
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
