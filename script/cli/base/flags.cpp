#include "script/cli/base/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

namespace lunagrad {
namespace {

// Used in place of CLI11's own check, whose message prints the largest double with 309 digits.
std::string above_zero(const std::string& text) {
  return std::strtod(text.c_str(), nullptr) > 0 ? "" : text + " is not a number above 0";
}
template <class Whole>
std::string from_zero(const std::string& text) {
  Whole value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? "" : "a whole number from 0 on expected (got '" + text + "')";
}

// The number of bytes in "512MiB", "64k" or "100B"; nothing when the text is no size above 0 with a unit.
std::optional<size_t> size_in(std::string text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !is_digit(text.front()) || is_digit(text.back())) return {};
  try {
    if (!CLI::AsSizeValue(false)(text).empty()) return {};
  } catch (const CLI::ValidationError&) {  // an unknown unit
    return {};
  }
  const size_t bytes = std::stoull(text);
  return bytes ? std::optional(bytes) : std::nullopt;
}
std::string no_size(const std::string& given) {
  return "a size expected, such as 64KiB or 512MiB (got '" + given + "')";
}

}  // namespace

CLI::App& add_command(Program& program, const char* name, const char* about) {
  return add_command(program.app, name, about);
}

CLI::App& add_command(CLI::App& parent, const char* name, const char* about) {
  CLI::App* const command = parent.add_subcommand(name, about);
  if (parent.get_parent()) {
    parent.require_subcommand(1);
    command->fallthrough();
  }
  return *command;
}

void set_footer(CLI::App& command, const char* text) { command.footer(text); }

bool is_chosen(const CLI::App& command) { return command.parsed(); }

void add_argument(CLI::App& command, const char* name, std::string& value, const char* about) {
  command.add_option(name, value, about)->required();
}

void add_optional_argument(CLI::App& command, const char* name, std::string& value, const char* about) {
  command.add_option(name, value, about);
}

void add_argument(CLI::App& command, const char* name, std::string& value,
                  const std::vector<std::string>& words, const char* about) {
  command.add_option(name, value, about)->required()->check(CLI::IsMember(words));
}

void add_arguments(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about) {
  command.add_option(name, values, about);
}

void add_required_arguments(CLI::App& command, const char* name, std::vector<std::string>& values,
                            const char* about, int count) {
  CLI::Option* const option = command.add_option(name, values, about)->required();
  if (count) option->expected(count);
}

void add_option(CLI::App& command, const char* name, std::string& value, const char* about,
                const char* value_name) {
  CLI::Option* const option = command.add_option(name, value, about);
  if (*value_name) option->type_name(value_name);
  if (!value.empty()) option->capture_default_str();
}

void add_option(CLI::App& command, const char* name, std::optional<uint64_t>& value, const char* about) {
  command.add_option(name, value, about)->check(CLI::Validator(from_zero<uint64_t>, "NONNEGATIVE"));
}

void add_option(CLI::App& command, const char* name, std::optional<int64_t>& value, const char* about) {
  command.add_option(name, value, about)->check(CLI::Validator(from_zero<int64_t>, "NONNEGATIVE"));
}

void add_option(CLI::App& command, const char* name, int64_t& value, std::pair<int64_t, int64_t> range,
                const char* about) {
  command.add_option(name, value, about)->check(CLI::Range(range.first, range.second))->capture_default_str();
}

void add_option(CLI::App& command, const char* name, double& value, std::pair<double, double> range,
                const char* about) {
  command.add_option(name, value, about)->check(CLI::Range(range.first, range.second))->capture_default_str();
}

void add_seconds(CLI::App& command, const char* name, double& value, const char* about) {
  command.add_option(name, value, about)->check(CLI::Validator(above_zero, "POSITIVE"));
}

void add_mebibytes(CLI::App& command, const char* name, size_t& bytes, const char* about) {
  command
      .add_option_function<size_t>(
          name, [&bytes](size_t mebibytes) { bytes = mebibytes << 20; }, about)
      ->check(CLI::Range(size_t(8), size_t(1) << 40));
}

void add_size(CLI::App& command, const char* name, size_t& bytes, const char* about) {
  const auto take = [&bytes, option = std::string(name)](const std::string& given) {
    const auto size = size_in(given);
    if (!size) throw CLI::ValidationError(option, no_size(given));
    bytes = *size;
  };
  command.add_option_function<std::string>(name, take, about)->type_name("SIZE");
}

void add_size_flag(CLI::App& command, const char* name, size_t& bytes, size_t usual, const char* about) {
  const auto given = std::make_shared<std::string>();  // lives as long as the option
  const auto take = [given, usual, &bytes](std::string& text) -> std::string {
    const auto size = text == "true" ? std::optional(usual) : size_in(text);
    if (!size) return no_size(text);
    bytes = *size;
    return {};
  };
  command.add_flag(name, *given, about)->check(CLI::Validator(take, ""));
}

void add_list(CLI::App& command, const char* name, std::vector<std::string>& values, const char* about) {
  command.add_option(name, values, about)->allow_extra_args(false)->take_all();
}

void add_list(CLI::App& command, const char* name, std::vector<int>& values, std::pair<int, int> range,
              const char* about) {
  command.add_option(name, values, about)
      ->check(CLI::Range(range.first, range.second))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
}

void add_choice(CLI::App& command, const char* name, std::vector<std::string> words,
                std::function<void(size_t)> take, const char* about) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : "|") + word;
  const auto take_word = [=, option = std::string(name)](const std::string& given) {
    const auto found = std::find(words.begin(), words.end(), given);
    if (found == words.end())
      throw CLI::ValidationError(option, "one of " + all + " expected (got '" + given + "')");
    take(size_t(found - words.begin()));
  };
  command.add_option_function<std::string>(name, take_word, about)->type_name(all);
}

void add_need(CLI::App& command, const char* name, const char* needed) {
  command.get_option(name)->needs(command.get_option(needed));
}

void add_exclusion(CLI::App& command, const char* name, const char* excluded) {
  command.get_option(name)->excludes(command.get_option(excluded));
}

void add_flag(CLI::App& command, const char* name, bool& value, const char* about) {
  command.add_flag(name, value, about);
}

std::string help_of(const CLI::App& program, const std::string& command) {
  const CLI::App* found = &program;
  std::string above;
  std::istringstream words(command);
  for (std::string word; words >> word;) {
    const auto inner =
        found->get_subcommands([&](const CLI::App* known) { return known->get_name() == word; });
    if (inner.empty()) return {};
    above += (above.empty() ? "" : " ") + found->get_name();
    found = inner.front();
  }
  // Not found->help(), which prints the page of the subcommand that was given: for `lunagrad help` the page
  // of help.
  above += (above.empty() ? "" : " ") + found->get_name();
  return found->get_formatter()->make_help(found, above, CLI::AppFormatMode::Normal);
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
