// `lunagrad help`: a command, a topic of the documents or a function of the library; `lunagrad version`.
#include <iostream>
#include <lua.hpp>
#include <memory>

#include "script/cli/command/all.h"
#include "script/meta/explain.h"
#include "script/meta/topics.h"
#include "script/session.h"

namespace lunagrad {
namespace {

int show_help(const CLI::App& program, const std::string& topic) {
  if (topic.empty()) {
    std::cout << help_of(program) << "\nTopics of `lunagrad help TOPIC`:\n" << list_topics();
    return 0;
  }
  std::string text = help_of(program, topic);
  if (text.empty()) text = explain_topic(topic);
  if (text.empty()) {
    const std::string near = suggest(topic, "");
    std::cerr << "lunagrad help: nothing on '" << topic << "'"
              << (near.empty() ? "; topics:\n" + list_topics() : near + "\n");
    return int(Outcome::usage);
  }
  std::cout << text;
  return 0;
}

}  // namespace

Action add_help(Program& program) {
  const auto topic = std::make_shared<std::string>();
  CLI::App& command = add_command(program, "help", "explain a command, an operation, a function or a topic");
  add_optional_argument(command, "topic", *topic, "a name or a topic");
  return [topic, &app = program.app] { return show_help(app, *topic); };
}

Action add_version(Program& program) {
  add_command(program, "version", "print the version");
  return [] {
    std::cout << "lunagrad " << LUNAGRAD_VERSION << " (" << LUA_RELEASE << ")\n";
    return 0;
  };
}

}  // namespace lunagrad
