// `lunagrad help`: shows a command, a topic of the documents or a function of the library; `lunagrad
// version`.
#include "script/meta/help.h"

#include <iostream>
#include <lua.hpp>
#include <memory>

#include "runtime/core/version.h"
#include "script/cli/command/all.h"
#include "script/meta/explain.h"
#include "script/meta/pytorch.h"
#include "script/meta/topics.h"
#include "script/view/run.h"

namespace lunagrad {
namespace {

// The entries and the sections of the documents that contain all words, one line each.
std::string found_by(const std::string& words) {
  constexpr size_t kMost = 40, kWidth = 100;
  std::string text;
  size_t count = 0;
  for (const HelpEntry* entry : search_help(words)) {
    if (++count > kMost) continue;
    const bool section = entry->kind == HelpEntry::Kind::section;
    const std::string& document = entry->call;
    std::string line =
        "  " + (section ? "lunagrad help " + (entry->name == document ? "" : document + " ") + entry->name
                        : entry->call);
    const std::string first = entry->text.substr(0, entry->text.find('\n'));
    if (!section && !first.empty()) line += "  " + first;
    if (line.size() > kWidth) {
      size_t end = kWidth;
      while ((line[end] & 0xc0) == 0x80) --end;  // does not cut inside a character
      line = line.substr(0, end) + "…";
    }
    text += line + "\n";
  }
  if (count > kMost) text += "  and " + std::to_string(count - kMost) + " more\n";
  return text;
}

int search(const std::string& words) {
  const std::string found = found_by(words);
  if (found.empty()) {
    std::cerr << "lunagrad help: nothing contains '" << words << "'\n";
    return int(Outcome::usage);
  }
  std::cout << found;
  return 0;
}

std::string join(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// The section of a document: {"window", "tape"}.
std::string section_text(const std::vector<std::string>& words) {
  for (const Topic& topic : topic_list())
    if (words.size() == 2 && topic.document == words[0] && topic.name == words[1]) return topic.text;
  return {};
}

// "See also: lunagrad help window tape": sections of that name that are not in the shown text.
std::string see_also(const std::string& topic, const std::string& text, bool command) {
  std::string also;
  const auto add = [&](const std::string& name) {
    also += (also.empty() ? "\nSee also: lunagrad help " : ", lunagrad help ") + name;
  };
  if (command && !explain("lg." + topic).empty()) add("lg." + topic);
  for (const Topic& known : topic_list()) {
    if (known.name != topic || text.find(known.text) != std::string::npos) continue;
    add(known.name == known.document ? known.name : known.document + " " + known.name);
  }
  return also.empty() ? also : also + "\n";
}

int show_help(const CLI::App& program, const std::vector<std::string>& words) {
  if (words.empty()) {
    std::cout << help_of(program) << "\nTopics of `lunagrad help TOPIC`:\n" << list_topics();
    return 0;
  }
  const std::string topic = join(words, " ");
  std::string text = help_of(program, topic);
  const bool command = !text.empty();
  if (text.empty()) text = section_text(words);
  // For torch.save, shows how PyTorch's name is spelled here. nn.Linear exists in both, and our own help says
  // more.
  if (text.empty() && topic.starts_with("torch.")) text = explain_pytorch(topic);
  if (text.empty()) text = explain_topic(join(words, "-"));
  if (text.empty()) text = explain_pytorch(topic);
  if (text.empty()) text = found_by(topic);
  if (!text.empty()) text += see_also(topic, text, command);
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
  const auto topic = std::make_shared<std::vector<std::string>>();
  CLI::App& command = add_command(program, "help", "explain a command, an operation, a function or a topic");
  const auto words = std::make_shared<std::string>();
  add_arguments(command, "topic", *topic,
                "a name, a topic, a command (runs show), a section (window tape), or torch.save");
  add_option(command, "--search", *words, "list everything whose name or text contains these words", "WORDS");
  return
      [topic, words, &app = program.app] { return words->empty() ? show_help(app, *topic) : search(*words); };
}

Action add_version(Program& program) {
  add_command(program, "version", "print the version");
  return [] {
    std::cout << "lunagrad " << LUNAGRAD_VERSION << " (" << LUNAGRAD_COMMIT << "; " << LUA_RELEASE << ")\n";
    return 0;
  };
}

}  // namespace lunagrad
