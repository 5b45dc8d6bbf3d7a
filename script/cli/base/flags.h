#pragma once
// How the file of a command declares it: its name, arguments and flags. CLI11, which reads them, takes 15 s
// to compile in each file that sees it, so that only flags.cpp and commands.cpp do.
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lunagrad {

// A command of the program, or one within another, which then wants one of them; the outer one's flags may
// follow it.
CLI::App& add_command(CLI::App& parent, const char* name, const char* about);
bool is_chosen(const CLI::App& command);

// Given by place: one that must be there, any number, and either `count` or at least one.
void add_argument(CLI::App& command, const char* name, std::string& value, const char* about);
void add_arguments(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about);
void add_required_arguments(CLI::App& command, const char* name, std::vector<std::string>& values,
                            const char* about,
                            int count = 0);  // 0: at least one
void add_option(CLI::App& command, const char* name, std::string& value, const char* about);
void add_flag(CLI::App& command, const char* name, bool& value, const char* about);

// What a command says about itself, and the commands within it.
struct FlagText {
  std::vector<std::string> names;  // "--output", "-o"; empty for what is given by place
  std::string value;               // how its value is called, "" when it takes none
  std::string about;
};
struct CommandText {
  std::string name, about;
  std::vector<FlagText> flags;
  std::vector<CommandText> commands;
};
CommandText describe(const CLI::App& command);

}  // namespace lunagrad
