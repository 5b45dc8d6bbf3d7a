#include "script/cli/flags.h"

#include <CLI/CLI.hpp>

namespace lunagrad {

CLI::App& add_command(CLI::App& parent, const char* name, const char* about) {
  CLI::App* const command = parent.add_subcommand(name, about);
  if (parent.get_parent()) {
    parent.require_subcommand(1);
    command->fallthrough();
  }
  return *command;
}

bool is_chosen(const CLI::App& command) { return command.parsed(); }

void add_argument(CLI::App& command, const char* name, std::string& value, const char* about) {
  command.add_option(name, value, about)->required();
}

void add_arguments(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about) {
  command.add_option(name, values, about);
}

void add_required_arguments(CLI::App& command, const char* name, std::vector<std::string>& values,
                            const char* about, int count) {
  CLI::Option* const option = command.add_option(name, values, about)->required();
  if (count) option->expected(count);
}

void add_option(CLI::App& command, const char* name, std::string& value, const char* about) {
  CLI::Option* const option = command.add_option(name, value, about);
  if (!value.empty()) option->capture_default_str();
}

void add_flag(CLI::App& command, const char* name, bool& value, const char* about) {
  command.add_flag(name, value, about);
}

}  // namespace lunagrad
