#include "ui/actions/commands.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "ui/actions/command_words.h"
#include "ui/base/name_search.h"

namespace lunagrad {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 14> kNamedKeys = {{
    {"Enter", GLFW_KEY_ENTER},
    {"Escape", GLFW_KEY_ESCAPE},
    {"Tab", GLFW_KEY_TAB},
    {"Space", GLFW_KEY_SPACE},
    {"Up", GLFW_KEY_UP},
    {"Down", GLFW_KEY_DOWN},
    {"Left", GLFW_KEY_LEFT},
    {"Right", GLFW_KEY_RIGHT},
    {"Home", GLFW_KEY_HOME},
    {"End", GLFW_KEY_END},
    {"PageUp", GLFW_KEY_PAGE_UP},
    {"PageDown", GLFW_KEY_PAGE_DOWN},
    {"Delete", GLFW_KEY_DELETE},
    {"Backspace", GLFW_KEY_BACKSPACE},
}};

int key_number(std::string_view name) {
  for (const auto& [known, key] : kNamedKeys)
    if (name == known) return key;
  if (name.size() >= 2 && name.size() <= 3 && name[0] == 'F') {
    const int number = std::atoi(std::string(name.substr(1)).c_str());
    return number >= 1 && number <= 25 ? GLFW_KEY_F1 + number - 1 : 0;
  }
  if (name.size() != 1) return 0;
  const char c = name[0];
  if (c >= 'A' && c <= 'Z') return c;
  if (c >= '0' && c <= '9') return c;
  return std::string_view(",-./;=[]\\'`").find(c) != std::string_view::npos ? c : 0;
}

// Whether the user has typed the name of the key.
bool same_key(std::string_view typed, std::string_view key) {
  const auto small = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return !key.empty() && std::equal(typed.begin(), typed.end(), key.begin(), key.end(),
                                    [&](char a, char b) { return small(a) == small(b); });
}

}  // namespace

std::optional<Chord> parse_chord(std::string_view text) {
  Chord chord;
  for (;;) {
    if (text.starts_with("Ctrl+")) {
      chord.ctrl = true;
      text.remove_prefix(5);
    } else if (text.starts_with("Shift+")) {
      chord.shift = true;
      text.remove_prefix(6);
    } else if (text.starts_with("Alt+")) {
      chord.alt = true;
      text.remove_prefix(4);
    } else {
      break;
    }
  }
  chord.key = key_number(text);
  if (!chord.key) return {};
  return chord;
}

bool types_text(const Chord& chord) {
  const bool function_key = chord.key >= GLFW_KEY_F1 && chord.key <= GLFW_KEY_F25;
  if (chord.alt || function_key) return false;
  if (!chord.ctrl) return true;
  if (chord.key < 'A' || chord.key > 'Z') {
    // Ctrl with arrows and similar keys moves by words.
    return chord.key >= GLFW_KEY_ESCAPE && chord.key <= GLFW_KEY_END && chord.key != GLFW_KEY_TAB;
  }
  return !chord.shift && std::string_view("ACVXYZ").find(char(chord.key)) != std::string_view::npos;
}

void Commands::add(Command command) {
  if (const auto own = keys_.find(command.name); own != keys_.end()) command.key = own->second;
  if (command.synonyms.empty()) command.synonyms = synonyms_of(command.name);
  commands_.push_back(std::move(command));
}

void Commands::add_composed(Command command) {
  command.composed = true;
  add(std::move(command));
}

void Commands::add_source(Source source) { sources_.push_back(std::move(source)); }

std::vector<std::string> Commands::rebind(const std::map<std::string, std::string>& keys) {
  std::vector<std::string> wrong;
  for (const auto& [name, key] : keys) {
    if (!key.empty() && !parse_chord(key)) {
      wrong.push_back(key);
      continue;
    }
    keys_[name] = key;
    for (Command& command : commands_)
      if (command.name == name) command.key = key;
  }
  return wrong;
}

const Command* Commands::find(std::string_view name) const {
  const auto found =
      std::find_if(commands_.begin(), commands_.end(), [&](const Command& c) { return c.name == name; });
  return found == commands_.end() ? nullptr : &*found;
}

bool Commands::run(std::string_view name) const {
  const Command* command = find(name);
  return command && run(*command);
}

bool Commands::run(const Command& command) const {
  if (!enabled(command)) return false;
  if (command.composed)
    command.run();
  else
    actions_.act_as("action", {command.name}, command.run);
  return true;
}

std::string Commands::key_of(std::string_view name) const {
  const Command* command = find(name);
  return command ? command->key : std::string();
}

const Command* Commands::meant(const Chord& chord, std::string_view focused_panel, bool typing) const {
  if (typing && types_text(chord)) return nullptr;
  const Command* everywhere = nullptr;
  for (const Command& command : commands_) {
    if (command.key.empty() || parse_chord(command.key) != chord) continue;
    if (!command.panel.empty() && command.panel == focused_panel) return &command;
    if (command.panel.empty() && !everywhere) everywhere = &command;
  }
  return everywhere;
}

std::vector<CommandPtr> Commands::matching(std::string_view typed) const {
  const TypedWords words(typed);
  struct Found {
    int score;
    CommandPtr command;
    bool of_table;
  };
  std::vector<Found> found;
  const auto offer = [&](const Command& command, const std::shared_ptr<const void>& owner) {
    constexpr int kKey = 100000;  // above every match of words
    constexpr int kNotNow = 30;   // of equally good matches, those that can run come first
    std::optional<int> score = 0;
    if (!words.empty()) {
      score = command.named_by_file ? words.score({"", command.synonyms, command.name + " " + command.help})
                                    : words.score({command.name, command.synonyms, command.help});
      if (same_key(typed, command.key)) score = kKey;
      if (score && !enabled(command)) *score -= kNotNow;
    }
    if (score) found.push_back({*score, CommandPtr(owner, &command), !owner});
  };
  for (const Command& command : commands_) offer(command, nullptr);
  if (!words.empty()) {
    const auto offered = std::make_shared<std::vector<Command>>();
    for (const Source& source : sources_) source(typed, *offered);
    for (Command& command : *offered) {
      command.composed = true;  // its name means nothing in another run
      offer(command, offered);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.score > b.score; });
    // Many runs or nodes of one name do not hide the best command of the table: it is among the first three.
    constexpr ptrdiff_t kFirst = 3;
    const auto best = std::find_if(found.begin(), found.end(), [](const Found& one) { return one.of_table; });
    if (best != found.end() && best - found.begin() >= kFirst)
      std::rotate(found.begin() + kFirst - 1, best, best + 1);
  }
  std::vector<CommandPtr> commands;
  for (Found& one : found) commands.push_back(std::move(one.command));
  return commands;
}

}  // namespace lunagrad
