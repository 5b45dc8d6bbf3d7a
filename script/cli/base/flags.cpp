#include "script/cli/base/flags.h"

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

CommandText describe(const CLI::App& command) {
  CommandText text{command.get_name(), command.get_description(), {}, {}};
  for (const CLI::Option* option : command.get_options()) {
    FlagText flag{{}, "", option->get_description()};
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    if (flag.names.empty())
      flag.value = option->get_name(true);
    else if (option->get_items_expected_max() > 0)
      flag.value = "VALUE";
    text.flags.push_back(std::move(flag));
  }
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; }))
    text.commands.push_back(describe(*inner));
  return text;
}

}  // namespace lunagrad
